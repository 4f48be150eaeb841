// While a halt that cancels orders stands, every order that is or becomes open is cancelled.
import * as E from 'fp-ts/lib/Either.js'
import type { AsyncResult, RefusalTag } from '../errors.ts'
import type { Order, OrderId } from '../orders/order.ts'
import { renumberingMs, type Open } from '../orders/placement.ts'
import type { Ports, StoredOrder } from '../ports/index.ts'
import type { createOpenOrders } from './open-orders.ts'

interface HaltCancellationPorts extends Pick<Ports, 'halts' | 'clock'> {
  readonly cancelOrder: ReturnType<typeof createOpenOrders>['cancelOrder']
  /**
   * An order could not be cancelled, or is missing at the broker. A process reports each once of a
   * halt.
   * @param because the tag of the refusal, or `missing`
   */
  readonly onHaltCancellationFailed: (order: Order, because: RefusalTag | 'missing') => void
}

/**
 * Cancels the order if it is open and its account's halt cancels orders. A refused cancellation is
 * reported, and no failure.
 */
export type CancelWhereHalted = (stored: StoredOrder) => AsyncResult<void>

/** Call it after each write of an order; it does nothing where no such halt stands. */
export const createCancelWhereHalted = (ports: HaltCancellationPorts): CancelWhereHalted => {
  /** Orders that the present halt of their account was reported not to have cancelled. */
  const reported = new Set<OrderId>()

  /** Why the order is still there; undefined where it is cancelled, or has ended before. */
  const cancelByHalt = async (
    { owner, id }: Order,
    { missing }: Open,
  ): Promise<RefusalTag | 'missing' | undefined> => {
    if (missing !== null) return 'missing'
    const cancelled = await ports.cancelOrder({ owner }, { id }, 'halt')()
    return E.isLeft(cancelled) && cancelled.left._tag !== 'OrderNotCancellable'
      ? cancelled.left._tag
      : undefined
  }

  return ({ order, placement }) =>
    async () => {
      const { owner, id, request } = order
      if (placement.step !== 'open') {
        reported.delete(id)
        return E.right(undefined)
      }
      const { missing } = placement
      // Until then the broker may be renumbering it, or a lookup may still show how it ended.
      if (missing !== null && ports.clock.now() - missing.since < renumberingMs)
        return E.right(undefined)
      const cancelsOrders = await ports.halts.haltCancelsOrders(owner, request.accountId)()
      if (E.isLeft(cancelsOrders)) return cancelsOrders
      const because = cancelsOrders.right ? await cancelByHalt(order, placement) : undefined
      if (because === undefined) reported.delete(id)
      else if (!reported.has(id)) {
        reported.add(id)
        ports.onHaltCancellationFailed(order, because)
      }
      return E.right(undefined)
    }
}
