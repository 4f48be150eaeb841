// POST /orders, GET /orders, and GET, PUT and DELETE /orders/:id (4.2).
import { orderStatuses } from '@tradeport/domain'
import type { IdempotencyClaim, Scope } from '@tradeport/domain'
import { orderShape, presentOrder } from '../presenters/order.ts'
import { exampleOrderId } from '../presenters/examples.ts'
import { pageMeta, paginationShape } from '../replies/pagination.ts'
import { hashJson } from '../requests/canonical-json.ts'
import { modifyOrderBody, placeOrderBody, requireMarketOrder } from '../requests/order-bodies.ts'
import { accountId, anyText, idempotencyKey, instantAt, oneOf, orderSymbol, page, pageSize } from '../requests/parameter-kinds.ts'
import { optional, withDefault } from '../requests/parameter.ts'
import type { JsonObject } from '../requests/read-body.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import { list } from '../schema/shapes.ts'
import type { UseCases } from '../use-cases.ts'

const readers: readonly Scope[] = ['trading:read']
const writers: readonly Scope[] = ['trading:write', 'orders:write']

const id = anyText('The id of an order, as it was given when it was placed.', exampleOrderId)

const placeRefusals = [
  'OrderTypeNotSupported',
  'AccountNotFound',
  'AccountPurposeRestricted',
  'LiveAccountRestricted',
  'UnsupportedBroker',
  'NotProvisioned',
  'BrokerUnavailable',
  'ChallengeCheckUnavailable',
  'ChallengeLocked',
  'LimitCheckUnavailable',
  'DeskLimitBreached',
  'TraderLimitBreached',
  'ApprovalRequired',
  'RiskLimitExceeded',
  'IdempotencyKeyReused',
  'IdempotencyInProgress',
  'ServiceUnavailable',
] as const

const idempotentReplayed = {
  description: 'Sent where the same request was answered before, and this is that answer again.',
  schema: { type: 'string', enum: ['true'] },
} as const

const claimOf = (key: string | undefined, body: JsonObject): IdempotencyClaim | undefined =>
  key === undefined ? undefined : { key, bodyHash: hashJson(body) }

export const orderRoutes: readonly Route<UseCases>[] = [
  scopedRoute({
    operationId: 'placeOrder',
    method: 'POST',
    path: '/orders',
    summary: 'Place an order',
    description: 'Records a market order and answers it as pending; what becomes of it at the broker shows in GET /orders/:id.',
    limit: { requests: 100, periodSeconds: 60 },
    anyOf: writers,
    headers: { 'Idempotency-Key': optional(idempotencyKey) },
    body: placeOrderBody,
    requireSupported: requireMarketOrder,
    refusals: placeRefusals,
    useCase: (useCases: UseCases, caller, { headers, body: { request, sent } }) =>
      useCases.placeOrder(caller, { request, claim: claimOf(headers['Idempotency-Key'], sent) }),
    reply: { kind: 'data', data: orderShape, isCreated: true, headers: { 'Idempotent-Replayed': idempotentReplayed } },
    present: ({ order, isReplayed }) => ({
      kind: 'data',
      data: presentOrder(order),
      createdPath: `/orders/${order.id}`,
      headers: isReplayed ? { 'Idempotent-Replayed': 'true' } : {},
    }),
  }),
  scopedRoute({
    operationId: 'listOrders',
    method: 'GET',
    path: '/orders',
    summary: 'List orders',
    description: 'Orders, newest first.',
    anyOf: readers,
    query: {
      accountId: optional(accountId),
      status: optional(oneOf(orderStatuses, 'Orders of one status.')),
      symbol: optional(orderSymbol),
      startDate: optional(instantAt('start', 'The earliest creation, included.')),
      endDate: optional(instantAt('end', 'The latest creation, included.')),
      page: withDefault(page, 1),
      limit: withDefault(pageSize(100), 20),
    },
    range: ['startDate', 'endDate'],
    refusals: ['AccountNotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { query: { startDate, endDate, ...query } }) =>
      useCases.listOrders(caller, { ...query, from: startDate, to: endDate }),
    reply: { kind: 'data', data: list(orderShape, 'Newest first.'), pagination: paginationShape },
    present: (result) => ({ kind: 'data', data: result.items.map(presentOrder), pagination: pageMeta(result) }),
  }),
  scopedRoute({
    operationId: 'getOrder',
    method: 'GET',
    path: '/orders/:id',
    summary: 'Get an order',
    description: 'One order.',
    anyOf: readers,
    params: { id },
    refusals: ['NotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.getOrder(caller, params.id),
    reply: { kind: 'data', data: orderShape },
    present: (order) => ({ kind: 'data', data: presentOrder(order) }),
  }),
  scopedRoute({
    operationId: 'modifyOrder',
    method: 'PUT',
    path: '/orders/:id',
    summary: 'Change an order',
    description: 'Changes an open order. No order is open today, so that none can be changed.',
    anyOf: writers,
    params: { id },
    body: modifyOrderBody,
    refusals: ['NotFound', 'OrderInFlight', 'OrderNotModifiable', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.modifyOrder(caller, params.id),
    reply: { kind: 'data', data: orderShape },
    present: (order) => ({ kind: 'data', data: presentOrder(order) }),
  }),
  scopedRoute({
    operationId: 'cancelOrder',
    method: 'DELETE',
    path: '/orders/:id',
    summary: 'Cancel an order',
    description: 'Cancels an open order. No order is open today, so that none can be cancelled.',
    anyOf: writers,
    params: { id },
    refusals: ['NotFound', 'OrderInFlight', 'OrderNotCancellable', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.cancelOrder(caller, params.id),
    reply: { kind: 'data', data: orderShape },
    present: (order) => ({ kind: 'data', data: presentOrder(order) }),
  }),
]
