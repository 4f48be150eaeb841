// Volumes in lots, which compare and subtract as the decimals that brokers write (3.3, 4.3 rule 8).
import { compareDecimals, decimalOf, decimalToNumber, subtractDecimals } from './decimal.ts'

/** Below 0 when `a` lots are less than `b`, 0 when they are as many, above 0 when they are more: exact decimals. */
export const compareLots = (a: number, b: number): number => compareDecimals(decimalOf(a), decimalOf(b))

/** What is left of `a` lots without `b` of them, exactly. */
export const lotsWithout = (a: number, b: number): number => decimalToNumber(subtractDecimals(decimalOf(a), decimalOf(b)))

/**
 * Lots as platforms know them, to eight decimals: finer than that is only what binary fractions leave of a sum, such as 0.1 + 0.2. Less than any
 * lots, and more than can be counted so, stay as they are, for others to refuse.
 */
export const roundLots = (volume: number): number => {
  const units = Math.round(volume * lotUnits)
  return units === 0 || !Number.isSafeInteger(units) ? volume : units / lotUnits
}

const lotUnits = 1e8
