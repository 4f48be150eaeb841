// An order and its placement as one row.
import {
  cancelReasons,
  orderStatuses,
  orderTypes,
  timesInForce,
  type Fill,
  type Order,
  type Placement,
} from '@tradeport/domain/orders'
import { parseTicket, type Owner } from '@tradeport/domain/primitives'
import type { NewOrder, StoredOrder } from '@tradeport/domain/ports'
import * as Json from 'fp-ts/lib/Json.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import {
  codecOf,
  ids,
  instant,
  mapped,
  numeric,
  oneOf,
  nullable,
  parsedText,
  tableOf,
  type Row,
} from '../connection/columns.ts'
import { DescribedError } from '../connection/failures.ts'
import { isUser, isOfOwner, Sql, sql, type Selection } from '../connection/sql.ts'

/** Text from the caller: a JSON string, which holds characters that PostgreSQL's text does not. */
export const callersText = codecOf(
  'caller’s text',
  (value) => O.filter(t.string.is)(O.fromEither(Json.parse(String(value)))),
  (text: string) => JSON.stringify(text),
)

const orderColumns = tableOf('orders', {
  id: ids.order,
  tenantId: ids.tenant,
  userId: ids.user,
  accountId: ids.account,
  symbol: t.string,
  brokerSymbol: nullable(t.string),
  side: oneOf('side', ['buy', 'sell']),
  orderType: oneOf('orderType', orderTypes),
  volume: numeric,
  price: nullable(numeric),
  stopLimitPrice: nullable(numeric),
  timeInForce: nullable(oneOf('timeInForce', timesInForce)),
  expiresAt: nullable(instant),
  stopLoss: nullable(numeric),
  takeProfit: nullable(numeric),
  comment: nullable(callersText),
  clientId: nullable(callersText),
  status: oneOf('status', orderStatuses),
  fillPrice: nullable(numeric),
  filledVolume: nullable(numeric),
  filledAt: nullable(instant),
  positionId: nullable(parsedText('Ticket', parseTicket)),
  brokerOrderId: nullable(t.string),
  rejectCode: nullable(t.string),
  rejectMessage: nullable(t.string),
  cancelReason: nullable(oneOf('cancelReason', cancelReasons)),
  cancelledAt: nullable(instant),
  expiredAt: nullable(instant),
  createdAt: instant,
  updatedAt: instant,
})

const placementColumns = tableOf('orders', {
  step: oneOf('step', ['recorded', 'sending', 'looking_up', 'open', 'rechecking', 'ended']),
  destinationPlatform: oneOf('platform', ['mt4', 'mt5']),
  destinationProviderAccountId: t.string,
  destinationRegion: nullable(t.string),
  sentAt: nullable(instant),
  unexecutedAt: nullable(instant),
  cancelledBy: nullable(oneOf('cancelledBy', cancelReasons)),
  /** Since an open order is missing, and of a rejected order the rechecks. */
  lookups: nullable(t.number),
  isPartlyExecuted: nullable(t.literal(true)),
  absentLookups: nullable(t.number),
  absentMs: nullable(t.number),
  /** The latest lookup that did not show the order; of an open order, since when it is missing. */
  absentAt: nullable(instant),
  version: t.number,
  checkedAt: instant,
})

/** Those of `rowOfNewOrder`, and others that are null in a new order. */
export const newOrderColumns = new Sql([...orderColumns.names, ...placementColumns.names].join())

type Present<A> = { readonly [K in keyof A]?: Exclude<A[K], null> }

const withoutNulls = <A extends object>(fields: A): Present<A> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Present<A>

const contradiction = (place: string): DescribedError =>
  new DescribedError(`a row of orders contradicts itself at ${place}`)

export const orders = mapped(
  orderColumns,
  ({ id, tenantId, userId, createdAt, updatedAt, status, ...stored }): Order => {
    const { accountId, symbol, side, orderType, volume, brokerOrderId } = stored
    const { price, stopLimitPrice, timeInForce, expiresAt, stopLoss, takeProfit } = stored
    const { comment, clientId, brokerSymbol, cancelReason, cancelledAt, expiredAt } = stored
    const { rejectCode: code, rejectMessage: message } = stored
    const order = {
      id,
      owner: { tenantId, userId },
      request: {
        accountId,
        symbol,
        side,
        orderType,
        volume,
        ...withoutNulls({ price, stopLimitPrice, timeInForce, expiresAt, stopLoss, takeProfit }),
        ...withoutNulls({ comment, clientId, brokerSymbol }),
      },
      // The record shows it of pending orders alone.
      ...(orderType !== 'market' && withoutNulls({ brokerOrderId })),
      createdAt,
      updatedAt,
    }
    if (status === 'pending' || status === 'open') return { ...order, status }
    if (status === 'filled' || status === 'partially_filled')
      return {
        ...order,
        status,
        fill: withoutNulls({
          price: stored.fillPrice,
          volume: stored.filledVolume,
          at: stored.filledAt,
          positionId: stored.positionId,
        }),
      }
    if (status === 'cancelled' && cancelReason !== null && cancelledAt !== null)
      return { ...order, status, cancelReason, cancelledAt }
    if (status === 'expired' && expiredAt !== null) return { ...order, status, expiredAt }
    if (status !== 'rejected' || code === null || message === null) throw contradiction(status)
    return { ...order, status, reason: { code, message } }
  },
)

export const placements: Selection<StoredOrder> = {
  ...orders,
  columns: sql`${orders.columns}, ${placementColumns.columns}`,
  read: (row) => {
    const order = orders.read(row)
    const stored = placementColumns.read(row)
    const { brokerOrderId } = orderColumns.read(row)
    return {
      order,
      placement: placementOf({ ...stored, brokerOrderId }),
      destination: {
        accountId: order.request.accountId,
        owner: order.owner,
        platform: stored.destinationPlatform,
        providerAccountId: stored.destinationProviderAccountId,
        region: stored.destinationRegion,
      },
      version: stored.version,
    }
  },
}

const placementOf = ({
  step,
  sentAt,
  unexecutedAt,
  lookups,
  brokerOrderId,
  isPartlyExecuted,
  absentLookups,
  absentMs: coveredMs,
  absentAt: lastAt,
  cancelledBy,
}: ReturnType<typeof placementColumns.read> & {
  readonly brokerOrderId: string | null
}): Placement => {
  if (step === 'recorded' || step === 'ended') return { step }
  if (sentAt === null) throw contradiction(step)
  if (step === 'sending') return { step, sentAt }
  if (step === 'open') {
    if (unexecutedAt === null) throw contradiction(step)
    const missing = lookups === null || lastAt === null ? null : { since: lastAt, lookups }
    return { step, sentAt, unexecutedAt, brokerOrderId, cancelledBy, missing }
  }
  if (lookups === null) throw contradiction(step)
  if (step === 'rechecking') return { step, sentAt, brokerOrderId, rechecks: lookups }
  const hasAbsence = absentLookups !== null && coveredMs !== null && lastAt !== null
  return {
    step,
    sentAt,
    brokerOrderId,
    ...(isPartlyExecuted && { isPartlyExecuted }),
    lookups,
    absence: hasAbsence ? { lookups: absentLookups, coveredMs, lastAt } : null,
  }
}

/** The row of a new order, for JSON: numerics are text, so that no digit is lost. */
export const rowOfNewOrder = ({ order, destination, checkedAt }: NewOrder): Row => {
  const { id, owner, request, status, createdAt } = order
  const { platform, providerAccountId, region } = destination
  return {
    ...orderColumns.write({ id, ...owner, ...request, status, createdAt, updatedAt: createdAt }),
    ...placementColumns.write({
      step: 'recorded',
      destinationPlatform: platform,
      destinationProviderAccountId: providerAccountId,
      destinationRegion: region,
      version: 1,
      checkedAt,
    }),
  }
}

/** The columns that a step changes in the record of an order. */
export const orderRowOf = (order: Order): Row => {
  const { price, stopLimitPrice, timeInForce, expiresAt, stopLoss, takeProfit } = order.request
  const fill: Fill = 'fill' in order ? order.fill : {}
  const reason = 'reason' in order ? order.reason : undefined
  return orderColumns.write({
    status: order.status,
    price,
    stopLimitPrice,
    timeInForce,
    expiresAt,
    stopLoss,
    takeProfit,
    fillPrice: fill.price,
    filledVolume: fill.volume,
    filledAt: fill.at,
    positionId: fill.positionId,
    rejectCode: reason?.code,
    rejectMessage: reason?.message,
    cancelReason: 'cancelReason' in order ? order.cancelReason : null,
    cancelledAt: 'cancelledAt' in order ? order.cancelledAt : null,
    expiredAt: 'expiredAt' in order ? order.expiredAt : null,
    updatedAt: order.updatedAt,
  })
}

/** The columns that a step of the placement changes. */
export const placementRowOf = (placement: Placement, { brokerOrderId }: Order): Row => {
  const absence = placement.step === 'looking_up' ? placement.absence : null
  const missing = placement.step === 'open' ? placement.missing : null
  const lookups = 'lookups' in placement ? placement.lookups : missing?.lookups
  const brokerNumber = 'brokerOrderId' in placement ? placement.brokerOrderId : null
  return {
    ...orderColumns.write({ brokerOrderId: brokerNumber ?? brokerOrderId }),
    ...placementColumns.write({
      step: placement.step,
      sentAt: 'sentAt' in placement ? placement.sentAt : null,
      unexecutedAt: 'unexecutedAt' in placement ? placement.unexecutedAt : null,
      cancelledBy: 'cancelledBy' in placement ? placement.cancelledBy : null,
      lookups: 'rechecks' in placement ? placement.rechecks : lookups,
      isPartlyExecuted: 'isPartlyExecuted' in placement ? placement.isPartlyExecuted : null,
      absentLookups: absence?.lookups,
      absentMs: absence?.coveredMs,
      absentAt: absence?.lastAt ?? missing?.since,
    }),
  }
}

/** A condition: the order is of the user, who is not removed. */
export const ofPresentUser = (owner: Owner): Sql => sql`
  ${isOfOwner(owner)} and not is_orphaned and exists (select from users where ${isUser(owner)})`

/** Those of the account of a row of `orders`. */
export const haltsOfAccount = sql`
  select from halts where halts.tenant_id = orders.tenant_id and halts.account_id = orders.account_id`

/**
 * The start time of the PostgreSQL process. It differs after a restart or a failover, when recent
 * commits may be missing.
 */
export const databaseRun = sql`extract(epoch from pg_postmaster_start_time())::text`
