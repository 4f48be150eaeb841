// Reading the body of POST /trade: what is asked for, or every field that is wrong, before the
// broker is bothered.
import { decimal, zero, type Decimal } from '../numbers/decimal.ts'
import type { Detail } from '../rest/reply.ts'
import type { Note, TradeReason } from '../books/entries.ts'
import type { Side } from '../books/position.ts'

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
      readonly volume: Decimal | undefined
      readonly note: Note
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
/** Volumes are read to that many decimals, which takes away what binary fractions leave. */
const VOLUME_DECIMALS = 8

type Field = 'symbol' | 'volume' | 'positionId'

const REQUIRED: Readonly<Record<string, readonly Field[]>> = {
  ORDER_TYPE_BUY: ['symbol', 'volume'],
  ORDER_TYPE_SELL: ['symbol', 'volume'],
  POSITION_MODIFY: ['positionId'],
  POSITION_PARTIAL: ['positionId', 'volume'],
  POSITION_CLOSE_ID: ['positionId'],
}

/** @param reason who or what trades; the REST is used by programs */
export const readTradeRequest = (body: unknown, reason: TradeReason = 'EXPERT'): ReadRequest => {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return refused([{ parameter: 'body', message: 'Value must be a JSON object' }])
  const fields = body as Readonly<Record<string, unknown>>
  const { actionType } = fields
  const required =
    typeof actionType === 'string' && Object.hasOwn(REQUIRED, actionType)
      ? REQUIRED[actionType]
      : undefined
  if (typeof actionType !== 'string' || required === undefined) {
    return refused([
      {
        parameter: 'actionType',
        value: actionType,
        message: `Value must be one of ${Object.keys(REQUIRED).join(', ')}`,
      },
    ])
  }
  const details = [
    ...required.flatMap((field) => checkRequired(fields, field)),
    ...checkOptional(fields),
  ]
  return details.length > 0
    ? refused(details)
    : { kind: 'request', request: requestOf(actionType, fields, reason) }
}

const refused = (details: readonly Detail[]): ReadRequest => ({ kind: 'invalid', details })

const checkRequired = (
  fields: Readonly<Record<string, unknown>>,
  field: Field,
): readonly Detail[] => {
  const value = fields[field]
  if (field !== 'volume')
    return typeof value === 'string' && value !== ''
      ? []
      : [{ parameter: field, value, message: 'Value must be a non-empty string' }]
  return isAmount(value)
    ? []
    : [{ parameter: field, value, message: 'Value must be a number, 0 or above' }]
}

const checkOptional = (fields: Readonly<Record<string, unknown>>): readonly Detail[] => {
  const { comment, clientId, magic } = fields
  const details: Detail[] = []
  for (const parameter of ['stopLoss', 'takeProfit']) {
    const value = fields[parameter]
    if (value !== undefined && !isAmount(value))
      details.push({ parameter, value, message: 'Value must be a number, 0 or above' })
  }
  if (comment !== undefined && typeof comment !== 'string')
    details.push({ parameter: 'comment', value: comment, message: 'Value must be a string' })
  if (
    clientId !== undefined &&
    (typeof clientId !== 'string' || !CLIENT_ID_PATTERN.test(clientId))
  ) {
    details.push({
      parameter: 'clientId',
      value: clientId,
      message: 'Value must match required pattern',
    })
  }
  if (
    magic !== undefined &&
    !(typeof magic === 'number' && Number.isSafeInteger(magic) && magic >= 0)
  ) {
    details.push({
      parameter: 'magic',
      value: magic,
      message: 'Value must be a whole number, 0 or above',
    })
  }
  const length = lengthOf(comment) + lengthOf(clientId)
  if (length > COMMENT_AND_CLIENT_ID_LENGTH_MAX) {
    const parameter = lengthOf(comment) > 0 ? 'comment' : 'clientId'
    details.push({
      parameter,
      message: `comment and clientId together must not be longer than ${COMMENT_AND_CLIENT_ID_LENGTH_MAX} characters`,
    })
  }
  return details
}

const requestOf = (
  actionType: string,
  fields: Readonly<Record<string, unknown>>,
  reason: TradeReason,
): TradeRequest => {
  const text = (field: Field): string => String(fields[field])
  const note: Note = {
    reason,
    ...(typeof fields['comment'] === 'string' && { comment: fields['comment'] }),
    ...(typeof fields['clientId'] === 'string' && { clientId: fields['clientId'] }),
    ...(typeof fields['magic'] === 'number' && { magic: fields['magic'] }),
  }
  const levels = {
    stopLoss: levelOf(fields['stopLoss']),
    takeProfit: levelOf(fields['takeProfit']),
  }
  switch (actionType) {
    case 'ORDER_TYPE_BUY':
    case 'ORDER_TYPE_SELL':
      return {
        action: 'open',
        side: actionType === 'ORDER_TYPE_BUY' ? 'buy' : 'sell',
        symbol: text('symbol'),
        volume: volumeOf(fields['volume']),
        levels,
        note,
      }
    case 'POSITION_MODIFY':
      return { action: 'modify', positionId: text('positionId'), levels }
    case 'POSITION_PARTIAL':
      return {
        action: 'close',
        positionId: text('positionId'),
        volume: volumeOf(fields['volume']),
        note,
      }
    default:
      return { action: 'close', positionId: text('positionId'), volume: undefined, note }
  }
}

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0)

const volumeOf = (value: unknown): Decimal => decimal(Number(value)).round(VOLUME_DECIMALS)

const levelOf = (value: unknown): Decimal | undefined => {
  if (typeof value !== 'number') return undefined
  const level = decimal(value)
  return level.eq(zero) ? undefined : level
}
