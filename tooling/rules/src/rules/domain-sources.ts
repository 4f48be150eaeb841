// The domain's own source files, with their paths under src: several rules speak of them alone.
import { kindOf } from '../layout.ts'
import { sourcesIn } from '../repository.ts'
import type { Repository } from '../repository.ts'
import type { SourceFile } from '../source-file.ts'

export interface DomainSource extends SourceFile {
  readonly inSrc: string
}

export const domainSources = ({ packages }: Repository): readonly DomainSource[] =>
  packages
    .filter(({ folder }) => kindOf(folder) === 'domain')
    .flatMap((domain) =>
      sourcesIn(domain, 'src').map((source) => ({ ...source, inSrc: source.path.slice(`${domain.folder}/src/`.length) })),
    )
