// Finds an order of the caller; malformed, unknown and another user's are all 404 (decision 24).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { notFound } from '../../errors.ts'
import type { NotFound, ServiceUnavailable } from '../../errors.ts'
import { parseOrderId } from '../../orders/order.ts'
import type { Order } from '../../orders/order.ts'
import type { OrderStore } from '../../ports/order-store.ts'
import type { Owner } from '../../primitives/ids.ts'

const orderNotFound = notFound('order')

export const findOrder =
  (ports: { readonly orders: Pick<OrderStore, 'find'> }) =>
  (owner: Owner, id: string): TE.TaskEither<NotFound | ServiceUnavailable, Order> =>
    pipe(
      TE.fromOption(() => orderNotFound)(parseOrderId(id)),
      TE.flatMap((orderId) => ports.orders.find(owner, orderId)),
      TE.flatMap(TE.fromOption(() => orderNotFound)),
    )
