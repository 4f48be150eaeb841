// The environment is read in one place, where its values are checked and its faults are named.
import { kindOf } from '../layout.ts'
import { at, sourcesIn } from '../repository.ts'
import type { Rule } from '../rule.ts'
import type { SourceFile } from '../source-file.ts'

/** The service's one reader is either of the first two, not both. Commands read their own environment; everything else is handed its settings. */
const serviceReaders = ['apps/api/src/config.ts', 'apps/api/src/main.ts']
const commands = ['packages/sandbox-broker/src/bin.ts', 'apps/cli/src/main.ts']

export const environmentInOnePlace: Rule = {
  name: 'reads the environment in one place',
  check: ({ packages }) => {
    const reads = packages
      .filter(({ folder }) => kindOf(folder) !== 'tooling')
      .flatMap((one) => sourcesIn(one, 'src'))
      .flatMap((source) => linesThatRead(source).map((line) => ({ path: source.path, line })))
    const reader = serviceReaders.find((path) => reads.some((read) => read.path === path))
    return reads
      .filter(({ path }) => path !== reader && !commands.includes(path))
      .map(({ path, line }) => ({
        where: at(path, line),
        message: `reads process.env; read it in ${reader ?? serviceReaders[0]} and pass the value`,
      }))
  },
}

const linesThatRead = ({ uses, imports }: SourceFile): readonly number[] => [
  ...uses.filter(({ name }) => name === 'process.env' || name === 'process').map(({ line }) => line),
  ...imports.filter(({ specifier }) => specifier === 'process' || specifier === 'node:process').map(({ line }) => line),
]
