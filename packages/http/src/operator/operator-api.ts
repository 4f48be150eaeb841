// The operator API: for one bearer token, on a listener of its own.
import { isDemo, notFound, parseOrderId, parseTicket } from '@tradeport/domain'
import type {
  Desk,
  Listed,
  ListedAccessToken,
  ListedAccount,
  ListedApiKey,
  ListedTenant,
  OperatorOrder,
  Placement,
  User,
} from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import type Koa from 'koa'
import { documentPage } from '../api.ts'
import { createApp, operatorGuards } from '../app.ts'
import type { Edge } from '../app.ts'
import { documentOf } from '../document.ts'
import type { OpenApiDocument, RouteGroup } from '../document.ts'
import { exampleAccountId, exampleOrderId } from '../examples.ts'
import { listPaginationShape } from '../pagination.ts'
import { limit } from '../parameters.ts'
import { operatorOnly, routesOf } from '../route.ts'
import type { DataReply, Route } from '../route.ts'
import {
  anyText,
  anything,
  decimal,
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
  time,
  whole,
  withDefault,
} from '../schema.ts'
import type { Schema } from '../schema.ts'
import { orderFields, presentOrder } from '../routes/orders.ts'
import type { OperatorUseCases } from '../use-cases.ts'
import { accessToken, account, apiKey, desk, listedTenantFields, name, operatorDocument, tenantId, user, userId } from './records.ts'

const route = routesOf<OperatorUseCases>()
const access = operatorOnly

const presentAccount = ({ account: stored, ...rest }: ListedAccount) => ({
  ...stored,
  ...stored.figures,
  ...stored.owner,
  isDemo: isDemo(stored),
  providerAccountId: stored.provider?.providerAccountId ?? null,
  region: stored.provider?.region ?? null,
  ...rest,
})

const operatorOrder = record('OperatorOrder', 'An order as its user sees it, with its destination, its progress and who ended it.', {
  ...orderFields,
  tenantId,
  destination: object('Where it is sent.', {
    providerAccountId: text('The id of the account at the provider.', '9f0e'),
    region: nullable(text("The provider's region.", 'new-york')),
    platform: text('The platform.', 'mt5'),
  }),
  step: text('How far it is.', 'looking_up'),
  sentAt: nullable(time('When it was sent.')),
  lookups: nullable(whole('How often it was looked for at the broker.', 3)),
  brokerOrderId: nullable(text("The broker's number.", '46650112')),
  dueAt: nullable(time('When a process goes on with it; null when nothing more is to be done.')),
  finished: nullable(
    object('Who ended it by hand.', { at: time('When.'), by: text('Who.', 'operator'), reason: text('Why.', 'filled per statement') }),
    null,
  ),
})

const presentOperatorOrder = ({ order, placement, destination, dueAt, finish }: OperatorOrder) => ({
  ...presentOrder(order),
  tenantId: order.owner.tenantId,
  destination,
  step: placement.step,
  sentAt: 'sentAt' in placement ? placement.sentAt : null,
  lookups: lookupsOf(placement),
  brokerOrderId: 'orderId' in placement ? placement.orderId : null,
  dueAt,
  finished: finish && { at: order.updatedAt, ...finish },
})

const lookupsOf = (placement: Placement): number | null => {
  if (placement.step === 'looking_up') return placement.lookups
  return placement.step === 'rechecking' ? placement.rechecks : null
}

const cursor = optional(anyText('meta.pagination.cursor of the previous page.', 'WzEsWyJ1c2VycyJdXQ'))
const paging = { cursor, limit: limit(1_000, 100) }
const ofTenant = { access, params: { tenantId }, unknownId: notFound('tenant') }

/** A list that is read by cursor. */
const listing = <A, B>(item: Schema<B>, present: (one: A) => B) => ({
  reply: { data: list(item, 'In the order of the list.'), pagination: listPaginationShape },
  present: ({ items, cursor: next }: Listed<A>, { query }: { readonly query: { readonly limit: number } }): DataReply<readonly B[]> => ({
    data: items.map(present),
    meta: { pagination: { limit: query.limit, has_next: next !== undefined, cursor: next } },
  }),
})

const check = record('HealthCheck', 'One thing that was checked.', {
  name: text('What.', 'database'),
  status: oneOf(['ok', 'warn', 'fail'], 'How it is.'),
  message: text('The same in words.', 'The database answers.'),
  action: nullable(text('What to do; null when there is nothing.', 'Start it.'), null),
})
const checked = { reply: { data: list(check, 'Every check.') } }

const secretText = (description: string) => text(description, 'shown-only-here')
const applied = object('The keys and tokens that were generated or given now.', {
  apiKeys: list(object('A key.', { id: text('Its id.', 'k-1'), key: secretText('The key, which no other reply shows.') }), 'Keys.'),
  accessTokens: list(
    object('A token.', { id: text('Its id.', 't-1'), token: secretText('The token, which no other reply shows.') }),
    'Tokens.',
  ),
})

const plan = object('What a document would change.', {
  changes: list(
    object('A record.', {
      section: text('The section of the document.', 'accounts'),
      id: text('The entry.', exampleAccountId),
      action: oneOf(['create', 'change', 'remove'], 'What would be done.'),
      fields: list(
        object('A field. Both values are left out of a secret.', {
          field: text('Its name.', 'region'),
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
      id: text('The order.', exampleOrderId),
      accountId: text('Its account.', exampleAccountId),
      step: text('How far it is.', 'sending'),
      effects: list(text('What happens to its tenant, user or account.', 'account_relinked'), 'Effects.'),
    }),
    'Oldest first.',
  ),
})

// Callers know a position by its account and ticket together; a broker's records show the ticket alone.
const ticket = parsed(
  'the ticket of a position at the broker, without the account',
  (sent) =>
    pipe(
      parseTicket(sent),
      O.filter((read) => !read.includes(':')),
    ),
  'The position.',
  '46648037',
)
const positive = (description: string, example: number) => seldom(decimal(description, example, { exclusiveMinimum: 0 }))
const finish = input('How it ended.', {
  as: oneOf(['filled', 'rejected'], 'The outcome.', 'rejected'),
  reason: name,
  by: withDefault(name, 'operator'),
  price: positive('The price of the execution.', 1.0842),
  volume: positive('Lots that were executed.', 0.2),
  position: seldom(ticket),
})
const ofOrder = {
  access,
  params: { orderId: parsed('the id of an order', parseOrderId, 'The id of an order.', exampleOrderId) },
  unknownId: notFound('order'),
  reply: { data: operatorOrder },
  present: (order: OperatorOrder) => ({ data: presentOperatorOrder(order) }),
}

const rotation = input('Which batch.', {
  cursor: seldom(anyText('The cursor of the batch before.', 'WzEsWyJ1c2VycyJdXQ')),
  limit: withDefault(whole('How many secrets.', 100, { minimum: 1, maximum: 1_000 }), 100),
})
const rotated = object('What was done.', {
  resealed: whole('Secrets that are sealed under the current key now.', 100),
  unreadable: list(
    object('A secret.', { kind: text('What it is.', 'provider_token'), id: text('Whose it is.', 'acme') }),
    'Secrets that no key opens.',
  ),
  cursor: nullable(text('Leads to the next batch; null after the last.', 'WzEsWyJ1c2VycyJdXQ')),
})

const ofUser = { ...paging, userId: optional(userId) }
const listed = { ...ofTenant, refusals: ['NotFound', 'InvalidCursor'] } as const

const documentRoutes = [
  route('POST /apply', 'applyDocument', 'Bring the records to what a document says, all or nothing', {
    access,
    body: operatorDocument,
    refusals: ['ValidationError'],
    useCase: (useCases, _, { body }) => useCases.applyOperatorDocument(body),
    reply: { data: applied },
    present: ({ apiKeys, accessTokens }) => ({
      data: {
        apiKeys: apiKeys.map(({ id, secret }) => ({ id, key: secret })),
        accessTokens: accessTokens.map(({ id, secret }) => ({ id, token: secret })),
      },
    }),
  }),
  // A route of its own: a service that does not know it answers 404, where one that ignored a flag would apply the document.
  route(
    'POST /plan',
    'planDocument',
    'Show what applying a document would change, and which orders under way it touches; changes nothing',
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
  route('GET /tenants', 'listTenants', 'List tenants, by id', {
    access,
    query: paging,
    refusals: ['InvalidCursor'],
    useCase: (useCases, _, { query }) => useCases.listTenants({ cursor: undefined, ...query }),
    ...listing(record('Tenant', 'A tenant.', listedTenantFields), identity<ListedTenant>),
  }),
  route('GET /tenants/:tenantId', 'getTenant', 'Get a tenant, and how many records it has', {
    ...ofTenant,
    refusals: ['NotFound'],
    useCase: (useCases, _, { params }) => useCases.getTenant(params.tenantId),
    reply: {
      data: object('A tenant.', {
        ...listedTenantFields,
        counts: object('How many records it has.', {
          users: whole('Users.', 1),
          accounts: whole('Accounts.', 1),
          apiKeys: whole('Keys.', 1),
          accessTokens: whole('Tokens.', 0),
          desks: whole('Desks.', 0),
        }),
      }),
    },
    present: ({ tenant, counts }) => ({ data: { ...tenant, counts } }),
  }),
  route('GET /tenants/:tenantId/users', 'listUsers', 'List users of a tenant, by id', {
    ...listed,
    query: paging,
    useCase: (useCases, _, { params, query }) => useCases.listTenantUsers(params.tenantId, { cursor: undefined, ...query }),
    ...listing(user, identity<User>),
  }),
  route('GET /tenants/:tenantId/accounts', 'listTenantAccounts', 'List accounts of a tenant as they are stored, by user', {
    ...listed,
    query: ofUser,
    useCase: (useCases, _, { params, query }) =>
      useCases.listTenantAccounts(params.tenantId, query.userId, { cursor: undefined, ...query }),
    ...listing(account, presentAccount),
  }),
  route(
    'GET /tenants/:tenantId/api-keys',
    'listApiKeys',
    'List API keys of a tenant, by user; a key itself is shown only when it is made',
    {
      ...listed,
      query: ofUser,
      useCase: (useCases, _, { params, query }) =>
        useCases.listTenantApiKeys(params.tenantId, query.userId, { cursor: undefined, ...query }),
      ...listing(apiKey, identity<ListedApiKey>),
    },
  ),
  route('GET /tenants/:tenantId/access-tokens', 'listAccessTokens', 'List stored access tokens of a tenant, by user, without their texts', {
    ...listed,
    query: ofUser,
    useCase: (useCases, _, { params, query }) =>
      useCases.listTenantAccessTokens(params.tenantId, query.userId, { cursor: undefined, ...query }),
    ...listing(accessToken, identity<ListedAccessToken>),
  }),
  route('GET /tenants/:tenantId/desks', 'listDesks', 'List desks of a tenant, by id', {
    ...listed,
    query: paging,
    useCase: (useCases, _, { params, query }) => useCases.listTenantDesks(params.tenantId, { cursor: undefined, ...query }),
    ...listing(desk, identity<Desk>),
  }),
]

const orderRoutes = [
  route('GET /orders', 'listOrdersUnderWay', 'List orders under way of all tenants, or of one, oldest first', {
    access,
    query: {
      ...paging,
      tenantId: optional(tenantId),
      stuck: withDefault(oneOf(['true', 'false'], 'Only orders that have been pending for ten minutes.'), 'false'),
    },
    refusals: ['InvalidCursor'],
    useCase: (useCases, _, { query: { stuck, ...query } }) =>
      useCases.listOrdersUnderWay({ cursor: undefined, ...query, isStuck: stuck === 'true' }),
    ...listing(operatorOrder, presentOperatorOrder),
  }),
  route('GET /orders/:orderId', 'getOrder', 'Get an order, under way or ended', {
    ...ofOrder,
    refusals: ['NotFound'],
    useCase: (useCases, _, { params }) => useCases.getOperatorOrder(params.orderId),
  }),
  route('POST /orders/:orderId/finish', 'finishOrder', 'End a pending order by hand, as filled or rejected', {
    description: "Ends a pending order by hand. The broker is not asked: compare with the broker's records first.",
    ...ofOrder,
    body: finish,
    refusals: ['NotFound', 'ValidationError', 'OrderNotPending', 'OrderChanged'],
    useCase: (useCases, _, { params, body }) => useCases.finishOrder(params.orderId, body),
  }),
]

const serviceRoutes = [
  route('POST /secrets/rotate', 'rotateSecrets', 'Seal a batch of secrets under the current key', {
    access,
    body: rotation,
    refusals: ['InvalidCursor'],
    useCase: (useCases, _, { body }) => useCases.rotateSecrets({ cursor: undefined, ...body }),
    reply: { data: rotated },
    present: ({ cursor: next = null, ...counts }) => ({ data: { ...counts, cursor: next } }),
  }),
  route(
    'GET /doctor',
    'checkService',
    'Check what the service depends on: database, tables, durability, clocks, limits and sealed secrets',
    {
      access,
      refusals: [],
      useCase: (useCases) => useCases.checkService,
      ...checked,
      present: (found) => ({ data: found }),
    },
  ),
  route('GET /tenants/:tenantId/doctor', 'checkTenant', "Check whether the provider accepts the tenant's token", {
    ...ofTenant,
    refusals: ['NotFound'],
    useCase: (useCases, _, { params }) => useCases.checkTenant(params.tenantId),
    ...checked,
    present: (found) => ({ data: found }),
  }),
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

export const operatorRoutes: readonly Route<OperatorUseCases>[] = groups.flatMap(({ routes }) => routes)

const prefix = '/operator/v1'

export const createOperatorDocument = (): OpenApiDocument =>
  documentOf(groups, {
    title: 'Tradeport, for its operator',
    summary: 'Records, orders under way and the state of a service.',
    description: 'Send the operator token in `Authorization: Bearer`. Replies have the envelope of the API for users.',
    prefix,
    hasLimits: false,
    securitySchemes: { operatorToken: { type: 'http', scheme: 'bearer', description: 'OPERATOR_TOKEN.' } },
  })

export interface OperatorEdge extends Edge {
  readonly operatorToken: string
}

/** Answers the routes under /operator/v1 and the pages, and everything else with 404. */
export const createOperatorApi = (useCases: OperatorUseCases, { operatorToken, ...edge }: OperatorEdge): Koa =>
  createApp({
    prefix,
    routes: operatorRoutes,
    useCases,
    guards: operatorGuards(operatorToken),
    edge: { ...edge, pages: { ...documentPage('/operator/openapi.json', createOperatorDocument), ...edge.pages } },
  })
