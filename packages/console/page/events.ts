// An event of the log in a few words, and what it is about.
import type { Account, EventBody, LogEvent } from '@tradeport/client'
import { missingScopes, type Area, type Me } from './access.ts'
import { lots, money, price, result } from './format.ts'

const titles: Readonly<Record<LogEvent['event'], string>> = {
  'trade.closed': 'Trade closed',
  'position.opened': 'Position opened',
  'position.closed': 'Position closed',
  'order.created': 'Order created',
  'order.filled': 'Order filled',
  'order.cancelled': 'Order cancelled',
  'order.rejected': 'Order rejected',
  'order.expired': 'Order expired',
  'account.balance_changed': 'Balance changed',
  'risk.threshold_breached': 'Risk threshold breached',
}

export type EventType = LogEvent['event']

export const eventTypes = Object.keys(titles) as readonly EventType[]

/** Also of a type that a newer service has. */
export const eventTitle = (type: EventType): string => titles[type] ?? type

/** The area that a key needs to read events, by the first part of their type. */
const areaOf: Readonly<Record<string, Area>> = {
  order: 'orders',
  position: 'positions',
  trade: 'trades',
  account: 'accounts',
  risk: 'accounts',
}

/** The scopes that a key lacks for a type, or undefined where it may read it. */
export const missingScopesOf = (me: Me, type: EventType): string | undefined =>
  missingScopes(me, areaOf[type.split('.')[0] ?? ''] ?? 'events')

/** What an event is about, as links to pages of the console: words and address. */
export const linksOf = ({ data }: LogEvent): readonly (readonly [string, string])[] => {
  const ids: Readonly<Record<string, unknown>> = data
  const link = (name: string, field: string, path: string) => {
    const id = ids[field]
    return typeof id === 'string' ? [[name, `${path}/${encodeURIComponent(id)}`] as const] : []
  }
  const trade = link('Trade', 'trade_id', '/console/trades')
  return [
    ...link('Order', 'order_id', '/console/orders'),
    ...trade,
    // The trade says more of the same position.
    ...(trade.length > 0 ? [] : link('Position', 'position_id', '/console/positions')),
  ]
}

type Data = Partial<
  EventBody<'order.created'>['data'] &
    EventBody<'order.rejected'>['data'] &
    EventBody<'order.filled'>['data'] &
    EventBody<'position.opened'>['data'] &
    EventBody<'position.closed'>['data'] &
    EventBody<'trade.closed'>['data']
>

/** The fields that are known of its type; others are left out. */
export const describeEvent = (
  { event, accountId, data: known }: LogEvent,
  accounts: readonly Pick<Account, 'id' | 'currency'>[] | undefined,
): string => {
  const currency = accounts?.find(({ id }) => id === accountId)?.currency
  if (event === 'risk.threshold_breached') return known.message
  if (event === 'account.balance_changed')
    return [
      result(known.change_amount, currency),
      `(${known.change_reason})`,
      known.new_balance === null ? '' : `to ${money(known.new_balance, currency)}`,
    ].join(' ')
  const data = known as Data
  const volume = data.volume ?? data.closed_volume
  const at =
    event === 'position.opened'
      ? data.entry_price
      : (data.exit_price ?? data.fill_price ?? data.price)
  const { filled_volume: filled, profit, swap, commission, realized_pnl: closeProfit } = data
  return [
    data.symbol,
    data.type,
    // Also of an order that was executed in part; null where the part is not known.
    filled === undefined || filled === volume
      ? ''
      : `${filled === null ? 'a part' : lots(filled)} of`,
    typeof volume === 'number' ? lots(volume) : '',
    typeof at === 'number' ? `at ${price(at)}` : '',
    profit === undefined || swap === undefined || commission === undefined
      ? ''
      : `net profit ${result(profit + swap + commission, currency)}`,
    closeProfit === undefined
      ? ''
      : `result ${result(closeProfit, currency)} before commission and swap`,
    data.exit_reason?.replaceAll('_', ' '),
    data.reject_message,
  ]
    .filter(Boolean)
    .join(' ')
}
