// Parameters and fields that several routes take.
import { parseAccountId, parseInstant, parseSymbolFilter, symbolFilterPattern } from '@tradeport/domain'
import type { RangeEdge } from '@tradeport/domain'
import { exampleAccountId } from './examples.ts'
import { digits, optional, parsed, text, withDefault } from './schema.ts'

export const accountId = parsed('the UUID of a linked account', parseAccountId, 'The id of a linked account.', exampleAccountId, {
  format: 'uuid',
})

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
export const instantAt = (edge: RangeEdge, description: string) =>
  parsed(
    'an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B)',
    (sent) => parseInstant(sent, edge),
    description,
    '2026-01-31',
    { pattern: instantPattern },
  )

export const dateRange = (what: string) => ({
  startDate: optional(instantAt('start', `The earliest ${what}, included.`)),
  endDate: optional(instantAt('end', `The latest ${what}, included.`)),
})

/** Below it no product of page and limit loses a digit. */
const lastPage = 1_000_000

export const limit = (most: number, usual: number) => withDefault(digits('How many to answer at most.', 1, most), usual)

export const paging = { page: withDefault(digits('The page, counted from 1.', 1, lastPage), 1), limit: limit(100, 20) }

export const idempotencyKey = text(
  'Names the request: sent again within 24 hours with the same key, it is not carried out again but answered as before.',
  'b6d5e6d0-6d0f-4d5a-9d0e-6f3a1f2b9c11',
  { minLength: 1, maxLength: 255, pattern: '^[ -~]{1,255}$' },
  '1 to 255 printable ASCII characters',
)

export const longestRequestId = 128
/** Of an id that a caller sends along. */
export const requestIdPattern = new RegExp(`^[A-Za-z0-9._:\\-]{1,${longestRequestId}}$`)
