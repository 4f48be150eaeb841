// Ports for tests of use cases, all in memory: stored accounts of one user, a broker, and a clock
// that tests turn; with orders, with changes of positions, and with journals.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { setTimeout } from 'node:timers/promises'
import {
  requireBrokerAccount,
  type Account,
  type BrokerAccount,
  type TradeMode,
} from '../../src/accounts/account.ts'
import { refuse, type Refusal } from '../../src/errors.ts'
import type {
  AcquireSlot,
  Calculate,
  Clock,
  Journal,
  OrderJob,
  ChangeLocks,
  PositionTrading,
} from '../../src/ports/index.ts'
import {
  someOwner,
  createFakeAccountStore,
  createFakeBroker,
  createFakeHalts,
  createFakeIdempotencyStore,
  createFakeLimitStore,
  createFakeJournal,
  createFakeOrderStore,
  createFakeProviderTokens,
  createFakeRecords,
  createFakeTrading,
  newAccount,
  newOrderId,
  openPosition,
  rightOf,
  type FakeBroker,
  unreadJournal,
} from '@tradeport/testkit'
import { createFakePositionTrading } from './fake-position-trading.ts'
import {
  formatPositionId,
  type AccountId,
  type Owner,
  type UserId,
  secondMs,
  type Instant,
  sumExactly,
} from '../../src/primitives/index.ts'
import {
  createLiveAccounts,
  createCancelWhereHalted,
  followOpenOrders,
  createOpenOrders,
  processOrder,
  createJournalReads,
} from '../../src/use-cases/index.ts'
import type { Order, OrderId, OrderRequest } from '../../src/orders/order.ts'
import { maxSendAgeMs, type SentBefore } from '../../src/orders/placement.ts'
import {
  checkAndRecordOrder,
  symbolAsWritten,
  type ResolveOrderSymbol,
} from '../../src/use-cases/orders.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import type { ServiceEvent } from '../../src/events/events.ts'
import type { BrokerDeal } from '../../src/journal/broker-deal.ts'
import { calculateHere } from '../../src/statistics/calculations.ts'
import type { Deal } from '../../src/trades/deal.ts'

export { rightOf }

export const owner = someOwner
export const stranger: Owner = { ...owner, userId: 'u-2' as UserId }

export const createTestDesk = (clock: Clock = { now: () => 1_000_000 }, pageSize?: number) => {
  const records = createFakeRecords()
  const accounts = createFakeAccountStore(records)
  const broker = createFakeBroker(clock, pageSize)
  const ports = { accounts, broker, clock, halts: createFakeHalts(records) }
  return {
    ...ports,
    records,
    liveAccounts: createLiveAccounts(ports),
    /**
     * Links an account of `owner`, known to the broker unless `fields` say otherwise. One with a
     * trade mode was read just now.
     */
    link: (fields: Partial<Account> = {}): Account => {
      const lastReadAt = (fields.tradeMode ?? null) === null ? null : clock.now()
      const account = newAccount(owner, { lastReadAt, ...fields })
      records.tables.accounts.set(account.id, account)
      broker.put(account.id)
      return account
    },
  }
}

export const tagOf = async (task: TE.TaskEither<Refusal, unknown>) => {
  const result = await task()
  return E.isLeft(result) ? result.left._tag : 'none'
}

/** A broker that cannot be read now. */
export const down = (accountId: AccountId): Refusal<'BrokerUnavailable'> =>
  refuse('BrokerUnavailable', { accountId, reason: 'down' })

/** What a broker says of an account, with figures that add up to the balance. */
export const informationOf = (tradeMode: TradeMode, balance = 1, fields: object = {}) => ({
  tradeMode,
  broker: null,
  currency: null,
  figures: {
    balance,
    equity: balance,
    margin: 0,
    freeMargin: balance,
    marginLevel: null,
    leverage: 100,
  },
  ...fields,
})

/** A port of which a test needs these methods alone. */
export const partOf = <Port>(methods: Partial<Port>): Port => methods as Port

/** A store that cannot be reached. */
export const unavailable = () => TE.left(refuse('ServiceUnavailable', { reason: 'unavailable' }))

/**
 * Time that passes when nothing else runs: pauses end at once, in the order of their times, as soon
 * as everything else waits too.
 */
const createTestTime = (start: Instant) => {
  let now = start
  let sleepers: readonly { readonly wakesAt: Instant; readonly wake: () => void }[] = []
  const wakeNext = () => {
    const [next, ...others] = sleepers.toSorted((a, b) => a.wakesAt - b.wakesAt)
    sleepers = others
    if (next === undefined) return
    now = Math.max(now, next.wakesAt)
    next.wake()
    if (others.length > 0) setImmediate(wakeNext)
  }
  return {
    clock: { now: () => now },
    wait: (ms: number) => {
      now += ms
    },
    pause: (ms: number) => () =>
      new Promise<void>((wake) => {
        if (sleepers.length === 0) setImmediate(wakeNext)
        sleepers = [...sleepers, { wakesAt: now + ms, wake }]
      }),
  }
}

/** Every promise that can go on without a tick has gone on. */
export const idle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

/** Pauses that end when the test says that a second has passed for all of them. */
export const createTicks = () => {
  const waiting: (() => void)[] = []
  return {
    pause: () => () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve)
      }),
    tick: async (seconds = 1) => {
      for (let passed = 0; passed < seconds; passed++) {
        for (const resume of waiting.splice(0)) resume()
        await idle()
      }
    },
  }
}

export const noon = Date.UTC(2026, 10, 21, 12)

export const requestOn = (
  accountId: Account['id'],
  fields: Partial<OrderRequest> = {},
): OrderRequest => ({
  accountId,
  symbol: 'EURUSD',
  side: 'buy',
  orderType: 'market',
  volume: 0.3,
  ...fields,
})

/** Time for the reads of a change to be made in. */
export const realPause = (ms: number) => () => setTimeout(ms / 50)

/** With stored orders, limits, a provider token, and a broker that executes. */
export const createOrderDesk = () => {
  let now = noon
  let stalledMs = 0
  let heldSlots = 0
  let hasSlots = true
  const slot: AcquireSlot = (_, patienceMs) => async () => {
    if (!hasSlots) {
      now += patienceMs
      return undefined
    }
    heldSlots += 1
    return () => void (heldSlots -= 1)
  }
  const clock = { now: () => now }
  const desk = createTestDesk(clock)
  const { records, broker } = desk
  const orders = createFakeOrderStore(clock, records)
  const allOrders = () => [...records.tables.orders.values()]
  const changedAccounts: string[] = []
  const reportedHaltFailures: (readonly [OrderId, string])[] = []
  const ambiguousSymbols = new Set<string>()
  const lastDeals = new Map<string, Instant>()
  const ports = {
    ...desk,
    journal: partOf<Journal>({
      find: ({ accountId }) => {
        const latestDealAt = lastDeals.get(accountId)
        return TE.right(
          latestDealAt === undefined ? O.none : O.some({ ...unreadJournal, latestDealAt }),
        )
      },
    }),
    idempotency: createFakeIdempotencyStore(records, clock),
    providerTokens: createFakeProviderTokens(records),
    orderLimits: createFakeLimitStore(records, clock),
    positionTrading: partOf<PositionTrading>({ freshPositions: broker.positions }),
    slots: { forSend: slot, forLookup: slot },
    onAccountChanged: ({ accountId }: BrokerAccount) => void changedAccounts.push(accountId),
    orders,
    onHaltCancellationFailed: ({ id }: Order, because: string) =>
      void reportedHaltFailures.push([id, because]),
    orderIds: { newOrderId: (): OrderId => newOrderId() },
    resolveOrderSymbol: (...[account, symbol]: Parameters<ResolveOrderSymbol>) =>
      ambiguousSymbols.has(symbol)
        ? TE.left(refuse('SymbolAmbiguous', { symbol, candidates: [] }))
        : symbolAsWritten(account, symbol),
    stopwatch: { elapsedMs: () => now + stalledMs },
    trading: createFakeTrading(),
    changeLocks: createLocks(),
    pause: (ms: number) => async () => {
      now += ms
    },
  }
  /** Open orders with other ports in place of some. */
  const openWith = (other: Partial<typeof ports> = {}) => {
    const given = { ...ports, pause: realPause, ...other }
    const open = createOpenOrders(given)
    return {
      ...open,
      cancelWhereHalted: createCancelWhereHalted({ ...given, ...open }),
      followOpenOrders: followOpenOrders(given),
    }
  }
  const open = openWith()
  const tenant = { id: owner.tenantId, name: 'Acme', providerToken: 'token' }
  records.tables.tenants.set(owner.tenantId, tenant)
  const jobOf = async (
    { id, createdAt }: Order,
    sentBefore: SentBefore = 'no',
  ): Promise<OrderJob> => {
    const found = O.toUndefined(await rightOf(orders.findStored(owner, id)))
    if (found === undefined) throw new Error('the order is not stored')
    return { ...found, sentBefore, sendDeadlineMs: createdAt + maxSendAgeMs }
  }
  /** One step of an order, with other ports in place of some. */
  const process = async (
    order: Order,
    sentBefore: SentBefore = 'no',
    other: Partial<typeof ports & typeof open> = {},
  ) => processOrder({ ...ports, ...open, ...other })(await jobOf(order, sentBefore))()
  return {
    ...ports,
    open,
    ambiguousSymbols,
    /** When the broker's history had its last deal, by account, as far as the journal was read. */
    lastDeals,
    allOrders,
    openWith,
    tables: records.tables,
    changedAccounts,
    /** What was reported of orders that a halt could not cancel. */
    reportedHaltFailures,
    heldSlots: () => heldSlots,
    /** No slot comes free from now on. */
    holdSlots: () => {
      hasSlots = false
    },
    wait: (ms: number) => {
      now += ms
    },
    /** So much time passes by the stopwatch alone. */
    stall: (ms: number) => {
      stalledMs += ms
    },
    /** Places an order of 0.3 lots. */
    place: (
      { id }: Pick<Account, 'id'>,
      fields: Partial<OrderRequest> = {},
      other: Partial<typeof ports> = {},
    ) => checkAndRecordOrder({ ...ports, ...other })({ owner }, requestOn(id, fields)),
    jobOf,
    process,
    /** Processes what is due, once a second. */
    runFor: async (
      seconds: number,
      sentBefore: SentBefore = 'no',
      other: Partial<typeof ports & typeof open> = {},
    ) => {
      for (let passed = 0; passed < seconds; passed++) {
        for (const { order, dueAt } of allOrders())
          if (dueAt !== null && dueAt <= now) await process(order, sentBefore, other)
        now += secondMs
      }
    },
  }
}

export type OrderDesk = ReturnType<typeof createOrderDesk>

/** A broker to which an order is sent only after something has happened. */
export const sendingAfter = (trading: OrderDesk['trading'], happens: () => unknown) => {
  const placeOrder: typeof trading.placeOrder =
    (...send) =>
    async () => {
      await happens()
      return trading.placeOrder(...send)()
    }
  return { trading: { ...trading, placeOrder } }
}

/** Locks of one process. */
function createLocks(): ChangeLocks {
  const last = new Map<string, Promise<void>>()
  return {
    holding: (_account, ticket) => (work) => async () => {
      const before = last.get(ticket)
      const { promise, resolve } = Promise.withResolvers<void>()
      last.set(ticket, promise)
      await before
      return work(() => true)().finally(resolve)
    },
  }
}

/**
 * With open positions, locks, and a time that passes by itself.
 * @param fields of the account, which its broker called a demo account when it was last read,
 * unless they say otherwise
 * @param history the broker's deals, which the journal has not read yet
 */
export const createChangeDesk = (
  fields: Partial<Account> = {},
  positions: readonly BrokerPosition[] = [openPosition()],
  history: readonly BrokerDeal[] = [],
) => {
  const time = createTestTime(noon)
  const desk = createTestDesk(time.clock)
  const positionTrading = createFakePositionTrading(time.clock)
  const account = desk.link({ tradeMode: 'demo', ...fields })
  const changedAccounts: string[] = []
  positionTrading.put(account.id, positions)
  positionTrading.putHistory(account.id, history)
  return {
    ...time,
    ...desk,
    stopwatch: { elapsedMs: time.clock.now },
    positionTrading,
    changeLocks: createLocks(),
    synchroniseJournal: positionTrading.synchroniseJournal,
    journal: partOf<Journal>(positionTrading.journal),
    trades: positionTrading.trades,
    resolveOrderSymbol: symbolAsWritten,
    onAccountChanged: ({ accountId }: BrokerAccount) => void changedAccounts.push(accountId),
    changedAccounts,
    account,
    id: formatPositionId(account.id, '42'),
    /** The position as it truly is now; undefined when it is closed. */
    held: () => positionTrading.positions(account.id).find(({ ticket }) => ticket === '42'),
  }
}

export type ChangeDesk = ReturnType<typeof createChangeDesk>

export interface JournalDeskOptions {
  readonly pageSize?: number
  readonly recordsEvents?: boolean
  readonly maxFirstReadDeals?: number
}

/** With journals: the broker's history, the stored deals, and the use case that reads them. */
const calculate: Calculate = (_, name, ...inputs) => TE.fromIO(() => calculateHere(name, inputs))

export const createJournalDesk = ({
  pageSize,
  recordsEvents = true,
  maxFirstReadDeals = 20_000,
}: JournalDeskOptions = {}) => {
  const { clock, wait: pass, pause } = createTestTime(1_000_000)
  const desk = createTestDesk(clock, pageSize)
  const events: ServiceEvent[] = []
  const keys = new Set<string>()
  const record = (_owner: unknown, happened: readonly ServiceEvent[]) => {
    for (const event of happened) if (!keys.has(event.key)) events.push(event)
    for (const { key } of happened) keys.add(key)
  }
  const { journal, trades } = createFakeJournal(desk.records, record, clock)
  // Tests replace single reads.
  const broker: { -readonly [Read in keyof FakeBroker]: FakeBroker[Read] } = desk.broker
  const disagreements: number[] = []
  const ports = {
    ...desk,
    journal,
    trades,
    broker,
    stopwatch: { elapsedMs: clock.now },
    pause,
    recordsEvents,
    maxFirstReadDeals,
    maxDeals: maxFirstReadDeals,
    calculate,
    onDisagreement: (_account: BrokerAccount, difference: number) =>
      void disagreements.push(difference),
  }
  return {
    ...ports,
    events,
    disagreements,
    pass,
    ...createJournalReads(ports),
    /** Another process over the same journal. */
    otherProcess: () => createJournalReads(ports).synchroniseJournal,
    link: (fields: Partial<Account> = {}): Account => desk.link({ createdAt: 0, ...fields }),
    relink: (account: Account, fields: Partial<Account>): Account => {
      const linked = { ...account, ...fields }
      desk.records.tables.accounts.set(account.id, linked)
      return linked
    },
    /** The broker's history, with a balance that it adds up to unless another is given. */
    put: (
      account: Account,
      deals: readonly Deal[],
      balance = sumExactly(
        deals.flatMap(({ profit, commission, swap }) => [profit, commission, swap]),
      ),
    ) => {
      broker.put(account.id, {
        deals,
        information: informationOf('demo', balance),
      })
    },
  }
}

/** The deals of a position of one lot, whose opening cost 1. */
export const closedPosition = (
  positionId: string,
  closedAt: Instant,
  profit: number,
): readonly [Deal, Deal] => {
  const deal = { positionId, symbol: `S${positionId}`, volume: 1, price: 1, swap: 0 }
  return [
    { ...deal, id: `${positionId}1`, side: 'buy', entry: 'in', profit: 0, commission: -1, time: 2 },
    {
      ...deal,
      id: `${positionId}2`,
      side: 'sell',
      entry: 'out',
      profit,
      commission: 0,
      time: closedAt,
    },
  ]
}

export const brokerAccountOf = (account: Account): BrokerAccount => {
  const found = requireBrokerAccount(account)
  if (found._tag === 'Left') throw new Error('the account has no provider')
  return found.right
}
