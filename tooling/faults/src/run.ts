// What every fault run has: a folder, things that end with it, seeded randomness, and a verdict.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

export interface Run {
  readonly folder: string
  readonly seed: number
  readonly random: Random
  /** Closes in the end, the newest first. */
  readonly closeLater: (close: () => Promise<unknown>) => void
}

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

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

/**
 * @param body returns sentences, each a broken promise
 * @returns whether every promise was kept
 */
export const inRun = async (
  seed: number,
  body: (run: Run) => Promise<readonly string[]>,
): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-faults-'))
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    const random = createRandom(seed)
    const broken = await body({ folder, seed, random, closeLater: (close) => closers.push(close) })
    for (const fault of broken) say(`  broken: ${fault}`)
    say(
      `seed ${seed}: ${broken.length === 0 ? 'every promise was kept' : `${broken.length} promises were broken`}`,
    )
    return broken.length === 0
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

/** Reads until there is a value or the time is over; at least once. */
export const eventually = async <A>(
  withinMs: number,
  read: () => Promise<A | undefined> | A | undefined,
  pauseMs = 100,
): Promise<A | undefined> => {
  const deadline = performance.now() + withinMs
  for (;;) {
    const value = await read()
    if (value !== undefined || performance.now() > deadline) return value
    await pause(pauseMs)
  }
}
