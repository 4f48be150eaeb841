// How a caller names an instrument in a filter: in capitals, while brokers spell theirs as they
// like (GBPCHF_i, AUDUSD.std).
import { parseBy, type Brand } from './ids.ts'

/** 1 to 32 visible characters without a lower-case letter. */
export type SymbolFilter = Brand<string, 'SymbolFilter'>

/** The same as a pattern, for JSON schemas. */
export const symbolFilterPattern = /^[!-`{-~]{1,32}$/

export const parseSymbolFilter = parseBy<SymbolFilter>(symbolFilterPattern)

/** Of Latin letters alone: `ß` has the capitals `SS`. */
export const inCapitals = (symbol: string): string =>
  symbol.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())

/**
 * Whether a broker's spelling is the requested one, which is in capitals, so that the case of the
 * broker's letters does not count, or exactly that of the broker.
 */
export const isSymbolMatch = (filter: string | undefined, brokerSymbol: string): boolean =>
  filter === undefined || brokerSymbol === filter || inCapitals(brokerSymbol) === filter
