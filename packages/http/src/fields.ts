// Fields and parameters that several shapes and routes have. The examples fit together: an account,
// an order on it, its position, and the trade that this became.
import {
  parseAccountId,
  parseInstant,
  parseSymbolFilter,
  symbolFilterPattern,
  toIso,
} from '@tradeport/domain/primitives'
import type { Instant, RangeEdge } from '@tradeport/domain/primitives'
import {
  anyText,
  decimal,
  digits,
  oneOf,
  optional,
  parsed,
  text,
  time,
  withDefault,
} from './schema.ts'
import type { Schema } from './schema.ts'

const exampleAccountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c'
export const accountId = parsed(
  'the UUID of a linked account',
  parseAccountId,
  'The id of a linked account.',
  exampleAccountId,
  {
    format: 'uuid',
  },
)
export const ownerId = text('The owner.', 'u-1')
export const orderId = anyText(
  'The id of an order: ord_ and an opaque suffix.',
  'ord_0mhk3v9q2c7d1x8p4z6w',
)
export const ticket = text("The broker's ticket of the position.", '46648037')
export const positionId = anyText(
  'The id of a position, and of the trade that it becomes.',
  `${exampleAccountId}:46648037`,
)
export const webhookId = text('The id of a webhook.', '5f0d1c9e-3a87-4b26-9c41-7e2b8d6a0f13', {
  format: 'uuid',
})
export const deliveryId = text(
  'The id of a delivery, the same for all of its attempts.',
  'c2a4e6f8-1b3d-4f5a-8c7e-9d0b2a4c6e81',
  {
    format: 'uuid',
  },
)

export const sides = ['buy', 'sell'] as const
export const side = oneOf(sides, 'The direction.')
export const symbol = text('The instrument, as the broker spells it.', 'EURUSD')
export const lots = decimal('Lots.', 0.2)
export const entryPrice = decimal('The price at which it was opened, weighted by volume.', 1.0842)
export const exitPrice = decimal('The price at which it was closed, weighted by volume.', 1.0861)
export const profit = decimal('Before commission and swap.', 38)
export const swap = decimal('Charges are negative.', -1.12)
export const commission = decimal('Charges are negative.', -1.4)
/** Of an open position and of the trade that it becomes. */
export const positionFields = {
  id: positionId,
  userId: ownerId,
  accountId,
  symbol,
  type: side,
  volume: lots,
  entryPrice,
  swap,
  commission,
}

export const balance = decimal('The balance, without the result of open positions.', 10_250.4)
export const equity = decimal('The balance and the result of open positions.', 10_310.9)
export const margin = decimal('Margin in use.', 216.4)
export const instant = time('In UTC.')
export const stopLoss = optional(decimal('A price; left out when there is none.', 1.08))
export const takeProfit = optional(decimal('A price; left out when there is none.', 1.095))

export const clientId = text(
  "The caller's own reference, which the order carries.",
  'strategy-7-0042',
  { maxLength: 100 },
)

export const symbolFilter = parsed(
  '1 to 32 visible characters with letters in capitals, such as EURUSD',
  parseSymbolFilter,
  'An instrument, in capitals; it matches whatever case the broker uses.',
  'EURUSD',
  { minLength: 1, maxLength: 32, pattern: symbolFilterPattern.source },
)

/** A symbol as it is written on an order. */
export const orderSymbol = text(
  'The instrument.',
  'EURUSD',
  { minLength: 1, maxLength: 32, pattern: '^[A-Z0-9._#\\-]{1,32}$' },
  'a symbol in capitals: 1 to 32 of A-Z 0-9 . _ # -',
)

/** Whether there is such a day no pattern can say. */
const instantPattern = String.raw`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+\-]\d{2}(:?\d{2})?)?)?$`

/** One end of a range of times, which is included. */
export const instantAt = (edge: RangeEdge, description: string): Schema<Instant> => ({
  ...parsed(
    'an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B)',
    (sent) => parseInstant(sent, edge),
    description,
    '2026-01-31',
    { pattern: instantPattern },
  ),
  encode: toIso,
})

const earliest = optional(instantAt('start', 'The earliest, included.'))
const latest = optional(instantAt('end', 'The latest, included.'))
export const dateRange = { startDate: earliest, endDate: latest }
export const timeRange = { startTime: earliest, endTime: latest }

export const limit = (most: number, usual: number) =>
  withDefault(digits('How many to answer at most.', 1, most), usual)
export const cursor = optional(
  anyText(
    'Leads to the next page with the same filters: meta.pagination.cursor of a page.',
    'djE6MTc2MzY0NzUwOTAwMA',
  ),
)

/** Below it no product of page and limit loses a digit. */
const lastPage = 1_000_000
export const paging = {
  page: withDefault(digits('The page, counted from 1.', 1, lastPage), 1),
  limit: limit(100, 20),
}

export const idempotencyKey = text(
  'Names the request: sent again within 24 hours with the same key, it is not carried out again but answered as before.',
  'b6d5e6d0-6d0f-4d5a-9d0e-6f3a1f2b9c11',
  { minLength: 1, maxLength: 255, pattern: '^[ -~]{1,255}$' },
  '1 to 255 printable ASCII characters',
)

export const requestId = text(
  'The id of the request, as sent or as generated (`req_…`).',
  'req_8f14e45f-ceea-4673-9a4b-1b2c3d4e5f60',
)
export const longestRequestId = 128
/** Of an id that a caller sends along. */
export const requestIdPattern = new RegExp(`^[A-Za-z0-9._:\\-]{1,${longestRequestId}}$`)
