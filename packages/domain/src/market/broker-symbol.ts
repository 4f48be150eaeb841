// Finds the broker's spelling of a symbol that a caller wrote in capitals: brokers spell EURUSD as
// EURUSD.r, EURUSDm or EURUSD# (docs/behaviour.md#market-data).

import { inCapitals, isSymbolMatch } from '../primitives/symbol-filter.ts'

export type ResolvedSymbol =
  | { readonly kind: 'found'; readonly symbol: string }
  | { readonly kind: 'unknown' }
  /** Several of the broker's symbols could be meant. */
  | { readonly kind: 'ambiguous'; readonly candidates: readonly string[] }

/** A symbol of the caller at the broker. */
export interface BrokerSymbol {
  readonly spelling: string
  /** False where the broker does not list it: then `spelling` is the caller's. */
  readonly isListed: boolean
}

/**
 * What follows the symbol: `.r`, `#` or `_i`, or small letters after capitals. US300 is no US30, and
 * Meta is no MET.
 */
const hasSuffix = (symbol: string, capitals: string): boolean => {
  const rest = symbol.slice(capitals.length)
  return (
    (/^[^A-Za-z0-9]/.test(rest) && inCapitals(symbol.slice(0, capitals.length)) === capitals) ||
    (/^[a-z]+$/.test(rest) && symbol.startsWith(capitals))
  )
}

/**
 * The same spelling wins, then the same letters in another case, then the one symbol that has a
 * suffix more.
 * @param symbols as the broker spells them
 */
export const resolveSymbol = (wanted: string, symbols: readonly string[]): ResolvedSymbol => {
  if (symbols.includes(wanted)) return { kind: 'found', symbol: wanted }
  const capitals = inCapitals(wanted)
  const sameLetters = symbols.filter((symbol) => inCapitals(symbol) === capitals)
  const candidates =
    sameLetters.length > 0 ? sameLetters : symbols.filter((symbol) => hasSuffix(symbol, capitals))
  const [only] = candidates
  if (only === undefined) return { kind: 'unknown' }
  return candidates.length === 1
    ? { kind: 'found', symbol: only }
    : { kind: 'ambiguous', candidates: candidates.toSorted() }
}

/**
 * Filters by the symbol that a caller wrote: those that are spelled exactly so, or else those in the
 * broker's spelling. Where the broker does not list the symbol, the case of letters does not count.
 * Without a symbol, all.
 * @param resolved undefined where the broker's list could not be read
 */
export const selectBySymbol = <A extends { readonly symbol: string }>(
  all: readonly A[],
  wanted: string | undefined,
  resolved: BrokerSymbol | undefined,
): readonly A[] => {
  if (wanted === undefined) return all
  const asWritten = all.filter(({ symbol }) => symbol === wanted)
  if (asWritten.length > 0 || resolved === undefined) return asWritten
  return all.filter(({ symbol }) =>
    resolved.isListed ? symbol === resolved.spelling : isSymbolMatch(wanted, symbol),
  )
}
