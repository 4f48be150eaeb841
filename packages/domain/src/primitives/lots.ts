// Volumes in lots, which compare and subtract as the decimals that brokers write.
import { compareDecimals, decimalOf, decimalToNumber, subtractDecimals } from './decimal.ts'

/**
 * Below 0 when `a` lots are less than `b`, 0 when they are as many, above 0 when they are more:
 * exact decimals.
 */
export const compareLots = (a: number, b: number): number =>
  compareDecimals(decimalOf(a), decimalOf(b))

/** What is left of `a` lots without `b` of them, exactly. */
export const lotsWithout = (a: number, b: number): number =>
  decimalToNumber(subtractDecimals(decimalOf(a), decimalOf(b)))

/**
 * Lots to eight decimals, which is as fine as platforms know them: finer than that is only what
 * binary fractions leave of a sum, such as 0.1 + 0.2. Rounded as decimal text, because multiplying
 * by 1e8 and dividing again changes volumes from 33,554,432 lots upward.
 */
export const roundLots = (volume: number): number => Number(volume.toFixed(8))
