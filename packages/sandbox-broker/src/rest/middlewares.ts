// The steps of a request of the provider's API, in the order in which they run. Nothing is awaited
// between reading an account and changing it.
import { setTimeout as sleep } from 'node:timers/promises'
import { getRawBody } from 'raw-body'
import { lagsOf } from '../core.ts'
import { bendReply } from '../faults/bend-reply.ts'
import { standInFor } from '../faults/stand-in.ts'
import { settle } from '../trading/settle.ts'
import type { Middleware } from './context.ts'
import { accountNotFound, notConnected, unauthorized } from './reply.ts'
import type { RouteName } from './route-names.ts'

/** The region is the path's first segment, or a label of the host's name. */
export const readRegion: Middleware = (ctx, next) => {
  const { core } = ctx.state
  const [, first = ''] = ctx.path.split('/', 2)
  if (core.regions.has(first)) {
    ctx.state.region = first
    ctx.path = ctx.path.slice(first.length + 1) || '/'
  } else {
    ctx.state.region = ctx.hostname.split('.').find((label) => core.regions.has(label))
  }
  return next()
}

export const logRequest: Middleware = async (ctx, next) => {
  const { core } = ctx.state
  const accountId = ctx.params?.['accountId']
  const logged = core.requests.record({
    at: core.now(),
    method: ctx.method,
    path: ctx.originalUrl,
    route: ctx._matchedRouteName ?? 'unknown',
    ...(accountId !== undefined && { accountId }),
  })
  ctx.state.logged = logged
  await next()
  if (ctx.respond !== false) logged.status = ctx.status
}

export const authorize: Middleware = (ctx, next) => {
  const grant = ctx.state.core.tokens.get(ctx.get('auth-token'))
  if (grant === undefined) return unauthorized(ctx)
  ctx.state.grant = grant
  return next()
}

export const findAccount: Middleware = (ctx, next) => {
  const id = ctx.params['accountId'] ?? ''
  const account = ctx.state.core.accounts.get(id)
  if (account === undefined) return accountNotFound(id)(ctx)
  ctx.state.account = account
  return next()
}

const BODY_BYTES_MAX = 65_536

/** Accepts JSON under any content type, as it is sent by hand with curl. */
export const readBody: Middleware = async (ctx, next) => {
  if (ctx.method === 'POST') {
    try {
      ctx.state.body = JSON.parse(
        await getRawBody(ctx.req, { limit: BODY_BYTES_MAX, encoding: 'utf8' }),
      ) as unknown
    } catch {
      ctx.state.body = undefined
    }
  }
  return next()
}

export const applyFaults: Middleware = async (ctx, next) => {
  const { core, logged } = ctx.state
  const fired = core.faults.fire(ctx.params['accountId'], ctx._matchedRouteName as RouteName)
  logged.faults = fired.kinds
  const delay = fired.find('delay')
  if (delay !== undefined) await sleep(delay.ms)
  ctx.state.fired = fired
  ctx.state.at = core.now()
  const standIn = fired.decisive && standInFor(fired.decisive)
  if (standIn?.when !== 'before') await next()
  standIn?.answer(ctx)
  bendReply(ctx)
}

/** The names of the reads that could show whether an order was filled. */
const showsOrders = /^(positions|orders|deals|history-orders)/

/**
 * The account must be of the region that was asked. Its placed orders are filled where their time
 * has come.
 */
export const requireConnected: Middleware = (ctx, next) => {
  const { core, account, at, region } = ctx.state
  const { id } = account.settings
  if (region !== undefined && region !== account.settings.region) return notConnected(id)(ctx)
  settle({ account, market: core.market, at }, showsOrders.test(ctx._matchedRouteName ?? ''))
  ctx.state.lags = lagsOf(core, id)
  return next()
}
