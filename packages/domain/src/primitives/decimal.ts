// Exact decimal arithmetic, so that money and lots never carry binary residue: a double is read as
// the shortest decimal that stands for it, which is what a broker wrote, and a result is rounded to
// a double once, at the very end.

/** The exact number `units / 10 ** scale`; `scale` is a whole number from 0 up. */
export type Decimal = { readonly units: bigint; readonly scale: number }

export const zero: Decimal = { units: 0n, scale: 0 }

/**
 * The shortest decimal that reads back as `value`: 0.1 is one tenth, not the binary number beside
 * it. Throws a RangeError for NaN and the infinities, and for what is no number, as text in JSON.
 */
export const decimalOf = (value: number): Decimal => {
  if (!Number.isFinite(value))
    throw new RangeError(
      `money, lots and prices must be finite numbers; got the ${typeof value} ${String(value)}`,
    )
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const units = BigInt(whole + fraction)
  const scale = fraction.length - Number(exponent)
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale }
}

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

/** The nearest double, ties to even; an infinity beyond the largest double. Never −0. */
export const decimalToNumber = ({ units, scale }: Decimal): number =>
  Number(`${units}e-${scale}`) + 0

/**
 * The double nearest to the exact quotient, ties to even; never −0. Throws a RangeError when the
 * divisor is zero.
 */
export const divideDecimals = (dividend: Decimal, divisor: Decimal): number => {
  const numerator = dividend.units * 10n ** BigInt(divisor.scale + decidingDecimals)
  const denominator = divisor.units * 10n ** BigInt(dividend.scale)
  const quotient = numerator / denominator
  const rest = quotient * denominator === numerator ? 0 : 1
  return Number(`${quotient}${rest}e-${decidingDecimals + 1}`) + 0
}

// Doubles, and the ties between them, have at most 1,075 decimals: after as many digits of a
// quotient, one that stands for all the rest decides the rounding.
const decidingDecimals = 1075
