// GET /operator/v1/orders and what is below it: orders under way of all tenants, one order, and its end by hand.
import { notFound, parseOrderId, parseTicket } from '@tradeport/domain'
import type { FinishOrder, OrderId } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import { aboveZero, closedObject, maybe, present, stringOf } from '../requests/json-codecs.ts'
import { oneOf } from '../requests/parameter-kinds.ts'
import { optional, parsedText, withDefault } from '../requests/parameter.ts'
import type { PathParameter } from '../requests/parameter.ts'
import type { Route } from '../routing/route.ts'
import type { OperatorUseCases } from '../use-cases.ts'
import { operatorRoute } from './operator-route.ts'
import { presentOperatorOrder } from './presenters.ts'
import { piece, presentList, tenantId } from './record-routes.ts'
import { choice, name } from './values.ts'

const orderId: PathParameter<OrderId> = {
  codec: parsedText('OrderId', parseOrderId),
  takes: 'the id of an order',
  description: 'The id of an order.',
  schema: { type: 'string' },
  refusal: notFound('order'),
}

// Callers know a position by its account and its number together; a record of the broker shows the number alone.
const ticket = stringOf('the number of a position at the broker, without the account', (text) =>
  pipe(
    parseTicket(text),
    O.filter((read) => !read.includes(':')),
  ),
)

const finishBody = closedObject<Omit<FinishOrder, 'by'> & Partial<Pick<FinishOrder, 'by'>>>('Finish', {
  as: present(choice(['filled', 'rejected'])),
  reason: present(name),
  by: maybe(name),
  price: maybe(aboveZero),
  volume: maybe(aboveZero),
  position: maybe(ticket),
})

export const orderRoutes: readonly Route<OperatorUseCases>[] = [
  operatorRoute({
    method: 'GET',
    path: '/orders',
    summary: 'Orders under way of all tenants, or of one, oldest first; with stuck=true those that have been pending for ten minutes.',
    query: {
      ...piece,
      tenantId: optional({ ...tenantId, description: 'Only the orders of this tenant.' }),
      stuck: withDefault(oneOf(['true', 'false'], 'Whether to list only orders that have been pending for ten minutes.'), 'false'),
    },
    useCase: (useCases: OperatorUseCases, { query: { stuck, ...query } }) =>
      useCases.listOrdersUnderWay({ ...query, isStuck: stuck === 'true' }),
    present: presentList(presentOperatorOrder),
  }),
  operatorRoute({
    method: 'GET',
    path: '/orders/:orderId',
    summary: 'One order, under way or ended, with how far it is and who ended it.',
    params: { orderId },
    useCase: (useCases: OperatorUseCases, { params }) => useCases.getOperatorOrder(params.orderId),
    present: (order) => ({ kind: 'data', data: presentOperatorOrder(order) }),
  }),
  operatorRoute({
    method: 'POST',
    path: '/orders/:orderId/finish',
    summary: "Ends a pending order by hand, as filled or rejected. The broker is not asked: compare with the broker's records first.",
    params: { orderId },
    body: finishBody,
    useCase: (useCases: OperatorUseCases, { params, body }) => useCases.finishOrder(params.orderId, { by: 'operator', ...body }),
    present: (order) => ({ kind: 'data', data: presentOperatorOrder(order) }),
  }),
]
