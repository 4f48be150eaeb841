// What the kinds of arrivals share.
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { ReceiverName } from '../webhook-receivers.ts'
import type { Ask } from './asking.ts'
import type { Person, Population } from './population.ts'

export interface Scene {
  readonly population: Population
  readonly urlOf: (receiver: ReceiverName) => string
  /** Applies a document of the operator's. */
  readonly apply: (document: object) => Promise<void>
  /** The fine webhooks of traders, by their user's id, and the one that fails. */
  readonly webhooks: Map<string, string>
  failingWebhook: { readonly owner: Person; readonly id: string } | undefined
  /** Ids that are good as long as the run lasts: of positions and of trades, by their user's id. */
  readonly standing: Map<string, { readonly positions: readonly string[]; readonly trades: readonly string[] }>
  /** What could not be done since everybody who may was at work, or had no orders left. */
  readonly skipped: Map<string, number>
}

export interface Arrival {
  readonly scene: Scene
  readonly random: Random
  readonly ask: Ask
}

export interface Kind {
  readonly name: string
  /** Its share of the arrivals. */
  readonly weight: number
  readonly run: (arrival: Arrival) => Promise<void>
}

export const skip = ({ skipped }: Scene, why: string): void => void skipped.set(why, (skipped.get(why) ?? 0) + 1)

export const pickFrom = <A>(random: Random, all: readonly A[]): A => {
  const found = all[random.whole(0, all.length - 1)]
  if (found === undefined) throw new Error('there is nothing to pick from')
  return found
}

/** A few are asked for far more often than the others, as it is. */
export const pickPopular = <A>(random: Random, all: readonly A[]): A => {
  const most = random.whole(0, all.length - 1)
  return all[random.whole(0, most)] ?? pickFrom(random, all)
}

/** Somebody who is free, for as long as the work takes; nothing where all are busy. */
export const withFree = async (
  scene: Scene,
  random: Random,
  all: readonly Person[],
  work: (person: Person) => Promise<void>,
): Promise<void> => {
  const first = random.whole(0, all.length - 1)
  const free = [...all.slice(first), ...all.slice(0, first)].find(({ isBusy, left }) => !isBusy && left.orders > 0)
  if (free === undefined) return skip(scene, 'nobody was free')
  free.isBusy = true
  try {
    await work(free)
  } finally {
    free.isBusy = false
  }
}

/** Between two requests of one arrival. */
export const breathe = (random: Random): Promise<void> => pause(random.whole(150, 700))
