// The provider's times: ISO 8601 in UTC. Its times on the broker's clock carry no zone and are never read.
import * as O from 'fp-ts/lib/Option.js'
import { parseInstant } from '@tradeport/domain'
import type { Instant } from '@tradeport/domain'

/** NaN where the text is no time. A text without a zone is UTC. */
export const readTime = (text: string): Instant => {
  const usual = readUsualTime(text)
  return Number.isNaN(usual) ? O.getOrElse(() => Number.NaN)(parseInstant(text, 'start')) : usual
}

/**
 * Reads `YYYY-MM-DDThh:mm:ss.sssZ`, which the provider writes, by its digits, in a seventh of the time of the careful parser. NaN for every
 * other form, and for days that not every month has.
 */
const readUsualTime = (text: string): Instant => {
  if (text.length !== 24 || !isUsuallySeparated(text)) return Number.NaN
  const year = digitsAt(text, 0, 4)
  const month = digitsAt(text, 5, 2)
  const day = digitsAt(text, 8, 2)
  const hour = digitsAt(text, 11, 2)
  const minute = digitsAt(text, 14, 2)
  const second = digitsAt(text, 17, 2)
  // Date.UTC takes years below 100 for those of the last century.
  const isOrdinary = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= 28 && hour <= 23 && minute <= 59 && second <= 59
  return isOrdinary ? Date.UTC(year, month - 1, day, hour, minute, second, digitsAt(text, 20, 3)) : Number.NaN
}

const isUsuallySeparated = (text: string): boolean =>
  text[4] === '-' && text[7] === '-' && text[10] === 'T' && text[13] === ':' && text[16] === ':' && text[19] === '.' && text[23] === 'Z'

const digitsAt = (text: string, start: number, count: number): number => {
  let result = 0
  for (let at = start; at < start + count; at += 1) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return Number.NaN
    result = result * 10 + digit
  }
  return result
}
