// The fakes of the broker's ports do what the adapters do.
import * as O from 'fp-ts/lib/Option.js'
import type { BrokerAccount } from '../src/accounts/account.ts'
import { brokerRateLimited, refuse, type BrokerReadError } from '../src/errors.ts'
import { type AccountId, type Ticket, hourMs, secondMs } from '../src/primitives/index.ts'
import {
  describeBrokerContract,
  describeMarketDataContract,
  describePositionTradingContract,
  describeTradingContract,
  type VenuePosition,
  type VenueTrouble,
} from '@tradeport/testkit/contracts'
import {
  someOwner,
  createFakeBroker,
  createFakeTrading,
  openPosition,
  times,
} from '@tradeport/testkit'
import { createFakeMarketData } from './use-cases/fake-market-data.ts'
import { createFakePositionTrading } from './use-cases/fake-position-trading.ts'

const now = Date.parse('2026-05-01T12:00:00.000Z')
const clock = { now: () => now }
const close = async () => undefined

const brokerAccount = (
  index: number,
  platform: BrokerAccount['platform'] = 'mt5',
): BrokerAccount => ({
  accountId: `00000000-0000-4000-8000-00000000000${index}` as AccountId,
  owner: someOwner,
  platform,
  providerAccountId: `provider-${index}`,
  region: null,
})
const positionOf = (position: VenuePosition, index: number) =>
  openPosition({
    ...position,
    ticket: String(99 - index) as Ticket,
    openedAt: now - (index % 2) * 1_000,
  })
const unavailable = (accountId: AccountId) =>
  refuse('BrokerUnavailable', { accountId, reason: 'as the case asks' })
const rateLimited = (accountId: AccountId) => brokerRateLimited(accountId, now + 1_500, now)

describeMarketDataContract('the fake', async () => {
  const marketData = createFakeMarketData(clock)
  const account = brokerAccount(0)
  const prices = { open: 1.1, high: 1.12, low: 1.09, close: 1.11 }
  marketData.put(account.accountId, 'EURUSD.r', {
    candles: {
      '1h': times(24, (hour) => ({
        ...prices,
        time: now - (23 - hour) * hourMs,
        volume: 60,
      })),
    },
    ticks: times(7_200, (second) => ({
      time: now - (7_200 - second) * secondMs,
      bid: 1.1 + second / 1e5,
      ask: 1.1002 + second / 1e5,
    })),
  })
  return {
    marketData,
    account,
    now: clock.now,
    lose: async () => {
      marketData.fail(account.accountId, refuse('NotProvisioned', { accountId: account.accountId }))
    },
    close,
  }
})

const troubles: Readonly<Record<VenueTrouble, (accountId: AccountId) => BrokerReadError>> = {
  unavailable,
  rate_limited: rateLimited,
  not_provisioned: (accountId) => refuse('NotProvisioned', { accountId }),
}

describeBrokerContract('the fake', async (books) => {
  const broker = createFakeBroker(clock)
  const accounts = books.map((_, index) => brokerAccount(index))
  for (const [
    index,
    { tradeMode, broker: name, currency, leverage, positions, deals },
  ] of books.entries()) {
    const figures = {
      balance: 10,
      equity: 10,
      margin: 0,
      freeMargin: 10,
      marginLevel: null,
      leverage,
    }
    broker.put(brokerAccount(index).accountId, {
      information: { tradeMode, broker: name, currency, figures },
      positions: positions.map(positionOf),
      deals,
      margin: ({ volume }) => O.some(volume),
    })
  }
  return {
    broker,
    accounts,
    trouble: async ({ accountId }, trouble) => broker.fail(accountId, troubles[trouble](accountId)),
    addDeals: async ({ accountId }, added) => {
      const deals =
        books[accounts.findIndex((account) => account.accountId === accountId)]?.deals ?? []
      broker.put(accountId, {
        deals: [...deals, ...added].toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0)),
      })
    },
    withholdMargins: async ({ accountId }) => broker.put(accountId, { margin: () => O.none }),
    close,
  }
})

for (const platform of ['mt5', 'mt4'] as const)
  describePositionTradingContract(`the fake on ${platform}`, async (positions) => {
    const account = brokerAccount(1, platform)
    const { accountId } = account
    const desk = createFakePositionTrading(clock)
    desk.put(accountId, positions.map(positionOf))
    return {
      desk,
      account,
      restKeepsTicket: platform === 'mt5',
      held: () => desk.positions(accountId),
      booked: (orderId) =>
        desk
          .closed(accountId)
          .flatMap((deal) => (deal.orderId === orderId ? [deal.volume ?? 0] : [])),
      sends: () => desk.sent().length,
      // It keeps no copy.
      freezeCopy: close,
      closeElsewhere: async (ticket) => {
        const left = desk.positions(accountId).filter((position) => position.ticket !== ticket)
        desk.put(accountId, left)
      },
      makeUnreadable: async () => desk.fail(accountId, unavailable(accountId)),
      forgetAccount: async () => desk.next(refuse('NotProvisioned', { accountId })),
      close,
    }
  })

describeTradingContract('the fake', async () => {
  const trading = createFakeTrading()
  return {
    trading,
    account: brokerAccount(0),
    now: () => 0,
    heldOrders: trading.held,
    movePrice: async () => {
      const { clientId = '', stopLimitPrice: price } = trading.held()[0] ?? {}
      // A stop-limit order becomes a limit order first.
      if (price === undefined) trading.execute()
      else trading.change(clientId, { price, stopLimitPrice: undefined })
    },
    endOrder: async (brokerOrderId, how) => {
      const { clientId = '' } =
        trading.held().find((order) => order.brokerOrderId === brokerOrderId) ?? {}
      trading.end(clientId, how === 'cancelled' ? { kind: how, reason: 'broker' } : { kind: how })
    },
    passTime: close,
    closePosition: close,
    makeReadable: async (isReadable) => trading.hide(!isReadable),
    executedLots: (clientId) =>
      trading.executions(clientId).reduce((lots, { volume = 0 }) => lots + volume, 0),
    close,
  }
})
