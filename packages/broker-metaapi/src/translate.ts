// The provider's rows in our terms.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { AccountReading, TradeMode } from '@tradeport/domain/accounts'
import type { BrokerDeal, DealKind, DealReason } from '@tradeport/domain/journal'
import { byAge, type BrokerPosition } from '@tradeport/domain/positions'
import { roundAmount, sumExactly, type Instant } from '@tradeport/domain/primitives'
import {
  decode,
  entries,
  isNumber,
  isRecord,
  PositionRows,
  readId,
  readList,
  readPrice,
  readText,
  readTicket,
  readRows,
  readTime,
  type AccountInformation,
  type PositionRow,
} from './payloads.ts'

const tradeModes = new Map<string | undefined, TradeMode>(
  Object.entries<TradeMode>({
    ACCOUNT_TRADE_MODE_DEMO: 'demo',
    ACCOUNT_TRADE_MODE_CONTEST: 'contest',
    ACCOUNT_TRADE_MODE_REAL: 'real',
  }),
)

/** An account whose mode is absent or not known to us is unconfirmed, never a demo. */
export const accountReadingOf = (
  information: AccountInformation,
  readAt: Instant,
): AccountReading => {
  const { balance, equity, margin, freeMargin = null } = information
  const { leverage = null, marginLevel = null } = information
  return {
    tradeMode: tradeModes.get(information.type) ?? 'unconfirmed',
    broker: information.broker || null,
    currency: information.currency || null,
    figures: {
      balance,
      equity,
      margin,
      freeMargin,
      // Without margin in use there is no level; the provider then omits it or gives 0.
      marginLevel: marginLevel === 0 && margin === 0 ? null : marginLevel,
      leverage,
    },
    ...(information.credit && { credit: information.credit }),
    readAt,
  }
}

/** Oldest first, and each once, whatever the order of the rows. */
export const positionsIn = (bytes: Uint8Array): E.Either<string, readonly BrokerPosition[]> =>
  pipe(
    decode(PositionRows)(bytes),
    E.flatMap((rows) => readRows(rows, positionOf)),
    E.map((positions) => [...new Map(positions.map((one) => [one.ticket, one])).values()]),
    E.map((positions) => positions.toSorted(byAge)),
  )

const positionOf = (row: PositionRow): BrokerPosition | string => {
  const { profit, unrealizedProfit, realizedCommission, realizedSwap } = row
  // Older payloads have only the overall profit: that of the open and the closed part together.
  const unrealizedPnl = unrealizedProfit ?? difference(profit, row.realizedProfit ?? 0)
  if (unrealizedPnl === undefined) return 'profit is absent'
  const realizedProfit = row.realizedProfit ?? difference(profit, unrealizedProfit)
  const clientId = readText(row.clientId)
  return {
    ticket: row.id,
    symbol: row.symbol,
    side: row.type === 'POSITION_TYPE_BUY' ? 'buy' : 'sell',
    volume: row.volume,
    entryPrice: row.openPrice,
    currentPrice: row.currentPrice,
    // 0 stands for no level.
    ...(row.stopLoss && { stopLoss: row.stopLoss }),
    ...(row.takeProfit && { takeProfit: row.takeProfit }),
    swap: row.swap ?? sumExactly([realizedSwap ?? 0, row.unrealizedSwap ?? 0]),
    commission:
      row.commission ?? sumExactly([realizedCommission ?? 0, row.unrealizedCommission ?? 0]),
    unrealizedPnl,
    // The provider's figure includes the closed part's commission and swap.
    realizedPnl:
      realizedProfit === undefined || realizedCommission === undefined || realizedSwap === undefined
        ? (realizedProfit ?? 0)
        : sumExactly([realizedProfit, -realizedCommission, -realizedSwap]),
    openedAt: row.time,
    ...(clientId !== undefined && { clientId }),
  }
}

const difference = (whole: number | undefined, part: number | undefined): number | undefined =>
  whole === undefined || part === undefined ? undefined : sumExactly([whole, -part])

const kinds = new Map<string, DealKind>(
  Object.entries<DealKind>({
    DEAL_TYPE_BUY: 'buy',
    DEAL_TYPE_SELL: 'sell',
    DEAL_TYPE_BALANCE: 'balance',
    DEAL_TYPE_CREDIT: 'credit',
    DEAL_TYPE_CHARGE: 'charge',
    DEAL_TYPE_CORRECTION: 'correction',
    DEAL_TYPE_BONUS: 'bonus',
    DEAL_TYPE_COMMISSION: 'commission',
    DEAL_TYPE_COMMISSION_DAILY: 'commission',
    DEAL_TYPE_COMMISSION_MONTHLY: 'commission',
    DEAL_TYPE_COMMISSION_AGENT_DAILY: 'commission',
    DEAL_TYPE_COMMISSION_AGENT_MONTHLY: 'commission',
    DEAL_TYPE_INTEREST: 'interest',
    DEAL_TYPE_BUY_CANCELED: 'cancelled',
    DEAL_TYPE_SELL_CANCELED: 'cancelled',
    // These three come without `TYPE_`.
    DEAL_DIVIDEND: 'dividend',
    DEAL_DIVIDEND_FRANKED: 'dividend',
    DEAL_TAX: 'tax',
  }),
)

const reasons = new Map<string, DealReason>(
  Object.entries<DealReason>({
    DEAL_REASON_SL: 'stop_loss',
    DEAL_REASON_TP: 'take_profit',
    DEAL_REASON_SO: 'stop_out',
    DEAL_REASON_CLIENT: 'client',
    DEAL_REASON_EXPERT: 'expert',
    DEAL_REASON_MOBILE: 'mobile',
    DEAL_REASON_WEB: 'web',
  }),
)

/**
 * A deal that lacks something is kept as it is, so that the fold can say why its position was
 * skipped. Only what would falsify sums or identities is an error: no id, no type, money that is
 * not a number.
 */
const dealOf = (row: unknown): BrokerDeal | string => {
  if (!isRecord(row)) return 'not a deal'
  const { type, volume, price, reason, time } = row
  const id = readId(row['id'])
  if (id === undefined || typeof type !== 'string') return 'not a deal'
  const positionId = readTicket(row['positionId'])
  if (positionId === undefined && !namesNoPosition(row['positionId']))
    return 'positionId is not an id'
  const [profit, commission, swap] = [row['profit'] ?? 0, row['commission'] ?? 0, row['swap'] ?? 0]
  if (!isNumber(profit) || !isNumber(commission) || !isNumber(swap))
    return 'money is not a finite number'
  const kind = kinds.get(type) ?? 'other'
  const deal: { -readonly [Field in keyof BrokerDeal]: BrokerDeal[Field] } = {
    id,
    kind,
    profit: roundAmount(profit),
    commission: roundAmount(commission),
    swap: roundAmount(swap),
  }
  const entry = entries.get(row['entryType'])
  const orderId = readTicket(row['orderId'])
  const symbol = readText(row['symbol'])
  const stopLoss = readPrice(row['stopLoss'])
  const takeProfit = readPrice(row['takeProfit'])
  if (positionId !== undefined) deal.positionId = positionId
  if (kind === 'buy' || kind === 'sell') deal.side = kind
  if (entry !== undefined) deal.entry = entry
  if (symbol !== undefined) deal.symbol = symbol
  if (isNumber(volume)) deal.volume = roundAmount(volume)
  if (isNumber(price)) deal.price = price
  if (time !== undefined && time !== null) deal.time = readTime(time) ?? Number.NaN
  if (typeof reason === 'string' && reason !== '' && reason !== 'DEAL_REASON_UNKNOWN')
    deal.reason = reasons.get(reason) ?? 'other'
  if (orderId !== undefined) deal.orderId = orderId
  if (stopLoss !== undefined) deal.stopLoss = stopLoss
  if (takeProfit !== undefined) deal.takeProfit = takeProfit
  return deal
}

/** Whether a deal says that it belongs to no position. */
const namesNoPosition = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === '0' || value === 0

/** The deals of a page, in its order. */
export const dealsIn = readList('deals', dealOf)
