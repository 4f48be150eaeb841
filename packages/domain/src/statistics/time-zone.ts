// Local time in an IANA time zone, from the database that Intl comes with.
import * as O from 'fp-ts/lib/Option.js'
import type { Brand } from '../primitives/ids.ts'
import { dayMs, minuteMs, type Instant } from '../primitives/instant.ts'

export type TimeZone = Brand<string, 'TimeZone'>

export const utc = 'UTC' as TimeZone

/** A name such as Europe/Berlin; no offset such as +02:00, which has no daylight saving. */
export const parseTimeZone = (text: string): O.Option<TimeZone> => {
  if (!/^[A-Za-z]/.test(text)) return O.none
  return O.tryCatch(() => {
    Intl.DateTimeFormat('en', { timeZone: text })
    return text as TimeZone
  })
}

/**
 * A function from an instant to local time: a date whose UTC fields are those of a clock in the
 * zone. Intl needs microseconds for each call, so offsets are kept by UTC day, except for days
 * within which they change.
 */
export const createLocalTime = (timeZone: TimeZone): ((at: Instant) => Date) => {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const offsetAt = (at: Instant): number => {
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT([+-])(\d+):(\d+)(?::(\d+))?/.exec(name ?? '') ?? []
    const size = (Number(hours) * 60 + Number(minutes)) * minuteMs + Number(seconds) * 1_000
    return sign === '-' ? -size : size
  }
  const offsets = new Map<number, number | 'changes'>()
  return (at) => {
    const day = Math.floor(at / dayMs)
    let offset = offsets.get(day)
    if (offset === undefined) {
      const [atStart, atEnd] = [offsetAt(day * dayMs), offsetAt((day + 1) * dayMs)]
      offset = atStart === atEnd ? atStart : 'changes'
      offsets.set(day, offset)
    }
    return new Date(at + (offset === 'changes' ? offsetAt(at) : offset))
  }
}
