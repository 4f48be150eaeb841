// What the provider's answer to a trade says, by its return code or else by its status. Pure.
// Whatever is not clearly a yes or a no is unknown: a wrong yes loses a trade, a wrong no executes
// it twice.
import type { RejectReason } from '@tradeport/domain/orders'
import type { Instant } from '@tradeport/domain/primitives'
import {
  failureOfResponse,
  isProviderError,
  namedRetryAtOf,
  rateLimited,
  retryAtOf,
  unavailable,
  type ErrorResponse,
} from './failures.ts'
import { isRecord, readTicket, type Row } from './payloads.ts'
import { returnCodeOf, type ReturnCode } from './return-codes.ts'

/** The broker's numbers of an order and its position, where an answer gave them. */
export interface Tickets {
  readonly orderId?: string | undefined
  readonly positionId?: string | undefined
}

export type TradeAnswer =
  /** The broker accepted it, as its return code says. */
  | { readonly kind: 'done' | 'done_partial' | 'placed' | 'no_changes'; readonly tickets: Tickets }
  /** The broker refused it; `gone` if it does not know the position, order or symbol. */
  | { readonly kind: 'refused' | 'doubted' | 'gone'; readonly reason: RejectReason }
  /** It may have been executed. */
  | { readonly kind: 'unknown' }

/** The reason code for a 404: the symbol, position or account is unknown. */
export const symbolNotFoundCode = 'SYMBOL_NOT_FOUND'

/** @throws CallFailure where it was certainly not executed, for a reason that may pass */
export const tradeAnswerOf = (response: ErrorResponse, now: Instant): TradeAnswer => {
  const body = isRecord(response.body) ? response.body : {}
  const code = returnCodeIn(body)
  return code === undefined
    ? answerOfStatus(response, now)
    : answerOfCode(code, body, response, now)
}

/** The code of a trade body, whatever the status it came with; undefined if there is none. */
const returnCodeIn = ({
  numericCode,
  stringCode,
  error,
  description,
}: Row): Pick<ReturnCode, 'name' | 'outcome'> | undefined => {
  if ((numericCode !== undefined && numericCode !== null) || typeof stringCode === 'string')
    return returnCodeOf(numericCode ?? undefined, stringCode) ?? unlisted
  if (typeof error !== 'number') return undefined
  // An older form: the number is in the field of the API's error names, and counts only with the
  // name of a code.
  return (returnCodeOf(undefined, description) && returnCodeOf(error, description)) ?? unlisted
}

const unlisted = { name: 'unlisted', outcome: 'unknown' } as const

const answerOfCode = (
  { name, outcome }: Pick<ReturnCode, 'name' | 'outcome'>,
  body: Row,
  response: ErrorResponse,
  now: Instant,
): TradeAnswer => {
  switch (outcome) {
    case 'unknown':
      return { kind: outcome }
    case 'refused':
    case 'doubted':
    case 'gone':
      return {
        kind: outcome,
        reason: {
          code: name,
          message: wordsOf(body['message']) ?? 'The broker refused the trade.',
        },
      }
    case 'rate_limited':
      throw rateLimited(retryAtOf(response, now))
    case 'not_sent': {
      const retryAt = namedRetryAtOf(response, now)
      throw unavailable(`trade: ${name}`, { retryAt })
    }
    case 'done':
    case 'done_partial':
    case 'placed':
    case 'no_changes':
      return {
        kind: outcome,
        tickets: {
          orderId: readTicket(body['orderId']),
          positionId: readTicket(body['positionId']),
        },
      }
  }
}

// A response without the provider's JSON is of a proxy, which may have passed the trade on. The
// provider's own 401, 403 and 429 are given before anything is done.
const answerOfStatus = (response: ErrorResponse, now: Instant): TradeAnswer => {
  const { status, body } = response
  if (!isProviderError(body)) return { kind: 'unknown' }
  if (status === 401 || status === 403 || status === 429)
    throw failureOfResponse('trade', response, now)
  if (status === 404) {
    const message = wordsOf(body['message']) ?? 'The broker does not trade this symbol.'
    return { kind: 'gone', reason: { code: symbolNotFoundCode, message } }
  }
  if (status === 400)
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
