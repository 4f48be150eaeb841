// Points in time as epoch milliseconds, and how callers write them
// (docs/behaviour.md#times-money-volumes).
import * as O from 'fp-ts/lib/Option.js'

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** Which end of a range a text is: a bare date is the first instant of its day, or the last. */
export type RangeEdge = 'start' | 'end'

export const secondMs = 1_000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

export const startOfUtcDay = (at: Instant): Instant => Math.floor(at / dayMs) * dayMs

/** A wait as Retry-After has it: rounded up, at least 1. */
export const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / secondMs))

const pattern =
  /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|([+-]\d\d)(?::?(\d\d))?)?)?$/i

/** UTC with milliseconds and `Z`. */
export const toIso = (instant: Instant): string => new Date(instant).toISOString()

/** The UTC day of an instant, `YYYY-MM-DD`. */
export const toUtcDay = (instant: Instant): string => toIso(instant).slice(0, 10)

const [earliest, latest] = [
  Date.parse('0000-01-01T00:00:00.000Z'),
  Date.parse('9999-12-31T23:59:59.999Z'),
]

/**
 * Reads an ISO 8601 date or date-time. A date-time without an offset is UTC, and digits beyond
 * milliseconds are dropped. None for a day or time that does not exist (30 February, 25 o'clock),
 * and for one outside the years 0 to 9999 of UTC, which four digits cannot write.
 */
export const parseInstant = (text: string, edge: RangeEdge): O.Option<Instant> => {
  const match = pattern.exec(text)
  if (match === null) return O.none
  const [, day, time, second = '00', fraction = '', offsetHours = '+00', offsetMinutes = '00'] =
    match
  const written = `${day}T${time ?? '00:00'}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
  const instant = Date.parse(written)
  // Some days and times that do not exist are read as others.
  if (Number.isNaN(instant) || toIso(instant) !== written) return O.none
  if (time === undefined) return O.some(edge === 'start' ? instant : instant + dayMs - 1)
  const [hours, minutes] = [Math.abs(Number(offsetHours)), Number(offsetMinutes)]
  if (hours > 23 || minutes > 59) return O.none
  const offsetMs = hours * hourMs + minutes * minuteMs
  const inUtc = offsetHours.startsWith('-') ? instant + offsetMs : instant - offsetMs
  return inUtc >= earliest && inUtc <= latest ? O.some(inUtc) : O.none
}
