// What a soak may leave behind: instances hold what they held after the warm-up, and no table grows
// that nothing clears.
import type { Measured } from './probe.ts'
import { keepingOf } from './table-keeping.ts'

/** By the name of the table with its schema. */
type TableRows = ReadonlyMap<string, number>

/** Measured when the load had ended for a while and everything that it left was done. */
export interface Rest {
  readonly held: readonly Measured[]
  readonly tables: TableRows
}

/** Of the heap without code. */
const heapBound = 1.05
/**
 * V8 goes on compiling functions for a long while; code compiled anew for every request would be
 * far more.
 */
const codeBound = 1.5
/** So many more of a kind of handle are connections that pools keep open for their next use. */
const handleSlack = 10

export const checkInstances = (
  before: readonly Measured[],
  after: readonly Measured[],
): readonly string[] => {
  if (before.length === 0 || before.length !== after.length)
    return ['not every instance was measured']
  return before.flatMap((one, index) =>
    faultsOfInstance(`instance ${index + 1}`, one, after[index] ?? one),
  )
}

const faultsOfInstance = (name: string, before: Measured, after: Measured): readonly string[] => {
  if (before.pid !== after.pid) return [`${name} is not the process that it was`]
  const ratio = withoutCode(after) / withoutCode(before)
  const codeRatio = after.code / before.code
  const kinds = [...new Set([...Object.keys(before.resources), ...Object.keys(after.resources)])]
  const grown = kinds.filter(
    (kind) => (after.resources[kind] ?? 0) > (before.resources[kind] ?? 0) + handleSlack,
  )
  return [
    ...(ratio <= heapBound
      ? []
      : [
          `${name} holds ${ratio.toFixed(3)} times the heap that it held after the warm-up, code aside`,
        ]),
    ...(codeRatio <= codeBound
      ? []
      : [`${name} holds ${codeRatio.toFixed(2)} times the code that it held after the warm-up`]),
    ...(after.listeners <= before.listeners
      ? []
      : [
          `${name} has ${after.listeners} listeners of its process where it had ${before.listeners}`,
        ]),
    ...grown.map(
      (kind) =>
        `${name} has ${after.resources[kind]} of ${kind} where it had ${before.resources[kind] ?? 0}`,
    ),
  ]
}

const withoutCode = ({ heap, code }: Measured): number => heap - code

export const checkTables = (before: TableRows, after: TableRows): readonly string[] =>
  [...after]
    .filter(([name, rows]) => rows > (before.get(name) ?? 0) && keepingOf(name)?.grows !== true)
    .map(
      ([name, rows]) =>
        `${name} has ${rows} rows where it had ${before.get(name) ?? 0}, and nothing is known to clear it`,
    )
