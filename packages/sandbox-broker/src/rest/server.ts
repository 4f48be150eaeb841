// One listener for all of the provider's hosts and for the sandbox's own control routes.
import { Router } from '@koa/router'
import Koa from 'koa'
import type { Server } from 'node:http'
import { CONTROL_PREFIX, controlRoutes } from '../control/control-routes.ts'
import type { Core } from '../core.ts'
import type { Context, State } from './context.ts'
import { historyRoutes } from './history-routes.ts'
import { marketRoutes } from './market-routes.ts'
import {
  applyFaults,
  authorize,
  findAccount,
  logRequest,
  readBody,
  readRegion,
  requireConnected,
} from './middlewares.ts'
import { accountListRoutes, accountRoutes } from './provisioning-routes.ts'
import { internalError, methodNotAllowed, notFound } from './reply.ts'
import { terminalRoutes } from './terminal-routes.ts'
import { tradeRoutes } from './trade-routes.ts'

const users = new Router<State>({ prefix: '/users/current' })
  .use(logRequest, authorize, readBody, applyFaults)
  .use(accountListRoutes.routes())

const accounts = new Router<State>({ prefix: '/users/current/accounts/:accountId' })
  .use(logRequest, authorize, findAccount, readBody, applyFaults)
  .use(accountRoutes.routes())
  .use(requireConnected)
  .use(terminalRoutes.routes(), tradeRoutes.routes(), historyRoutes.routes(), marketRoutes.routes())

/** Listens. `changed` is called after every request. */
export const listen = (core: Core, changed: () => void, port: number): Server => {
  const app = new Koa<State, Context>()
  // Koa would print every connection that its client ended.
  app.silent = true
  app.use(async (ctx, next) => {
    ctx.state.core = core
    try {
      await next()
    } catch (error) {
      internalError(error instanceof Error ? error.message : 'unknown')(ctx)
    }
    ctx.set('date', new Date(core.now()).toUTCString())
    changed()
  })
  app.use(controlRoutes.routes())
  app.use(readRegion)
  app.use(users.routes())
  app.use(accounts.routes())
  app.use((ctx, next) => (ctx.path.startsWith(CONTROL_PREFIX) ? next() : logRequest(ctx, next)))
  app.use((ctx) => {
    const isPathKnown = ctx.matched?.some((layer) => layer.methods.length > 0) === true
    return (isPathKnown ? methodNotAllowed : notFound('There is no such path'))(ctx)
  })
  const server = app.listen(port, '127.0.0.1')
  // Clients keep connections for long; were we to close one first, a request could meet a reset
  // that nobody asked for.
  server.keepAliveTimeout = 65_000
  return server
}
