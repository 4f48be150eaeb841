// An event of the log in a few words.
import type { EventBody, LogEvent } from '@tradeport/client'
import { number, price, result } from './format.ts'

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

/** Also of a type that a newer service has. */
export const eventTitle = ({ event }: LogEvent): string => titles[event] ?? event

type Data = Partial<
  Record<string, unknown> &
    Pick<EventBody<'trade.closed'>['data'], 'symbol' | 'type' | 'volume' | 'profit'> &
    Pick<EventBody<'position.closed'>['data'], 'realized_pnl' | 'exit_price' | 'exit_reason'> &
    Pick<EventBody<'account.balance_changed'>['data'], 'change_amount' | 'change_reason'> &
    Pick<EventBody<'risk.threshold_breached'>['data'], 'message'>
>

/** The fields that are known of its type; others are left out. */
export const describeEvent = ({ event, data: anyData }: LogEvent): string => {
  const data = anyData as Data
  if (event === 'risk.threshold_breached') return data.message ?? ''
  if (event === 'account.balance_changed')
    return [
      data.change_amount === undefined ? '' : result(data.change_amount, undefined),
      data.change_reason ?? '',
    ].join(' ')
  const volume = data.volume ?? undefined
  const profit = event === 'trade.closed' ? data.profit : data.realized_pnl
  return [
    data.symbol ?? '',
    data.type ?? '',
    volume === undefined ? '' : number(volume),
    typeof data.exit_price === 'number' ? `at ${price(data.exit_price)}` : '',
    profit === undefined ? '' : result(profit, undefined),
    data.exit_reason?.replaceAll('_', ' ') ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ')
}
