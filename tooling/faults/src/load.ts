// The load of every run: users that place orders, close positions and read, whatever happens to the
// service, with a record of every reply.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { CheckedOrder, Intent, IntentAnswer, Reply } from './checks.ts'
import { eventually, say } from './run.ts'
import {
  ask,
  askUntilAnswered,
  methodOf,
  type Answer,
  type FaultRequest,
  type FaultUser,
  type Fleet,
} from './service.ts'

export interface Load {
  readonly replies: readonly Reply[]
  readonly intents: readonly Intent[]
  readonly start: () => void
  /** Starts nothing more and waits for the requests in progress. */
  readonly stop: () => Promise<void>
  /** Resolves once every user has placed all orders. */
  readonly placed: () => Promise<unknown>
  /** Sends each order with a key and no answer again, until it is placed or the time is over. */
  readonly sendAgain: (withinMs: number) => Promise<void>
}

export interface LoadOptions {
  /** At most 100, which a user may create in a day. */
  readonly ordersPerUser?: number
  /** Between two orders of a user. */
  readonly orderPauseMs?: number
  /** The fields of a user's order of a turn; market orders when left out. */
  readonly newOrder?: (turn: number, user: FaultUser) => object
  /** Whether users change and cancel their open orders. */
  readonly changesOrders?: boolean
}

export const marketOrder = { symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1 }
/** Away from the market, so that the new price is on the right side of it. */
const priceStep = 0.001

interface OwnIntent extends Intent {
  readonly user: FaultUser
  readonly order: object
  readonly answers: IntentAnswer[]
}

const readPauseMs = 300
/** The longest that a turn waits for its instance. */
const downMs = 10_000
const reads: readonly ((accountId: string) => string)[] = [
  () => '/orders?limit=5',
  (accountId) => `/positions?accountId=${accountId}&limit=5`,
  () => '/accounts',
  (accountId) => `/accounts/${accountId}`,
  (accountId) => `/trades?accountId=${accountId}&limit=5`,
  () => '/symbols',
]

/** `GET /orders`, `POST /positions/{id}/close`. */
const nameOf = (request: FaultRequest): string => {
  const [, entity, id, verb] = (request.path.split('?')[0] ?? '').split('/')
  const route = `/${entity}${id === undefined ? '' : '/{id}'}${verb === undefined ? '' : `/${verb}`}`
  return `${methodOf(request)} ${route}`
}

export const createLoad = (
  fleet: Fleet,
  users: readonly FaultUser[],
  {
    ordersPerUser = 100,
    orderPauseMs = 900,
    newOrder = () => marketOrder,
    changesOrders = false,
  }: LoadOptions,
): Load => {
  const replies: Reply[] = []
  const intents: OwnIntent[] = []
  const turns = new Map(users.map((user) => [user, 0]))
  let over = new AbortController()
  let placing: Promise<unknown> = Promise.resolve()
  let reading: Promise<unknown> = Promise.resolve()

  /** @returns undefined where the run has stopped the instance, before or during the request */
  const send = async (
    turn: number,
    user: FaultUser,
    request: FaultRequest,
  ): Promise<Answer | undefined> => {
    const slot = turn % fleet.slots.length
    const instance = fleet.slots[slot]
    if (instance === null || instance === undefined) return undefined
    const beganAt = performance.now()
    const answer = await ask(instance, user, request)
    if (answer.status !== 0 || fleet.slots[slot] === instance)
      replies.push({
        what: nameOf(request),
        slot,
        beganAt,
        endedAt: performance.now(),
        outcome: answer.outcome,
      })
    return answer
  }

  const place = async (intent: OwnIntent, turn: number): Promise<void> => {
    const { id, user, order, isKeyed, answers } = intent
    const answer = await send(turn, user, {
      path: '/orders',
      body: { accountId: user.accountId, ...order, clientId: id },
      ...(isKeyed ? { idempotencyKey: id } : {}),
    })
    if (answer === undefined) return
    const { status, outcome, body, retryAfterMs } = answer
    answers.push({
      outcome,
      orderId: status === 201 ? body.data.id : null,
      isUnsure: status === 0 || body.error?.details?.outcome === 'unknown',
    })
    await pause(retryAfterMs)
  }

  /** Half of the user's latest position, or all of it. */
  const close = async (turn: number, user: FaultUser): Promise<void> => {
    const answer = await send(turn, user, {
      path: `/positions?accountId=${user.accountId}&limit=100`,
    })
    const position = answer?.body.data?.at(-1)
    const body = turn % 4 === 1 ? { volume: 0.05 } : {}
    if (position !== undefined)
      await send(turn, user, { path: `/positions/${position.id}/close`, body })
  }

  /** Changes or cancels the user's oldest open order, or cancels all of them. */
  const changeOrders = async (turn: number, user: FaultUser): Promise<void> => {
    const { accountId } = user
    if (turn % 20 === 18)
      return void (await send(turn, user, {
        path: `/orders?accountId=${accountId}`,
        method: 'DELETE',
      }))
    const answer = await send(turn, user, {
      path: `/orders?status=open&accountId=${accountId}&limit=100`,
    })
    const order = answer?.body.data?.at(-1)
    if (order === undefined) return
    const path = `/orders/${order.id}`
    const away = order.orderType === 'limit' ? -priceStep : priceStep
    await send(
      turn,
      user,
      turn % 3 === 0
        ? { path, method: 'DELETE' }
        : { path, method: 'PUT', body: { price: Number((order.price + away).toFixed(5)) } },
    )
  }

  const trade = async (user: FaultUser): Promise<void> => {
    for (let turn = turns.get(user) ?? 0; turn < ordersPerUser; turn += 1) {
      if (over.signal.aborted) return
      // Most of the time of a run with many kills an instance is down.
      await eventually(downMs, () => fleet.slots[turn % fleet.slots.length] ?? undefined)
      turns.set(user, turn + 1)
      const order = newOrder(turn, user)
      const intent = { id: randomUUID(), user, order, isKeyed: turn % 4 < 2, answers: [] }
      intents.push(intent)
      await place(intent, turn)
      await pause(orderPauseMs)
      if (turn % 2 === 1) await close(turn, user)
      if (changesOrders) await changeOrders(turn, user)
    }
  }

  const read = async (user: FaultUser): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const path = reads[turn % reads.length]?.(user.accountId) ?? ''
      // Every kind is asked of every instance in turn.
      await send(Math.floor(turn / reads.length), user, { path })
      await pause(readPauseMs)
    }
  }

  return {
    replies,
    intents,
    start: () => {
      over = new AbortController()
      placing = Promise.all(users.map(trade))
      reading = Promise.all(users.map(read))
    },
    stop: async () => {
      over.abort()
      await Promise.all([placing, reading])
    },
    placed: () => placing,
    sendAgain: async (withinMs) => {
      const open = intents.filter(({ isKeyed }) => isKeyed)
      await eventually(
        withinMs,
        async () => {
          const left = open.filter(({ answers }) => answers.every((one) => one.orderId === null))
          await Promise.all(left.map((intent) => place(intent, intent.answers.length)))
          return left.length === 0 ? true : undefined
        },
        1_000,
      )
    },
  }
}

/** The longest that the service may take until it has decided an order, and some more. */
const decisionMs = 12 * 60_000

/**
 * All orders, once none is pending or the time is over. A rejected order has ended, although the
 * service looks for it at the broker for another day.
 */
export const decidedOrders = async (
  fleet: Fleet,
  users: readonly FaultUser[],
): Promise<readonly CheckedOrder[]> => {
  let orders: readonly CheckedOrder[] = []
  await eventually(
    decisionMs,
    async () => {
      const pages = await Promise.all(
        users.map((user) => askUntilAnswered(fleet, user, { path: '/orders?limit=100' })),
      )
      orders = pages.flatMap(({ body }) => body.data)
      const pending = orders.filter(({ status }) => status === 'pending').length
      if (pending === 0) return true
      say(`  ${pending} of ${orders.length} orders are pending`)
      return undefined
    },
    5_000,
  )
  return orders
}
