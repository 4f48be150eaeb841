// The operator API: for one bearer token, on a listener of its own.
import type { Placement } from '@tradeport/domain/orders'
import { parseTicket } from '@tradeport/domain/primitives'
import type { OperatorOrder } from '@tradeport/domain/ports'
import * as O from 'fp-ts/lib/Option.js'
import { flow } from 'fp-ts/lib/function.js'
import type Koa from 'koa'
import { authorizeOperator, createApp, type ServerDependencies } from '../app.ts'
import {
  type Api,
  type Capabilities,
  documentOf,
  groupsWith,
  type OpenApiDocument,
  type RouteGroup,
  routesIn,
} from '../document.ts'
import {
  accountId,
  cursor,
  instant,
  limit,
  listPaginationShape,
  orderId,
  positive,
  ticket,
} from '../fields.ts'
import { type IsOn, operatorOnly } from '../route.ts'
import {
  anyText,
  anything,
  input,
  list,
  nullable,
  object,
  oneOf,
  optional,
  parsedString,
  partial,
  record,
  type Schema,
  text,
  time,
  whole,
  withDefault,
} from '../schema.ts'
import { orderFields, presentOrder } from '../routes/orders.ts'
import { operatorRoute as route, type OperatorUseCases } from '../use-cases.ts'
import {
  accessToken,
  account,
  apiKey,
  desk,
  name,
  operatorDocument,
  providerAccount,
  tenantFields,
  tenantId,
  user,
  userId,
} from './records.ts'

const access = operatorOnly

const count = whole('The number of records.', 1)
const step = (example: Placement['step']) => text('The placement step.', example)

const operatorOrder = record(
  'OperatorOrder',
  'An order as its user sees it, with its destination, its progress and who ended it.',
  {
    ...orderFields(true, true),
    tenantId,
    destination: object('Where it is sent.', {
      providerAccountId: text('The id of the account at the provider.', 'provider-account-1'),
      region: nullable(text('The region of the account at the provider.', 'london')),
      platform: text('The trading platform.', 'mt5'),
    }),
    step: step('looking_up'),
    sentAt: nullable(instant),
    lookups: nullable(whole('How often it was looked for at the broker.', 3)),
    brokerOrderId: nullable(text("The broker's number.", '46650112')),
    dueAt: nullable(
      time(
        'When a process goes on with it; null when nothing is to be done, as while the broker holds it.',
      ),
    ),
    finished: nullable(
      object('Who ended it manually.', {
        at: instant,
        by: text('The name that was given for who ended it.', 'operator'),
        reason: text('The reason that was given.', 'Closed by hand at the broker'),
      }),
      null,
    ),
  },
  ({ order, placement, destination, dueAt, finish }: OperatorOrder) => ({
    ...presentOrder(order),
    tenantId: order.owner.tenantId,
    destination,
    step: placement.step,
    sentAt: 'sentAt' in placement ? placement.sentAt : null,
    lookups: lookupsOf(placement),
    brokerOrderId:
      ('brokerOrderId' in placement ? placement.brokerOrderId : order.brokerOrderId) ?? null,
    dueAt,
    finished: finish && { at: order.updatedAt, ...finish },
  }),
)

const lookupsOf = (placement: Placement): number | null => {
  if (placement.step === 'looking_up') return placement.lookups
  if ('missing' in placement) return placement.missing?.lookups ?? null
  return placement.step === 'rechecking' ? placement.rechecks : null
}

const paging = { cursor, limit: limit(1_000, 100) }
const ownedQuery = { ...paging, userId: optional(userId) }
const tenantRoute = {
  access,
  params: { tenantId: anyText('The id of a tenant.', String(tenantId.example)) },
}

/** A list that is read by cursor. */
const listing = <A>(item: Schema<A>) => ({
  data: list(item, 'In the order of the list.'),
  meta: { pagination: listPaginationShape },
})

const tenantList = <A>(item: Schema<A>) => ({
  ...tenantRoute,
  query: paging,
  refusals: ['NotFound', 'InvalidCursor'] as const,
  ...listing(item),
})

const check = record('HealthCheck', 'One thing that was checked.', {
  name: text('The name of the check.', 'database'),
  status: oneOf(['ok', 'warn', 'fail'], 'The result of the check.'),
  message: text('The same in words.', 'The database answers.'),
  action: nullable(text('What to do; null when there is nothing.', 'Start it.'), null),
})
const checks = list(check, 'Every check.')

const secret = text('No other reply shows it.', 'shown-only-here')
const recordCounts = object('How many records it has.', {
  users: count,
  accounts: count,
  apiKeys: count,
  accessTokens: count,
  desks: count,
  webhooks: count,
})
const changes = list(
  object('A record.', {
    section: text('The section of the document.', 'accounts'),
    id: text('The entry.', 'k-1'),
    action: oneOf(['create', 'change', 'remove'], 'What is done.'),
    fields: list(
      object('A field. Both values are left out of a secret that is set.', {
        field: text('The name of the field.', 'region'),
        from: optional(anything('The value before.', null)),
        to: optional(anything('The value after.', 'london')),
      }),
      'The fields that change.',
    ),
    alsoRemoved: optional(recordCounts),
  }),
  'In the order of the document.',
)
const ordersUnderWay = list(
  object('An order that is touched.', {
    id: orderId,
    accountId,
    step: step('sending'),
    effects: list(
      text('What happens to its tenant, user or account.', 'account_relinked'),
      'Effects.',
    ),
  }),
  'Oldest first.',
)
const plan = object('What a document would change.', { changes, ordersUnderWay })
const applied = object(
  'What was changed, and the keys and tokens that were generated or given now.',
  {
    changes,
    // Read after the document was applied, which stands.
    ordersUnderWay: nullable(ordersUnderWay),
    apiKeys: list(
      object('A key.', { id: text('The id of the key.', 'k-1'), key: secret }),
      'Keys.',
    ),
    accessTokens: list(
      object('A token.', { id: text('The id of the token.', 't-1'), token: secret }),
      'Tokens.',
    ),
  },
)

// Callers know a position by its account and ticket together; a broker's records show the ticket
// alone.
const bareTicket = parsedString(
  'the ticket of a position at the broker, without the account',
  flow(
    parseTicket,
    O.filter((read) => !read.includes(':')),
  ),
  'The position.',
  String(ticket.example),
)
const finish = input('How it ended.', {
  as: oneOf(
    ['filled', 'rejected', 'cancelled'],
    'The outcome; only an open order ends as cancelled.',
    'rejected',
  ),
  reason: name,
  by: withDefault(name, 'operator'),
  ...partial({
    price: positive('The price of the execution.'),
    volume: positive('Lots that were executed.'),
    position: bareTicket,
  }),
})
const orderRoute = {
  access,
  params: {
    orderId: anyText('The id of an order.', String(orderId.example)),
  },
  data: operatorOrder,
}

const rotation = input('Which batch.', {
  cursor: optional(anyText('The cursor of the batch before.', 'WzEsWyJ1c2VycyJdXQ')),
  limit: withDefault(whole('How many secrets.', 100, { minimum: 1, maximum: 1_000 }), 100),
})
const rotated = object('What was done.', {
  resealed: whole('Secrets that are sealed under the current key now.', 100),
  unreadable: list(
    object('A secret.', {
      kind: text('The kind of secret.', 'provider_token'),
      id: text('The id of the record that has it.', 'acme'),
    }),
    'Secrets that no key opens.',
  ),
  cursor: nullable(text('Leads to the next batch; null after the last.', 'WzEsWyJ1c2VycyJdXQ')),
})

const groups = (isOn: IsOn): readonly RouteGroup[] => [
  {
    name: 'Records',
    description: 'Tenants, users, accounts, keys and limits as the service has stored them.',
    routes: [
      route(
        'POST /apply',
        'applyDocument',
        'Change the records to what a document describes, all or nothing.',
        {
          access,
          body: operatorDocument(isOn),
          data: applied,
        },
      ),
      // A route of its own: a service that does not know it answers 404, where one that ignored a
      // flag would apply the document.
      route(
        'POST /plan',
        'planDocument',
        'Show what applying a document would change, and which orders under way it touches; changes nothing.',
        {
          access,
          body: operatorDocument(isOn),
          data: plan,
        },
      ),
      route('GET /tenants', 'listTenants', 'List tenants, by id.', {
        access,
        query: paging,
        refusals: ['InvalidCursor'],
        ...listing(record('Tenant', 'A tenant.', tenantFields)),
      }),
      route('GET /tenants/:tenantId', 'getTenant', 'Get a tenant, and how many records it has.', {
        ...tenantRoute,
        refusals: ['NotFound'],
        data: object('A tenant.', {
          ...tenantFields,
          counts: recordCounts,
        }),
      }),
      route(
        'GET /tenants/:tenantId/provider-accounts/:providerAccountId',
        'getProviderAccount',
        'Get the description of an account at the provider, from which it can be linked. It must be deployed there.',
        {
          ...tenantRoute,
          params: { ...tenantRoute.params, providerAccountId: name },
          refusals: ['NotFound'],
          data: providerAccount,
        },
      ),
      route(
        'GET /tenants/:tenantId/users',
        'listUsers',
        'List users of a tenant, by id.',
        tenantList(user),
      ),
      route(
        'GET /tenants/:tenantId/accounts',
        'listTenantAccounts',
        'List accounts of a tenant as they are stored, by user.',
        { ...tenantList(account(isOn('events'))), query: ownedQuery },
      ),
      route(
        'GET /tenants/:tenantId/api-keys',
        'listApiKeys',
        'List API keys of a tenant, by user; a key itself is shown only when it is made.',
        { ...tenantList(apiKey), query: ownedQuery },
      ),
      route(
        'GET /tenants/:tenantId/access-tokens',
        'listAccessTokens',
        'List stored access tokens of a tenant, by user, without their texts.',
        { ...tenantList(accessToken), query: ownedQuery },
      ),
      route(
        'GET /tenants/:tenantId/desks',
        'listDesks',
        'List desks of a tenant, by id.',
        tenantList(desk),
      ),
    ],
  },
  {
    name: 'Orders',
    description: 'Orders under way, of all tenants.',
    routes: [
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
              oneOf(
                ['true', 'false'],
                'Only orders that have been pending, or open and missing at the broker, for ten minutes.',
              ),
              'false',
            ),
          },
          refusals: ['NotFound', 'InvalidCursor'],
          ...listing(operatorOrder),
        },
      ),
      route('GET /orders/:orderId', 'getOrder', 'Get an order, under way or ended.', {
        ...orderRoute,
        refusals: ['NotFound'],
      }),
      route(
        'POST /orders/:orderId/finish',
        'finishOrder',
        "Ends a pending or open order manually. The broker is not asked: compare with the broker's records first.",
        {
          ...orderRoute,
          body: finish,
          refusals: ['NotFound', 'OrderNotPending', 'OrderInFlight', 'OrderChanged'],
        },
      ),
    ],
  },
  {
    name: 'Service',
    description: 'The state of the service.',
    routes: [
      route(
        'POST /secrets/rotate',
        'rotateSecrets',
        'Seal a batch of secrets under the current key.',
        {
          access,
          body: rotation,
          refusals: ['InvalidCursor'],
          data: rotated,
        },
      ),
      route(
        'GET /doctor',
        'checkService',
        'Check what the service depends on: database, tables, durability, clocks, limits and sealed secrets.',
        {
          access,
          data: checks,
        },
      ),
      route(
        'GET /tenants/:tenantId/doctor',
        'checkTenant',
        "Check whether the provider accepts the tenant's token.",
        {
          ...tenantRoute,
          refusals: ['NotFound'],
          data: checks,
        },
      ),
    ],
  },
]

const apiWith = (capabilities: Capabilities): Api => ({
  prefix: '/operator/v1',
  documentPath: '/operator/openapi.json',
  groups: groupsWith(capabilities, groups),
  info: {
    title: 'Tradeport, for its operator',
    summary: 'Records, orders under way and the state of a service.',
    description:
      'Send the operator token in `Authorization: Bearer`. Replies have the envelope of the API for users.',
  },
  hasLimits: false,
  securitySchemes: {
    operatorToken: { type: 'http', scheme: 'bearer', description: 'OPERATOR_TOKEN.' },
  },
})

export const operatorRoutes = routesIn(apiWith('all'))

export const createOperatorDocument = (capabilities: Capabilities = 'all'): OpenApiDocument =>
  documentOf(apiWith(capabilities))

interface OperatorApiDependencies extends ServerDependencies {
  readonly operatorToken: string
}

export const createOperatorApi = (
  useCases: OperatorUseCases,
  dependencies: OperatorApiDependencies,
): Koa =>
  createApp({
    api: apiWith(dependencies.capabilities),
    useCases,
    dependencies,
    authorize: authorizeOperator(dependencies.operatorToken),
  })
