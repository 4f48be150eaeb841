// The tables of orders and accounts as the PostgreSQL package keeps them: every write expects a
// version, a row that is due is claimed with a lease, and ages are measured by the database's own
// clock, which is right and counts from the beginning of the simulation. A failover loses the last
// commits, though they were acknowledged.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '@tradeport/domain/accounts'
import {
  refuse,
  type AsyncResult,
  type Halt,
  type ServiceUnavailable,
} from '@tradeport/domain/errors'
import {
  brokerClientId,
  isCorrection,
  sendTimeoutMs,
  withStep,
  type OrderId,
} from '@tradeport/domain/orders'
import type {
  AccountStore,
  Halts,
  NewHalt,
  NewOrder,
  OrderJob,
  OrderPlacement,
  OrderStore,
} from '@tradeport/domain/ports'
import { type AccountId, minuteMs, secondMs } from '@tradeport/domain/primitives'
import type { Life, World } from './simulated-time.ts'

export interface OrderRow extends OrderPlacement {
  readonly checkedAtMs: number
  readonly dueAtMs: number
}

export type SimulatedOrders = Pick<
  OrderStore,
  'record' | 'placement' | 'advance' | 'othersTickets' | 'openOrders'
>

interface Options {
  /** A row was written, and is due for these processes after so many ms. */
  readonly scheduled: (inMs: number) => void
  readonly sendRecorded: (life: Life, clientId: string, isHalted: boolean) => void
  readonly isUndecided: (clientId: string) => boolean
  readonly corrected: (row: OrderRow) => void
  /** If not, an order may be stored as sending while its account is halted. */
  readonly obeysHalts: boolean
  /** Called with each statement. */
  readonly disturb: () => void
}

const claimMs = 15 * secondMs
/** For how long a recorded order that is due is left to the process that has it in memory. */
const ownMs = 3 * secondMs
const longestLossMs = 10 * secondMs

export const createSimulatedDatabase = (
  { random, timeline, strikes, delayMs }: World,
  options: Options,
) => {
  const rows = new Map<OrderId, OrderRow>()
  const accounts = new Map<AccountId, Account>()
  const halts = new Map<AccountId, NewHalt>()
  const forgottenSends = new Set<string>()
  const commits: {
    readonly atMs: number
    /** Of an order. */
    readonly id?: OrderId
    readonly undo: () => void
  }[] = []
  let isDown = false
  let failovers = 0
  const serverRun = (): string => `after ${failovers} failovers`

  const commit = (row: OrderRow): void => {
    const { id } = row.order
    commits.push({ atMs: timeline.now(), id, undo: putting(rows, id, rows.get(id)) })
    rows.set(id, row)
    const dueInMs = row.dueAtMs - timeline.now()
    if (dueInMs === Infinity) return
    options.scheduled(dueInMs)
    if (row.placement.step === 'recorded') options.scheduled(dueInMs + ownMs)
  }

  const changeHalt = (id: AccountId, halt: NewHalt | undefined): void => {
    commits.push({ atMs: timeline.now(), undo: putting(halts, id, halts.get(id)) })
    putting(halts, id, accounts.has(id) ? halt : undefined)()
  }

  const query =
    <A>(life: Life, what: string, work: () => A): AsyncResult<A> =>
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
        () => {
          options.disturb()
          return isLost || isDown ? unavailable : E.right(work())
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

  const advance = (
    life: Life,
    from: OrderPlacement,
    step: Parameters<OrderStore['advance']>[2],
    now: number,
  ): boolean => {
    const row = rows.get(from.order.id)
    if (row === undefined || row.version !== from.version || row.placement.step === 'ended')
      return false
    if (sentAtOf(row) !== sentAtOf(from)) return false
    if (from.serverRun !== undefined && from.serverRun !== serverRun()) return false
    const { accountId } = row.order.request
    if (options.obeysHalts && step.placement.step === 'sending' && halts.has(accountId))
      return false
    const order = withStep(row.order, step, now)
    const { placement } = step
    const dueAtMs = step.continueInMs === null ? Infinity : timeline.now() + step.continueInMs
    const written: OrderRow = { ...row, order, placement, version: row.version + 1, dueAtMs }
    const ending =
      order === row.order
        ? ''
        : `, ${order.status}${order.status === 'rejected' ? ` ${order.reason.code}` : ''}`
    timeline.note(
      `${life.id}  ${brokerClientId(order.id)} is stored as ${placement.step}${ending}, version ${written.version}`,
    )
    commit(written)
    if (placement.step === 'sending')
      options.sendRecorded(life, brokerClientId(order.id), halts.has(accountId))
    if (isCorrection(row.order, order)) options.corrected(written)
    return true
  }

  /** The orders of one process; `recorded` gets what it has recorded once it knows. */
  const orders = (life: Life, recorded: (order: NewOrder) => void): SimulatedOrders => ({
    record: (_, order) => {
      const insert = () => {
        timeline.note(`${life.id}  ${brokerClientId(order.order.id)} is recorded`)
        commit({
          order: order.order,
          destination: order.destination,
          placement: { step: 'recorded' },
          version: 1,
          checkedAtMs: order.checkedAt,
          dueAtMs: timeline.now(),
        })
        return order.order
      }
      return pipe(
        query(life, 'recording', insert),
        TE.tapIO(() => () => recorded(order)),
      )
    },
    placement: (_, id) => query(life, 'reading a placement', () => O.fromNullable(rows.get(id))),
    advance: (_, from, step, now) =>
      query(life, `storing ${step.placement.step}`, () => advance(life, from, step, now)),
    othersTickets: () => query(life, 'reading other tickets', () => []),
    openOrders: (_, accountId) =>
      query(life, 'reading open orders', () =>
        [...rows.values()].filter(
          ({ order }) => order.status === 'open' && order.request.accountId === accountId,
        ),
      ),
  })

  const claimDue =
    (life: Life, elapsedMs: () => number): AsyncResult<readonly OrderJob[]> =>
    async () => {
      const claimedAtMs = elapsedMs()
      return query(life, 'claiming', () => {
        const at = timeline.now()
        const isDue = ({ dueAtMs, placement }: OrderRow): boolean =>
          dueAtMs <= (placement.step === 'recorded' ? at - ownMs : at)
        return [...rows.values()].filter(isDue).map((row): OrderJob => {
          commit({ ...row, dueAtMs: at + claimMs })
          return {
            ...row,
            mustLookUpFirst: true,
            serverRun: serverRun(),
            sendDeadlineMs: claimedAtMs + sendTimeoutMs - (at - row.checkedAtMs),
          }
        })
      })()
    }

  // The copy that takes over lacks the last commits. It does so only once every send that it does
  // not know of is decided and shows at the broker: no service could tell such an order from one
  // that was never sent.
  const failOver = (): void => {
    if (isDown) return
    isDown = true
    failovers += 1
    const lostSinceMs = timeline.now() - random.whole(0, longestLossMs)
    timeline.note(
      `database   fails; what was committed since ${(lostSinceMs / secondMs).toFixed(3)} s is lost`,
    )
    const lost = commits.filter(({ atMs }) => atMs >= lostSinceMs)
    for (const { id, undo } of lost.toReversed()) {
      if (id !== undefined && rows.get(id)?.placement.step === 'sending')
        forgottenSends.add(brokerClientId(id))
      undo()
    }
    commits.length -= lost.length
    const lostOrders = lost.flatMap(({ id }) => id ?? [])
    const recover = (): void => {
      if (lostOrders.some((id) => options.isUndecided(brokerClientId(id))))
        return timeline.schedule(secondMs, recover)
      isDown = false
      timeline.note('database   is back')
      for (const id of lostOrders)
        if (rows.has(id))
          options.scheduled(Math.max(0, (rows.get(id)?.dueAtMs ?? 0) - timeline.now()))
    }
    timeline.schedule(random.whole(1, 20) * secondMs, recover)
  }

  return {
    rows: rows as ReadonlyMap<OrderId, OrderRow>,
    accounts,
    orders,
    findAccount:
      (life: Life): AccountStore['find'] =>
      (_, id) =>
        query(life, 'reading the account', () => O.fromNullable(accounts.get(id))),
    halts: halts as ReadonlyMap<AccountId, NewHalt>,
    haltsOf: (life: Life): Halts => ({
      find: (_, id) =>
        query(life, 'reading the halt', () =>
          pipe(
            O.fromNullable(halts.get(id)),
            O.map(({ since, reason }): Halt => ({ by: 'owner', since, reason })),
          ),
        ),
      cancelsOrders: (_, id) =>
        query(life, 'reading what the halt cancels', () => halts.get(id)?.cancelsOrders === true),
      halt: (_, id, halt) =>
        query(life, 'halting', () => {
          if (!accounts.has(id)) return
          const cancelsOrders = halt.cancelsOrders || halts.get(id)?.cancelsOrders === true
          timeline.note(
            `${life.id}  account ${id.at(-1)} is halted${cancelsOrders ? ', its orders cancelled' : ''}`,
          )
          changeHalt(id, { ...(halts.get(id) ?? halt), cancelsOrders })
        }),
      lift: (_, id) =>
        query(life, 'lifting the halt', () => {
          timeline.note(`${life.id}  the halt of account ${id.at(-1)} is lifted`)
          changeHalt(id, undefined)
        }),
    }),
    removeAccount: (id: AccountId): boolean => {
      halts.delete(id)
      return accounts.delete(id)
    },
    query,
    claimDue,
    /** The upkeep of open orders whose account's halt cancels them. */
    makeHaltedDue: (): void => {
      for (const row of rows.values())
        if (
          row.order.status === 'open' &&
          row.dueAtMs === Infinity &&
          halts.get(row.order.request.accountId)?.cancelsOrders === true
        )
          commit({ ...row, dueAtMs: timeline.now() })
    },
    /** The upkeep of open orders that the watch does not see where their account is linked now. */
    makeUnwatchedDue: (): void => {
      for (const row of rows.values()) {
        const linked = accounts.get(row.order.request.accountId)?.provider?.providerAccountId
        const isWatched = linked === row.destination.providerAccountId
        if (row.order.status === 'open' && row.dueAtMs === Infinity && !isWatched)
          commit({ ...row, dueAtMs: timeline.now() })
      }
    },
    serverRun,
    /** How many failovers lost commits. */
    forgottenCommits: () => failovers,
    failOver,
    /** Clients' ids of orders of which a failover lost that they were sent. */
    forgottenSends: forgottenSends as ReadonlySet<string>,
  }
}

const putting =
  <Key, Value>(map: Map<Key, Value>, key: Key, value: Value | undefined) =>
  (): void => {
    if (value === undefined) map.delete(key)
    else map.set(key, value)
  }

const sentAtOf = ({ placement }: OrderPlacement): number | null =>
  'sentAt' in placement ? placement.sentAt : null
