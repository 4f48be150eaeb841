// The provider's ports over one connection.
import * as O from 'fp-ts/lib/Option.js'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type {
  Broker,
  MarketData,
  PositionTrading,
  ProviderAccounts,
  Trading,
} from '@tradeport/domain/ports'
import { createConnection, type Connection, type MetaApiConfig } from './connection.ts'
import type { AccountId } from '@tradeport/domain/primitives'
import { createMarketData } from './market-data.ts'
import { decode, DescribedAccount, Margin } from './payloads.ts'
import { createPositionTrading, readPositions } from './position-trading.ts'
import { pageSize, requests } from './requests.ts'
import { createSymbolRead } from './symbol-reads.ts'
import { createTrading } from './trading.ts'
import { accountReadingOf, dealsIn } from './translate.ts'

export interface MetaApi {
  readonly broker: Broker
  readonly trading: Trading
  readonly positionTrading: PositionTrading
  readonly marketData: MarketData
  readonly providerAccounts: ProviderAccounts
  /** How far the provider's clock is ahead of ours; null before its first Date header. */
  readonly clockSkewMs: () => number | null
}

/** Keeps regions for ten minutes, and the pauses of accounts and limits of tokens. */
export const createMetaApi = (config: MetaApiConfig): MetaApi => {
  const connection = createConnection(config)
  return {
    broker: createBroker(connection),
    trading: createTrading(connection),
    positionTrading: createPositionTrading(connection),
    marketData: createMarketData(connection),
    providerAccounts: createProviderAccounts(connection),
    clockSkewMs: connection.skew.ms,
  }
}

const createBroker = (connection: Connection): Broker => {
  const { fetchFrom, readInformation, clock, asPortRead } = connection
  const readSymbol = createSymbolRead(connection)
  const readFigures = async (account: BrokerAccount, readFromTerminal: boolean) => {
    const readAt = clock.now()
    return accountReadingOf(await readInformation(account, readFromTerminal), readAt)
  }
  return {
    source: 'metaapi',

    // A copy without equity may be that of a provider that has just connected: the terminal is
    // asked.
    accountInformation: (account) =>
      asPortRead(account, async () => {
        const copy = await readFigures(account, false)
        return copy.figures.equity === 0 ? readFigures(account, true) : copy
      }),

    positions: readPositions(connection, false),

    dealsPage: (account, window) =>
      asPortRead(account, async () => {
        const deals = await fetchFrom(account, requests.history('history-deals', window), dealsIn)
        const nextOffset = deals.length < pageSize ? null : window.offset + pageSize
        return { deals, nextOffset }
      }),

    requiredMargin: (account, query) =>
      readSymbol(account, requests.margin(query), Margin, ({ margin }) => O.fromNullable(margin)),
  }
}

/** Reads of an account that nobody has linked yet. */
const createProviderAccounts = ({
  fetchFrom,
  readInformation,
  clock,
  asPortRead,
}: Connection): ProviderAccounts => ({
  find: (tenantId, providerAccountId) => {
    // Any region will do: the provisioning API needs none, and answers with the account's.
    const place = { owner: { tenantId }, providerAccountId, region: 'any' }
    // It has no id of ours yet, so that errors name the provider's.
    return asPortRead({ accountId: providerAccountId as AccountId }, async () => {
      const { name, login, server, version, region } = await fetchFrom(
        place,
        requests.provisionedAccount,
        decode(DescribedAccount),
      )
      const { broker, currency, tradeMode } = accountReadingOf(
        await readInformation({ ...place, region }),
        clock.now(),
      )
      return {
        name,
        accountNumber: login,
        server,
        brokerType: version === 4 ? 'mt4' : 'mt5',
        region,
        broker,
        currency,
        isDemo: tradeMode === 'demo',
      }
    })
  },
})
