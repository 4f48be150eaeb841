// Exact decimal arithmetic, so that money and lots never carry binary residue: a double is read as
// the shortest decimal that stands for it, which is what a broker wrote, and a result is rounded to
// a double once, at the very end.

/** The exact number `units / 10 ** scale`; `scale` is a whole number from 0 up. */
export type Decimal = { readonly units: bigint; readonly scale: number }

export const zero: Decimal = { units: 0n, scale: 0 }

/**
 * The shortest decimal that reads back as `value`: 0.1 is one tenth, not the binary number beside
 * it. Throws a RangeError for NaN and the infinities, which stand for no decimal.
 */
export const decimalOf = (value: number): Decimal => {
  if (!Number.isFinite(value)) throw new RangeError(`No decimal stands for ${value}`)
  const text = String(value)
  const exponentAt = text.indexOf('e')
  const mantissa = exponentAt === -1 ? text : text.slice(0, exponentAt)
  const exponent = exponentAt === -1 ? 0 : Number(text.slice(exponentAt + 1))
  const pointAt = mantissa.indexOf('.')
  if (pointAt === -1) return shifted(BigInt(mantissa), -exponent)
  const decimals = mantissa.length - pointAt - 1
  return shifted(
    BigInt(mantissa.slice(0, pointAt) + mantissa.slice(pointAt + 1)),
    decimals - exponent,
  )
}

/** `units / 10 ** scale` where the scale may be below zero. */
const shifted = (units: bigint, scale: number): Decimal =>
  scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale }

/**
 * A whole number of equal parts, as a decimal: 250 parts of 2 decimals are 2.5. `units` must be a
 * safe integer.
 */
export const decimalOfUnits = (units: number, scale: number): Decimal => ({
  units: BigInt(units),
  scale,
})

export const addDecimals = (a: Decimal, b: Decimal): Decimal => {
  if (a.scale === b.scale) return { units: a.units + b.units, scale: a.scale }
  const [coarse, fine] = a.scale < b.scale ? [a, b] : [b, a]
  return {
    units: coarse.units * 10n ** BigInt(fine.scale - coarse.scale) + fine.units,
    scale: fine.scale,
  }
}

export const subtractDecimals = (a: Decimal, b: Decimal): Decimal =>
  addDecimals(a, { units: -b.units, scale: b.scale })

export const multiplyDecimals = (a: Decimal, b: Decimal): Decimal => ({
  units: a.units * b.units,
  scale: a.scale + b.scale,
})

/** Below 0 when a is less, 0 when equal, above 0 when a is more. */
export const compareDecimals = (a: Decimal, b: Decimal): number => {
  const { units } = subtractDecimals(a, b)
  if (units === 0n) return 0
  return units < 0n ? -1 : 1
}

/** The nearest double, ties to even; an infinity beyond the largest double. Never −0. */
export const decimalToNumber = ({ units, scale }: Decimal): number =>
  Number(`${units}e-${scale}`) + 0

/** The double nearest to the exact quotient, ties to even. The divisor must not be zero. */
export const divideDecimals = (dividend: Decimal, divisor: Decimal): number =>
  nearestDouble(
    dividend.units * 10n ** BigInt(divisor.scale),
    divisor.units * 10n ** BigInt(dividend.scale),
  )

const lowestNormalExponent = -1022
const subnormalBits = 1074n

/**
 * The double nearest to `numerator / denominator`, ties to even: below the smallest double 0 (never
 * −0), beyond the largest an infinity. Throws a RangeError when the denominator is zero.
 */
export const nearestDouble = (numerator: bigint, denominator: bigint): number => {
  if (denominator < 0n) return nearestDouble(-numerator, -denominator)
  if (numerator < 0n) return 0 - nearestDouble(-numerator, denominator)
  if (numerator === 0n && denominator !== 0n) return 0
  const exponent = bitLength(numerator) - bitLength(denominator)
  // The lowest bits of a subnormal have a fixed place, so the quotient is cut there.
  if (exponent <= lowestNormalExponent)
    return Number(roundedQuotient(numerator << subnormalBits, denominator)) * Number.MIN_VALUE
  const spare = 66 - exponent
  const quotient =
    spare < 0
      ? stickyQuotient(numerator, denominator << BigInt(-spare))
      : stickyQuotient(numerator << BigInt(spare), denominator)
  // The quotient has 66 to 68 bits: two factors keep the scaling itself inside the range of
  // doubles.
  const half = Math.trunc(-(spare + 1) / 2)
  return Number(quotient) * 2 ** half * 2 ** (-(spare + 1) - half)
}

const bitLength = (value: bigint): number => {
  const hex = value.toString(16)
  return hex.length * 4 - Math.clz32(Number.parseInt(hex.charAt(0), 16)) + 28
}

/**
 * Twice the whole quotient, plus one where something remained: rounding this to 53 bits is rounding
 * the exact quotient.
 */
const stickyQuotient = (numerator: bigint, denominator: bigint): bigint => {
  const quotient = numerator / denominator
  return quotient * 2n + (quotient * denominator === numerator ? 0n : 1n)
}

const roundedQuotient = (numerator: bigint, denominator: bigint): bigint => {
  const quotient = numerator / denominator
  const twiceRemainder = (numerator - quotient * denominator) * 2n
  if (twiceRemainder === denominator) return quotient + (quotient & 1n)
  return twiceRemainder > denominator ? quotient + 1n : quotient
}
