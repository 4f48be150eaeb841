// Randomness that a seed repeats.
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

export interface Random {
  /** A whole number from `from` to `to`, both included. */
  readonly whole: (from: number, to: number) => number
  readonly pick: <A>(values: readonly [A, ...A[]]) => A
}

export const createRandom = (seed: number): Random => {
  const generator = xoroshiro128plus(seed)
  const whole: Random['whole'] = (from, to) => uniformInt(generator, from, to)
  return { whole, pick: (values) => values[whole(0, values.length - 1)] ?? values[0] }
}
