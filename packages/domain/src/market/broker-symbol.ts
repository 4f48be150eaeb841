// Finds the broker's spelling of a symbol that a caller wrote in capitals: brokers spell EURUSD as
// EURUSD.r, EURUSDm or EURUSD# (docs/behaviour.md#market-data).

export type ResolvedSymbol =
  | { readonly kind: 'found'; readonly symbol: string }
  | { readonly kind: 'unknown' }
  /** Several of the broker's symbols could be meant. */
  | { readonly kind: 'ambiguous'; readonly candidates: readonly string[] }

/** What follows the symbol: `.r`, `#`, `_i`, or small letters. US300 is no US30. */
const suffix = /^(?:[^A-Za-z0-9].*|[a-z]+)$/

/**
 * The same spelling wins, then the same letters in another case, then the one symbol that has a
 * suffix more.
 * @param symbols as the broker spells them
 */
export const resolveSymbol = (wanted: string, symbols: readonly string[]): ResolvedSymbol => {
  if (symbols.includes(wanted)) return { kind: 'found', symbol: wanted }
  const capitals = wanted.toUpperCase()
  const sameLetters = symbols.filter((symbol) => symbol.toUpperCase() === capitals)
  const candidates =
    sameLetters.length > 0
      ? sameLetters
      : symbols.filter(
          (symbol) =>
            symbol.slice(0, wanted.length).toUpperCase() === capitals &&
            suffix.test(symbol.slice(wanted.length)),
        )
  const [only] = candidates
  if (only === undefined) return { kind: 'unknown' }
  return candidates.length === 1
    ? { kind: 'found', symbol: only }
    : { kind: 'ambiguous', candidates: candidates.toSorted() }
}
