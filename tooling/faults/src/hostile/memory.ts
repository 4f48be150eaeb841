// What a service holds in memory, told and judged.
import type { Measured } from './probe.ts'

/** What may stand in memory after all that did not before: of the heap and outside it. */
export const mostGrownBytes = 16 * 1024 * 1024
const mebibyte = 1024 * 1024

export const faultsOfGrowth = (before: Measured, after: Measured): readonly string[] => {
  const grown = held(after) - held(before)
  return grown <= mostGrownBytes ? [] : [`memory grew by ${inMebibytes(grown)} MiB`]
}

export const inMemory = ({ heapBytes, externalBytes, rssBytes, connections }: Measured): string =>
  `heap ${inMebibytes(heapBytes)} MiB, outside it ${inMebibytes(externalBytes)} MiB, resident ${inMebibytes(rssBytes)} MiB, ${connections} connections`

const held = ({ heapBytes, externalBytes }: Measured): number => heapBytes + externalBytes
const inMebibytes = (bytes: number): string => (bytes / mebibyte).toFixed(1)
