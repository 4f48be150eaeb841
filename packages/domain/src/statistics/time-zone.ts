// Local time in an IANA time zone, from the database that Intl comes with.
import * as O from 'fp-ts/lib/Option.js'
import type { Brand } from '../primitives/ids.ts'
import { dayMs, minuteMs, type Instant } from '../primitives/instant.ts'

export type TimeZone = Brand<string, 'TimeZone'>

export const utc = 'UTC' as TimeZone

/** A name such as Europe/Berlin; no offset such as +02:00, which has no daylight saving. */
export const parseTimeZone = (text: string): O.Option<TimeZone> => {
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(text)) return O.none
  return O.tryCatch(() => {
    Intl.DateTimeFormat('en', { timeZone: text })
    return text as TimeZone
  })
}

const kept = <A>(map: Map<number, A>, key: number, find: () => A): A => {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = find()))
  return value
}

/** Offsets change at whole quarters of an hour. */
const quarterMs = 15 * minuteMs

/**
 * A function from an instant to local time: a date whose UTC fields are those of a clock in the
 * zone. Intl needs microseconds for each call, so offsets are kept by UTC day, and by quarter of an
 * hour where they change within the day.
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
  const days = new Map<number, number | 'changes'>()
  const quarters = new Map<number, number>()
  return (at) => {
    const day = Math.floor(at / dayMs)
    const ofDay = kept(days, day, () => {
      const offset = offsetAt(day * dayMs)
      return offset === offsetAt((day + 1) * dayMs) ? offset : 'changes'
    })
    if (ofDay !== 'changes') return new Date(at + ofDay)
    const quarter = Math.floor(at / quarterMs)
    return new Date(at + kept(quarters, quarter, () => offsetAt(quarter * quarterMs)))
  }
}
