// How options are read: what is no value of theirs is wrong usage, told before anything is asked of
// the service.
import { InvalidArgumentError } from 'commander'

/** What unsets a limit; not null, which the parser of options takes for an empty text. */
export const none = 'none'
type None = typeof none

export const wholeNumber = (text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It takes a whole number from 1.')
}

export const numberAboveZero = (text: string): number => {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && Number.isFinite(value) && value > 0) return value
  throw new InvalidArgumentError('It takes a number above 0.')
}

/** A limit; `none` unsets it. */
export const limitOrNone = (text: string): number | None => {
  if (text === none) return none
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && Number.isFinite(value)) return value
  throw new InvalidArgumentError('It takes a number from 0, or none to unset the limit.')
}

/** Symbols with commas between them; `none` unsets the limit, so that all are allowed. */
export const symbolsOrNone = (text: string): readonly string[] | None =>
  text === none ? none : splitAtCommas(text)

/** An option that may be given several times, or with commas between its values. */
export const several = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...splitAtCommas(text),
]

// An empty one is most likely a variable that is not set: taken as no value it could allow
// everything, or nothing.
const splitAtCommas = (text: string): readonly string[] => {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  if (parts.length === 0)
    throw new InvalidArgumentError('It takes at least one value, and got an empty one.')
  return parts
}
