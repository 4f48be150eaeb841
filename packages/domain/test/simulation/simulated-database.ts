// The fake stores behind a network and a server that fail: statements are slow, lost or done
// without an answer, and a failover loses the last commits, though they were acknowledged. Rows
// that are due are claimed with a lease. The database's own clock is right and counts from the
// beginning of the simulation.
import type { Account } from '../../src/accounts/index.ts'
import { refuse, type AsyncResult, type ServiceUnavailable } from '../../src/errors.ts'
import { brokerClientId, isCorrection, maxSendAgeMs, type Order } from '../../src/orders/index.ts'
import type { NewOrder, OrderJob, OrderStore, Ports } from '../../src/ports/index.ts'
import { minuteMs, secondMs, type AccountId } from '../../src/primitives/index.ts'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import {
  createFakeAccountStore,
  createFakeHalts,
  createFakeLimitStore,
  createFakeOrderStore,
  createFakeRecords,
  type OrderRow,
  type Tables,
} from '@tradeport/testkit'
import type { Life, World } from './simulated-time.ts'

interface Options {
  /** A row was written, and is due for these processes after so many ms. */
  readonly scheduled: (inMs: number) => void
  readonly sendRecorded: (life: Life, order: Order, isHalted: boolean) => void
  /** The order was reported as ended with this status, which was wrong. */
  readonly corrected: (order: Order, status: Order['status']) => void
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
  const orderStore = createFakeOrderStore(clock, records)
  const stores = {
    ...createFakeLimitStore(records, clock),
    halts: createFakeHalts(records),
    accounts: createFakeAccountStore(records),
  }
  const forgottenSends = new Set<string>()
  const commits: Commit[] = [{ atMs: -Infinity, ...createFakeRecords().tables }]
  let isDown = false
  let failovers = 0

  const schedule = ({ dueAt, placement }: OrderRow) => {
    if (dueAt === null) return
    const inMs = Math.max(0, dueAt - timeline.now())
    options.scheduled(inMs)
    if (placement.step === 'recorded') options.scheduled(inMs + ownMs)
  }
  /** Remembers what a statement wrote. */
  const commit = () => {
    const { orders, ownHalts } = records.tables
    const before = commits.at(-1)?.orders
    orders.where((row) => before?.get(row.order.id) !== row).forEach(schedule)
    commits.push({ atMs: timeline.now(), orders: orders.copy(), ownHalts: ownHalts.copy() })
  }

  const query =
    <A>(life: Life, what: string, work: AsyncResult<A>): AsyncResult<A> =>
    async () => {
      const unavailable = E.left(refuse('ServiceUnavailable', { reason: what }))
      const wayMs = () =>
        strikes('slow_database', 0.05) ? delayMs(10 * minuteMs) : random.whole(1, 5)
      if (strikes('crash', 0.01)) life.crash()
      const isLost = strikes('database_error', 0.05)
      const [outMs, backMs] = [wayMs(), wayMs()]
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

  /** A store as one process reaches it. */
  const reached = <Store extends object>(life: Life, store: Store): Store =>
    Object.fromEntries(
      Object.entries<(...args: readonly unknown[]) => AsyncResult<unknown>>(store as never).map(
        ([name, method]) => [
          name,
          (...args: readonly unknown[]) => query(life, name, method(...args)),
        ],
      ),
    ) as Store

  const advance =
    (life: Life): OrderStore['advance'] =>
    (owner, from, step, now) =>
    async () => {
      const { tables } = records
      const before = tables.orders.get(from.order.id)
      const isHalted = tables.ownHalts.has(from.order.request.accountId)
      const written = orderStore.advance(owner, from, step, now)()
      const after = tables.orders.get(from.order.id)
      if (before === undefined || after === undefined || before === after) return written
      const { order, placement, version } = after
      const ending = order === before.order ? '' : `, ${statusOf(order)}`
      timeline.note(
        `${life.id}  ${brokerClientId(order.id)} is stored as ${placement.step}${ending}, version ${version}`,
      )
      if (placement.step === 'sending') options.sendRecorded(life, order, isHalted)
      if (isCorrection(before.order, order)) options.corrected(order, before.order.status)
      return written
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
            sentBefore: row.recordedRun === records.databaseRun ? 'unlikely' : 'possible',
            databaseRun: records.databaseRun,
            sendDeadlineMs: claimedAtMs + maxSendAgeMs - (at - row.checkedAt),
          }))
      }),
    )
  }

  // The copy that takes over lacks the last commits.
  const failOver = () => {
    if (isDown) return
    isDown = true
    records.databaseRun = `after ${(failovers += 1)} failovers`
    const lostSinceMs = timeline.now() - random.whole(0, longestLossMs)
    timeline.note(
      `database   fails; what was committed since ${(lostSinceMs / secondMs).toFixed(3)} s is lost`,
    )
    const lost = commits.splice(commits.findLastIndex(({ atMs }) => atMs < lostSinceMs) + 1)
    const { orders, ownHalts } = commits.at(-1) as Commit
    for (const { order, placement } of lost.flatMap((one) => [...one.orders.values()]))
      if (placement.step === 'sending' && orders.get(order.id)?.placement !== placement)
        forgottenSends.add(brokerClientId(order.id))
    const lostOrders = records.tables.orders.where((row) => orders.get(row.order.id) !== row)
    records.tables = { ...records.tables, orders: orders.copy(), ownHalts: ownHalts.copy() }
    const recover = () => {
      isDown = false
      timeline.note('database   is back')
      records.tables.orders.named(lostOrders).forEach(schedule)
    }
    timeline.schedule(random.whole(secondMs / 2, 10 * secondMs), recover)
  }

  const isHaltCancelling = ({ order: { request } }: OrderRow) =>
    records.tables.accounts.has(request.accountId) &&
    records.tables.ownHalts.get(request.accountId)?.cancelOrders === true
  /** Makes these open orders due that nothing else makes so. */
  const makeDue = (isMissed: (order: OrderRow) => boolean) => () => {
    const { orders } = records.tables
    for (const row of orders.where(({ order, dueAt }) => order.status === 'open' && dueAt === null))
      if (isMissed(row)) orders.put({ ...row, dueAt: timeline.now() })
    commit()
  }

  return {
    /** All of them, as they are stored now. */
    rows: (): readonly OrderRow[] => [...records.tables.orders.values()],
    account: (id: AccountId) => records.tables.accounts.get(id),
    putAccount: (account: Account) => records.tables.accounts.put(account),
    removeAccount: (id: AccountId) => {
      records.tables.ownHalts.delete(id)
      return records.tables.accounts.delete(id)
    },
    /** The stores of one process; `recorded` gets what it has recorded once it knows. */
    storesOf: (
      life: Life,
      recorded: (order: NewOrder) => void,
    ): Pick<Ports, 'accounts' | 'halts' | 'orderLimits' | 'orders'> => {
      const orders = reached(life, { ...orderStore, advance: advance(life) })
      const { accounts, halts, ...limits } = stores
      return {
        accounts: reached(life, accounts),
        halts: reached(life, halts),
        orderLimits: reached(life, limits),
        orders: {
          ...orders,
          record: (...[owner, order]: Parameters<OrderStore['record']>) =>
            pipe(
              orders.record(owner, order),
              TE.tapIO(() => () => recorded(order)),
            ),
        },
      }
    },
    claimDue,
    isHaltCancelling,
    /** The upkeep of open orders whose account's halt cancels them. */
    makeHaltedDue: makeDue(isHaltCancelling),
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

/** With the code of a rejection, or who cancelled it. */
export const statusOf = (order: Order) => {
  if (order.status === 'cancelled') return `cancelled by ${order.cancelReason}`
  return order.status === 'rejected' ? order.reason.code : order.status
}
