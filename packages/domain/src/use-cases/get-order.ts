// GET /orders/:id (4.2).
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { NotFound, ServiceUnavailable } from '../errors.ts'
import type { Order } from '../orders/order.ts'
import type { OrderStore } from '../ports/order-store.ts'
import { findOrder } from './steps/find-order.ts'

export const getOrder =
  (ports: { readonly orders: Pick<OrderStore, 'find'> }) =>
  ({ owner }: Caller, id: string): TE.TaskEither<NotFound | ServiceUnavailable, Order> =>
    findOrder(ports)(owner, id)
