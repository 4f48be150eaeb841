// Something that shows only after a number of reads, or after a time.

export type Wait = {
  /** Reads that still do not show it; null when reads do not matter. */
  readsLeft: number | null
  /** Epoch milliseconds; null when time does not matter. */
  readonly until: number | null
}

export const waitFor = (
  terms: { readonly reads?: number; readonly ms?: number },
  at: number,
): Wait => ({
  readsLeft: terms.reads ?? (terms.ms === undefined ? 1 : null),
  until: terms.ms === undefined ? null : at + terms.ms,
})

export const isOver = (wait: Wait, at: number): boolean =>
  (wait.readsLeft !== null && wait.readsLeft <= 0) || (wait.until !== null && at >= wait.until)

/** Counts a read that does not show it yet; true when this read does show it. */
export const readShows = (wait: Wait, at: number): boolean => {
  if (isOver(wait, at)) return true
  if (wait.readsLeft !== null) wait.readsLeft--
  return false
}
