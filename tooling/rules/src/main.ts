// The habits that dependency-cruiser and oxlint cannot check. Prints what breaks them, as lines
// that an editor can jump to.
import { globSync, readFileSync } from 'node:fs'

const faultsOf = (path: string): readonly string[] => {
  const text = readFileSync(path, 'utf8')
  const faults = text
    .split('\n')
    .flatMap((line, index) =>
      path.startsWith('packages/domain/') && /\bDate\(\)/.test(line)
        ? [`${path}:${index + 1} reads the clock; take the time from the Clock port`]
        : [],
    )
  return /^(#![^\n]*\n)?\/[/*]/.test(text)
    ? faults
    : [`${path} begins without a comment; say in one to three lines why it exists`, ...faults]
}

const faults = globSync('{packages,apps,tooling}/*/src/**/*.ts').flatMap(faultsOf)
process.stdout.write(faults.map((fault) => `${fault}\n`).join(''))
if (faults.length > 0) process.exitCode = 1
