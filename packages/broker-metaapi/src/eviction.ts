// Maps that remember at most the last 20,000 accounts or symbols.
const maxEntries = 20_000

/** Sets an entry; beyond the limit the one that was set longest ago is dropped. */
export const setWithEviction = <A>(entries: Map<string, A>, key: string, value: A): void => {
  entries.delete(key)
  entries.set(key, value)
  const [oldest] = entries.keys()
  if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
}
