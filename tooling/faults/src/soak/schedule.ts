// What arrives when: at a constant rate whatever became of what arrived before, each arrival of a kind that the seed and its number decide.
import { createRandom } from '../random.ts'
import type { Random } from '../random.ts'

export interface Weighed {
  readonly name: string
  /** Its share of the arrivals, against the sum of all. */
  readonly weight: number
}

/** The kind of the n-th arrival, and the randomness that is its own. */
export const arrivalOf = <Kind extends Weighed>(seed: number, kinds: readonly Kind[], index: number): { kind: Kind; random: Random } => {
  const random = createRandom((Math.imul(seed, 1_000_003) + Math.imul(index, 7_919)) | 0)
  const shares = kinds.map(({ weight }) => Math.round(weight * 1_000))
  let left = random.whole(
    1,
    shares.reduce((sum, share) => sum + share, 0),
  )
  for (const [place, kind] of kinds.entries()) {
    left -= shares[place] ?? 0
    if (left <= 0) return { kind, random }
  }
  throw new Error('there are no kinds')
}

export interface Pace {
  readonly perSecond: number
  readonly startsAt: number
  readonly endsAt: number
}

const tickMs = 4

/**
 * Calls `begin` for every arrival when its time has come, with the time that it should have been.
 * @returns once the last has begun: how many there were
 */
export const paced = (pace: Pace, firstIndex: number, begin: (index: number, at: number) => void): Promise<number> => {
  const { perSecond, startsAt, endsAt } = pace
  const count = Math.floor(((endsAt - startsAt) * perSecond) / 1_000)
  const timeOf = (place: number): number => startsAt + (place * 1_000) / perSecond
  return new Promise((resolve) => {
    let next = 0
    const timer = setInterval(() => {
      const now = Date.now()
      for (; next < count && timeOf(next) <= now; next += 1) begin(firstIndex + next, timeOf(next))
      if (next < count) return
      clearInterval(timer)
      resolve(count)
    }, tickMs)
  })
}
