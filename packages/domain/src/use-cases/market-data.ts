// Market data: the list of instruments; quotes, candles and ticks are not there yet.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { refuse, type Refusal } from '../errors.ts'
import {
  filterInstruments,
  findInstrument,
  type Instrument,
  type InstrumentFilter,
} from '../market/instruments.ts'

export const marketData = {
  /** GET /symbols. */
  listSymbols: (filter: InstrumentFilter): TE.TaskEither<never, readonly Instrument[]> =>
    TE.right(filterInstruments(filter)),

  /**
   * GET /quotes/:symbol, /candles/:symbol and /ticks/:symbol, for a request that is valid: 404 for
   * an unlisted symbol, else 501.
   */
  getMarketData: (symbol: string): TE.TaskEither<Refusal<'NotFound' | 'NotImplemented'>, never> =>
    TE.left(
      findInstrument(symbol) === undefined
        ? refuse('NotFound', { what: 'symbol' })
        : refuse('NotImplemented', { feature: 'market-data' }),
    ),
}
