// An event of the log in a few words, and what it is about.
import type { EventBody, LogEvent } from '@tradeport/client'
import { money, number, price, result } from './format.ts'
import type { Me } from './session.ts'

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

/** The scopes of which one lets a key read events, by what their types begin with. */
const scopesOf: Readonly<Record<string, readonly Me['scopes'][number][]>> = {
  order: ['trading:read'],
  position: ['trading:read', 'positions:read'],
  trade: ['trading:read', 'history:read'],
  account: ['accounts:read'],
  risk: ['accounts:read'],
}

/** The scopes that a key lacks for a type, or undefined where it may read it. */
export const missingScopes = ({ scopes }: Me, type: EventType): string | undefined => {
  const needed = scopesOf[type.split('.')[0] ?? ''] ?? []
  return needed.some((scope) => scopes.includes(scope)) ? undefined : needed.join(' or ')
}

/** What an event is about, as links to pages of the console: words and address. */
export const linksOf = ({ data }: LogEvent): readonly (readonly [string, string])[] => {
  const ids = data as Readonly<Record<string, unknown>>
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
  Record<string, unknown> &
    Pick<EventBody<'order.rejected'>['data'], 'reject_message'> &
    Pick<EventBody<'order.created'>['data'], 'price'> &
    Pick<EventBody<'order.filled'>['data'], 'fill_price'> &
    Pick<EventBody<'position.opened'>['data'], 'entry_price'> &
    Pick<EventBody<'trade.closed'>['data'], 'symbol' | 'type' | 'volume' | 'profit'> &
    Pick<
      EventBody<'position.closed'>['data'],
      'realized_pnl' | 'closed_volume' | 'exit_price' | 'exit_reason'
    > &
    Pick<
      EventBody<'account.balance_changed'>['data'],
      'change_amount' | 'change_reason' | 'new_balance'
    > &
    Pick<EventBody<'risk.threshold_breached'>['data'], 'message'>
>

/** The fields that are known of its type; others are left out. */
export const describeEvent = ({ event, data: anyData }: LogEvent): string => {
  const data = anyData as Data
  if (event === 'risk.threshold_breached') return data.message ?? ''
  if (event === 'account.balance_changed')
    return [
      data.change_amount === undefined ? '' : result(data.change_amount, undefined),
      data.change_reason === undefined ? '' : `(${data.change_reason})`,
      data.new_balance === undefined ? '' : `to ${money(data.new_balance, undefined)}`,
    ].join(' ')
  const volume = data.volume ?? data.closed_volume ?? undefined
  const at =
    event === 'position.opened'
      ? data.entry_price
      : (data.exit_price ?? data.fill_price ?? data.price)
  const profit = event === 'trade.closed' ? data.profit : data.realized_pnl
  return [
    data.symbol ?? '',
    data.type ?? '',
    volume === undefined ? '' : number(volume),
    typeof at === 'number' ? `at ${price(at)}` : '',
    profit === undefined ? '' : result(profit, undefined),
    data.exit_reason?.replaceAll('_', ' ') ?? '',
    data.reject_message ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ')
}
