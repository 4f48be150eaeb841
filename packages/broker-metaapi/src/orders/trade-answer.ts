// What the provider's answer to a sent order says of it, by its code and else by its status (decision 23). Pure. Whatever is not known to be
// a yes or a no is unknown: a wrong yes loses an order, a wrong no opens a second position.
import { isRecord, toldRetryAt } from '../failures.ts'
import { readId } from '../payloads.ts'
import type { Instant, PlacementAnswer } from '@tradeport/domain'
import { returnCodeOf } from './return-codes.ts'

/** What came of the one request. */
export type Delivery =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly retryAfter: string | null
      /** The body as JSON; undefined when it is none. */
      readonly body: unknown
    }
  /** The connection failed before a byte of the order was on it. */
  | { readonly kind: 'undelivered' }
  /** The order may have been read, and no whole answer came. */
  | { readonly kind: 'unanswered' }

/** The broker's numbers for what an answer speaks of. */
export interface Tickets {
  readonly orderId?: string
  readonly positionId?: string
}

export type TradeVerdict =
  | { readonly kind: 'taken'; readonly as: 'filled' | 'partially_filled' | 'placed'; readonly tickets: Tickets }
  /** A 404 of the provider's: it does not know the account, or not the symbol. Not executed either way. */
  | { readonly kind: 'not_found'; readonly words: string | undefined }
  | Extract<PlacementAnswer, { kind: 'refused' | 'not_sent' | 'unknown' }>

const unknown: TradeVerdict = { kind: 'unknown' }

export const verdictOf = (delivery: Delivery, now: Instant): TradeVerdict => {
  if (delivery.kind === 'undelivered') return { kind: 'not_sent', retryAfterMs: null }
  if (delivery.kind === 'unanswered') return unknown
  const told = codeOf(delivery.body)
  return told === undefined ? verdictOfStatus(delivery, now) : verdictOfCode(told, delivery, now)
}

type Answered = Extract<Delivery, { kind: 'answered' }>

interface ToldCode {
  readonly code: number | undefined
  readonly name: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** The code of a trade body, whatever the status it came with; undefined where there is none. */
const codeOf = (body: unknown): ToldCode | undefined => {
  if (!isRecord(body)) return undefined
  const { numericCode, stringCode, error, description } = body
  if (numericCode !== undefined && numericCode !== null) return toldCode(numericCode, stringCode, body)
  if (typeof stringCode === 'string') return toldCode(undefined, stringCode, body)
  // An older form. The number stands where errors of the API have their name, and counts only beside the name of a code.
  const isNamed = typeof description === 'string' && returnCodeOf(undefined, description) !== undefined
  if (typeof error === 'number') return toldCode(isNamed ? error : Number.NaN, description, body)
  return undefined
}

// A number that is written as text, or is none, is in no row.
const toldCode = (code: unknown, name: unknown, body: ToldCode['body']): ToldCode => ({
  code: code === undefined || typeof code === 'number' ? code : Number.NaN,
  name: typeof name === 'string' ? name : undefined,
  body,
})

const verdictOfCode = ({ code, name, body }: ToldCode, answer: Answered, now: Instant): TradeVerdict => {
  const row = returnCodeOf(code, name)
  switch (row?.means) {
    case 'filled':
    case 'partially_filled':
    case 'placed':
      return { kind: 'taken', as: row.means, tickets: ticketsOf(body) }
    case 'refused':
      return { kind: 'refused', reason: { code: row.name, message: wordsOf(body['message']) ?? 'The broker refused the order.' } }
    case 'not_sent':
      return notSent(toldRetryAt(answer.retryAfter, body, now), now)
    case 'unknown':
    case undefined:
      return unknown
  }
}

// Statuses of the provider that were given before anything was done. One that comes without the provider's JSON is of something in between,
// which may have passed the order on; but who counts requests refuses them before.
const verdictOfStatus = ({ status, retryAfter, body }: Answered, now: Instant): TradeVerdict => {
  if (status === 429) return notSent(toldRetryAt(retryAfter, body, now) ?? now + 1_000, now)
  if (!isRecord(body) || typeof body['error'] !== 'string') return unknown
  if (status === 401 || status === 403) return notSent(undefined, now)
  if (status === 404) return { kind: 'not_found', words: wordsOf(body['message']) }
  if (status === 400) return { kind: 'refused', reason: { code: 'VALIDATION', message: validationWordsOf(body) } }
  return unknown
}

const notSent = (retryAt: Instant | undefined, now: Instant): TradeVerdict => ({
  kind: 'not_sent',
  retryAfterMs: retryAt === undefined ? null : Math.max(0, Math.ceil(retryAt - now)),
})

const ticketsOf = (body: ToldCode['body']): Tickets => {
  const orderId = readId(body['orderId'])
  const positionId = readId(body['positionId'])
  return { ...(orderId !== undefined && { orderId }), ...(positionId !== undefined && { positionId }) }
}

const validationWordsOf = ({ message, details }: ToldCode['body']): string => {
  const faults = Array.isArray(details) ? (details as readonly unknown[]).filter(isRecord) : []
  const faultWords = faults.map((fault) => [wordsOf(fault['parameter']), wordsOf(fault['message'])].filter(isTold).join(': '))
  return wordsOf([wordsOf(message), ...faultWords].filter(isTold).join('; ')) ?? 'The order is not valid.'
}

const isTold = (words: string | undefined): words is string => words !== undefined && words !== ''

const maxWords = 200

/** The provider's words on one line, without the mark of the request at their end, and no longer than a reader wants them. */
const wordsOf = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return undefined
  const line = value
    .slice(0, 10 * maxWords)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .replace(/ ?\((?=[^)]*\d)[\w-]{6,64}\)\.?$/, '')
  const words = line.slice(0, maxWords).trim().toWellFormed()
  return words === '' ? undefined : words
}
