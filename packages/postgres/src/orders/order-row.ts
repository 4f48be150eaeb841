// An order and its placement as one row.
import { orderStatuses, parseTicket } from '@tradeport/domain'
import type { Absence, BrokerAccount, Fill, NewOrder, Order, OrderPlacement, PendingOrder, Placement, Ticket } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from '../columns.ts'
import { decodeRow, epochMs, orNull, toNumeric, toTimestamptz } from '../columns.ts'
import { UndecodableRow } from '../failures.ts'

/** The caller's own words: a JSON string, which holds characters that PostgreSQL's text does not. */
const callersText: t.Type<string> = new t.Type(
  'caller’s text',
  t.string.is,
  (value, context) => {
    const text: unknown = typeof value === 'string' ? JSON.parse(value) : undefined
    return typeof text === 'string' ? t.success(text) : t.failure(value, context)
  },
  t.identity,
)

/** How the column holds the caller's own words. */
export const toCallersText = (text: string): string => JSON.stringify(text)

const orderRow = t.strict({
  id: column.orderId,
  tenant_id: column.tenantId,
  user_id: column.userId,
  account_id: column.accountId,
  symbol: t.string,
  side: column.oneOf('side', ['buy', 'sell']),
  volume: column.numeric,
  price: column.orAbsent(column.numeric),
  stop_loss: column.orAbsent(column.numeric),
  take_profit: column.orAbsent(column.numeric),
  comment: column.orAbsent(callersText),
  client_id: column.orAbsent(callersText),
  status: column.oneOf('status', orderStatuses),
  fill_price: column.orAbsent(column.numeric),
  filled_volume: column.orAbsent(column.numeric),
  filled_at: column.orAbsent(column.instant),
  position_id: column.orAbsent(column.parsedText<Ticket>('Ticket', parseTicket)),
  reject_code: column.orAbsent(t.string),
  reject_message: column.orAbsent(t.string),
  created_at: column.instant,
  updated_at: column.instant,
})

const placementRow = t.strict({
  step: column.oneOf('step', ['recorded', 'sending', 'looking_up', 'rechecking', 'settled']),
  destination_platform: column.oneOf('platform', ['mt4', 'mt5']),
  destination_account: t.string,
  destination_region: column.orAbsent(t.string),
  sent_at: column.orAbsent(column.instant),
  broker_order_id: column.orAbsent(t.string),
  lookups: column.orAbsent(t.Int),
  absent_lookups: column.orAbsent(t.Int),
  absent_ms: column.orAbsent(t.number),
  absent_at: column.orAbsent(column.instant),
  version: t.Int,
})

type OrderRow = t.TypeOf<typeof orderRow>
type PlacementRow = t.TypeOf<typeof placementRow>

const instantColumns = ['filled_at', 'created_at', 'updated_at', 'sent_at', 'absent_at']

const columnsOf = (knex: Knex, props: t.Props, table: string): readonly (string | Knex.Raw)[] =>
  Object.keys(props).map((name) => (instantColumns.includes(name) ? epochMs(knex, `${table}.${name}`) : `${table}.${name}`))

/** @param table what the statement calls the orders */
export const orderColumns = (knex: Knex, table = 'orders'): readonly (string | Knex.Raw)[] => columnsOf(knex, orderRow.type.props, table)

export const placementColumns = (knex: Knex): readonly (string | Knex.Raw)[] => columnsOf(knex, placementRow.type.props, 'orders')

const decodeOrder = decodeRow('orders', orderRow)
const decodePlacement = decodeRow('orders', placementRow)

export const orderOfRow = (row: unknown): Order => {
  const stored = decodeOrder(row)
  const pending = firstAnswerOf(stored)
  const { status } = stored
  if (status === 'pending') return { ...pending, updatedAt: stored.updated_at }
  if (status === 'filled' || status === 'partially_filled')
    return { ...pending, status, updatedAt: stored.updated_at, fill: fillOf(stored) }
  if (status !== 'rejected' || stored.reject_code === null || stored.reject_message === null) throw contradiction(stored.status)
  return { ...pending, status, updatedAt: stored.updated_at, reason: { code: stored.reject_code, message: stored.reject_message } }
}

export const placementOfRow = (row: unknown): OrderPlacement => {
  const order = orderOfRow(row)
  const stored = decodePlacement(row)
  return { order, placement: placementOf(stored), destination: destinationOf(order, stored), version: stored.version }
}

const destinationOf = ({ owner, request }: Order, stored: PlacementRow): BrokerAccount => ({
  accountId: request.accountId,
  owner,
  platform: stored.destination_platform,
  providerAccountId: stored.destination_account,
  region: stored.destination_region,
})

const firstAnswerOf = (stored: OrderRow): PendingOrder => ({
  id: stored.id,
  owner: { tenantId: stored.tenant_id, userId: stored.user_id },
  request: {
    accountId: stored.account_id,
    symbol: stored.symbol,
    side: stored.side,
    volume: stored.volume,
    ...(stored.price === null ? {} : { price: stored.price }),
    ...(stored.stop_loss === null ? {} : { stopLoss: stored.stop_loss }),
    ...(stored.take_profit === null ? {} : { takeProfit: stored.take_profit }),
    ...(stored.comment === null ? {} : { comment: stored.comment }),
    ...(stored.client_id === null ? {} : { clientId: stored.client_id }),
  },
  status: 'pending',
  createdAt: stored.created_at,
  updatedAt: stored.created_at,
})

const fillOf = (stored: OrderRow): Fill => ({
  ...(stored.fill_price === null ? {} : { price: stored.fill_price }),
  ...(stored.filled_volume === null ? {} : { volume: stored.filled_volume }),
  ...(stored.filled_at === null ? {} : { at: stored.filled_at }),
  ...(stored.position_id === null ? {} : { positionId: stored.position_id }),
})

const placementOf = (row: PlacementRow): Placement => {
  const { step, sent_at: sentAt, lookups, broker_order_id: orderId } = row
  if (step === 'recorded' || step === 'settled') return { step }
  if (sentAt === null) throw contradiction(step)
  if (step === 'sending') return { step, sentAt }
  if (lookups === null) throw contradiction(step)
  return step === 'rechecking' ? { step, sentAt, orderId, rechecks: lookups } : { step, sentAt, orderId, lookups, absence: absenceOf(row) }
}

const absenceOf = ({ absent_lookups: lookups, absent_ms: coveredMs, absent_at: lastAt }: PlacementRow): Absence | null =>
  lookups === null || coveredMs === null || lastAt === null ? null : { lookups, coveredMs, lastAt }

const contradiction = (place: string): UndecodableRow => new UndecodableRow(`a row of orders contradicts itself at ${place}`)

/** What an order is recorded with, as JSON carries it: numerics as text, so that no digit is lost. */
export const rowOfNewOrder = ({ order, destination, checkedAt }: Pick<NewOrder, 'order' | 'destination' | 'checkedAt'>) => {
  const { id, owner, request, createdAt } = order
  const { platform, providerAccountId, region } = destination
  return {
    id,
    tenant_id: owner.tenantId,
    user_id: owner.userId,
    account_id: request.accountId,
    symbol: request.symbol,
    side: request.side,
    volume: toNumeric(request.volume),
    price: orNull(toNumeric)(request.price ?? null),
    stop_loss: orNull(toNumeric)(request.stopLoss ?? null),
    take_profit: orNull(toNumeric)(request.takeProfit ?? null),
    comment: orNull(toCallersText)(request.comment ?? null),
    client_id: orNull(toCallersText)(request.clientId ?? null),
    created_at: toTimestamptz(createdAt),
    checked_at: toTimestamptz(checkedAt),
    destination_platform: platform,
    destination_account: providerAccountId,
    destination_region: region,
  }
}

export type NewOrderRow = ReturnType<typeof rowOfNewOrder>

/** The columns that hold how an order ended. */
export const outcomeColumnsOf = (order: Order) => {
  const { price, volume, at, positionId }: Fill = 'fill' in order ? order.fill : {}
  return {
    status: order.status,
    fill_price: orNull(toNumeric)(price ?? null),
    filled_volume: orNull(toNumeric)(volume ?? null),
    filled_at: orNull(toTimestamptz)(at ?? null),
    position_id: positionId ?? null,
    reject_code: 'reason' in order ? order.reason.code : null,
    reject_message: 'reason' in order ? order.reason.message : null,
    updated_at: toTimestamptz(order.updatedAt),
  }
}

/** The run of the server: another after each start, and another on each server. */
export const serverRun = 'extract(epoch from pg_postmaster_start_time())::text'

/** The columns that a step of the placement changes. */
export const stepColumnsOf = (placement: Placement) => {
  const absence = placement.step === 'looking_up' ? placement.absence : null
  return {
    step: placement.step,
    sent_at: 'sentAt' in placement ? toTimestamptz(placement.sentAt) : null,
    broker_order_id: 'orderId' in placement ? placement.orderId : null,
    lookups: lookupsOf(placement),
    absent_lookups: absence?.lookups ?? null,
    absent_ms: absence?.coveredMs ?? null,
    absent_at: orNull(toTimestamptz)(absence?.lastAt ?? null),
  }
}

const lookupsOf = (placement: Placement): number | null => {
  if (placement.step === 'looking_up') return placement.lookups
  return placement.step === 'rechecking' ? placement.rechecks : null
}
