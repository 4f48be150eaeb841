// The operator API: for one bearer token, on a listener of its own.
import { isDemo } from '@tradeport/domain/accounts'
import { notFound } from '@tradeport/domain/errors'
import { parseOrderId } from '@tradeport/domain/orders'
import { parseTicket } from '@tradeport/domain/primitives'
import type { Listed, ListedAccount, OwnedListRequest } from '@tradeport/domain/operator'
import type { Placement } from '@tradeport/domain/orders'
import type { OperatorOrder } from '@tradeport/domain/ports'
import type { TenantId } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { flow } from 'fp-ts/lib/function.js'
import type Koa from 'koa'
import { documentPage } from '../api.ts'
import { createApp, operatorGuards } from '../app.ts'
import type { Edge } from '../app.ts'
import { documentOf } from '../document.ts'
import type { OpenApiDocument, RouteGroup } from '../document.ts'
import type { RefusalOf } from '../errors.ts'
import { accountId, cursor, instant, limit, orderId, ticket } from '../fields.ts'
import { listPaginationShape } from '../pagination.ts'
import { answers, operatorOnly, routesOf } from '../route.ts'
import type { Route } from '../route.ts'
import {
  anyText,
  anything,
  decimal,
  described,
  input,
  list,
  nullable,
  object,
  oneOf,
  optional,
  parsed,
  record,
  seldom,
  text,
  whole,
  withDefault,
  writtenFrom,
} from '../schema.ts'
import type { Schema } from '../schema.ts'
import { orderFields, presentOrder } from '../routes/orders.ts'
import type { OperatorUseCases } from '../use-cases.ts'
import {
  accessToken,
  account,
  apiKey,
  desk,
  name,
  operatorDocument,
  tenantFields,
  tenantId,
  user,
  userId,
} from './records.ts'

const route = routesOf<OperatorUseCases>()
const access = operatorOnly

// Whose name says everything.
const plainText = text('As it is named.', 'text')
const count = whole('How many.', 1)

const listedAccount = writtenFrom(account, ({ account: stored, ...rest }: ListedAccount) => ({
  ...stored,
  ...stored.figures,
  ...stored.owner,
  isDemo: isDemo(stored),
  providerAccountId: stored.provider?.providerAccountId ?? null,
  region: stored.provider?.region ?? null,
  ...rest,
}))

const operatorOrder = writtenFrom(
  record(
    'OperatorOrder',
    'An order as its user sees it, with its destination, its progress and who ended it.',
    {
      ...orderFields,
      tenantId,
      destination: object('Where it is sent.', {
        providerAccountId: plainText,
        region: nullable(plainText),
        platform: plainText,
      }),
      step: text('How far it is.', 'looking_up'),
      sentAt: nullable(instant),
      lookups: nullable(whole('How often it was looked for at the broker.', 3)),
      brokerOrderId: nullable(text("The broker's number.", '46650112')),
      dueAt: nullable(
        described(instant, 'When a process goes on with it; null when nothing more is to be done.'),
      ),
      finished: nullable(
        object('Who ended it by hand.', { at: instant, by: plainText, reason: plainText }),
        null,
      ),
    },
  ),
  ({ order, placement, destination, dueAt, finish }: OperatorOrder) => ({
    ...presentOrder(order),
    tenantId: order.owner.tenantId,
    destination,
    step: placement.step,
    sentAt: 'sentAt' in placement ? placement.sentAt : null,
    lookups: lookupsOf(placement),
    brokerOrderId: 'orderId' in placement ? placement.orderId : null,
    dueAt,
    finished: finish && { at: order.updatedAt, ...finish },
  }),
)

const lookupsOf = (placement: Placement): number | null => {
  if (placement.step === 'looking_up') return placement.lookups
  return placement.step === 'rechecking' ? placement.rechecks : null
}

const paging = { cursor, limit: limit(1_000, 100) }
const ofUser = { ...paging, userId: optional(userId) }
const ofTenant = { access, params: { tenantId }, unknownId: notFound('tenant') }

/** A list that is read by cursor. */
const listing = <A>(item: Schema<A>) => ({
  reply: {
    data: list(item, 'In the order of the list.'),
    meta: { pagination: listPaginationShape },
  },
  present: (
    { items, cursor: next }: Listed<A>,
    { query }: { readonly query: { readonly limit: number } },
  ) => ({
    data: items,
    meta: { pagination: { limit: query.limit, has_next: next !== undefined, cursor: next } },
  }),
})

type ListOfTenant<A> = (
  tenantId: TenantId,
  query: OwnedListRequest,
) => TE.TaskEither<RefusalOf<'NotFound' | 'InvalidCursor' | 'ServiceUnavailable'>, Listed<A>>

const tenantList = <A>(
  records: string,
  operationId: string,
  summary: string,
  query: typeof paging,
  item: Schema<A>,
  listOf: (useCases: OperatorUseCases) => ListOfTenant<A>,
) =>
  route(`GET /tenants/:tenantId/${records}`, operationId, summary, {
    ...ofTenant,
    query,
    refusals: ['NotFound', 'InvalidCursor'],
    useCase: (useCases, _, inputs) => listOf(useCases)(inputs.tenantId, inputs.query),
    ...listing(item),
  })

const check = record('HealthCheck', 'One thing that was checked.', {
  name: plainText,
  status: oneOf(['ok', 'warn', 'fail'], 'How it is.'),
  message: text('The same in words.', 'The database answers.'),
  action: nullable(text('What to do; null when there is nothing.', 'Start it.'), null),
})
const checked = answers(list(check, 'Every check.'))

const secret = text('No other reply shows it.', 'shown-only-here')
const applied = object('The keys and tokens that were generated or given now.', {
  apiKeys: list(object('A key.', { id: plainText, key: secret }), 'Keys.'),
  accessTokens: list(object('A token.', { id: plainText, token: secret }), 'Tokens.'),
})

const plan = object('What a document would change.', {
  changes: list(
    object('A record.', {
      section: text('The section of the document.', 'accounts'),
      id: text('The entry.', 'k-1'),
      action: oneOf(['create', 'change', 'remove'], 'What would be done.'),
      fields: list(
        object('A field. Both values are left out of a secret.', {
          field: plainText,
          from: optional(anything('The value now.', null)),
          to: optional(anything('The value then.', 'london')),
        }),
        'The fields that would change.',
      ),
    }),
    'In the order of the document.',
  ),
  ordersUnderWay: list(
    object('An order that is touched.', {
      id: orderId,
      accountId,
      step: text('How far it is.', 'sending'),
      effects: list(
        text('What happens to its tenant, user or account.', 'account_relinked'),
        'Effects.',
      ),
    }),
    'Oldest first.',
  ),
})

// Callers know a position by its account and ticket together; a broker's records show the ticket
// alone.
const bareTicket = parsed(
  'the ticket of a position at the broker, without the account',
  flow(
    parseTicket,
    O.filter((read) => !read.includes(':')),
  ),
  'The position.',
  String(ticket.example),
)
const positive = (description: string) => seldom(decimal(description, 1, { exclusiveMinimum: 0 }))
const finish = input('How it ended.', {
  as: oneOf(['filled', 'rejected'], 'The outcome.', 'rejected'),
  reason: name,
  by: withDefault(name, 'operator'),
  price: positive('The price of the execution.'),
  volume: positive('Lots that were executed.'),
  position: seldom(bareTicket),
})
const ofOrder = {
  access,
  params: {
    orderId: parsed(
      'the id of an order',
      parseOrderId,
      'The id of an order.',
      String(orderId.example),
    ),
  },
  unknownId: notFound('order'),
  ...answers(operatorOrder),
}

const rotation = input('Which batch.', {
  cursor: optional(anyText('The cursor of the batch before.', 'WzEsWyJ1c2VycyJdXQ')),
  limit: withDefault(whole('How many secrets.', 100, { minimum: 1, maximum: 1_000 }), 100),
})
const rotated = object('What was done.', {
  resealed: whole('Secrets that are sealed under the current key now.', 100),
  unreadable: list(
    object('A secret.', { kind: plainText, id: text('Whose it is.', 'acme') }),
    'Secrets that no key opens.',
  ),
  cursor: nullable(text('Leads to the next batch; null after the last.', 'WzEsWyJ1c2VycyJdXQ')),
})

const documentRoutes = [
  route(
    'POST /apply',
    'applyDocument',
    'Bring the records to what a document says, all or nothing.',
    {
      access,
      body: operatorDocument,
      refusals: ['ValidationError'],
      useCase: (useCases, _, { body }) => useCases.applyOperatorDocument(body),
      reply: { data: applied },
      present: ({ apiKeys, accessTokens }) => ({
        data: {
          apiKeys: apiKeys.map(({ id, secret: key }) => ({ id, key })),
          accessTokens: accessTokens.map(({ id, secret: token }) => ({ id, token })),
        },
      }),
    },
  ),
  // A route of its own: a service that does not know it answers 404, where one that ignored a flag
  // would apply the document.
  route(
    'POST /plan',
    'planDocument',
    'Show what applying a document would change, and which orders under way it touches; changes nothing.',
    {
      access,
      body: operatorDocument,
      refusals: ['ValidationError'],
      useCase: (useCases, _, { body }) => useCases.planOperatorDocument(body),
      reply: { data: plan },
      present: ({ plan: changes, orders }) => ({
        data: {
          changes,
          ordersUnderWay: orders.map(({ order: { order, placement }, effects }) => ({
            id: order.id,
            accountId: order.request.accountId,
            step: placement.step,
            effects,
          })),
        },
      }),
    },
  ),
]

const tenantRoutes = [
  route('GET /tenants', 'listTenants', 'List tenants, by id.', {
    access,
    query: paging,
    refusals: ['InvalidCursor'],
    useCase: (useCases, _, { query }) => useCases.listTenants(query),
    ...listing(record('Tenant', 'A tenant.', tenantFields)),
  }),
  route('GET /tenants/:tenantId', 'getTenant', 'Get a tenant, and how many records it has.', {
    ...ofTenant,
    refusals: ['NotFound'],
    useCase: (useCases, _, inputs) => useCases.getTenant(inputs.tenantId),
    reply: {
      data: object('A tenant.', {
        ...tenantFields,
        counts: object('How many records it has.', {
          users: count,
          accounts: count,
          apiKeys: count,
          accessTokens: count,
          desks: count,
        }),
      }),
    },
    present: ({ tenant, counts }) => ({ data: { ...tenant, counts } }),
  }),
  tenantList(
    'users',
    'listUsers',
    'List users of a tenant, by id.',
    paging,
    user,
    (useCases) => useCases.listTenantUsers,
  ),
  tenantList(
    'accounts',
    'listTenantAccounts',
    'List accounts of a tenant as they are stored, by user.',
    ofUser,
    listedAccount,
    (useCases) => useCases.listTenantAccounts,
  ),
  tenantList(
    'api-keys',
    'listApiKeys',
    'List API keys of a tenant, by user; a key itself is shown only when it is made.',
    ofUser,
    apiKey,
    (useCases) => useCases.listTenantApiKeys,
  ),
  tenantList(
    'access-tokens',
    'listAccessTokens',
    'List stored access tokens of a tenant, by user, without their texts.',
    ofUser,
    accessToken,
    (useCases) => useCases.listTenantAccessTokens,
  ),
  tenantList(
    'desks',
    'listDesks',
    'List desks of a tenant, by id.',
    paging,
    desk,
    (useCases) => useCases.listTenantDesks,
  ),
]

const orderRoutes = [
  route(
    'GET /orders',
    'listOrdersUnderWay',
    'List orders under way of all tenants, or of one, oldest first.',
    {
      access,
      query: {
        ...paging,
        tenantId: optional(tenantId),
        stuck: withDefault(
          oneOf(['true', 'false'], 'Only orders that have been pending for ten minutes.'),
          'false',
        ),
      },
      refusals: ['InvalidCursor'],
      useCase: (useCases, _, { query: { stuck, ...query } }) =>
        useCases.listOrdersUnderWay({ ...query, isStuck: stuck === 'true' }),
      ...listing(operatorOrder),
    },
  ),
  route('GET /orders/:orderId', 'getOrder', 'Get an order, under way or ended.', {
    ...ofOrder,
    refusals: ['NotFound'],
    useCase: (useCases, _, inputs) => useCases.getOperatorOrder(inputs.orderId),
  }),
  route(
    'POST /orders/:orderId/finish',
    'finishOrder',
    "Ends a pending order by hand. The broker is not asked: compare with the broker's records first.",
    {
      ...ofOrder,
      body: finish,
      refusals: ['NotFound', 'ValidationError', 'OrderNotPending', 'OrderChanged'],
      useCase: (useCases, _, inputs) => useCases.finishOrder(inputs.orderId, inputs.body),
    },
  ),
]

const serviceRoutes = [
  route('POST /secrets/rotate', 'rotateSecrets', 'Seal a batch of secrets under the current key.', {
    access,
    body: rotation,
    refusals: ['InvalidCursor'],
    useCase: (useCases, _, { body }) => useCases.rotateSecrets(body),
    reply: { data: rotated },
    present: ({ cursor: next = null, ...counts }) => ({ data: { ...counts, cursor: next } }),
  }),
  route(
    'GET /doctor',
    'checkService',
    'Check what the service depends on: database, tables, durability, clocks, limits and sealed secrets.',
    {
      access,
      refusals: [],
      useCase: (useCases) => useCases.checkService,
      ...checked,
    },
  ),
  route(
    'GET /tenants/:tenantId/doctor',
    'checkTenant',
    "Check whether the provider accepts the tenant's token.",
    {
      ...ofTenant,
      refusals: ['NotFound'],
      useCase: (useCases, _, inputs) => useCases.checkTenant(inputs.tenantId),
      ...checked,
    },
  ),
]

const groups: readonly RouteGroup<OperatorUseCases>[] = [
  {
    name: 'Records',
    description: 'What the service knows of tenants, users, accounts, keys and limits.',
    routes: [...documentRoutes, ...tenantRoutes],
  },
  { name: 'Orders', description: 'Orders under way, of all tenants.', routes: orderRoutes },
  { name: 'Service', description: 'The state of the service.', routes: serviceRoutes },
]

export const operatorRoutes: readonly Route<OperatorUseCases>[] = groups.flatMap(
  ({ routes }) => routes,
)

const prefix = '/operator/v1'

export const createOperatorDocument = (): OpenApiDocument =>
  documentOf(groups, {
    title: 'Tradeport, for its operator',
    summary: 'Records, orders under way and the state of a service.',
    description:
      'Send the operator token in `Authorization: Bearer`. Replies have the envelope of the API for users.',
    prefix,
    hasLimits: false,
    securitySchemes: {
      operatorToken: { type: 'http', scheme: 'bearer', description: 'OPERATOR_TOKEN.' },
    },
  })

export interface OperatorEdge extends Edge {
  readonly operatorToken: string
}

/** Answers the routes under /operator/v1 and the pages, and everything else with 404. */
export const createOperatorApi = (
  useCases: OperatorUseCases,
  { operatorToken, ...edge }: OperatorEdge,
): Koa =>
  createApp({
    prefix,
    routes: operatorRoutes,
    useCases,
    guards: operatorGuards(operatorToken),
    edge: {
      ...edge,
      pages: { ...documentPage('/operator/openapi.json', createOperatorDocument), ...edge.pages },
    },
  })
