// What an account's history at the broker means: the trades that its deals make, and the events
// that they are. Folded here once more and in the plainest way, so that a mistake of the service's
// own fold shows.
import type { DealRow, Sandbox } from '@tradeport/sandbox-broker'
import { nameOf } from './event-check.ts'
import type { Happened } from './event-check.ts'
import type { CheckedOrder } from './book-check.ts'
import type { FaultUser } from './fleet.ts'

export interface PlainTrade {
  readonly positionId: string
  readonly volume: number
  readonly entryPrice: number
  readonly exitPrice: number
  readonly profit: number
  readonly commission: number
  readonly swap: number
  readonly netProfit: number
  readonly openedAt: number
  readonly closedAt: number
}

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
export const isOpening = (deal: DealRow): boolean => deal['entryType'] === 'DEAL_ENTRY_IN'
export const isClosing = (deal: DealRow): boolean => deal['entryType'] === 'DEAL_ENTRY_OUT'

/**
 * The closed positions of a hedging account, or of a netting account on which none was reversed.
 */
export const plainTrades = (deals: readonly DealRow[]): readonly PlainTrade[] =>
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
      openedAt: Math.min(...opening.map(timeOf)),
      closedAt: Math.max(...closing.map(timeOf)),
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
  const isNews = (deal: DealRow): boolean => timeOf(deal) >= linkedAt
  const position = (id: string): object => ({ position_id: `${accountId}:${id}` })
  const opened = [
    ...Map.groupBy(deals.filter(isOpening), (deal) => text(deal, 'positionId')).values(),
  ].flatMap(([first]) => first ?? [])
  return [
    ...opened.filter(isNews).map((deal) =>
      nameOf('position.opened', {
        ...position(text(deal, 'positionId')),
        symbol: deal['symbol'],
        opened_at: deal['time'],
      }),
    ),
    ...deals
      .filter((deal) => isClosing(deal) && isNews(deal))
      .map((deal) =>
        nameOf('position.closed', {
          ...position(text(deal, 'positionId')),
          closed_volume: deal['volume'],
          exit_price: deal['price'],
          realized_pnl: deal['profit'],
          closed_at: deal['time'],
          exit_reason: reasons[text(deal, 'reason')],
        }),
      ),
    ...plainTrades(deals)
      .filter(({ closedAt }) => closedAt >= linkedAt)
      .map(({ positionId, volume, profit, closedAt }) =>
        nameOf('trade.closed', {
          ...position(positionId),
          volume,
          profit,
          closed_at: new Date(closedAt).toISOString(),
        }),
      ),
    ...deals
      .filter(
        (deal) =>
          isNews(deal) && (balanceChangeOf(deal) !== 0 || deal['type'] === 'DEAL_TYPE_CREDIT'),
      )
      .map((deal) =>
        nameOf('account.balance_changed', {
          account_id: accountId,
          change_amount: balanceChangeOf(deal),
          changed_at: deal['time'],
        }),
      ),
  ]
}

/** By the user's orders as the API answers them, and the deals at the broker since `linkedAt`. */
export const happenedTo = (
  sandbox: Sandbox,
  { id: userId, accountId, providerAccountId }: FaultUser,
  orders: readonly CheckedOrder[],
  linkedAt: number,
): Happened => {
  const own = orders.filter((order) => order.userId === userId)
  const filled = own.filter(({ status }) => status === 'filled')
  return {
    userId,
    names: [
      ...own.map(({ id }) => nameOf('order.created', { order_id: id })),
      ...filled.map(({ id }) => nameOf('order.filled', { order_id: id })),
      ...eventsOfDeals(accountId, sandbox.account(providerAccountId).deals(), linkedAt),
    ],
  }
}
