// What became of a room's mutants, counted, and the mutants that no test found.
import type { Equivalent } from './equivalents.ts'
import { isSameMutant, mutantOf } from './mutant.ts'
import type { Mutant, MutantResult } from './mutant.ts'

export interface RoomCount {
  readonly room: string
  /** All that run: those that do not even load are none. */
  readonly mutants: number
  /** A test failed, or never ended. */
  readonly killed: number
  readonly survived: readonly Mutant[]
  /** Survivors that the page lists. */
  readonly equivalent: number
}

const found: readonly MutantResult['status'][] = ['Killed', 'Timeout']
const missed: readonly MutantResult['status'][] = ['Survived', 'NoCoverage']

export const countRoom = (
  room: string,
  results: readonly MutantResult[],
  equivalents: readonly Equivalent[],
  sourceOf: (path: string) => string,
): RoomCount => {
  const left = results.filter(({ status }) => missed.includes(status)).map((result) => mutantOf(result, sourceOf(result.fileName)))
  const survived = left.filter((mutant) => !equivalents.some((equivalent) => isSameMutant(equivalent, mutant)))
  const killed = results.filter(({ status }) => found.includes(status)).length
  return { room, mutants: killed + left.length, killed, survived, equivalent: left.length - survived.length }
}

/** Of the mutants that can be told from the code, how many were. */
export const percentOf = ({ mutants, killed, equivalent }: RoomCount): number =>
  mutants === equivalent ? 100 : (100 * killed) / (mutants - equivalent)

export const tableOf = (counts: readonly RoomCount[]): string =>
  [
    '| room | mutants | killed | survived | equivalent | percent |',
    '|---|---|---|---|---|---|',
    ...counts.map(
      (count) =>
        `| ${count.room} | ${count.mutants} | ${count.killed} | ${count.survived.length} | ${count.equivalent} | ${percentOf(count).toFixed(1)} |`,
    ),
  ].join('\n')

/** A survivor as the page would list it. */
export const diffOf = ({ file, line, before, after }: Mutant): string => `${file}:${line}\n- ${before}\n+ ${after}`
