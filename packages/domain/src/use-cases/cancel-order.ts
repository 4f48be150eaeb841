// DELETE /orders/:id: only an open order can be cancelled, and none is open today (3.1, 4.2).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { NotFound, OrderInFlight, OrderNotCancellable, ServiceUnavailable } from '../errors.ts'
import { requireCancellable } from '../orders/transitions.ts'
import type { OrderStore } from '../ports/order-store.ts'
import { findOrder } from './steps/find-order.ts'

export const cancelOrder =
  (ports: { readonly orders: Pick<OrderStore, 'find'> }) =>
  ({ owner }: Caller, id: string): TE.TaskEither<NotFound | OrderInFlight | OrderNotCancellable | ServiceUnavailable, never> =>
    pipe(findOrder(ports)(owner, id), TE.flatMapEither(requireCancellable))
