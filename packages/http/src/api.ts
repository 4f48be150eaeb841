// The API for users: every route under /api/v1 (section 4).
import type Koa from 'koa'
import { createCallerDoor } from './access/doors.ts'
import type { ApiEdge } from './edge.ts'
import { accountRoutes } from './routes/accounts.ts'
import { marketDataRoutes } from './routes/market-data.ts'
import { orderRoutes } from './routes/orders.ts'
import { positionRoutes } from './routes/positions.ts'
import { tradeRoutes } from './routes/trades.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { mount } from './routing/mount.ts'
import type { Route } from './routing/route.ts'
import type { UseCases } from './use-cases.ts'

/** What every path begins with (section 9, rule 1). */
export const apiPrefix = '/api/v1'

export const apiRoutes: readonly Route<UseCases>[] = [
  ...accountRoutes,
  ...orderRoutes,
  ...positionRoutes,
  ...tradeRoutes,
  ...marketDataRoutes,
  ...webhookRoutes,
]

/** Answers /api/v1, and anything else with 404. It never throws and never answers without an envelope and a request id. */
export const createApi = (useCases: UseCases, edge: ApiEdge): Koa =>
  mount({
    prefix: apiPrefix,
    routes: apiRoutes,
    useCases,
    door: createCallerDoor({ ...edge, identifyCaller: useCases.identifyCaller }),
    edge,
  })
