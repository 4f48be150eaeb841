// The broker's spelling of symbols: some hang a suffix on each name.
import type { Account } from '../books/account.ts'
import type { Instrument } from './instruments.ts'
import type { Market } from './market.ts'

/** Finds an instrument by the broker's spelling of its symbol. */
export const findInstrument = (market: Market, { settings }: Pick<Account, 'settings'>, symbol: string): Instrument | undefined =>
  symbol.endsWith(settings.symbolSuffix) ? market.instruments.get(symbol.slice(0, symbol.length - settings.symbolSuffix.length)) : undefined
