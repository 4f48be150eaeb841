// Waits until a placed order is no longer pending: reads it again and again.
import type { Order } from './contract.ts'
import type { ReplyOf } from './contract-types.ts'
import { isTradeportError, toError } from './errors.ts'
import { retryDelayMs } from './events.ts'
import type { CallOptions } from './options.ts'
import { sleep } from './send.ts'

export interface SettledOptions {
  /** How long to wait; 60,000 by default. The last read of the order may take a second more. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** The reply to placeOrder. */
export type PlacedOrder = ReplyOf<'placeOrder'> & {
  /**
   * The order once it is no longer pending. Throws a TradeportError whose `outcome` is `unknown`:
   * TIMED_OUT where the order is still pending after `timeoutMs`, or could not be read then;
   * ABORTED; or at once what refuses to have the order read for longer than that. The order itself
   * is not affected.
   */
  readonly settled: (options?: SettledOptions) => Promise<Order>
}

const shortestPauseMs = 250
const longestPauseMs = 4_000
const lastReadMs = 1_000
const longestReadMs = 10_000

export const waitUntilSettled = async (
  getOrder: (id: string, options: CallOptions) => Promise<ReplyOf<'getOrder'>>,
  order: Order,
  { timeoutMs = 60_000, signal }: SettledOptions = {},
): Promise<Order> => {
  const { id } = order
  const startedAt = performance.now()
  const elapsedMs = (): number => performance.now() - startedAt
  const leftMs = (): number => Math.max(0, timeoutMs - elapsedMs())
  let latest = order
  let failure: Error | undefined
  let retryAfterMs = 0
  while (latest.status === 'pending') {
    if (leftMs() === 0) throw timedOut(id, timeoutMs, failure)
    const pauseMs = Math.min(Math.max(elapsedMs() / 4, shortestPauseMs), longestPauseMs)
    await sleep(Math.min(Math.max(pauseMs, retryAfterMs), leftMs()), signal)
    const readMs = Math.min(Math.ceil(leftMs()) + lastReadMs, longestReadMs)
    try {
      const read = await getOrder(id, { signal, timeoutMs: readMs, retry: { attempts: 1 } })
      latest = read.data
      failure = undefined
      retryAfterMs = 0
    } catch (error) {
      if (!isTradeportError(error)) throw error
      const afterMs = retryDelayMs(error)
      if (afterMs === undefined || afterMs > leftMs())
        throw Object.assign(error, { outcome: 'unknown' })
      failure = error
      retryAfterMs = afterMs
    }
  }
  return latest
}

const timedOut = (id: string, timeoutMs: number, failure: Error | undefined) =>
  toError(
    {
      kind: 'no-answer',
      code: 'TIMED_OUT',
      message:
        failure === undefined
          ? `The order ${id} is still pending after ${timeoutMs} ms.`
          : `It is not known whether the order ${id} is still pending after ${timeoutMs} ms: ${failure.message}`,
      cause: failure,
    },
    {
      operation: 'placeOrder',
      attempts: 1,
      timeoutMs,
      isUnknown: true,
      ifUnknown: 'Read it again later (getOrder).',
    },
  )
