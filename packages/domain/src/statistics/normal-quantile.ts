// The quantile of the standard normal distribution, for Wilson's interval at any level.

// Wichura's rational approximations (Algorithm AS 241, Applied Statistics 37, 1988), each with the
// constant term first: the middle, the near tails and the far tails. About 1 part in 10^16 is lost.
const middle = {
  numerator: [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946,
    45921.95393154987, 67265.7709270087, 33430.57558358813, 2509.0809287301227,
  ],
  denominator: [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597,
    39307.89580009271, 28729.085735721943, 5226.495278852854,
  ],
}
const nearTail = {
  numerator: [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045,
    1.2704582524523684, 0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  denominator: [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008,
    0.015198666563616457, 0.0005475938084995345, 1.0507500716444169e-9,
  ],
}
const farTail = {
  numerator: [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487,
    0.026532189526576124, 0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
  ],
  denominator: [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133,
    1.8463183175100548e-5, 1.421511758316446e-7, 2.0442631033899397e-15,
  ],
}

const middleHalfWidth = 0.425
const nearTailEnd = 5

/**
 * The number below which a standard normal variable falls with probability `p`: −Infinity for 0,
 * Infinity for 1, NaN outside [0, 1]. Relative error below 1e-15.
 */
export const normalQuantile = (p: number): number => {
  const fromMiddle = p - 0.5
  if (Math.abs(fromMiddle) <= middleHalfWidth) {
    return fromMiddle * ratio(middle, middleHalfWidth * middleHalfWidth - fromMiddle * fromMiddle)
  }
  const tail = Math.min(p, 1 - p)
  if (tail === 0) return fromMiddle < 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  // The logarithm is NaN outside [0, 1].
  const depth = Math.sqrt(-Math.log(tail))
  const size =
    depth <= nearTailEnd ? ratio(nearTail, depth - 1.6) : ratio(farTail, depth - nearTailEnd)
  return fromMiddle < 0 ? -size : size
}

type Rational = { readonly numerator: readonly number[]; readonly denominator: readonly number[] }

const ratio = ({ numerator, denominator }: Rational, x: number): number =>
  polynomial(numerator, x) / polynomial(denominator, x)

const polynomial = (coefficients: readonly number[], x: number): number =>
  coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0)
