// Waits until a placed order is no longer pending: reads it now and then, and as soon as the stream
// of events reports its outcome, where the service has one and the credential may read it.
import type { Order } from './contract.ts'
import type { ReplyOf } from './contract-types.ts'
import { toError } from './errors.ts'
import type { FollowOptions, LogEvent } from './events.ts'
import { longestTimerMs, type CallOptions } from './options.ts'
import { eitherOf, sleep } from './send.ts'

export interface SettledOptions {
  /** How long to wait; 60,000 by default. The last read of the order may take a second more. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** The reply to placeOrder. */
export type PlacedOrder = ReplyOf<'placeOrder'> & {
  /**
   * The order once it is no longer pending. Throws a TradeportError: TIMED_OUT where it still is
   * after `timeoutMs`, ABORTED, or why it cannot be read. The order itself is not affected.
   */
  readonly settled: (options?: SettledOptions) => Promise<Order>
}

interface Reads {
  readonly getOrder: (id: string, options: CallOptions) => Promise<ReplyOf<'getOrder'>>
  readonly events: (options: FollowOptions) => AsyncIterable<LogEvent>
}

const outcomes = ['order.filled', 'order.cancelled', 'order.rejected', 'order.expired'] as const
const firstReadMs = 250
const longestPauseMs = 4_000
const lastReadMs = 1_000

/** All waits of a client share one stream. */
export const createSettled = ({ getOrder, events }: Reads) => {
  /** What ends the pause of each wait, by order. */
  const wakers = new Map<object, { readonly id: string; readonly wake: () => void }>()
  let hasStream = true
  let stream: AbortController | undefined

  const follow = async (): Promise<void> => {
    stream = new AbortController()
    const { signal } = stream
    try {
      for await (const { data } of events({ types: outcomes, signal }))
        for (const { id, wake } of wakers.values()) if (id === orderIdOf(data)) wake()
    } catch {
      // Refused for good, such as for a missing scope: the orders are read all the same.
      if (!signal.aborted) hasStream = false
    }
  }

  return async (
    order: Order,
    { timeoutMs = 60_000, signal }: SettledOptions = {},
  ): Promise<Order> => {
    if (order.status !== 'pending') return order
    const endsAt = performance.now() + timeoutMs
    const deadline = AbortSignal.timeout(
      Math.min(Math.ceil(timeoutMs) + lastReadMs, longestTimerMs),
    )
    const end = eitherOf(signal, deadline)
    const waiter = {}
    let woken = new AbortController()
    wakers.set(waiter, { id: order.id, wake: () => woken.abort() })
    if (hasStream && stream === undefined) void follow()
    try {
      for (let pauseMs = firstReadMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        const leftMs = endsAt - performance.now()
        if (leftMs <= 0) throw stillPending(order.id, timeoutMs)
        await sleep(Math.min(pauseMs, leftMs), eitherOf(end, woken.signal))
        // Before the read, so that an event that comes during it is not missed.
        woken = new AbortController()
        const { data } = await getOrder(order.id, { signal: end })
        if (data.status !== 'pending') return data
      }
    } catch (error) {
      const isLate = deadline.aborted && signal?.aborted !== true
      throw isLate ? stillPending(order.id, timeoutMs) : error
    } finally {
      wakers.delete(waiter)
      if (wakers.size === 0) {
        stream?.abort()
        stream = undefined
      }
    }
  }
}

const orderIdOf = (data: unknown): unknown => (data as { readonly order_id?: unknown }).order_id

const stillPending = (id: string, timeoutMs: number) =>
  toError(
    {
      kind: 'no-answer',
      code: 'TIMED_OUT',
      message: `The order ${id} is still pending after ${timeoutMs} ms.`,
      cause: undefined,
    },
    {
      operation: 'placeOrder',
      attempts: 1,
      timeoutMs,
      isUnknown: true,
      ifUnknown: 'Read it again later (getOrder).',
    },
  )
