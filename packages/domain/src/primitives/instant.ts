// Points in time as epoch milliseconds, and how callers write them (decision 8).
import * as O from 'fp-ts/lib/Option.js'

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** Which end of a range a date stands for: a bare date is that day's first instant at the start, its last at the end. */
export type RangeEdge = 'start' | 'end'

export const secondMs = 1_000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** A wait as Retry-After has it: rounded up, at least 1. */
export const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / secondMs))

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/
const dateTimePattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/i

/** UTC with milliseconds and `Z`. */
export const toIso = (instant: Instant): string => new Date(instant).toISOString()

/** As `toIso`; null where there is no instant. */
export const toIsoOrNull = (instant: Instant | null): string | null => (instant === null ? null : toIso(instant))

/** Writes as `toIso` does and remembers the last text, for whoever writes the same instant many times over. */
export const createIsoWriter = (): ((instant: Instant) => string) => {
  let last = Number.NaN
  let text = ''
  return (instant) => {
    if (instant !== last) {
      text = toIso(instant)
      last = instant
    }
    return text
  }
}

/** The UTC day of an instant, `YYYY-MM-DD`. */
export const toUtcDay = (instant: Instant): string => toIso(instant).slice(0, 10)

/**
 * Reads an ISO 8601 date or date-time. A date-time without offset is UTC; digits beyond milliseconds are cut off at the start of a range
 * and filled up at its end only for bare dates. A day or time that does not exist (30 February, 25 o'clock) is none.
 */
export const parseInstant = (text: string, edge: RangeEdge): O.Option<Instant> => {
  const date = datePattern.exec(text)
  if (date) {
    const midnight = utcMidnight(date[1], date[2], date[3])
    return O.map((start: Instant) => (edge === 'start' ? start : start + dayMs - 1))(midnight)
  }
  const dateTime = dateTimePattern.exec(text)
  if (!dateTime) return O.none
  const [, year, month, day, hour, minute, second = '0', fraction = '', offset = 'Z'] = dateTime
  const midnight = utcMidnight(year, month, day)
  const [h, m, s] = [Number(hour), Number(minute), Number(second)]
  const offsetMs = parseOffset(offset)
  if (O.isNone(midnight) || O.isNone(offsetMs) || h > 23 || m > 59 || s > 59) return O.none
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'))
  return O.some(midnight.value + (h * 60 + m) * minuteMs + s * secondMs + milliseconds - offsetMs.value)
}

const utcMidnight = (year = '', month = '', day = ''): O.Option<Instant> => {
  const midnight = Date.parse(`${year}-${month}-${day}T00:00:00.000Z`)
  if (Number.isNaN(midnight) || toUtcDay(midnight) !== `${year}-${month}-${day}`) return O.none
  return O.some(midnight)
}

const parseOffset = (offset: string): O.Option<number> => {
  if (offset.toUpperCase() === 'Z') return O.some(0)
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(3).replace(':', '') || '0')
  if (hours > 23 || minutes > 59) return O.none
  return O.some((offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * minuteMs)
}
