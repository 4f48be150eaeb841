// The distribution function of the normal distribution.

/**
 * The probability that a standard normal variable is below `z`, to an absolute error of about
 * 1e-15: ½ + φ(z) · (z + z³/3 + z⁵/(3·5) + …) (G. Marsaglia, Journal of Statistical Software 11(4),
 * 2004).
 */
export const normalProbability = (z: number): number => {
  if (z < -8.5) return 0
  if (z > 8.5) return 1
  let term = z
  let sum = z
  for (let n = 3; Math.abs(term) > 1e-17 * Math.abs(sum); n += 2) {
    term *= (z * z) / n
    sum += term
  }
  const probability = 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI)
  return Math.min(1, Math.max(0, probability))
}
