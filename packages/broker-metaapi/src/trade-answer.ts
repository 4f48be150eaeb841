// What the provider's answer to a trade says, by its return code or else by its status. Pure.
// Whatever is not clearly a yes or a no is unknown: a wrong yes loses a trade, a wrong no executes
// it twice.
import type { RejectReason } from '@tradeport/domain/orders'
import type { Instant } from '@tradeport/domain/primitives'
import {
  failureOfAnswer,
  isProviderError,
  namedRetryAtOf,
  rateLimited,
  retryAtOf,
  unavailable,
  type CallFailure,
  type ErrorAnswer,
} from './failures.ts'
import { isRecord, readTicket, type Row } from './payloads.ts'
import { returnCodeOf, type ReturnCode } from './return-codes.ts'

/** The broker's numbers of an order and its position, where an answer gave them. */
export interface Tickets {
  readonly orderId?: string | undefined
  readonly positionId?: string | undefined
}

export type TradeAnswer =
  /** The broker accepted it, as the class of its return code says. */
  | { readonly kind: 'done' | 'done_in_part' | 'placed' | 'no_changes'; readonly tickets: Tickets }
  /** The broker refused it; `gone` if it does not know the position, order or symbol. */
  | { readonly kind: 'refused' | 'doubted' | 'gone'; readonly reason: RejectReason }
  /** Certainly not executed, for a reason that may pass. */
  | { readonly kind: 'not_sent'; readonly failure: CallFailure }
  /** It may have been executed. */
  | { readonly kind: 'unknown' }

/** The reason code for a 404: the symbol, position or account is unknown. */
export const somethingNotFound = 'SYMBOL_NOT_FOUND'

export const tradeAnswerOf = (answer: ErrorAnswer, now: Instant): TradeAnswer => {
  const body = isRecord(answer.body) ? answer.body : {}
  const code = returnCodeIn(body)
  return code === undefined ? answerOfStatus(answer, now) : answerOfCode(code, body, answer, now)
}

/** The code of a trade body, whatever the status it came with; undefined if there is none. */
const returnCodeIn = ({
  numericCode,
  stringCode,
  error,
  description,
}: Row): Pick<ReturnCode, 'name' | 'codeClass'> | undefined => {
  if ((numericCode !== undefined && numericCode !== null) || typeof stringCode === 'string')
    return returnCodeOf(numericCode ?? undefined, stringCode) ?? unlisted
  if (typeof error !== 'number') return undefined
  // An older form: the number is in the field of the API's error names, and counts only with the
  // name of a code.
  return (returnCodeOf(undefined, description) && returnCodeOf(error, description)) ?? unlisted
}

const unlisted = { name: 'unlisted', codeClass: 'unknown' } as const

const answerOfCode = (
  { name, codeClass }: Pick<ReturnCode, 'name' | 'codeClass'>,
  body: Row,
  answer: ErrorAnswer,
  now: Instant,
): TradeAnswer => {
  switch (codeClass) {
    case 'unknown':
      return { kind: codeClass }
    case 'refused':
    case 'doubted':
    case 'gone':
      return {
        kind: codeClass,
        reason: {
          code: name,
          message: wordsOf(body['message']) ?? 'The broker refused the trade.',
        },
      }
    case 'limited':
      return { kind: 'not_sent', failure: rateLimited(retryAtOf(answer, now)) }
    case 'not_sent': {
      const retryAt = namedRetryAtOf(answer, now)
      return { kind: 'not_sent', failure: unavailable(`trade: ${name}`, { retryAt }) }
    }
    case 'done':
    case 'done_in_part':
    case 'placed':
    case 'no_changes':
      return {
        kind: codeClass,
        tickets: {
          orderId: readTicket(body['orderId']),
          positionId: readTicket(body['positionId']),
        },
      }
  }
}

// An answer without the provider's JSON is of a proxy, which may have passed the trade on; but a
// 429 is always given before anything is done.
const answerOfStatus = (answer: ErrorAnswer, now: Instant): TradeAnswer => {
  const { status, body } = answer
  if (status === 429 || (isProviderError(body) && (status === 401 || status === 403)))
    return { kind: 'not_sent', failure: failureOfAnswer('trade', answer, now) }
  if (isProviderError(body) && status === 404) {
    const message = wordsOf(body['message']) ?? 'The broker does not trade this symbol.'
    return { kind: 'gone', reason: { code: somethingNotFound, message } }
  }
  if (isProviderError(body) && status === 400)
    return { kind: 'refused', reason: { code: 'VALIDATION', message: validationWordsOf(body) } }
  return { kind: 'unknown' }
}

const validationWordsOf = ({ message, details }: Row): string => {
  const faults = Array.isArray(details) ? (details as readonly unknown[]).filter(isRecord) : []
  const joined = (words: readonly unknown[], mark: string): string =>
    words.map(wordsOf).filter(Boolean).join(mark)
  const parts = faults.map((fault) => joined([fault['parameter'], fault['message']], ': '))
  return wordsOf(joined([message, ...parts], '; ')) ?? 'The trade is not valid.'
}

const maxWords = 200

/** The provider's words on one line, cut, without the mark of the request at their end. */
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
