// Arrows inside the domain: a room imports only rooms to its left, nouns do not import each other, verbs do not call verbs.
import { arrowsAmongNouns, rankOf, roomOf, rooms } from '../layout.ts'
import { at, resolveFrom } from '../repository.ts'
import type { Rule, Violation } from '../rule.ts'
import type { Import } from '../source-file.ts'
import { domainSources } from './domain-sources.ts'

export const roomArrows: Rule = {
  name: 'keeps the arrows between the rooms of the domain: primitives ◄ errors ◄ nouns ◄ ports ◄ use-cases ◄ testing',
  check: (repository) => roomImports(repository).flatMap(judgeRooms),
}

export const verbsStandAlone: Rule = {
  name: 'has no verb that calls another verb',
  check: (repository) =>
    roomImports(repository)
      .filter(({ toPath, isType }) => isVerb(toPath) && !isType)
      .filter(({ inSrc }) => roomOf(inSrc) === 'use-cases')
      .map(({ path, line, toPath }) => ({
        where: at(path, line),
        message: `imports the verb ${toPath}; move what both need into use-cases/steps or into a noun`,
      })),
}

interface RoomImport extends Import {
  readonly path: string
  readonly inSrc: string
  /** Under src as well. */
  readonly toPath: string
}

const roomImports = (repository: Parameters<Rule['check']>[0]): readonly RoomImport[] =>
  domainSources(repository)
    .filter(({ inSrc }) => inSrc !== 'index.ts')
    .flatMap(({ path, inSrc, imports }) =>
      imports
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map((one) => ({ ...one, path, inSrc, toPath: resolveFrom(inSrc, one.specifier) })),
    )

const judgeRooms = ({ path, line, inSrc, toPath }: RoomImport): readonly Violation[] => {
  const from = roomOf(inSrc)
  const to = roomOf(toPath)
  const where = at(path, line)
  if (from === to) return []
  if (toPath === 'index.ts') return [{ where, message: 'imports the package’s own entry; import the file that has it' }]
  const unknown = [from, to].find((room) => rankOf(room) < 0)
  if (unknown !== undefined)
    return [{ where, message: `${unknown} is no room of the domain; give it a place in tooling/rules/src/layout.ts` }]
  if (rankOf(to) < rankOf(from)) return []
  if (arrowsAmongNouns.some(([tail, head]) => tail === from && head === to)) return []
  if (rankOf(to) === rankOf(from)) {
    return [{ where, message: `${from} imports ${to}; nouns do not import each other: move what both need into primitives` }]
  }
  const order = rooms.map((names) => (names.length > 1 ? 'nouns' : names[0])).join(' ◄ ')
  return [{ where, message: `${from} imports ${to}, which stands to its right (${order}); let the caller pass it, or move it to the left` }]
}

const isVerb = (pathInSrc: string): boolean => /^use-cases\/[^/]+$/.test(pathInSrc)
