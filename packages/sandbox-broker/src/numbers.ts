// Exact decimals for money, prices and volumes, random numbers, and the provider's times.
import { Big } from 'big.js'
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** An exact decimal. */
export type Decimal = Big

const Exact = Big()
Exact.DP = 16

export const decimal = (value: number | string | Decimal): Decimal => new Exact(value)

export const zero: Decimal = decimal(0)

/** An amount of money, rounded half up to the currency's smallest unit. */
export const toCents = (amount: Decimal, currencyDigits: number): Decimal =>
  amount.round(currencyDigits)

/** The double nearest to an exact decimal, as JSON carries it. */
export const toNumber = (value: Decimal): number => Number(value.toString())

export const sum = (values: Iterable<Decimal>): Decimal => {
  let total = zero
  for (const value of values) total = total.plus(value)
  return total
}

/** The part of `whole` that falls to `part` of `total`, in cents. All of it once `part` is all. */
export const shareOf = (
  whole: Decimal,
  part: Decimal,
  total: Decimal,
  currencyDigits: number,
): Decimal => toCents(whole.times(part).div(total), currencyDigits)

// Streams of random numbers that depend on the sandbox's seed and a name alone, so that every run
// of a seed is the same.

export type Random = ReturnType<typeof createRandom>

export const createRandom = (seed: number, stream: string) => {
  const generator = xoroshiro128plus(mix(seed, stream))
  /** From 0 up to but not including 1. */
  const fraction = (): number => uniformFloat64(generator)
  /** A whole number, both ends included. */
  const whole = (from: number, to: number): number => uniformInt(generator, from, to)
  return {
    fraction,
    whole,
    chance: (probability: number): boolean => fraction() < probability,
    pick: <A>(from: readonly A[]): A => {
      const chosen = from[whole(0, from.length - 1)]
      if (chosen === undefined) throw new Error('Nothing to pick from')
      return chosen
    },
  }
}

const mix = (seed: number, stream: string): number => {
  let mixed = seed | 0
  for (const character of stream)
    mixed = (Math.imul(mixed, 31) + (character.codePointAt(0) ?? 0)) | 0
  return mixed
}

// The two ways in which the provider writes a time: UTC, and the broker's own clock without a zone.

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs
/** How far the broker's clock is ahead of UTC in winter, and all year where swaps are charged. */
export const winterAheadMs = 2 * hourMs

/**
 * The broker's clock has summer time from the last Sunday of March to that of October, 01:00 UTC.
 */
export const brokerAheadMs = (at: number): number => {
  const year = new Date(at).getUTCFullYear()
  const isSummer = at >= lastSundayOf(year, 2) && at < lastSundayOf(year, 9)
  return winterAheadMs + (isSummer ? hourMs : 0)
}

const lastSundayOf = (year: number, month: number): number => {
  const lastDay = new Date(Date.UTC(year, month + 1, 0, 1))
  return lastDay.getTime() - lastDay.getUTCDay() * dayMs
}

/** The first midnight after a time, by a clock that is so far ahead of UTC. */
export const midnightAfter = (at: number, aheadMs: number): number =>
  Math.floor((at + aheadMs) / dayMs) * dayMs + dayMs - aheadMs

/** `2024-04-17T04:30:03.223Z` */
export const utcText = (at: number): string => new Date(at).toISOString()

/** `2024-04-17 07:30:03.223`, in the broker's zone and without saying so. */
export const brokerText = (at: number): string => {
  const text = new Date(at + brokerAheadMs(at)).toISOString()
  return `${text.slice(0, 10)} ${text.slice(11, -1)}`
}
