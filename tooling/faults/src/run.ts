// What every fault run has: seeded randomness, what ends with it, counts, and a verdict.
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

export interface Run {
  readonly seed: number
  /** '' for an embedded database. */
  readonly databaseUrl: string
  readonly random: Random
  /** Whatever the run starts ends with it. */
  readonly stack: AsyncDisposableStack
  /** How often each thing was done or seen. */
  readonly counts: Counts
  /** Sentences, each a promise that was broken on the way. */
  readonly broken: string[]
}

export interface Random {
  /** A whole number from `from` to `to`, both included. */
  readonly whole: (from: number, to: number) => number
  readonly pick: <A>(values: readonly [A, ...A[]]) => A
}

export type Counts = Map<string, number>

export const count = (counts: Counts, name: string, more = 1): void =>
  void counts.set(name, (counts.get(name) ?? 0) + more)

export const shown = (counts: Counts): string =>
  [...counts].map(([name, times]) => `${name} × ${times}`).join(', ')

export const countOf = (names: readonly string[]): Counts => {
  const counts: Counts = new Map()
  for (const name of names) count(counts, name)
  return counts
}

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** A run by its options, whole numbers with their defaults. */
export interface Fault {
  readonly defaults: Readonly<Record<string, number>>
  /** Resolves to whether every promise was kept. */
  readonly run: (
    seed: number,
    databaseUrl: string,
    given: Readonly<Record<string, number>>,
  ) => Promise<boolean>
}

/** @param body returns what was found broken in the end */
export const fault = <Options extends Readonly<Record<string, number>>>(
  defaults: Options,
  body: (run: Run, options: Options) => Promise<readonly string[]>,
): Fault => ({
  defaults,
  run: async (seed, databaseUrl, given) => {
    await using stack = new AsyncDisposableStack()
    const generator = xoroshiro128plus(seed)
    const whole: Random['whole'] = (from, to) => uniformInt(generator, from, to)
    const pick: Random['pick'] = (values) => values[whole(0, values.length - 1)] ?? values[0]
    const random = { whole, pick }
    const run: Run = { seed, databaseUrl, random, stack, counts: new Map(), broken: [] }
    const atTheEnd = await body(run, { ...defaults, ...given })
    const broken = [...run.broken, ...atTheEnd]
    for (const one of broken) say(`  broken: ${one}`)
    const verdict =
      broken.length === 0 ? 'every promise was kept' : `${broken.length} promises were broken`
    say(`seed ${seed}: ${verdict}`)
    return broken.length === 0
  },
})
