// The trades and the events that an account's history at the broker amounts to. Folded here once
// more and in the plainest way, so that a mistake of the service's own fold shows.
import type { Order } from '@tradeport/client'
import type { DealRow } from '@tradeport/sandbox-broker'
import { eventName } from './checks.ts'
import type { User } from './world.ts'

const amounts = ['profit', 'commission', 'swap'] as const

/** In whole millionths, whose sums are exact. */
export const sumOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, one) => sum + Math.round(one * 1e6), 0) / 1e6 + 0

const number = (deal: DealRow, field: string): number => Number(deal[field] ?? 0)
const text = (deal: DealRow, field: string): string => {
  const value = deal[field]
  return typeof value === 'string' ? value : ''
}
export const timeOf = (deal: DealRow): number => Date.parse(text(deal, 'time'))
const isOpening = (deal: DealRow): boolean => deal['entryType'] === 'DEAL_ENTRY_IN'
export const isClosing = (deal: DealRow): boolean => deal['entryType'] === 'DEAL_ENTRY_OUT'
/** As the broker made them. */
export const inOrder = (deals: readonly DealRow[]): readonly DealRow[] =>
  deals.toSorted((a, b) => timeOf(a) - timeOf(b) || Number(a.id) - Number(b.id))

/**
 * The closed positions of a hedging account, or of a netting account on which none was reversed.
 */
export const plainTrades = (deals: readonly DealRow[]) =>
  [...Map.groupBy(deals, (deal) => text(deal, 'positionId'))].flatMap(([positionId, own]) => {
    const [opening, closing] = [own.filter(isOpening), own.filter(isClosing)]
    const lots = (some: readonly DealRow[]): number =>
      sumOf(some.map((deal) => number(deal, 'volume')))
    const price = (some: readonly DealRow[]): number =>
      some.reduce((sum, deal) => sum + number(deal, 'volume') * number(deal, 'price'), 0) /
      lots(some)
    const total = (field: string): number => sumOf(own.map((deal) => number(deal, field)))
    if (positionId === '' || lots(opening) !== lots(closing)) return []
    return {
      positionId,
      volume: lots(closing),
      entryPrice: price(opening),
      exitPrice: price(closing),
      profit: total('profit'),
      commission: total('commission'),
      swap: total('swap'),
      netProfit: sumOf(amounts.map(total)),
      openedAt: new Date(Math.min(...opening.map(timeOf))).toISOString(),
      closedAt: new Date(Math.max(...closing.map(timeOf))).toISOString(),
    }
  })

const reasons: Readonly<Record<string, string>> = {
  DEAL_REASON_SL: 'stop_loss',
  DEAL_REASON_TP: 'take_profit',
  DEAL_REASON_SO: 'stop_out',
  DEAL_REASON_CLIENT: 'client',
  DEAL_REASON_EXPERT: 'expert',
  DEAL_REASON_MOBILE: 'mobile',
  DEAL_REASON_WEB: 'web',
}

/** The amount by which a deal changes the balance. */
export const balanceChangeOf = (deal: DealRow): number =>
  deal['type'] === 'DEAL_TYPE_CREDIT' ? 0 : sumOf(amounts.map((field) => number(deal, field)))

/** The names of the events that the deals since the link of the account are. */
const eventsOfDeals = (
  accountId: string,
  deals: readonly DealRow[],
  linkedAt: number,
): readonly string[] => {
  const position = (id: string): object => ({ position_id: `${accountId}:${id}` })
  const seen = new Set<string>()
  const ofDeals = deals.flatMap((deal): readonly string[] => {
    const positionId = text(deal, 'positionId')
    const isFirst = isOpening(deal) && !seen.has(positionId)
    if (isFirst) seen.add(positionId)
    if (timeOf(deal) < linkedAt) return []
    const { symbol, volume, price, profit, time, type } = deal
    const change = balanceChangeOf(deal)
    const opened = { ...position(positionId), symbol, opened_at: time }
    const closed = {
      ...position(positionId),
      closed_volume: volume,
      exit_price: price,
      realized_pnl: profit,
      closed_at: time,
      exit_reason: reasons[text(deal, 'reason')],
    }
    const booked = { account_id: accountId, change_amount: change, changed_at: time }
    return [
      ...(isFirst ? [eventName('position.opened', opened)] : []),
      ...(isClosing(deal) ? [eventName('position.closed', closed)] : []),
      ...(change !== 0 || type === 'DEAL_TYPE_CREDIT'
        ? [eventName('account.balance_changed', booked)]
        : []),
    ]
  })
  const ofTrades = plainTrades(deals)
    .filter(({ closedAt }) => Date.parse(closedAt) >= linkedAt)
    .map(({ positionId, volume, profit, closedAt: closed_at }) =>
      eventName('trade.closed', { ...position(positionId), volume, profit, closed_at }),
    )
  return [...ofDeals, ...ofTrades]
}

const outcomeEvents: Readonly<Record<Order['status'], readonly string[]>> = {
  pending: [],
  open: [],
  filled: ['order.filled'],
  partially_filled: ['order.filled'],
  rejected: ['order.rejected'],
  cancelled: ['order.cancelled'],
  expired: ['order.expired'],
}

/**
 * The name of each event that should be recorded: by the user's orders as the API answers them, and
 * by the deals at the broker since the link.
 */
export const happenedTo = (
  { accountId, linkedAt }: User,
  orders: readonly Order[],
  deals: readonly DealRow[],
): readonly string[] => [
  ...orders.flatMap(({ id, status }) =>
    ['order.created', ...outcomeEvents[status]].map((type) => eventName(type, { order_id: id })),
  ),
  ...eventsOfDeals(accountId, deals, linkedAt),
]
