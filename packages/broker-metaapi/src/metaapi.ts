// The provider as a whole, over one connection: the broker that is read, the trading that places
// orders, and the desk that changes positions.
import * as O from 'fp-ts/lib/Option.js'
import type { Broker, PositionDesk, Trading } from '@tradeport/domain/ports'
import { createConnection } from './connection.ts'
import type { Connection, MetaApiConfig } from './connection.ts'
import { tradingOver } from './orders/trading.ts'
import { AccountInformation, decode, Margin } from './payloads.ts'
import { positionDeskOver, readPositions } from './position-desk.ts'
import { pageSize, requests } from './requests.ts'
import { createTradeOnce } from './trade/trade-once.ts'
import { accountReadingOf } from './translate/account.ts'
import { dealsIn } from './translate/deals.ts'

export interface MetaApi {
  readonly broker: Broker
  readonly trading: Trading
  readonly positionDesk: PositionDesk
  /**
   * How far the provider's clock is ahead of ours; null before its first answer with a Date header.
   */
  readonly clockSkewMs: () => number | null
}

/**
 * All three ports over MetaApi. Nothing is kept but regions, for ten minutes, and which accounts
 * and tokens are to be left alone for now. Throws where a base URL is none of http or https.
 */
export const createMetaApi = (config: MetaApiConfig): MetaApi => {
  const connection = createConnection(config)
  const tradeOnce = createTradeOnce(connection)
  return {
    broker: brokerOver(connection),
    trading: tradingOver(connection, tradeOnce),
    positionDesk: positionDeskOver(connection, tradeOnce),
    clockSkewMs: connection.skew.ms,
  }
}

const brokerOver = (connection: Connection): Broker => {
  const { ask, clock, reading } = connection
  return {
    source: 'metaapi',

    accountInformation: (account) =>
      reading(account, async () =>
        accountReadingOf(
          await ask(account, requests.accountInformation, decode(AccountInformation)),
          clock.now(),
        ),
      ),

    positions: readPositions(connection, false),

    dealsPage: (account, { from, to, offset }) =>
      reading(account, async () => {
        const readAt = clock.now()
        const deals = await ask(
          account,
          requests.history('history-deals', { from, to, offset }),
          dealsIn,
        )
        return { deals, nextOffset: deals.length < pageSize ? null : offset + pageSize, readAt }
      }),

    requiredMargin: (account, query) =>
      reading(account, async () =>
        O.fromNullable((await ask(account, requests.margin(query), decode(Margin))).margin),
      ),
  }
}
