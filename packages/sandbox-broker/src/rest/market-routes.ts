// The margin calculation.
import { Router } from '@koa/router'
import { decimal, toNumber, zero } from '../numbers/decimal.ts'
import { marginOf } from '../books/valuation.ts'
import type { Handler, State } from './context.ts'
import { invalid, symbolNotFound, type Detail } from './reply.ts'

const calculateMargin: Handler = (ctx) => {
  const { core, account, at, body } = ctx.state
  const { symbol, type, volume, openPrice } =
    typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const details: Detail[] = []
  if (typeof symbol !== 'string' || symbol === '')
    details.push({ parameter: 'symbol', message: 'Value must be a symbol' })
  if (type !== 'ORDER_TYPE_BUY' && type !== 'ORDER_TYPE_SELL')
    details.push({ parameter: 'type', message: 'Value must be ORDER_TYPE_BUY or ORDER_TYPE_SELL' })
  if (!isPositive(volume))
    details.push({ parameter: 'volume', message: 'Value must be a number above 0' })
  if (!isPositive(openPrice))
    details.push({ parameter: 'openPrice', message: 'Value must be a number above 0' })
  if (
    details.length > 0 ||
    typeof symbol !== 'string' ||
    !isPositive(volume) ||
    !isPositive(openPrice)
  )
    return invalid(details)(ctx)
  const instrument = core.market.instruments.get(symbol)
  if (instrument === undefined) return symbolNotFound(ctx)
  ctx.body = {
    margin: toNumber(
      marginOf(account.settings, core.market, instrument, decimal(volume), decimal(openPrice), at),
    ),
  }
}

const isPositive = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && decimal(value).gt(zero)

export const marketRoutes = new Router<State>().post('margin', '/calculate-margin', calculateMargin)
