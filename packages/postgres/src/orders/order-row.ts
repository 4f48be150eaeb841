// An order and its placement as one row.
import { orderStatuses } from '@tradeport/domain/orders'
import { parseTicket } from '@tradeport/domain/primitives'
import type { Fill, Order, Placement } from '@tradeport/domain/orders'
import type { NewOrder, OrderPlacement } from '@tradeport/domain/ports'
import type { Ticket } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as Json from 'fp-ts/lib/Json.js'
import * as t from 'io-ts'
import * as column from '../connection/columns.ts'
import { tableOf } from '../connection/columns.ts'
import type { Row } from '../connection/columns.ts'
import { DescribedError } from '../connection/failures.ts'

/**
 * The caller's own words: a JSON string, which holds characters that PostgreSQL's text does not.
 */
export const callersText = new t.Type<string, string>(
  'caller’s text',
  t.string.is,
  (value, context) =>
    pipe(
      Json.parse(String(value)),
      E.filterOrElse(t.string.is, () => value),
      E.match(
        () => t.failure(value, context),
        (text) => t.success(text),
      ),
    ),
  (text) => JSON.stringify(text),
)

const orders = tableOf('orders', {
  id: column.orderId,
  tenantId: column.tenantId,
  userId: column.userId,
  accountId: column.accountId,
  symbol: t.string,
  side: column.oneOf('side', ['buy', 'sell']),
  volume: column.numeric,
  price: column.orAbsent(column.numeric),
  stopLoss: column.orAbsent(column.numeric),
  takeProfit: column.orAbsent(column.numeric),
  comment: column.orAbsent(callersText),
  clientId: column.orAbsent(callersText),
  status: column.oneOf('status', orderStatuses),
  fillPrice: column.orAbsent(column.numeric),
  filledVolume: column.orAbsent(column.numeric),
  filledAt: column.orAbsent(column.instant),
  positionId: column.orAbsent(column.parsedText<Ticket>('Ticket', parseTicket)),
  rejectCode: column.orAbsent(t.string),
  rejectMessage: column.orAbsent(t.string),
  createdAt: column.instant,
  updatedAt: column.instant,
})

const placements = tableOf('orders', {
  step: column.oneOf('step', ['recorded', 'sending', 'looking_up', 'rechecking', 'settled']),
  destinationPlatform: column.oneOf('platform', ['mt4', 'mt5']),
  destinationAccount: t.string,
  destinationRegion: column.orAbsent(t.string),
  sentAt: column.orAbsent(column.instant),
  brokerOrderId: column.orAbsent(t.string),
  lookups: column.orAbsent(t.number),
  absentLookups: column.orAbsent(t.number),
  absentMs: column.orAbsent(t.number),
  absentAt: column.orAbsent(column.instant),
  version: t.number,
  checkedAt: column.instant,
})

export const orderColumns = orders.columns
export const placementColumns = [...orders.columns, ...placements.columns]
/** Those of `rowOfNewOrder`, and others that are null in it. */
export const newOrderColumns = [...orders.names, ...placements.names]

type Present<A> = { readonly [K in keyof A]?: Exclude<A[K], null> }

const withoutNulls = <A extends object>(fields: A): Present<A> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Present<A>

const contradiction = (place: string): DescribedError =>
  new DescribedError(`a row of orders contradicts itself at ${place}`)

export const orderOfRow = (row: unknown): Order => {
  const { id, tenantId, userId, createdAt, updatedAt, status, ...stored } = orders.read(row)
  const { accountId, symbol, side, volume, price, stopLoss, takeProfit, comment, clientId } = stored
  const {
    fillPrice,
    filledVolume,
    filledAt,
    positionId,
    rejectCode: code,
    rejectMessage: message,
  } = stored
  const request = {
    accountId,
    symbol,
    side,
    volume,
    ...withoutNulls({ price, stopLoss, takeProfit, comment, clientId }),
  }
  const order = { id, owner: { tenantId, userId }, request, createdAt, updatedAt }
  if (status === 'pending') return { ...order, status }
  if (status === 'filled' || status === 'partially_filled')
    return {
      ...order,
      status,
      fill: withoutNulls({ price: fillPrice, volume: filledVolume, at: filledAt, positionId }),
    }
  if (status !== 'rejected' || code === null || message === null) throw contradiction(status)
  return { ...order, status, reason: { code, message } }
}

export const placementOfRow = (row: unknown): OrderPlacement => {
  const order = orderOfRow(row)
  const stored = placements.read(row)
  return {
    order,
    placement: placementOf(stored),
    destination: {
      accountId: order.request.accountId,
      owner: order.owner,
      platform: stored.destinationPlatform,
      providerAccountId: stored.destinationAccount,
      region: stored.destinationRegion,
    },
    version: stored.version,
  }
}

const placementOf = ({
  step,
  sentAt,
  lookups,
  brokerOrderId: orderId,
  ...absent
}: ReturnType<typeof placements.read>): Placement => {
  if (step === 'recorded' || step === 'settled') return { step }
  if (sentAt === null) throw contradiction(step)
  if (step === 'sending') return { step, sentAt }
  if (lookups === null) throw contradiction(step)
  if (step === 'rechecking') return { step, sentAt, orderId, rechecks: lookups }
  const { absentLookups, absentMs: coveredMs, absentAt: lastAt } = absent
  const hasAbsence = absentLookups !== null && coveredMs !== null && lastAt !== null
  return {
    step,
    sentAt,
    orderId,
    lookups,
    absence: hasAbsence ? { lookups: absentLookups, coveredMs, lastAt } : null,
  }
}

/**
 * What an order is recorded with, as JSON carries it: numerics as text, so that no digit is lost.
 */
export const rowOfNewOrder = ({
  order,
  destination,
  checkedAt,
}: Pick<NewOrder, 'order' | 'destination' | 'checkedAt'>): Row => {
  const { id, owner, request, status, createdAt } = order
  const { platform, providerAccountId, region } = destination
  return {
    ...orders.write({ id, ...owner, ...request, status, createdAt, updatedAt: createdAt }),
    ...placements.write({
      step: 'recorded',
      destinationPlatform: platform,
      destinationAccount: providerAccountId,
      destinationRegion: region,
      version: 1,
      checkedAt,
    }),
  }
}

/** The columns that hold how an order ended. */
export const outcomeColumnsOf = (order: Order): Row => {
  const { price, volume, at, positionId }: Fill = 'fill' in order ? order.fill : {}
  const reason = 'reason' in order ? order.reason : undefined
  return orders.write({
    status: order.status,
    fillPrice: price ?? null,
    filledVolume: volume ?? null,
    filledAt: at ?? null,
    positionId: positionId ?? null,
    rejectCode: reason?.code ?? null,
    rejectMessage: reason?.message ?? null,
    updatedAt: order.updatedAt,
  })
}

/** The columns that a step of the placement changes. */
export const stepColumnsOf = (placement: Placement): Row => {
  const absence = placement.step === 'looking_up' ? placement.absence : null
  const lookups = 'lookups' in placement ? placement.lookups : null
  return placements.write({
    step: placement.step,
    sentAt: 'sentAt' in placement ? placement.sentAt : null,
    brokerOrderId: 'orderId' in placement ? placement.orderId : null,
    lookups: 'rechecks' in placement ? placement.rechecks : lookups,
    absentLookups: absence?.lookups ?? null,
    absentMs: absence?.coveredMs ?? null,
    absentAt: absence?.lastAt ?? null,
  })
}

/** The run of the server: another after each start, and another on each server. */
export const serverRun = 'extract(epoch from pg_postmaster_start_time())::text'
