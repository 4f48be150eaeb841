// The API for users.
import { hostFault } from '@tradeport/domain/webhooks'
import type Koa from 'koa'
import { type ApiDependencies, authorizeCallers, createApp } from './app.ts'
import {
  type Api,
  type Capabilities,
  documentOf,
  groupsWith,
  isOnIn,
  type OpenApiDocument,
  type RouteGroup,
  routesIn,
} from './document.ts'
import type { IsOn } from './route.ts'
import { accountRoutes, meRoutes } from './routes/accounts.ts'
import { webhookItems } from './routes/event-payloads.ts'
import { eventRoutes } from './routes/events.ts'
import { insightRoutes } from './routes/insights.ts'
import { marketDataRoutes } from './routes/market-data.ts'
import { orderRoutes } from './routes/orders.ts'
import { positionRoutes } from './routes/positions.ts'
import { tradeRoutes } from './routes/trades.ts'
import { type HostFault, webhookRoutes } from './routes/webhooks.ts'
import type { UseCases } from './use-cases.ts'

export const apiPrefix = '/api/v1'

const groupsOf = (isOn: IsOn, faultOfHost: HostFault): readonly RouteGroup[] => [
  {
    name: 'Accounts',
    description:
      'Linked broker accounts with their balances, read live where the broker can be read.',
    routes: accountRoutes(isOn),
  },
  {
    name: 'Orders',
    description:
      'Orders on demo accounts for trading: at the market, or, where the operator has switched them on, held by the broker until their price is reached.',
    routes: orderRoutes(isOn),
  },
  {
    name: 'Positions',
    description:
      'Open positions, read from the broker. They can be changed and closed only on demo accounts for trading.',
    routes: positionRoutes(isOn),
  },
  {
    name: 'Trade history',
    description:
      "Closed trades, folded from the broker's deal history, with statistics and an export.",
    // Before `GET /trades/:id`, which would answer the paths of the others too.
    routes: [...insightRoutes, ...tradeRoutes(isOn)],
  },
  {
    name: 'Market data',
    description: isOn('market-data')
      ? 'Instruments, quotes, candles and ticks: of the broker of a linked account, or without an account those that the operator of this service provides, for which no credential is needed.'
      : 'The list of instruments. Quotes, candles and ticks need the capability market-data, which is off. No credential is needed.',
    routes: marketDataRoutes(isOn),
  },
  {
    name: 'Credential',
    description: 'What the credential of a request may do, and how often.',
    routes: meRoutes,
  },
  {
    name: 'Event log',
    description: 'The log of what happened, by pages and as a stream.',
    routes: eventRoutes,
  },
  {
    name: 'Webhooks',
    description: 'Where events are posted, and the log of their deliveries.',
    routes: webhookRoutes(isOn, faultOfHost),
  },
]

const introduction = `Every reply is JSON in one envelope: \`success\`, \`data\`, \`meta\` and \`error\`. On success \`error\` is null; on an error \`data\` is null and \`meta\` is absent.
New fields may be added to replies within a version: ignore those that you do not know. Unknown fields and parameters of a request are refused.

**Credentials.** Send an API key in \`X-API-Key\`, or an access token in \`Authorization: Bearer\`; never in the query or the body.
Every operation lists its scopes; you need any one.

**Errors.** \`error.code\` is for programs, \`error.message\` is a sentence for a person, the shape of \`error.details\` depends on \`error.code\`.
Every operation lists the codes that it can return, by status. A path that does not exist is \`404 NOT_FOUND\`.

**Limits.** \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` describe the tightest limit. A refused request is
\`429\` with \`Retry-After\`; \`error.details.scope\` says whether the plan (\`tier\`), the endpoint (\`endpoint\`), a suspension (\`suspension\`), the address
(\`address\`), the bodies being received (\`bodies\`) or the calculations under way (\`calculations\`) refused it. Ten refusals of \`tier\` or \`endpoint\` within five minutes suspend a credential for 15 minutes.

**Sent once.** Every POST accepts an \`Idempotency-Key\`: a request that is sent again with the same key within 24 hours is carried out once and answered as
the first time, with \`Idempotent-Replayed: true\`. \`POST /orders\` answers \`201\` with the order as pending; \`GET /orders/{id}\` shows its outcome at the broker.
\`504 BROKER_OUTCOME_UNKNOWN\` on a change of a position means that it may have been made: read the position before you try again.

**Times** are UTC with milliseconds. Money is in the account's currency, volumes are lots.`

const apiWith = (capabilities: Capabilities, faultOfHost: HostFault = () => undefined): Api => ({
  prefix: apiPrefix,
  documentPath: `${apiPrefix}/openapi.json`,
  groups: groupsWith(capabilities, (isOn) => groupsOf(isOn, faultOfHost)),
  info: {
    title: 'Tradeport',
    summary: 'Orders, positions and trade history of linked MetaTrader accounts.',
    description: introduction,
  },
  hasLimits: true,
  securitySchemes: {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-API-Key',
      description: 'An API key: `tp_live_` and an opaque text.',
    },
    accessToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'An OAuth 2.0 access token. A request that carries both uses the token.',
    },
  },
  webhooks: webhookItems(isOnIn(capabilities)),
})

/** Those of all capabilities. */
export const apiRoutes = routesIn(apiWith('all'))

export const createOpenApiDocument = (capabilities: Capabilities = 'all'): OpenApiDocument =>
  documentOf(apiWith(capabilities))

export const createApi = (useCases: UseCases, dependencies: ApiDependencies): Koa =>
  createApp({
    api: apiWith(dependencies.capabilities, hostFault(dependencies.webhookReach)),
    useCases,
    dependencies,
    authorize: authorizeCallers(useCases, dependencies),
  })
