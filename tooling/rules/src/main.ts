// `pnpm run arrows`: the rules over the working tree, as lines that an editor can jump to.
import { resolve } from 'node:path'
import { allRules } from './all-rules.ts'
import { readRepository } from './read-tree.ts'

const repository = readRepository(resolve(import.meta.dirname, '../../..'))
const lines = allRules.flatMap((rule) => rule.check(repository).map(({ where, message }) => `${where} ${message}`))

process.stdout.write(lines.map((line) => `${line}\n`).join(''))
process.exitCode = lines.length === 0 ? 0 : 1
