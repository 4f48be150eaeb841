// The sandbox's own routes under /sandbox/v1, for programs that do not run in this process: they
// set faults and clear them.
import { Router } from '@koa/router'
import { objectionTo, type Fault, type FaultRoute } from '../faults/fault.ts'
import type { Context, State } from '../rest/context.ts'
import { readBody } from '../rest/middlewares.ts'
import { invalid } from '../rest/reply.ts'

export const CONTROL_PREFIX = '/sandbox/v1'

const refuse = (ctx: Context, parameter: string, message: string): void =>
  invalid([{ parameter, message }])(ctx)

/**
 * Adds one fault: `{ account, route, fault }`, for all accounts and any route where they are
 * absent.
 */
const addFault = (ctx: Context): void => {
  const { body } = ctx.state
  if (typeof body !== 'object' || body === null)
    return refuse(ctx, 'body', 'Value must be a JSON object')
  const { account = '*', route = 'any', fault } = body as Readonly<Record<string, unknown>>
  if (typeof account !== 'string')
    return refuse(ctx, 'account', 'Value must be an account id, or * for all')
  if (typeof route !== 'string')
    return refuse(ctx, 'route', 'Value must be the name of a route, or any')
  const objection = objectionTo(route, fault)
  if (objection !== undefined) return refuse(ctx, 'fault', objection)
  ctx.state.core.faults.faults.add(account, route as FaultRoute, fault as Fault)
  ctx.status = 201
  ctx.body = {}
}

export const controlRoutes = new Router<State>({ prefix: CONTROL_PREFIX })
  .use(readBody)
  .post('/faults', addFault)
  .delete('/faults', (ctx) => {
    ctx.state.core.faults.faults.clear()
    ctx.status = 204
  })
