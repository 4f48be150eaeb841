// Streams of random numbers that depend on the sandbox's seed and a name alone, so that every run
// of a seed is the same.
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

export type Random = {
  /** From 0 up to but not including 1. */
  readonly fraction: () => number
  /** A whole number, both ends included. */
  readonly whole: (from: number, to: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(from: readonly A[]) => A
}

export const createRandom = (seed: number, stream: string): Random => {
  const generator = xoroshiro128plus(mix(seed, stream))
  const fraction = (): number => uniformFloat64(generator)
  const whole = (from: number, to: number): number => uniformInt(generator, from, to)
  return {
    fraction,
    whole,
    chance: (probability) => fraction() < probability,
    pick: (from) => {
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
