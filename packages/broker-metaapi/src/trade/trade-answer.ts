// What the provider's answer to a trade that was sent says of it, by its code and else by its status. Pure. Whatever is not
// known to be a yes or a no is unknown: a wrong yes loses a trade, a wrong no makes it twice.
import { causeOf, isRecord, limitedMsOf, retryAfterMsOf } from '../failures.ts'
import type { ErrorAnswer } from '../failures.ts'
import { readId } from '../payloads.ts'
import type { Instant, RejectReason, UnavailableCause } from '@tradeport/domain'
import { returnCodeOf } from './return-codes.ts'
import type { CodeClass } from './return-codes.ts'

/** What came of the one request. */
export type Delivery =
  | ({ readonly kind: 'answered' } & ErrorAnswer)
  /** Not a byte of the trade was written. */
  | { readonly kind: 'undelivered'; readonly why: string }
  /** The trade may have been read, and no whole answer came; `isLate` where the time for one was over. */
  | { readonly kind: 'unanswered'; readonly isLate: boolean }

/** The broker's numbers for what an answer speaks of. */
export interface Tickets {
  readonly orderId?: string
  readonly positionId?: string
}

export type TradeVerdict =
  | {
      readonly kind: 'taken'
      readonly as: Extract<CodeClass, 'done' | 'done_in_part' | 'placed' | 'no_changes'>
      readonly tickets: Tickets
    }
  /** The broker said no; with `gone`, because it lacks the position that was named. */
  | { readonly kind: 'refused' | 'gone'; readonly reason: RejectReason }
  /** A 404 of the provider's: it does not know the account, or not what the trade names. Not executed either way. */
  | { readonly kind: 'not_found'; readonly words: string | undefined }
  /** Certainly not executed, and to be sent again no sooner than it says, where it says. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number | null }
  /** Certainly not executed, for a reason that may pass. */
  | { readonly kind: 'not_sent'; readonly retryAfterMs: number | null; readonly why: string; readonly cause?: UnavailableCause }
  /** It may have been executed. */
  | { readonly kind: 'unknown' }

const unknown: TradeVerdict = { kind: 'unknown' }

export const verdictOf = (delivery: Delivery, now: Instant): TradeVerdict => {
  if (delivery.kind === 'undelivered') return { kind: 'not_sent', retryAfterMs: null, why: delivery.why }
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
    case 'done':
    case 'done_in_part':
    case 'placed':
    case 'no_changes':
      return { kind: 'taken', as: row.means, tickets: ticketsOf(body) }
    case 'refused':
    case 'gone':
      return { kind: row.means, reason: { code: row.name, message: wordsOf(body['message']) ?? 'The broker refused the trade.' } }
    case 'limited':
      return { kind: 'limited', retryAfterMs: retryAfterMsOf(answer, now) ?? null }
    case 'not_sent':
      return { kind: 'not_sent', retryAfterMs: retryAfterMsOf(answer, now) ?? null, why: row.name }
    case 'unknown':
    case undefined:
      return unknown
  }
}

// Statuses of the provider that were given before anything was done. One that comes without the provider's JSON is of something in between,
// which may have passed the trade on; but who counts requests refuses them before.
const verdictOfStatus = (answer: Answered, now: Instant): TradeVerdict => {
  const { status, body } = answer
  if (status === 429) return { kind: 'limited', retryAfterMs: limitedMsOf(answer, now) }
  if (!isRecord(body) || typeof body['error'] !== 'string') return unknown
  if (status === 401 || status === 403) return { kind: 'not_sent', retryAfterMs: null, why: `answered ${status}`, ...causeOf(answer) }
  if (status === 404) return { kind: 'not_found', words: wordsOf(body['message']) }
  if (status === 400) return { kind: 'refused', reason: { code: 'VALIDATION', message: validationWordsOf(body) } }
  return unknown
}

const ticketsOf = (body: ToldCode['body']): Tickets => {
  const orderId = readId(body['orderId'])
  const positionId = readId(body['positionId'])
  return { ...(orderId !== undefined && { orderId }), ...(positionId !== undefined && { positionId }) }
}

const validationWordsOf = ({ message, details }: ToldCode['body']): string => {
  const faults = Array.isArray(details) ? (details as readonly unknown[]).filter(isRecord) : []
  const faultWords = faults.map((fault) => [wordsOf(fault['parameter']), wordsOf(fault['message'])].filter(isTold).join(': '))
  return wordsOf([wordsOf(message), ...faultWords].filter(isTold).join('; ')) ?? 'The trade is not valid.'
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
