// Users that place orders, close positions and read, whatever happens to the service meanwhile. In
// the end each reply is allowed, and each order is what the broker did.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isTradeportError, type Client, type DataOf, type NewOrder } from '@tradeport/client'
import { clientOf, eventually, withoutIdempotencyKey } from '@tradeport/harness'
import {
  checkBook,
  checkIntents,
  checkPendingOrders,
  checkReplies,
  type Allowed,
  type Intent,
  type IntentAnswer,
  type Reply,
} from './checks.ts'
import type { Check } from './compare.ts'
import { countOf, say, shown } from './run.ts'
import type { AccountKind, User, World } from './world.ts'

export type OrderFields = Omit<NewOrder, 'accountId'>

export interface LoadOptions {
  readonly users: number
  /** At most 100, which a user may create in a day. */
  readonly ordersPerUser: number
  /** Between two orders of a user. */
  readonly orderPauseMs: number
  readonly newOrder: (turn: number, user: User) => OrderFields
  /** Whether users change and cancel their open orders. */
  readonly changesOrders: boolean
  /** Outcomes that are allowed at any time. */
  readonly allowed: Allowed
}

export const marketOrder: OrderFields = {
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
}
/** Away from the market, so that the new price is on the right side of it. */
const priceStep = 0.001

interface OwnIntent extends Intent {
  readonly user: User
  readonly order: OrderFields
  readonly answers: IntentAnswer[]
}

type Methods = Omit<Client, 'events' | 'quotes' | 'exportTrades'>

interface Answer<Data> {
  readonly outcome: string
  readonly data?: Data
  readonly isUnsure: boolean
  readonly retryAfterMs: number
}

/** The longest that a request may take. */
const timeoutMs = 30_000
const readPauseMs = 300
/** The longest that a turn waits for its instance. */
const downMs = 10_000
const sendAgainMs = 2 * 60_000
const kinds: readonly AccountKind[] = ['hedging', 'mt4', 'netting']

export const underLoad = async (
  world: World,
  options: LoadOptions,
  /** Meanwhile; `placed` resolves once every user has placed all orders. */
  disturb: (replies: readonly Reply[], placed: Promise<unknown>) => Promise<void>,
): Promise<Check> => {
  const { ordersPerUser, orderPauseMs, newOrder, changesOrders } = options
  const { slots, provider, users } = world
  while (users.length < options.users)
    await world.link(kinds[users.length % kinds.length] ?? 'hedging')
  const replies: Reply[] = []
  const intents: OwnIntent[] = []
  const over = new AbortController()

  /** Resolves to undefined where the instance was stopped before or during the request. */
  const send = async <Name extends keyof Methods>(
    turn: number,
    { key }: User,
    operation: Name,
    ...input: Parameters<Methods[Name]>
  ): Promise<Answer<DataOf<Name>> | undefined> => {
    const slot = turn % slots.length
    const service = slots[slot]
    if (!service) return undefined
    const beganAt = performance.now()
    const isKeyed = input.some((one) => typeof one === 'object' && 'idempotencyKey' in one)
    const client = clientOf(service, key, {
      timeoutMs,
      ...(!isKeyed && { fetch: withoutIdempotencyKey }),
    })
    // The compiler cannot follow the types of the methods through their names.
    const call = client[operation] as unknown as (
      ...all: typeof input
    ) => Promise<{ readonly data: DataOf<Name> }>
    const answer: Answer<DataOf<Name>> = await call(...input).then(
      ({ data }) => ({ outcome: 'done', data, isUnsure: false, retryAfterMs: 0 }),
      refusedAs,
    )
    if (answer.outcome !== 'no answer' || slots[slot] === service)
      replies.push({ operation, slot, beganAt, endedAt: performance.now(), ...answer })
    return answer
  }

  const place = async ({ id, user, order, isKeyed, answers }: OwnIntent, turn: number) => {
    const fields = { ...order, accountId: user.accountId, clientId: id }
    const options = isKeyed ? { idempotencyKey: id } : {}
    const answer = await send(turn, user, 'placeOrder', fields, options)
    if (answer === undefined) return
    answers.push({ ...answer, orderId: answer.data?.id })
    await pause(answer.retryAfterMs)
  }

  /** Half of the user's latest position, or all of it. */
  const close = async (turn: number, user: User): Promise<void> => {
    const { accountId } = user
    const answer = await send(turn, user, 'listPositions', { accountId, limit: 100 })
    const position = answer?.data?.at(-1)
    if (position !== undefined)
      await send(turn, user, 'closePosition', position.id, turn % 4 === 1 ? { volume: 0.05 } : {})
  }

  /** Changes or cancels the user's oldest open order, or cancels all of them. */
  const changeOrders = async (turn: number, user: User): Promise<void> => {
    const { accountId } = user
    if (turn % 20 === 18) return void (await send(turn, user, 'cancelOrders', { accountId }))
    const query = { status: 'open', accountId, limit: 100 } as const
    const order = (await send(turn, user, 'listOrders', query))?.data?.at(-1)
    if (order?.price === undefined) return
    const away = order.orderType === 'limit' ? -priceStep : priceStep
    const price = Number((order.price + away).toFixed(5))
    if (turn % 3 === 0) await send(turn, user, 'cancelOrder', order.id)
    else await send(turn, user, 'modifyOrder', order.id, { price })
  }

  const trade = async (user: User): Promise<void> => {
    for (let turn = 0; turn < ordersPerUser && !over.signal.aborted; turn += 1) {
      // Most of the time of a run with many kills an instance is down.
      await eventually(downMs, () => slots[turn % slots.length] ?? undefined)
      const order = newOrder(turn, user)
      const intent = { id: randomUUID(), user, order, isKeyed: turn % 4 < 2, answers: [] }
      intents.push(intent)
      await place(intent, turn)
      await pause(orderPauseMs)
      if (turn % 2 === 1) await close(turn, user)
      if (changesOrders) await changeOrders(turn, user)
    }
  }

  const reads: readonly ((turn: number, user: User) => Promise<unknown>)[] = [
    (turn, user) => send(turn, user, 'listOrders', { limit: 5 }),
    (turn, user) => send(turn, user, 'listPositions', { accountId: user.accountId, limit: 5 }),
    (turn, user) => send(turn, user, 'listAccounts'),
    (turn, user) => send(turn, user, 'getAccount', user.accountId),
    (turn, user) => send(turn, user, 'listTrades', { accountId: user.accountId, limit: 5 }),
    (turn, user) => send(turn, user, 'listSymbols'),
  ]
  const read = async (user: User): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      // Every kind is asked of every instance in turn.
      await reads[turn % reads.length]?.(Math.floor(turn / reads.length), user)
      await pause(readPauseMs)
    }
  }

  const placed = Promise.all(users.map(trade))
  const reading = Promise.all(users.map(read))
  await disturb(replies, placed)
  over.abort()
  await Promise.all([placed, reading])
  provider.faults.clear()
  await eventually(
    sendAgainMs,
    async () => {
      const left = intents.filter(
        ({ isKeyed, answers }) => isKeyed && answers.every(({ orderId }) => orderId === undefined),
      )
      await Promise.all(left.map((intent) => place(intent, intent.answers.length)))
      return left.length === 0 || undefined
    },
    1_000,
  )
  world.broken.push(...checkReplies(replies, options.allowed))
  const slowestMs = Math.max(...replies.map(({ beganAt, endedAt }) => endedAt - beganAt))
  const outcomes = countOf(replies.map(({ operation, outcome }) => `${operation} ${outcome}`))
  say(`replies: ${shown(outcomes)}; the slowest after ${Math.round(slowestMs)} ms`)
  return (seen) => {
    const accounts = users.map((user) => provider.account(user.providerAccountId))
    const orders = seen.flatMap((one) => one.orders)
    return [
      ...checkIntents(intents, orders),
      ...checkBook(
        orders,
        accounts.flatMap((account) => account.deals()),
      ),
      ...checkPendingOrders(
        orders,
        accounts.flatMap((account) => account.orders()),
        accounts.flatMap((account) => account.historyOrders()),
      ),
    ]
  }
}

const refusedAs = (error: unknown): Omit<Answer<never>, 'data'> => {
  if (!isTradeportError(error)) throw error
  if (!('status' in error)) return { outcome: 'no answer', isUnsure: true, retryAfterMs: 0 }
  const details: { outcome?: string } = ('details' in error && error.details) || {}
  return {
    outcome: `${error.status} ${error.code}`,
    isUnsure: details.outcome === 'unknown',
    retryAfterMs: 1_000 * (('retryAfterSeconds' in error && error.retryAfterSeconds) || 0),
  }
}
