// A simulated provider for tests of orders: fresh accounts, an order for each, and the broker's true book beside what was said of it.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { AccountControl, AccountOptions, Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { MetaApiConfig } from '../../src/index.ts'
import type { BrokerAccount, BrokerOrder, LookupAnswer, PlacementAnswer, SentOrder, Trading } from '@tradeport/domain'
import { account } from '../support.ts'
import { always, order as plainOrder, sentOrder, tradingWith } from './order-support.ts'

const token = 'orders-token'
export const readOnlyToken = 'read-only-token'
/** EURUSD, all the time. */
export const [bid, ask] = [1.1, 1.1002]

export interface Desk {
  readonly id: string
  readonly control: AccountControl
  readonly trading: Trading
  readonly account: BrokerAccount
  readonly order: BrokerOrder
  readonly send: () => Promise<PlacementAnswer>
  /** Looks for the order; `sentAt` is when it was sent last, else when the desk was made. */
  /** Lets the pauses of accounts and tokens pass. */
  readonly passTime: (ms: number) => void
  readonly look: (more?: Partial<SentOrder>) => Promise<LookupAnswer>
  /** How many times an order was sent. */
  readonly sends: () => number
  /** The lots that the broker executed of the order, whatever was said of it. */
  readonly executed: () => number
}

export interface Floor {
  readonly sandbox: () => Sandbox
  /** A fresh account and an order for it. */
  readonly desk: (options?: Partial<AccountOptions>, more?: Partial<BrokerOrder>, given?: string, config?: Partial<MetaApiConfig>) => Desk
}

/** Starts a sandbox for the tests of a file; faults and closed markets end with each test. */
export const openFloor = (): Floor => {
  let sandbox: Sandbox
  let accounts = 0
  beforeAll(async () => {
    sandbox = await startSandbox({ tokens: [token, { token: readOnlyToken, readOnly: true }] })
    sandbox.prices.pin('EURUSD', { bid, ask })
  })
  afterEach(() => {
    sandbox.faults.clear()
    sandbox.market.open()
    sandbox.prices.pin('EURUSD', { bid, ask })
  })
  afterAll(() => sandbox.close())

  const desk: Floor['desk'] = (options = {}, more = {}, given = token, config = {}) => {
    accounts += 1
    const id = `p-${accounts}`
    const control = sandbox.addAccount({ id, region: 'london', ...options })
    const own: BrokerAccount = { ...account, providerAccountId: id }
    const order: BrokerOrder = { ...plainOrder, clientId: `TP_${String(accounts).padStart(10, '0')}_abcdefghij`, ...more }
    let aheadMs = 0
    const trading = tradingWith({
      clientUrl: `${sandbox.url}/{region}`,
      provisioningUrl: sandbox.url,
      providerToken: () => TE.right(O.some(given)),
      clock: { now: Date.now },
      stopwatch: { elapsedMs: () => performance.now() + aheadMs },
      ...config,
      deadlines: { tradeMs: 2_000, readMs: 5_000, fillMs: 2_000 },
    })
    let sentAt = Date.now()
    const isOwn = (deal: Readonly<Record<string, unknown>>): boolean => deal['clientId'] === order.clientId
    return {
      id,
      control,
      trading,
      account: own,
      order,
      send: () => {
        sentAt = Date.now()
        return trading.placeOrder(own, order, always)()
      },
      passTime: (ms) => void (aheadMs += ms),
      look: (more = {}) => trading.findOrder(own, sentOrder({ order, sentAt, ...more }))(),
      sends: () => sandbox.requests.count({ account: id, route: 'trade' }),
      executed: () =>
        control
          .deals()
          .filter(isOwn)
          .reduce((lots, deal) => lots + Number(deal['volume']), 0),
    }
  }

  return { sandbox: () => sandbox, desk }
}
