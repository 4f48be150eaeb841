// The API for users: every route under /api/v1 (section 4).
import type Koa from 'koa'
import { createCallerDoor } from './access/doors.ts'
import type { Edge } from './edge.ts'
import { accountRoutes } from './routes/accounts.ts'
import { marketDataRoutes } from './routes/market-data.ts'
import { orderRoutes } from './routes/orders.ts'
import { positionRoutes } from './routes/positions.ts'
import { tradeRoutes } from './routes/trades.ts'
import { mount } from './routing/mount.ts'
import type { Route } from './routing/route.ts'
import type { OrderUseCases, UseCases } from './use-cases.ts'

/** What every path begins with (section 9, rule 1). */
export const apiPrefix = '/api/v1'

export const apiRoutes: readonly Route<UseCases & OrderUseCases>[] = [
  ...accountRoutes,
  ...orderRoutes,
  ...positionRoutes,
  ...tradeRoutes,
  ...marketDataRoutes,
]

const routesWithoutOrders: readonly Route<UseCases>[] = [...accountRoutes, ...positionRoutes, ...tradeRoutes, ...marketDataRoutes]

/**
 * Answers /api/v1, and anything else with 404. It never throws and never answers without an envelope and a request id.
 * Until orders can be composed it goes without them, too: their routes are then not there.
 */
export const createApi = (useCases: UseCases | (UseCases & OrderUseCases), edge: Edge): Koa => {
  const mounting = { prefix: apiPrefix, door: createCallerDoor(useCases.identifyCaller), edge }
  return 'placeOrder' in useCases
    ? mount({ ...mounting, routes: apiRoutes, useCases })
    : mount({ ...mounting, routes: routesWithoutOrders, useCases })
}
