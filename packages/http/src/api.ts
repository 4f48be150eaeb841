// The API for users: every route under /api/v1 (section 4).
import type Koa from 'koa'
import { createCallerDoor } from './access/doors.ts'
import { documentOf } from './document/create-document.ts'
import type { RouteGroup } from './document/create-document.ts'
import type { OpenApiDocument } from './document/open-api.ts'
import type { ApiEdge } from './edge.ts'
import { assetOf } from './replies/asset.ts'
import type { Asset } from './replies/asset.ts'
import { cachedFor } from './replies/caching.ts'
import { accountRoutes } from './routes/accounts.ts'
import { marketDataRoutes } from './routes/market-data.ts'
import { openApiRoute } from './routes/open-api.ts'
import { orderRoutes } from './routes/orders.ts'
import { positionRoutes } from './routes/positions.ts'
import { tradeRoutes } from './routes/trades.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { mount } from './routing/mount.ts'
import type { Route } from './routing/route.ts'
import type { UseCases } from './use-cases.ts'

/** What every path begins with (section 9, rule 1). */
export const apiPrefix = '/api/v1'

/** In the order in which they are told of. */
const routeGroups: readonly RouteGroup<UseCases>[] = [
  {
    name: 'Accounts',
    description: 'Linked broker accounts with their balances, read live where the broker can be read.',
    routes: accountRoutes,
  },
  {
    name: 'Orders',
    description: 'Market orders on demo accounts for trading. Limit, stop and stop-limit orders are not available yet.',
    routes: orderRoutes,
  },
  {
    name: 'Positions',
    description: 'Open positions, read from the broker. They are changed and closed on demo accounts for trading alone.',
    routes: positionRoutes,
  },
  {
    name: 'Trade history',
    description: "Closed trades, folded from the broker's deal history, with statistics and a file to take away.",
    routes: tradeRoutes,
  },
  {
    name: 'Market data',
    description: 'The list of instruments. Quotes, candles and ticks are not available yet. No credential is needed.',
    routes: marketDataRoutes,
  },
  { name: 'Webhooks', description: 'Where to be told of events, and the log of what was told.', routes: webhookRoutes },
  { name: 'Document', description: 'This document, for programs.', routes: [openApiRoute(() => documentAsset())] },
]

export const apiRoutes: readonly Route<UseCases>[] = routeGroups.flatMap(({ routes }) => routes)

/** The API in OpenAPI 3.1, as GET /openapi.json answers it. */
export const createOpenApiDocument = (): OpenApiDocument => documentOf(routeGroups, apiPrefix)

let madeDocument: Asset | undefined

// Made once, since the records do not change, and when it is first asked for: a service that nobody asks starts without it.
const documentAsset = (): Asset =>
  (madeDocument ??= assetOf(JSON.stringify(createOpenApiDocument()), {
    'Content-Type': 'application/json; charset=utf-8',
    ...cachedFor(60),
  }))

/** Answers /api/v1 and the plain routes, and anything else with 404. It never throws and never answers without an envelope and a request id. */
export const createApi = (useCases: UseCases, edge: ApiEdge): Koa =>
  mount({
    prefix: apiPrefix,
    routes: apiRoutes,
    plainRoutes: edge.plainRoutes,
    useCases,
    door: createCallerDoor({ ...edge, identifyCaller: useCases.identifyCaller }),
    edge,
  })
