// Load that goes on whatever becomes of the service: users that place orders and read, and an
// account of every reply.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ask } from './fleet.ts'
import type { Answer, Asked, FaultUser, Fleet } from './fleet.ts'
import type { Intent, IntentAnswer, Reply } from './load-check.ts'

export interface Load {
  readonly replies: readonly Reply[]
  readonly intents: readonly Intent[]
  /** Begins nothing more and waits for the requests under way. */
  readonly stop: () => Promise<void>
  /**
   * Sends each order that has a key and no answer yet again, until it is placed or the patience is
   * over.
   */
  readonly sendAgain: (patienceMs: number) => Promise<void>
}

export interface LoadOptions {
  /** Between two orders of a user. */
  readonly orderPauseMs?: number
  /** Between two reads of a user. */
  readonly readPauseMs?: number
}

interface OwnIntent extends Intent {
  readonly user: FaultUser
  readonly answers: IntentAnswer[]
}

/** A user may create 100 a day. */
const ordersPerUser = 100
const againPauseMs = 1_000

const reads: readonly { readonly what: string; readonly path: (user: FaultUser) => string }[] = [
  { what: 'orders', path: () => '/orders?limit=5' },
  { what: 'positions', path: ({ accountId }) => `/positions?accountId=${accountId}&limit=5` },
  { what: 'accounts', path: () => '/accounts' },
  { what: 'account', path: ({ accountId }) => `/accounts/${accountId}` },
  { what: 'trades', path: ({ accountId }) => `/trades?accountId=${accountId}&limit=5` },
  { what: 'symbols', path: () => '/symbols' },
]

export const startLoad = (
  fleet: Fleet,
  users: readonly FaultUser[],
  options: LoadOptions = {},
): Load => {
  const { orderPauseMs = 900, readPauseMs = 300 } = options
  const replies: Reply[] = []
  const intents: OwnIntent[] = []
  const over = new AbortController()

  const send = async (
    what: string,
    slot: number,
    user: FaultUser,
    asked: Asked,
  ): Promise<Answer | null | undefined> => {
    const instance = fleet.slots[slot % fleet.slots.length]
    // Down, because the run has stopped it.
    if (instance === null || instance === undefined) return undefined
    const beganAt = performance.now()
    const answer = await ask(instance, user, asked)
    const [status, code] = [answer?.status ?? null, answer?.body.error?.code ?? null]
    // What was under way when the run stopped the instance says nothing of it.
    if (answer === null && fleet.slots[slot % fleet.slots.length] !== instance) return null
    replies.push({
      what,
      slot: slot % fleet.slots.length,
      beganAt,
      endedAt: performance.now(),
      status,
      code,
    })
    return answer
  }

  const place = async (intent: OwnIntent, slot: number): Promise<void> => {
    const { id, user, isKeyed, answers } = intent
    const body = JSON.stringify({ ...orderOf(user), clientId: id })
    const answer = await send('order', slot, user, {
      path: '/orders',
      body,
      ...(isKeyed ? { intent: id } : {}),
    })
    if (answer === undefined) return
    const orderId: string | null = answer?.status === 201 ? answer.body.data.id : null
    const isUnsure = answer?.body.error?.details?.outcome === 'unknown'
    answers.push({
      status: answer?.status ?? null,
      code: answer?.body.error?.code ?? null,
      orderId,
      isUnsure,
    })
    if (answer?.status === 429) await pause(answer.retryAfterMs)
  }

  const placeOrders = async (user: FaultUser): Promise<void> => {
    for (let turn = 0; !over.signal.aborted && turn < ordersPerUser; turn += 1) {
      const intent: OwnIntent = { id: randomUUID(), user, isKeyed: turn % 4 < 2, answers: [] }
      intents.push(intent)
      await place(intent, turn)
      await pause(orderPauseMs)
    }
  }

  const read = async (user: FaultUser): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const { what, path } = reads[turn % reads.length] ?? { what: '', path: () => '' }
      // Every kind is asked of every instance in turn.
      await send(what, Math.floor(turn / reads.length), user, { path: path(user) })
      await pause(readPauseMs)
    }
  }

  const loops = users.flatMap((user) => [placeOrders(user), read(user)])
  return {
    replies,
    intents,
    stop: async () => {
      over.abort()
      await Promise.all(loops)
    },
    sendAgain: async (patienceMs) => {
      const deadline = performance.now() + patienceMs
      await Promise.all(
        users.map(async (user) => {
          for (const intent of intents.filter((one) => one.user === user && isOpen(one)))
            for (let turn = 0; isOpen(intent) && performance.now() < deadline; turn += 1) {
              await place(intent, turn)
              if (isOpen(intent)) await pause(againPauseMs)
            }
        }),
      )
    },
  }
}

const isOpen = ({ isKeyed, answers }: OwnIntent): boolean =>
  isKeyed && !answers.some(({ orderId }) => orderId !== null)

const orderOf = ({ accountId }: FaultUser) => ({
  accountId,
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
})
