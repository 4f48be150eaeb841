// The routes of the provider's API, and one listener for all of its hosts.
import { Router } from '@koa/router'
import Koa from 'koa'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account, Moment } from './account.ts'
import { controlPrefix, controlRoutes } from './control.ts'
import type { Core } from './core.ts'
import { distortOffset, distortReply, distortRows, replacementFor } from './fault-effects.ts'
import type { RouteName } from './faults.ts'
import {
  type Context,
  accountNotFound,
  type Handler,
  internalError,
  invalid,
  InvalidInput,
  methodNotAllowed,
  momentOf,
  notFound,
  readBody,
  readPage,
  type Middleware,
  notConnected,
  unauthorized,
  type State,
  symbolNotFound,
} from './http.ts'
import { hideDeals, lagBehind, shownDeals, shownRows } from './lags.ts'
import { instrumentOf, UnknownSymbol } from './market.ts'
import { getPrice, getSpecification, listCandles, listSymbols, listTicks } from './market-data.ts'
import { toNumber, utcText } from './numbers.ts'
import { pendingRows, replaceTicket } from './pending-orders.ts'
import { informationOf, marginOf, positionRows } from './positions.ts'
import { between, type Entry, type OrderRow } from './rows.ts'
import { numberIn, readTradeRequest } from './trade-request.ts'
import { acceptForLater, executeTrade, placedRows, update } from './trading.ts'

const accountRow = (core: Core, { settings }: Account) => ({
  _id: settings.id,
  login: settings.login,
  name: settings.name,
  server: settings.server,
  version: settings.platform === 'mt4' ? 4 : 5,
  type: 'cloud-g2',
  state: 'DEPLOYED',
  connectionStatus: 'CONNECTED',
  region: settings.region,
  magic: 0,
  createdAt: utcText(core.anchor),
})

// POST /trade: one action each. Refusals are answers with status 200 and a code; only a bad body or
// an unknown symbol is an HTTP error.

const closingEntries: ReadonlySet<unknown> = new Set(['DEAL_ENTRY_OUT', 'DEAL_ENTRY_INOUT'])

const trade: Handler = (ctx) => {
  const { account, at, faults, body } = ctx.state
  const request = readTradeRequest(body)
  const { lags } = account
  const moment = momentOf(ctx)
  const placed = faults.find('placed')
  const positionsLag = faults.find('positions-lag')
  const ordersLag = faults.find('orders-lag')
  const dealLag = faults.find('closing-deal-lag')
  const partial = faults.find('partial-fill')
  const positionsBefore = positionsLag === undefined ? [] : positionRows(moment)
  const ordersBefore = ordersLag === undefined ? [] : orderRows(moment)
  const dealsBefore = account.newDeals.length
  const reply =
    placed === undefined
      ? executeTrade(moment, request, {
          fillFraction: partial === undefined ? undefined : (partial.fraction ?? 0.5),
        })
      : acceptForLater(moment, request, body, placed)
  if (positionsLag !== undefined)
    lags.positions = lagBehind(lags.positions, positionsBefore, positionsLag, at)
  if (ordersLag !== undefined) lags.orders = lagBehind(lags.orders, ordersBefore, ordersLag, at)
  if (dealLag !== undefined) {
    const closing = account.newDeals
      .slice(dealsBefore)
      .filter((deal) => closingEntries.has(deal['entryType']))
    hideDeals(lags, closing, dealLag, at)
  }
  if (faults.find('new-ticket') !== undefined) replaceTicket(account, reply.orderId)
  ctx.body = reply
}

// Deals and finished orders, by time. Pages are cut from rows that are already in the order of
// time.

type Row = { readonly id: string; readonly [field: string]: unknown }

/** @param rowsOf those that no lag hides, with their times */
const byTime =
  (rowsOf: (ctx: Context) => readonly Entry<Row>[]): Handler =>
  (ctx) => {
    const { core, faults } = ctx.state
    const { start, end, offset, limit } = readPage(ctx)
    const rows = distortRows(between(rowsOf(ctx), start, end), faults, core.seed)
    const from = distortOffset(offset, limit, faults)
    ctx.body = rows.slice(from, from + limit).map(({ row }) => row)
  }

const calculateMargin: Handler = (ctx) => {
  const fields = (ctx.state.body ?? {}) as Readonly<Record<string, unknown>>
  const instrument = instrumentOf(ctx.state.account.market, String(fields['symbol']))
  const [lots, price] = [numberIn(fields, 'volume'), numberIn(fields, 'openPrice')]
  ctx.body = { margin: toNumber(marginOf(momentOf(ctx), instrument, lots, price)) }
}

// The orders that still work: market orders that are not filled yet, and pending ones.

const orderRows = (moment: Moment): readonly OrderRow[] => [
  ...placedRows(moment.account),
  ...pendingRows(moment),
]

/** A read from the terminal sees past a lag, and does not count among the reads that it lasts. */
const isFresh = ({ query }: Context): boolean => query['refreshTerminalState'] === 'true'

// The steps of a request of the provider's API, in the order in which they run. Nothing is awaited
// between reading an account and changing it.

/** The region is the path's first segment, or a label of the host's name. */
const readRegion: Middleware = (ctx, next) => {
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

const countRequest: Middleware = (ctx, next) => {
  ctx.state.core.requests.record(ctx.params?.['accountId'], ctx._matchedRouteName ?? 'unknown')
  return next()
}

const authorize: Middleware = (ctx, next) => {
  return ctx.state.core.tokens.has(ctx.get('auth-token')) ? next() : unauthorized(ctx)
}

const isOpenTo = (ctx: Context, { settings: { token } }: Account): boolean =>
  token === undefined || token === ctx.get('auth-token')

const findAccount: Middleware = (ctx, next) => {
  const id = ctx.params['accountId'] ?? ''
  const account = ctx.state.core.accounts.get(id)
  if (account === undefined || !isOpenTo(ctx, account)) return accountNotFound(id)(ctx)
  ctx.state.account = account
  return next()
}

const applyFaults: Middleware = async (ctx, next) => {
  const { core } = ctx.state
  const faults = core.faults.trigger(ctx.params['accountId'], ctx._matchedRouteName as RouteName)
  const delay = faults.find('delay')
  if (delay !== undefined) await sleep(delay.ms)
  ctx.state.faults = faults
  ctx.state.at = core.now()
  const replacement = faults.decisive && replacementFor(faults.decisive)
  if (replacement?.when !== 'before') await next()
  replacement?.answer(ctx)
  distortReply(ctx)
}

/** The names of the reads that could show whether an order was filled. */
const showsOrders = /^(positions|orders|deals|history-orders)$/

/**
 * The account must be of the region that was asked. Its placed and pending orders are filled where
 * their time has come.
 */
const requireConnected: Middleware = (ctx, next) => {
  const { account, region } = ctx.state
  const { id } = account.settings
  if (region !== undefined && region !== account.settings.region) return notConnected(id)(ctx)
  update(momentOf(ctx), showsOrders.test(ctx._matchedRouteName ?? ''))
  return next()
}

// One listener for all of the provider's hosts and for the sandbox's own control routes.

const users = new Router<State>({ prefix: '/users/current' })
  .use(countRequest, authorize, readBody, applyFaults)
  .get('accounts', '/accounts', (ctx) => {
    const { core } = ctx.state
    const accounts = [...core.accounts.values()].filter((account) => isOpenTo(ctx, account))
    ctx.body = accounts.map((account) => accountRow(core, account))
  })

const accounts = new Router<State>({ prefix: '/users/current/accounts/:accountId' })
  .use(countRequest, authorize, findAccount, readBody, applyFaults)
  .get('account', '/', (ctx) => {
    ctx.body = accountRow(ctx.state.core, ctx.state.account)
  })
  .use(requireConnected)
  .get('account-information', '/account-information', (ctx) => {
    ctx.body = informationOf(momentOf(ctx))
  })
  .get('positions', '/positions', (ctx) => {
    const { account, at } = ctx.state
    const rows = positionRows(momentOf(ctx))
    ctx.body = isFresh(ctx) ? rows : shownRows(account.lags.positions, rows, at)
  })
  .get('orders', '/orders', (ctx) => {
    const { account, at } = ctx.state
    const rows = orderRows(momentOf(ctx))
    ctx.body = isFresh(ctx) ? rows : shownRows(account.lags.orders, rows, at)
  })
  .get(
    'deals',
    '/history-deals/time/:startTime/:endTime',
    byTime(({ state: { account, at } }) => shownDeals(account.lags, account.deals, at)),
  )
  .get(
    'history-orders',
    '/history-orders/time/:startTime/:endTime',
    byTime(({ state: { account } }) => account.orders),
  )
  .post('trade', '/trade', trade)
  .post('margin', '/calculate-margin', calculateMargin)
  .get('symbols', '/symbols', listSymbols)
  .get('specification', '/symbols/:symbol/specification', getSpecification)
  .get('price', '/symbols/:symbol/current-price', getPrice)
  .get(
    'candles',
    '/historical-market-data/symbols/:symbol/timeframes/:timeframe/candles',
    listCandles,
  )
  .get('ticks', '/historical-market-data/symbols/:symbol/ticks', listTicks)

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
      if (error instanceof InvalidInput) invalid(error)(ctx)
      else if (error instanceof UnknownSymbol) symbolNotFound(ctx)
      else internalError(error instanceof Error ? error.message : 'unknown')(ctx)
    }
    ctx.set('date', new Date(core.now()).toUTCString())
    changed()
  })
  app.use(controlRoutes.routes())
  app.use(readRegion)
  app.use(users.routes())
  app.use(accounts.routes())
  app.use((ctx, next) => (ctx.path.startsWith(controlPrefix) ? next() : countRequest(ctx, next)))
  app.use((ctx) => {
    const isPathKnown = ctx.matched?.some((layer) => layer.methods.length > 0) === true
    return (isPathKnown ? methodNotAllowed : notFound('There is no such path'))(ctx)
  })
  const server = app.listen(port, '127.0.0.1')
  // Clients keep connections for long; if we closed one first, a request could be reset without a
  // fault.
  server.keepAliveTimeout = 65_000
  return server
}
