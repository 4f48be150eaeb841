// POST /orders?wait=: waits until an order has left `pending`. An outcome that this process writes
// ends the wait at once; one of another process is found by reading the order every two seconds.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as T from 'fp-ts/lib/Task.js'
import type { Order, PendingOrder } from '../../orders/order.ts'
import type { Ports } from '../../ports/index.ts'
import { secondMs } from '../../primitives/instant.ts'

/** Requests that wait at one instance. Those beyond it are answered at once. */
const maxWaiting = 500
const tickMs = secondMs
const ticksBetweenReads = 2

/** How long a request waits, and whether it still may. */
export interface OutcomeWait {
  readonly seconds: number
  /** False once the caller is gone or the instance is about to stop. */
  readonly mayWait: () => boolean
}

/** Returns the order as it was given where the wait ends before its outcome. */
export const createOutcomeWaits = ({
  orders,
  stopwatch,
  pause,
}: Pick<Ports, 'orders' | 'stopwatch' | 'pause'>) => {
  let waiting = 0

  return (order: PendingOrder, { seconds, mayWait }: OutcomeWait): T.Task<Order> =>
    async () => {
      if (waiting >= maxWaiting) return order
      const endsAtMs = stopwatch.elapsedMs() + seconds * secondMs
      const { promise: written, resolve } = Promise.withResolvers<void>()
      let isWritten = false
      const stopListening = orders.onOutcome(order.id, () => {
        isWritten = true
        resolve()
      })
      waiting += 1
      try {
        for (let tick = 1; mayWait(); tick++) {
          const leftMs = endsAtMs - stopwatch.elapsedMs()
          if (isWritten || leftMs <= 0 || tick % ticksBetweenReads === 0) {
            const found = await orders.find(order.owner, order.id)()
            if (E.isRight(found) && O.isSome(found.right) && found.right.value.status !== 'pending')
              return found.right.value
          }
          if (leftMs <= 0) break
          const ticked = pause(Math.min(tickMs, leftMs))()
          await (isWritten ? ticked : Promise.race([ticked, written]))
        }
        return order
      } finally {
        waiting -= 1
        stopListening()
      }
    }
}
