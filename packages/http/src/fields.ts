// Fields, parameters and shapes that several routes have. The examples of an account, its open
// position and its trade are those of the demo (`apps/api/src/demo.ts`), so that they work there.
import { haltedBy } from '@tradeport/domain/errors'
import { cancelReasons } from '@tradeport/domain/orders'
import type { Listed } from '@tradeport/domain/operator'
import {
  formatPositionId,
  type Instant,
  type Page,
  parseAccountId,
  parseInstant,
  parseSymbolFilter,
  type RangeEdge,
  symbolFilterPattern,
  toIso,
} from '@tradeport/domain/primitives'
import { type ClosedTrade, skipReasons } from '@tradeport/domain/trades'
import type { TradesResult } from '@tradeport/domain/use-cases'
import {
  anyText,
  decimal,
  flag,
  list,
  object,
  oneOf,
  optional,
  parsedString,
  partial,
  queryInteger,
  record,
  type Schema,
  text,
  time,
  whole,
  withDefault,
} from './schema.ts'

const exampleAccountId = '6d1f0a34-2b7c-4e58-9a10-5c3e8f7b2d01'
export const accountId = parsedString(
  'the UUID of a linked account',
  parseAccountId,
  'The id of a linked account.',
  exampleAccountId,
  { format: 'uuid' },
)
/** Any text: a malformed id in a path is answered like an unknown one. */
export const accountIdInPath = anyText('The id of a linked account.', exampleAccountId)
export const ownerUserId = text('The user who owns it.', 'u-1')
export const orderId = anyText(
  'The id of an order: ord_ and an opaque suffix.',
  'ord_0mhk3v9q2c7d1x8p4z6w',
)
export const ticket = text("The broker's ticket of the position.", '46001000')
export const positionId = anyText(
  'The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another.',
  `${exampleAccountId}:${String(ticket.example)}`,
)
export const tradeId = anyText('The id of a trade.', `${exampleAccountId}:46000001`)
export const webhookId = text('The id of a webhook.', '5f0d1c9e-3a87-4b26-9c41-7e2b8d6a0f13', {
  format: 'uuid',
})
export const deliveryId = text(
  'The id of a delivery, the same for all of its attempts.',
  'c2a4e6f8-1b3d-4f5a-8c7e-9d0b2a4c6e81',
  { format: 'uuid' },
)

/** Above 0. */
export const positive = (description: string, example?: number) =>
  decimal(description, example, { exclusiveMinimum: 0 })

export const errorText = {
  code: text('As in the error of a reply.'),
  message: text('The same in words.'),
}
/** Where an attempt or a check failed. */
export const optionalErrorText = partial(errorText)

export const side = oneOf(['buy', 'sell'], 'The direction.')
/** Of a reply; a query has `symbolFilter`, a new order `orderSymbol`. */
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
  userId: ownerUserId,
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
/** Both of a reply; what a request sets is `positive`. */
export const stopLoss = optional(decimal('A price; left out when there is none.', 1.05))
export const takeProfit = optional(decimal('A price; left out when there is none.', 1.3))

export const clientId = text(
  "The caller's own reference, which the order carries.",
  'strategy-7-0042',
  { maxLength: 100 },
)

export const symbolFilter = parsedString(
  '1 to 32 visible characters with letters in capitals, such as EURUSD',
  parseSymbolFilter,
  'An instrument, in capitals; it matches whatever case the broker uses.',
  'EURUSD',
  { minLength: 1, maxLength: 32, pattern: symbolFilterPattern.source },
)

/** Who halted an account. */
export const halter = oneOf(haltedBy, 'Who halted it.')

export const cancelReason = oneOf(
  cancelReasons,
  'Who cancelled it: its owner, the broker or somebody in its terminal, or a halt of the account.',
)

/** A symbol as it is written on an order. */
export const orderSymbol = text(
  'The instrument.',
  'EURUSD',
  { minLength: 1, maxLength: 32, pattern: '^[A-Z0-9._#\\-]{1,32}$' },
  'a symbol in capitals: 1 to 32 of A-Z 0-9 . _ # -',
)

/** No pattern can check that the day exists. */
export const instantPattern = String.raw`^\d{4}-\d{2}-\d{2}([Tt]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?([Zz]|[+\-]\d{2}(:?\d{2})?)?)?$`

/** One end of a range of times, which is included. */
export const instantAt = (edge: RangeEdge, description: string): Schema<Instant> => ({
  ...parsedString(
    'an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (in a query + is %2B)',
    (sent) => parseInstant(sent, edge),
    description,
    '2026-01-31',
    { pattern: instantPattern },
  ),
  encode: toIso,
})

const earliest = instantAt('start', 'The earliest, included.')
const latest = instantAt('end', 'The latest, included.')
export const dateRange = partial({ startDate: earliest, endDate: latest })
export const timeRange = partial({ startTime: earliest, endTime: latest })

export const limit = (most: number, fallback: number) =>
  withDefault(queryInteger('The maximum of items on a page.', 1, most), fallback)
export const cursor = optional(
  anyText(
    'Leads to the next page with the same filters: meta.pagination.cursor of a page.',
    'djE6MTc2MzY0NzUwOTAwMA',
  ),
)

/** Keeps page × limit an exact integer. */
const lastPage = 1_000_000
export const paging = {
  page: withDefault(queryInteger('The page, counted from 1.', 1, lastPage), 1),
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

/** The longest body of a request: 10 MiB. */
export const maxBodyBytes = 10_485_760

const pageLimit = whole('The maximum of items on a page.', 20)
const hasNext = flag('Whether a page follows.')
const pageFields = {
  page: whole('The page, counted from 1.', 1),
  limit: pageLimit,
  total: whole('How many there are in all.', 312),
  total_pages: whole('How many pages there are; 0 without any item.', 16),
  has_next: hasNext,
  has_prev: flag('Whether a page precedes.', false),
}

const pageMeta = ({ page, limit, total }: Page<unknown>['pagination']) => ({
  page,
  limit,
  total,
  total_pages: Math.ceil(total / limit),
  has_next: page * limit < total,
  has_prev: page > 1,
})

/** `meta.pagination` of numbered pages. */
export const paginationShape: Schema<Page<unknown>['pagination']> = record(
  'Pagination',
  'Which page this is.',
  pageFields,
  pageMeta,
)
/** Of the trade list, whose pages are reached by a cursor. */
export const cursorPaginationShape: Schema<TradesResult['pagination']> = record(
  'CursorPagination',
  'Which page this is; its cursor leads to the next.',
  {
    ...pageFields,
    cursor,
  },
  ({ total, before, limit, cursor: next }: TradesResult['pagination']) => {
    const pagesBefore = Math.ceil(before / limit)
    return {
      ...pageMeta({ page: pagesBefore + 1, limit, total }),
      // A newer trade or another limit moves where pages begin, which can make one page more.
      total_pages: pagesBefore + Math.ceil((total - before) / limit),
      has_next: next !== undefined,
      has_prev: before > 0,
      cursor: next,
    }
  },
)
/** Of lists that have nothing but a cursor. */
export const listPaginationShape = record(
  'ListPagination',
  'The cursor leads to the next page.',
  {
    limit: pageLimit,
    has_next: hasNext,
    cursor,
  },
  ({ hasNext, ...rest }: Listed<unknown>['pagination']) => ({ ...rest, has_next: hasNext }),
)

const provenanceFields = {
  source: text("The provider's name.", 'metaapi'),
  accounts: list(accountId, 'The accounts that were read.'),
  readAt: time('When they were read; of several reads the oldest.'),
}

/** `meta.provenance`. */
export const provenanceShape = record(
  'Provenance',
  'Where the data comes from and how old it is.',
  provenanceFields,
)

export const tradeProvenanceShape = record(
  'TradeProvenance',
  'Where the trades come from, and which positions are missing.',
  {
    ...provenanceFields,
    skipped: list(
      object('A position that is in no list and no statistic.', {
        accountId,
        positionId: ticket,
        reason: oneOf(skipReasons, 'Why it could not be folded into a trade.', 'no_open_deal'),
      }),
      'Positions of these accounts whose deals could not be folded into a trade.',
    ),
  },
)

/** The refusals of every route that reads a broker. */
export const brokerReadRefusals = [
  'UnsupportedBroker',
  'NotProvisioned',
  'BrokerUnavailable',
  'BrokerRateLimited',
] as const

export const tradeShape = record(
  'Trade',
  'A position whose whole volume is closed, folded from all of its deals.',
  {
    ...positionFields,
    positionId: ticket,
    exitPrice,
    profit,
    netProfit: decimal('profit + commission + swap.', 35.48),
    holdingTime: whole('Whole seconds from openedAt to closedAt, rounded down.', 5_400),
    openedAt: time('The first opening deal.', '2026-11-20T12:35:09.000Z'),
    closedAt: time('The last closing deal.'),
    ...partial({
      volumeEstimated: flag(
        'True when a closing deal had no volume, and volume is the volume opened; else absent.',
      ),
    }),
  },
  ({ accountId, userId, trade }: ClosedTrade) => ({
    ...trade,
    id: formatPositionId(accountId, trade.positionId),
    userId,
    accountId,
    type: trade.side,
  }),
)
