// The broker's spelling of an order's symbol.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import { refuse, type Refusal } from '../../errors.ts'
import { resolveSymbol } from '../../market/broker-symbol.ts'
import type { Ports } from '../../ports/index.ts'
import { secondMs } from '../../primitives/instant.ts'

export type ResolveOrderSymbol = (
  account: BrokerAccount,
  symbol: string,
) => TE.TaskEither<Refusal<'SymbolAmbiguous'>, string>

/** Without the capability `market-data`. */
export const asWritten: ResolveOrderSymbol = (_, symbol) => TE.right(symbol)

/** The symbols of an account are read once an hour; an order does not wait for longer. */
const longestWaitMs = 2 * secondMs

/**
 * A symbol that the broker does not list is sent as it is, and so is every one while the list
 * cannot be read: whether the broker trades it is the broker's answer.
 */
export const createOrderSymbols =
  ({ marketData, pause }: Pick<Ports, 'marketData' | 'pause'>): ResolveOrderSymbol =>
  (account, symbol) =>
  async () => {
    const read = await Promise.race([marketData.symbols(account)(), pause(longestWaitMs)()])
    if (read === undefined || E.isLeft(read)) return E.right(symbol)
    const found = resolveSymbol(symbol, read.right)
    if (found.kind === 'ambiguous')
      return E.left(refuse('SymbolAmbiguous', { symbol, candidates: found.candidates }))
    return E.right(found.kind === 'found' ? found.symbol : symbol)
  }
