// The body of POST /trade.
import type { ExpirationType, OrderOrigin, Side, TradeReason } from './account.ts'
import { InvalidInput } from './http.ts'
import { decimal, type Decimal } from './numbers.ts'
import type { PendingType } from './rows.ts'

export type TradeRequest =
  | {
      readonly action: 'open'
      readonly side: Side
      readonly symbol: string
      readonly volume: Decimal
      readonly levels: Levels
      readonly origin: OrderOrigin
    }
  | { readonly action: 'modify'; readonly positionId: string; readonly levels: Levels }
  | {
      readonly action: 'close'
      readonly positionId: string
      /** All of it if undefined. */
      readonly volume: Decimal | undefined
      readonly origin: OrderOrigin
    }
  | {
      readonly action: 'place'
      readonly type: PendingType
      readonly symbol: string
      readonly volume: Decimal
      readonly terms: RequestedTerms
      readonly origin: OrderOrigin
    }
  | { readonly action: 'modify-order'; readonly orderId: string; readonly terms: RequestedTerms }
  | { readonly action: 'cancel-order'; readonly orderId: string }

/** Of a pending order. */
export type RequestedTerms = {
  readonly openPrice: Decimal
  readonly stopLimitPrice: Decimal | undefined
  readonly levels: Levels
  readonly expirationType: ExpirationType
  /** Epoch milliseconds. */
  readonly expirationTime: number | undefined
}

/** Price levels; a level of 0 means none, as on the platforms. */
export type Levels = {
  readonly stopLoss: Decimal | undefined
  readonly takeProfit: Decimal | undefined
}

const clientIdPattern = /^[A-Za-z0-9]+_[A-Za-z0-9]+_[A-Za-z0-9]+$/
/** Both are kept in the order's comment on the platform, which is that long. */
const longestNames = 26
/** Volumes are read to that many decimals, which removes binary residue. */
const volumeDecimals = 8

type Fields = Readonly<Record<string, unknown>>

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => Number.isFinite(value)

const textIn = (fields: Fields, name: string): string => {
  const value = fields[name]
  if (isText(value)) return value
  throw new InvalidInput(name, 'Value must be a text')
}

export const numberIn = (fields: Fields, name: string): Decimal => {
  const value = fields[name]
  if (isNumber(value) && value >= 0) return decimal(value)
  throw new InvalidInput(name, 'Value must be a number from 0 on')
}

/**
 * What is wrong in other ways leads to a refusal by the broker, or to an error.
 * @param reason who or what trades; the REST API is used by programs
 */
export const readTradeRequest = (body: unknown, reason: TradeReason = 'EXPERT'): TradeRequest => {
  const fields = (body ?? {}) as Fields
  const { comment, clientId } = fields
  if (clientId !== undefined && !(isText(clientId) && clientIdPattern.test(clientId)))
    throw new InvalidInput('clientId', 'Value must match required pattern')
  if ([comment, clientId].filter(isText).join('').length > longestNames)
    throw new InvalidInput(
      'comment',
      `comment and clientId together must not be longer than ${longestNames} characters`,
    )
  return requestOf(fields, reason)
}

const notSimulated = ['stopLossUnits', 'takeProfitUnits', 'trailingStopLoss', 'stopPriceBase']

const requestOf = (fields: Fields, reason: TradeReason): TradeRequest => {
  for (const name of notSimulated)
    if (fields[name] !== undefined) throw new InvalidInput(name, 'The sandbox does not simulate it')
  const { actionType, comment, clientId, magic } = fields
  const origin: OrderOrigin = {
    reason,
    ...(isText(comment) && { comment }),
    ...(isText(clientId) && { clientId }),
    ...(isNumber(magic) && { magic }),
  }
  const positionId = () => textIn(fields, 'positionId')
  const orderId = () => textIn(fields, 'orderId')
  const symbol = () => textIn(fields, 'symbol')
  const volume = () => numberIn(fields, 'volume').round(volumeDecimals)
  const levels = {
    stopLoss: levelIn(fields, 'stopLoss'),
    takeProfit: levelIn(fields, 'takeProfit'),
  }
  switch (actionType) {
    case 'POSITION_MODIFY':
      return { action: 'modify', positionId: positionId(), levels }
    case 'POSITION_PARTIAL':
      return { action: 'close', positionId: positionId(), volume: volume(), origin }
    case 'POSITION_CLOSE_ID':
      return { action: 'close', positionId: positionId(), volume: undefined, origin }
    case 'ORDER_MODIFY':
      return { action: 'modify-order', orderId: orderId(), terms: termsOf(fields, levels) }
    case 'ORDER_CANCEL':
      return { action: 'cancel-order', orderId: orderId() }
    case 'ORDER_TYPE_BUY_LIMIT':
    case 'ORDER_TYPE_SELL_LIMIT':
    case 'ORDER_TYPE_BUY_STOP':
    case 'ORDER_TYPE_SELL_STOP':
    case 'ORDER_TYPE_BUY_STOP_LIMIT':
    case 'ORDER_TYPE_SELL_STOP_LIMIT':
      return {
        action: 'place',
        type: actionType,
        symbol: symbol(),
        volume: volume(),
        terms: termsOf(fields, levels),
        origin,
      }
    case 'ORDER_TYPE_BUY':
    case 'ORDER_TYPE_SELL':
      return {
        action: 'open',
        side: actionType === 'ORDER_TYPE_BUY' ? 'buy' : 'sell',
        symbol: symbol(),
        volume: volume(),
        levels,
        origin,
      }
    default:
      throw new InvalidInput('actionType', 'Value is no action')
  }
}

const expirationTypes: readonly unknown[] = [
  'ORDER_TIME_GTC',
  'ORDER_TIME_DAY',
  'ORDER_TIME_SPECIFIED',
] satisfies readonly ExpirationType[]
const isExpirationType = (value: unknown): value is ExpirationType =>
  expirationTypes.includes(value)

const termsOf = (fields: Fields, levels: Levels): RequestedTerms => {
  const { type = 'ORDER_TIME_GTC', time } = (fields['expiration'] ?? {}) as Fields
  if (!isExpirationType(type))
    throw new InvalidInput('expiration.type', `Value must be one of ${expirationTypes.join(', ')}`)
  const isTimed = type === 'ORDER_TIME_SPECIFIED'
  const expirationTime = isTimed ? Date.parse(String(time)) : undefined
  if (Number.isNaN(expirationTime))
    throw new InvalidInput('expiration.time', 'Value must be a time')
  return {
    openPrice: numberIn(fields, 'openPrice'),
    stopLimitPrice: String(fields['actionType']).endsWith('STOP_LIMIT')
      ? numberIn(fields, 'stopLimitPrice')
      : levelIn(fields, 'stopLimitPrice'),
    levels,
    expirationType: type,
    expirationTime,
  }
}

/** 0 means no level, as on the platforms. */
const levelIn = (fields: Fields, name: string): Decimal | undefined =>
  fields[name] === undefined || fields[name] === 0 ? undefined : numberIn(fields, name)
