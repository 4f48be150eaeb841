// Market data: the list of instruments; quotes, candles and ticks are not there yet.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { notFound, notImplemented } from '../errors.ts'
import type { NotFound, NotImplemented } from '../errors.ts'
import { filterInstruments, findInstrument } from '../market/instruments.ts'
import type { Instrument, InstrumentFilter } from '../market/instruments.ts'

export const marketData = {
  /** GET /symbols. */
  listSymbols: (filter: InstrumentFilter): TE.TaskEither<never, readonly Instrument[]> =>
    TE.right(filterInstruments(filter)),

  /**
   * GET /quotes/:symbol, /candles/:symbol and /ticks/:symbol, for a request that is valid: 404 for
   * an unlisted symbol, else 501.
   */
  getMarketData: (symbol: string): TE.TaskEither<NotFound | NotImplemented, never> =>
    TE.left(
      findInstrument(symbol) === undefined ? notFound('symbol') : notImplemented('market-data'),
    ),
}
