// The stored records behind a network and a server that fail: statements are slow, lost or done
// without an answer, and a failover loses the last commits, though they were acknowledged. Rows that
// are due are claimed with a lease. The database's own clock is right and counts from the beginning
// of the simulation.
import type { Account } from '@tradeport/domain/accounts'
import { refuse, type AsyncResult, type ServiceUnavailable } from '@tradeport/domain/errors'
import { brokerClientId, isCorrection, sendTimeoutMs, type Order } from '@tradeport/domain/orders'
import type { Halts, NewOrder, OrderJob, OrderStore } from '@tradeport/domain/ports'
import { minuteMs, secondMs, type AccountId } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { createFakeAccountStore, createFakeHalts, createFakeLimitStore } from './fake-accounts.ts'
import { createFakeOrderStore } from './fake-orders.ts'
import {
  createFakeRecords,
  type FakeRecords,
  type StoredOrder,
  type Tables,
} from './fake-records.ts'
import type { Life, World } from './simulated-time.ts'

interface Options {
  /** A row was written, and is due for these processes after so many ms. */
  readonly scheduled: (inMs: number) => void
  readonly sendRecorded: (life: Life, order: Order, isHalted: boolean) => void
  readonly isUndecided: (clientId: string) => boolean
  /** The order was reported as rejected, and is not any more. */
  readonly corrected: (order: Order) => void
  /** If not, an order may be stored as sending while its account is halted. */
  readonly obeysHalts: boolean
  /** Called with each statement. */
  readonly disturb: () => void
}

/** What was stored from this moment on. */
interface Commit extends Pick<Tables, 'orders' | 'ownHalts'> {
  readonly atMs: number
}

const claimMs = 15 * secondMs
/** For how long a recorded order that is due is left to the process that has it in memory. */
const ownMs = 3 * secondMs
const longestLossMs = 10 * secondMs

export const createSimulatedDatabase = (
  { random, timeline, strikes, delayMs }: World,
  options: Options,
) => {
  const clock = { now: timeline.now }
  const records = createFakeRecords()
  const accounts = createFakeAccountStore(records)
  const halts = createFakeHalts(records)
  const limits = createFakeLimitStore(records, clock)
  const store = createFakeOrderStore(clock, options.obeysHalts ? records : withoutHalts(records))
  const forgottenSends = new Set<string>()
  const commits: Commit[] = [{ atMs: -Infinity, ...createFakeRecords().tables }]
  let isDown = false
  let failovers = 0

  const schedule = ({ dueAt, placement }: StoredOrder): void => {
    if (dueAt === null) return
    const inMs = Math.max(0, dueAt - timeline.now())
    options.scheduled(inMs)
    if (placement.step === 'recorded') options.scheduled(inMs + ownMs)
  }
  /** Remembers what a statement wrote. */
  const commit = (): void => {
    const { orders, ownHalts } = records.tables
    const last = commits.at(-1) as Commit
    const written = orders.where((row) => last.orders.get(row.order.id) !== row)
    for (const row of written) schedule(row)
    if (written.length > 0 || !isSameTable(ownHalts, last.ownHalts))
      commits.push({ atMs: timeline.now(), orders: orders.copy(), ownHalts: ownHalts.copy() })
  }

  const query =
    <A>(life: Life, what: string, work: AsyncResult<A>): AsyncResult<A> =>
    async () => {
      const unavailable = E.left(refuse('ServiceUnavailable', { reason: what }))
      if (strikes('crash', 0.01)) life.crash()
      const isLost = strikes('database_error', 0.05)
      const outMs = strikes('slow_database', 0.05) ? delayMs(10 * minuteMs) : random.whole(1, 5)
      const backMs = strikes('slow_database', 0.05) ? delayMs(10 * minuteMs) : random.whole(1, 5)
      const isUnanswered = strikes('lost_commit_answer', 0.05)
      if (outMs + backMs > secondMs)
        timeline.note(`${life.id}  ${what} takes ${outMs} ms and ${backMs} ms back`)
      const answer = await life.ask<E.Either<ServiceUnavailable, A>>(
        outMs,
        async () => {
          options.disturb()
          if (isLost || isDown) return unavailable
          const done = await work()
          commit()
          return done
        },
        backMs,
      )
      if (strikes('crash', 0.01)) life.crash()
      // The promise of a process that crashed is not gone on with.
      if (!life.isAlive()) return new Promise(() => undefined)
      if (isUnanswered || E.isLeft(answer))
        timeline.note(`${life.id}  ${what} fails${E.isRight(answer) ? ', and was done' : ''}`)
      return isUnanswered ? unavailable : answer
    }

  /** Some methods of a store, as one process reaches them. */
  const reached = <Store, Name extends keyof Store & string>(
    life: Life,
    store: Store,
    names: readonly Name[],
  ): Pick<Store, Name> =>
    Object.fromEntries(
      names.map((name) => {
        const method = store[name] as (...args: readonly unknown[]) => AsyncResult<unknown>
        return [name, (...args: readonly unknown[]) => query(life, name, method(...args))]
      }),
    ) as Pick<Store, Name>

  const advance =
    (life: Life): OrderStore['advance'] =>
    (owner, from, step, now) =>
    async () => {
      const before = records.tables.orders.get(from.order.id)
      const written = await store.advance(owner, from, step, now)()
      const after = records.tables.orders.get(from.order.id)
      if (before === undefined || after === undefined || before === after) return written
      const { order, placement, version } = after
      const ending = order === before.order ? '' : `, ${statusOf(order)}`
      timeline.note(
        `${life.id}  ${brokerClientId(order.id)} is stored as ${placement.step}${ending}, version ${version}`,
      )
      const isHalted = records.tables.ownHalts.has(order.request.accountId)
      if (placement.step === 'sending') options.sendRecorded(life, order, isHalted)
      if (isCorrection(before.order, order)) options.corrected(order)
      return written
    }

  /** The orders of one process; `recorded` gets what it has recorded once it knows. */
  const orders = (life: Life, recorded: (order: NewOrder) => void) => {
    const { record, ...others } = reached(life, { ...store, advance: advance(life) }, [
      'record',
      'placement',
      'advance',
      'othersTickets',
      'openOrders',
    ])
    return {
      ...others,
      record: (...[owner, order]: Parameters<OrderStore['record']>) =>
        pipe(
          record(owner, order),
          TE.tapIO(() => () => recorded(order)),
        ),
    }
  }

  const claimDue = (life: Life, elapsedMs: () => number): AsyncResult<readonly OrderJob[]> => {
    const claimedAtMs = elapsedMs()
    return query(
      life,
      'claim',
      TE.fromIO(() => {
        const { orders } = records.tables
        const at = timeline.now()
        return orders
          .where(
            ({ dueAt, placement }) =>
              dueAt !== null && dueAt <= (placement.step === 'recorded' ? at - ownMs : at),
          )
          .map((row) => ({
            ...orders.put({ ...row, dueAt: at + claimMs }),
            mustLookUpFirst: true,
            serverRun: records.serverRun,
            sendDeadlineMs: claimedAtMs + sendTimeoutMs - (at - row.checkedAt),
          }))
      }),
    )
  }

  // The copy that takes over lacks the last commits. It does so only once every send that it does
  // not know of is decided and shows at the broker: no service could tell such an order from one
  // that was never sent.
  const failOver = (): void => {
    if (isDown) return
    isDown = true
    failovers += 1
    records.serverRun = `after ${failovers} failovers`
    const lostSinceMs = timeline.now() - random.whole(0, longestLossMs)
    timeline.note(
      `database   fails; what was committed since ${(lostSinceMs / secondMs).toFixed(3)} s is lost`,
    )
    const kept = commits.findLastIndex(({ atMs }) => atMs < lostSinceMs)
    const lost = commits.splice(kept + 1)
    const { orders, ownHalts } = commits[kept] as Commit
    const isKept = ({ order, placement }: StoredOrder): boolean =>
      orders.get(order.id)?.placement === placement
    for (const row of lost.flatMap((commit) => [...commit.orders.values()]))
      if (row.placement.step === 'sending' && !isKept(row))
        forgottenSends.add(brokerClientId(row.order.id))
    const lostOrders = records.tables.orders.where((row) => orders.get(row.order.id) !== row)
    records.tables = { ...records.tables, orders: orders.copy(), ownHalts: ownHalts.copy() }
    const recover = (): void => {
      if (lostOrders.some(({ order }) => options.isUndecided(brokerClientId(order.id))))
        return timeline.schedule(secondMs, recover)
      isDown = false
      timeline.note('database   is back')
      for (const row of lostOrders.flatMap(
        ({ order }) => records.tables.orders.get(order.id) ?? [],
      ))
        schedule(row)
    }
    timeline.schedule(random.whole(1, 20) * secondMs, recover)
  }

  const ownHalt = (id: AccountId) =>
    records.tables.accounts.has(id) ? records.tables.ownHalts.get(id) : undefined
  /** Makes these open orders due that nothing else makes so. */
  const makeDue = (isMissed: (order: StoredOrder) => boolean) => (): void => {
    const { orders } = records.tables
    for (const row of orders.where(({ order, dueAt }) => order.status === 'open' && dueAt === null))
      if (isMissed(row)) orders.put({ ...row, dueAt: timeline.now() })
    commit()
  }

  return {
    /** All of them, as they are stored now. */
    rows: (): readonly StoredOrder[] => [...records.tables.orders.values()],
    account: (id: AccountId) => records.tables.accounts.get(id),
    putAccount: (account: Account) => records.tables.accounts.put(account),
    removeAccount: (id: AccountId): boolean => {
      records.tables.ownHalts.delete(id)
      return records.tables.accounts.delete(id)
    },
    orders,
    accounts: (life: Life) => reached(life, accounts, ['find']),
    halts: (life: Life): Halts => reached(life, halts, ['find', 'cancelsOrders', 'halt', 'lift']),
    orderLimits: (life: Life) => reached(life, limits, ['limitsOf']),
    claimDue,
    haltCancelsOrders: (id: AccountId): boolean => ownHalt(id)?.cancelsOrders === true,
    /** The upkeep of open orders whose account's halt cancels them. */
    makeHaltedDue: makeDue(({ order }) => ownHalt(order.request.accountId)?.cancelsOrders === true),
    /** The upkeep of open orders that the watch does not see where their account is linked now. */
    makeUnwatchedDue: makeDue(
      ({ order, destination }) =>
        records.tables.accounts.get(order.request.accountId)?.provider?.providerAccountId !==
        destination.providerAccountId,
    ),
    /** How many failovers lost commits. */
    failovers: () => failovers,
    failOver,
    /** Clients' ids of orders of which a failover lost that they were sent. */
    forgottenSends: forgottenSends as ReadonlySet<string>,
  }
}

const isSameTable = <Row>(
  one: ReadonlyMap<string, Row>,
  other: ReadonlyMap<string, Row>,
): boolean => one.size === other.size && [...one].every(([key, row]) => other.get(key) === row)

/** The same records, without their halts. */
const withoutHalts = (records: FakeRecords): FakeRecords => {
  const { halts, ownHalts } = createFakeRecords().tables
  return {
    get tables() {
      return { ...records.tables, halts, ownHalts }
    },
    get serverRun() {
      return records.serverRun
    },
  }
}

/** With the code of a rejection. */
export const statusOf = (order: Order): string =>
  order.status === 'rejected' ? order.reason.code : order.status
