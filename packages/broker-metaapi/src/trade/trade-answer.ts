// What the provider's answer to a trade that was sent says of it, by its code and else by its
// status. Pure. Whatever is not known to be a yes or a no is unknown: a wrong yes loses a trade, a
// wrong no makes it twice.
import { causeOf, limitedMsOf, retryAfterMsOf } from '../failures.ts'
import type { ErrorAnswer } from '../failures.ts'
import { isRecord, readId } from '../payloads.ts'
import type { Row } from '../payloads.ts'
import type { UnavailableCause } from '@tradeport/domain/errors'
import type { RejectReason } from '@tradeport/domain/orders'
import type { Instant } from '@tradeport/domain/primitives'
import { returnCodeOf } from './return-codes.ts'
import type { ReturnCode } from './return-codes.ts'

/** What came of the one request. */
export type Delivery =
  | ({ readonly kind: 'answered' } & ErrorAnswer)
  /** Not a byte of the trade was written. */
  | { readonly kind: 'undelivered'; readonly why: string }
  /**
   * The trade may have been read, and no whole answer came; `isLate` where the time for one was
   * over.
   */
  | { readonly kind: 'unanswered'; readonly isLate: boolean }

/** The broker's numbers for what an answer speaks of. */
export interface Tickets {
  readonly orderId?: string | undefined
  readonly positionId?: string | undefined
}

export type TradeVerdict =
  /** The broker took it, as the class of its return code says. */
  | { readonly kind: 'done' | 'done_in_part' | 'placed' | 'no_changes'; readonly tickets: Tickets }
  /** The broker said no; with `gone`, because it lacks the position that was named. */
  | { readonly kind: 'refused' | 'gone'; readonly reason: RejectReason }
  /**
   * A 404 of the provider's: it does not know the account, or not what the trade names. Not
   * executed either way.
   */
  | { readonly kind: 'not_found'; readonly words: string | undefined }
  /** Certainly not executed, and to be sent again no sooner than it says, where it says. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number | null }
  /** Certainly not executed, for a reason that may pass. */
  | {
      readonly kind: 'not_sent'
      readonly retryAfterMs: number | null
      readonly why: string
      readonly cause?: UnavailableCause | undefined
    }
  /** It may have been executed. */
  | { readonly kind: 'unknown' }

const unknown: TradeVerdict = { kind: 'unknown' }

export const verdictOf = (delivery: Delivery, now: Instant): TradeVerdict => {
  if (delivery.kind === 'undelivered')
    return { kind: 'not_sent', retryAfterMs: null, why: delivery.why }
  if (delivery.kind === 'unanswered') return unknown
  const { body } = delivery
  const code = isRecord(body) ? codeIn(body) : undefined
  return code === undefined || !isRecord(body)
    ? verdictOfStatus(delivery, now)
    : verdictOfCode(code, body, delivery, now)
}

/**
 * What the code of a trade body says, whatever the status it came with; undefined where there is
 * none.
 */
const codeIn = ({
  numericCode,
  stringCode,
  error,
  description,
}: Row): ReturnCode | 'unlisted' | undefined => {
  if ((numericCode !== undefined && numericCode !== null) || typeof stringCode === 'string')
    return returnCodeOf(numericCode ?? undefined, stringCode) ?? 'unlisted'
  if (typeof error !== 'number') return undefined
  // An older form. The number stands where errors of the API have their name, and counts only
  // beside the name of a code.
  const isNamed = returnCodeOf(undefined, description) !== undefined
  return (isNamed ? returnCodeOf(error, description) : undefined) ?? 'unlisted'
}

const verdictOfCode = (
  code: ReturnCode | 'unlisted',
  body: Row,
  answer: ErrorAnswer,
  now: Instant,
): TradeVerdict => {
  if (code === 'unlisted') return unknown
  const { means: kind, name } = code
  switch (kind) {
    case 'done':
    case 'done_in_part':
    case 'placed':
    case 'no_changes':
      return {
        kind,
        tickets: { orderId: readId(body['orderId']), positionId: readId(body['positionId']) },
      }
    case 'refused':
    case 'gone':
      return {
        kind,
        reason: {
          code: name,
          message: wordsOf(body['message']) ?? 'The broker refused the trade.',
        },
      }
    case 'limited':
    case 'not_sent':
      return { kind, retryAfterMs: retryAfterMsOf(answer, now) ?? null, why: name }
    case 'unknown':
      return unknown
  }
}

// Statuses of the provider that were given before anything was done. One that comes without the
// provider's JSON is of something in between, which may have passed the trade on; but who counts
// requests refuses them before.
const verdictOfStatus = (answer: ErrorAnswer, now: Instant): TradeVerdict => {
  const { status, body } = answer
  if (status === 429) return { kind: 'limited', retryAfterMs: limitedMsOf(answer, now) }
  if (!isRecord(body) || typeof body['error'] !== 'string') return unknown
  if (status === 401 || status === 403)
    return { kind: 'not_sent', retryAfterMs: null, why: `answered ${status}`, ...causeOf(answer) }
  if (status === 404) return { kind: 'not_found', words: wordsOf(body['message']) }
  if (status === 400)
    return { kind: 'refused', reason: { code: 'VALIDATION', message: validationWordsOf(body) } }
  return unknown
}

const validationWordsOf = ({ message, details }: Row): string => {
  const faults = Array.isArray(details) ? (details as readonly unknown[]).filter(isRecord) : []
  const joined = (words: readonly unknown[], mark: string): string =>
    words.map(wordsOf).filter(Boolean).join(mark)
  return (
    wordsOf(
      joined(
        [message, ...faults.map((fault) => joined([fault['parameter'], fault['message']], ': '))],
        '; ',
      ),
    ) ?? 'The trade is not valid.'
  )
}

const maxWords = 200

/**
 * The provider's words on one line, without the mark of the request at their end, and no longer
 * than a reader wants them.
 */
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
