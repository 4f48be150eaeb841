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
  numeric,
  oneOf,
  nullable,
  parsedText,
  tableOf,
  withOwner,
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

const requestColumns = tableOf('orders', {
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
})

const recordColumns = tableOf('orders', {
  id: ids.order,
  tenantId: ids.tenant,
  userId: ids.user,
  status: oneOf('status', orderStatuses),
  fillPrice: nullable(numeric),
  filledVolume: nullable(numeric),
  filledAt: nullable(instant),
  positionId: nullable(parsedText('Ticket', parseTicket)),
  rejectCode: nullable(t.string),
  rejectMessage: nullable(t.string),
  cancelReason: nullable(oneOf('cancelReason', cancelReasons)),
  cancelledAt: nullable(instant),
  expiredAt: nullable(instant),
  brokerOrderId: nullable(t.string),
  createdAt: instant,
  updatedAt: instant,
})

const stepColumns = tableOf('orders', {
  step: oneOf('step', [
    'recorded',
    'sending',
    'looking_up',
    'open',
    'confirming',
    'rechecking',
    'ended',
  ]),
  sentAt: nullable(instant),
  unexecutedAt: nullable(instant),
  cancelledBy: nullable(oneOf('cancelledBy', cancelReasons)),
  isCancelConfirmed: nullable(t.boolean),
  brokerOrderId: nullable(t.string),
  /** Of an open order those since it went missing; of one that has ended those since then. */
  lookups: nullable(t.number),
  isPartlyExecuted: nullable(t.literal(true)),
  absentLookups: nullable(t.number),
  absentMs: nullable(t.number),
  /** The latest lookup that did not show the order; or since when an open order is missing. */
  absentAt: nullable(instant),
})

const placementColumns = tableOf('orders', {
  destinationPlatform: oneOf('platform', ['mt4', 'mt5']),
  destinationProviderAccountId: t.string,
  destinationRegion: nullable(t.string),
  version: t.number,
  checkedAt: instant,
})

/** Those of `rowOfNewOrder`, and others that are null in a new order. */
export const newOrderColumns = new Sql(
  [...requestColumns.names, ...recordColumns.names, 'step', ...placementColumns.names].join(),
)

type WithoutNulls<A> = {
  readonly [K in keyof A as null extends A[K] ? never : K]: A[K]
} & { readonly [K in keyof A as null extends A[K] ? K : never]?: Exclude<A[K], null> }

const withoutNulls = <A extends object>(fields: A): WithoutNulls<A> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null),
  ) as WithoutNulls<A>

const contradiction = (place: string): DescribedError =>
  new DescribedError(`a row of orders contradicts itself at ${place}`)

export const orders: Selection<Order> = {
  table: recordColumns.table,
  columns: sql`${requestColumns.columns}, ${recordColumns.columns}`,
  read: (row) => {
    const request = withoutNulls(requestColumns.read(row))
    const { id, owner, createdAt, updatedAt, status, ...stored } = withOwner(
      recordColumns.read(row),
    )
    const { cancelReason, cancelledAt, expiredAt, brokerOrderId } = stored
    const { rejectCode: code, rejectMessage: message } = stored
    const order = {
      id,
      owner,
      request,
      // The record shows it of pending orders alone.
      ...(request.orderType !== 'market' && withoutNulls({ brokerOrderId })),
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
}

export const storedOrders: Selection<StoredOrder> = {
  ...orders,
  columns: sql`${orders.columns}, ${stepColumns.columns}, ${placementColumns.columns}`,
  read: (row) => {
    const order = orders.read(row)
    const stored = placementColumns.read(row)
    return {
      order,
      placement: placementOf(stepColumns.read(row)),
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
  cancelledBy: by,
  isCancelConfirmed,
}: ReturnType<typeof stepColumns.read>): Placement => {
  if (step === 'recorded' || step === 'ended') return { step }
  if (sentAt === null) throw contradiction(step)
  if (step === 'sending') return { step, sentAt }
  if (step === 'open' || step === 'confirming') {
    if (unexecutedAt === null) throw contradiction(step)
    const missing = lookups === null || lastAt === null ? null : { since: lastAt, lookups }
    const cancellation = by && { by, isConfirmed: isCancelConfirmed === true }
    const held = { sentAt, unexecutedAt, brokerOrderId, cancellation }
    if (step === 'open') return { step, ...held, missing }
    if (missing === null) throw contradiction(step)
    return { step, ...held, missing }
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
export const rowOfNewOrder = ({ order, destination, checkedAt }: NewOrder): Row => ({
  ...orderRowOf(order),
  ...stepColumns.write({ step: 'recorded' }),
  ...placementColumns.write({
    destinationPlatform: destination.platform,
    destinationProviderAccountId: destination.providerAccountId,
    destinationRegion: destination.region,
    version: 1,
    checkedAt,
  }),
})

/** The columns of the record of an order. */
export const orderRowOf = (order: Order): Row => {
  const fill: Fill = 'fill' in order ? order.fill : {}
  const reason = 'reason' in order ? order.reason : undefined
  return {
    ...requestColumns.writeAll(order.request),
    ...recordColumns.writeAll({
      ...order,
      ...order.owner,
      fillPrice: fill.price,
      filledVolume: fill.volume,
      filledAt: fill.at,
      positionId: fill.positionId,
      rejectCode: reason?.code,
      rejectMessage: reason?.message,
    }),
  }
}

/** The columns that a transition changes. Spread them after `orderRowOf`, which they override. */
export const placementRowOf = (placement: Placement, order: Order): Row => {
  const absence = placement.step === 'looking_up' ? placement.absence : null
  const { missing, cancellation } = 'missing' in placement ? placement : {}
  const lookups = 'lookups' in placement ? placement.lookups : missing?.lookups
  const brokerNumber = 'brokerOrderId' in placement ? placement.brokerOrderId : null
  return stepColumns.writeAll({
    ...placement,
    cancelledBy: cancellation?.by,
    isCancelConfirmed: cancellation?.isConfirmed,
    brokerOrderId: brokerNumber ?? order.brokerOrderId,
    lookups: 'rechecks' in placement ? placement.rechecks : lookups,
    absentLookups: absence?.lookups,
    absentMs: absence?.coveredMs,
    absentAt: absence?.lastAt ?? missing?.since,
  })
}

/** A condition: the order is of the user, who is not removed. */
export const ofPresentUser = (owner: Owner): Sql => sql`
  ${isOfOwner(owner)} and not is_orphaned and exists (select from users where ${isUser(owner)})`

/** The halts of the account that a row of `orders` names. */
export const haltsOfAccount = sql`
  select from halts where halts.tenant_id = orders.tenant_id and halts.account_id = orders.account_id`
