// The habits that dependency-cruiser and oxlint cannot check. Prints what breaks them, as lines that an editor can jump to.
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

const files = (pattern: string): readonly string[] => globSync(pattern).toSorted()

// A package has one entry; the domain has one for each folder.
const isEntry = (path: string): boolean =>
  /\/src\/index\.ts$|^packages\/domain\/src\/[\w-]+\/index\.ts$/.test(path)

const sourceFaults = (path: string): readonly string[] => {
  const text = readFileSync(path, 'utf8')
  const ofDomain = path.startsWith('packages/domain/') ? text.split('\n') : []
  return [
    ...(/^(#![^\n]*\n)?\/[/*]/.test(text)
      ? []
      : [`${path} begins without a comment; say in one to three lines why it exists`]),
    ...(path.endsWith('/index.ts') && !isEntry(path)
      ? [`${path} is an index file inside a package, and no entry of it`]
      : []),
    ...ofDomain.flatMap((line, index) =>
      /\bDate\(\)/.test(line)
        ? [`${path}:${index + 1} reads the clock; take the time from the Clock port`]
        : [],
    ),
  ]
}

const faults = [
  ...files('{packages,apps,tooling}/*/src/**/*.ts').flatMap(sourceFaults),
  ...files('{packages,apps,tooling}/*/package.json')
    .map(dirname)
    .filter((folder) => files(`${folder}/README.md`).length === 0)
    .map((folder) => `${folder} has no README.md`),
]
process.stdout.write(faults.map((fault) => `${fault}\n`).join(''))
process.exitCode = faults.length === 0 ? 0 : 1
