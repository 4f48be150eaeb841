// The body of POST /trade: a request, or every field that is wrong.
import {
  EXPIRATION_TYPES,
  type ExpirationType,
  type Note,
  type Side,
  type TradeReason,
} from './account.ts'
import { checkFields, type Detail, type FieldCheck } from './http.ts'
import { decimal, zero, type Decimal } from './numbers.ts'
import type { PendingType } from './rows.ts'

export type TradeRequest =
  | {
      readonly action: 'open'
      readonly side: Side
      readonly symbol: string
      readonly volume: Decimal
      readonly levels: Levels
      readonly note: Note
    }
  | { readonly action: 'modify'; readonly positionId: string; readonly levels: Levels }
  | {
      readonly action: 'close'
      readonly positionId: string
      /** All of it if undefined. */
      readonly volume: Decimal | undefined
      readonly note: Note
    }
  | {
      readonly action: 'place'
      readonly type: PendingType
      readonly symbol: string
      readonly volume: Decimal
      readonly terms: RequestedTerms
      readonly note: Note
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

export type ReadRequest =
  | { readonly kind: 'request'; readonly request: TradeRequest }
  | { readonly kind: 'invalid'; readonly details: readonly Detail[] }

const CLIENT_ID_PATTERN = /^[A-Za-z0-9]+_[A-Za-z0-9]+_[A-Za-z0-9]+$/
/** Both are kept in the order's comment on the platform, which is that long. */
const COMMENT_AND_CLIENT_ID_LENGTH_MAX = 26
/** Volumes are read to that many decimals, which removes binary residue. */
const VOLUME_DECIMALS = 8

type Fields = Readonly<Record<string, unknown>>

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => Number.isFinite(value)
const name: FieldCheck = [
  (value) => isText(value) && value !== '',
  'Value must be a non-empty string',
]
const amount: FieldCheck = [
  (value) => isNumber(value) && value >= 0,
  'Value must be a number, 0 or above',
]
const optional = ([holds, message]: FieldCheck): FieldCheck => [
  (value) => value === undefined || holds(value),
  message,
]

const market = { symbol: name, volume: amount }
const pending = { ...market, openPrice: amount }
const stopLimit = { ...pending, stopLimitPrice: amount }

const PENDING_TYPES: Readonly<Record<PendingType, Readonly<Record<string, FieldCheck>>>> = {
  ORDER_TYPE_BUY_LIMIT: pending,
  ORDER_TYPE_SELL_LIMIT: pending,
  ORDER_TYPE_BUY_STOP: pending,
  ORDER_TYPE_SELL_STOP: pending,
  ORDER_TYPE_BUY_STOP_LIMIT: stopLimit,
  ORDER_TYPE_SELL_STOP_LIMIT: stopLimit,
}

const REQUIRED = new Map<unknown, Readonly<Record<string, FieldCheck>>>([
  ['ORDER_TYPE_BUY', market],
  ['ORDER_TYPE_SELL', market],
  ...Object.entries(PENDING_TYPES),
  ['ORDER_MODIFY', { orderId: name, openPrice: amount }],
  ['ORDER_CANCEL', { orderId: name }],
  ['POSITION_MODIFY', { positionId: name }],
  ['POSITION_PARTIAL', { positionId: name, volume: amount }],
  ['POSITION_CLOSE_ID', { positionId: name }],
])

const isExpiration = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false
  const { type, time } = value as Fields
  return (
    EXPIRATION_TYPES.some((one) => one === type) &&
    (!hasTime(type) || (isText(time) && !Number.isNaN(Date.parse(time))))
  )
}

const hasTime = (type: unknown): boolean =>
  type === 'ORDER_TIME_SPECIFIED' || type === 'ORDER_TIME_SPECIFIED_DAY'

const OPTIONAL = {
  stopLimitPrice: optional(amount),
  expiration: optional([
    isExpiration,
    `Value must have a type out of ${EXPIRATION_TYPES.join(', ')}, and a time in ISO 8601 with the last two`,
  ]),
  stopLoss: optional(amount),
  takeProfit: optional(amount),
  comment: optional([isText, 'Value must be a string']),
  clientId: optional([
    (value) => isText(value) && CLIENT_ID_PATTERN.test(value),
    'Value must match required pattern',
  ]),
  magic: optional([
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    'Value must be a whole number, 0 or above',
  ]),
}

/** @param reason who or what trades; the REST API is used by programs */
export const readTradeRequest = (body: unknown, reason: TradeReason = 'EXPERT'): ReadRequest => {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return refused([{ parameter: 'body', message: 'Value must be a JSON object' }])
  const fields = body as Fields
  const { actionType, comment, clientId } = fields
  const required = REQUIRED.get(actionType)
  if (required === undefined) {
    const message = `Value must be one of ${[...REQUIRED.keys()].join(', ')}`
    return refused([{ parameter: 'actionType', value: actionType, message }])
  }
  const details = checkFields(fields, { ...OPTIONAL, ...required })
  const [ofComment, ofClientId] = [comment, clientId].map((text) =>
    isText(text) ? text.length : 0,
  ) as [number, number]
  if (ofComment + ofClientId > COMMENT_AND_CLIENT_ID_LENGTH_MAX)
    details.push({
      parameter: ofComment > 0 ? 'comment' : 'clientId',
      message: `comment and clientId together must not be longer than ${COMMENT_AND_CLIENT_ID_LENGTH_MAX} characters`,
    })
  return details.length > 0
    ? refused(details)
    : { kind: 'request', request: requestOf(fields, reason) }
}

const refused = (details: readonly Detail[]): ReadRequest => ({ kind: 'invalid', details })

const requestOf = (fields: Fields, reason: TradeReason): TradeRequest => {
  const { actionType, symbol, volume, comment, clientId, magic } = fields
  const note: Note = {
    reason,
    ...(isText(comment) && { comment }),
    ...(isText(clientId) && { clientId }),
    ...(isNumber(magic) && { magic }),
  }
  const positionId = fields['positionId'] as string
  const orderId = fields['orderId'] as string
  const levels = {
    stopLoss: levelOf(fields['stopLoss']),
    takeProfit: levelOf(fields['takeProfit']),
  }
  const lots = isNumber(volume) ? decimal(volume).round(VOLUME_DECIMALS) : undefined
  switch (actionType) {
    case 'POSITION_MODIFY':
      return { action: 'modify', positionId, levels }
    case 'POSITION_PARTIAL':
      return { action: 'close', positionId, volume: lots, note }
    case 'POSITION_CLOSE_ID':
      return { action: 'close', positionId, volume: undefined, note }
    case 'ORDER_MODIFY':
      return { action: 'modify-order', orderId, terms: termsOf(fields, levels) }
    case 'ORDER_CANCEL':
      return { action: 'cancel-order', orderId }
    case 'ORDER_TYPE_BUY_LIMIT':
    case 'ORDER_TYPE_SELL_LIMIT':
    case 'ORDER_TYPE_BUY_STOP':
    case 'ORDER_TYPE_SELL_STOP':
    case 'ORDER_TYPE_BUY_STOP_LIMIT':
    case 'ORDER_TYPE_SELL_STOP_LIMIT':
      return {
        action: 'place',
        type: actionType,
        symbol: symbol as string,
        volume: lots ?? zero,
        terms: termsOf(fields, levels),
        note,
      }
    default:
      return {
        action: 'open',
        side: actionType === 'ORDER_TYPE_BUY' ? 'buy' : 'sell',
        symbol: symbol as string,
        volume: lots ?? zero,
        levels,
        note,
      }
  }
}

const termsOf = (fields: Fields, levels: Levels): RequestedTerms => {
  const { type = 'ORDER_TIME_GTC', time } = (fields['expiration'] ?? {}) as {
    readonly type?: ExpirationType
    readonly time?: string
  }
  return {
    openPrice: decimal(Number(fields['openPrice'])),
    stopLimitPrice: levelOf(fields['stopLimitPrice']),
    levels,
    expirationType: type,
    expirationTime: time !== undefined && hasTime(type) ? Date.parse(time) : undefined,
  }
}

const levelOf = (value: unknown): Decimal | undefined =>
  isNumber(value) && value !== 0 ? decimal(value) : undefined
