// What a simulation needs in place of a real machine: chance that a seed repeats, and time that passes only from event to event.
import type * as T from 'fp-ts/lib/Task.js'

export interface Random {
  /** From 0 up to 1. */
  readonly fraction: () => number
  readonly chance: (probability: number) => boolean
  /** A whole number, both bounds included. */
  readonly whole: (from: number, to: number) => number
  readonly pick: <A>(values: readonly [A, ...A[]]) => A
  /** From 100 ms up to `to`, of every order of magnitude alike. */
  readonly delayMs: (to: number) => number
}

export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  // Mulberry32.
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (from: number, to: number): number => from + Math.floor(fraction() * (to - from + 1))
  return {
    fraction,
    chance: (probability) => fraction() < probability,
    whole,
    pick: (values) => values[whole(0, values.length - 1)] ?? values[0],
    delayMs: (to) => {
      const shortestMs = Math.max(0, Math.min(100, to))
      return shortestMs === 0 ? 0 : Math.floor(shortestMs * (to / shortestMs) ** fraction())
    },
  }
}

export interface Timeline {
  /** Milliseconds since the beginning of the simulation. */
  readonly now: () => number
  readonly schedule: (inMs: number, event: () => void) => void
  /** Runs what is scheduled up to `untilMs`, and all promises that follow from each event before the next. */
  readonly run: (untilMs: number) => Promise<void>
  readonly note: (text: string) => void
  /** What was noted, each with its time. */
  readonly history: readonly string[]
}

interface Scheduled {
  readonly atMs: number
  readonly event: () => void
}

/** @param breathe lets every promise that can go on do so */
export const createTimeline = (breathe: T.Task<void>): Timeline => {
  // Latest first; of one moment, the last scheduled first.
  const queue: Scheduled[] = []
  const history: string[] = []
  let nowMs = 0
  return {
    now: () => nowMs,
    schedule: (inMs, event) => {
      const atMs = nowMs + inMs
      let index = queue.length
      while (index > 0 && (queue[index - 1]?.atMs ?? Infinity) <= atMs) index -= 1
      queue.splice(index, 0, { atMs, event })
    },
    run: async (untilMs) => {
      for (let next = queue.at(-1); next !== undefined && next.atMs <= untilMs; next = queue.at(-1)) {
        queue.pop()
        nowMs = next.atMs
        next.event()
        await breathe()
      }
      nowMs = untilMs
    },
    note: (text) => history.push(`${(nowMs / 1_000).toFixed(3).padStart(9)} s  ${text}`),
    history,
  }
}

/** One life of a process, from its start to its crash. What it waits for when it crashes never comes. */
export interface Life {
  /** Other than that of the process's earlier lives. */
  readonly id: string
  readonly isAlive: () => boolean
  readonly crash: () => void
  readonly wait: (ms: number) => Promise<void>
  /** Asks something elsewhere: `work` runs when the request arrives, also when the process crashed meanwhile. */
  readonly ask: <A>(outMs: number, work: () => A, backMs: number) => Promise<A>
}

export const createLife = (timeline: Timeline, id: string, crashed: () => void): Life => {
  let isAlive = true
  const wait: Life['wait'] = (ms) =>
    new Promise((resolve) => {
      timeline.schedule(ms, () => {
        if (isAlive) resolve()
      })
    })
  return {
    id,
    isAlive: () => isAlive,
    crash: () => {
      if (!isAlive) return
      isAlive = false
      timeline.note(`${id}  crashes`)
      crashed()
    },
    wait,
    ask: (outMs, work, backMs) =>
      new Promise((resolve) => {
        timeline.schedule(outMs, () => {
          const answer = work()
          void wait(backMs).then(() => resolve(answer))
        })
      }),
  }
}

export const faults = [
  'crash',
  'clock_step',
  'relink',
  'removal',
  'failover',
  'slow_database',
  'database_error',
  'lost_commit_answer',
  'busy',
  'slow_dial',
  'no_connection',
  'lost_request',
  'turned_away',
  'slow_execution',
  'working',
  'lost_answer',
  'stale_copy',
  'unreadable',
] as const
export type Fault = (typeof faults)[number]

export interface Faults {
  /** Whether the fault happens at this moment. */
  readonly strikes: (fault: Fault, probability: number) => boolean
  /** A delay of up to `to` ms, which ends when the faults end. */
  readonly delayMs: (to: number) => number
  readonly counts: Readonly<Record<Fault, number>>
}

/** Each of the allowed faults is possible in about half of the runs, until `untilMs`. */
export const createFaults = (random: Random, timeline: Timeline, allowed: readonly Fault[], untilMs: number): Faults => {
  const possible = new Set(allowed.filter(() => random.chance(0.5)))
  const counts = Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>
  return {
    strikes: (fault, probability) => {
      if (!random.chance(probability) || !possible.has(fault) || timeline.now() >= untilMs) return false
      counts[fault] += 1
      return true
    },
    delayMs: (to) => random.delayMs(Math.min(to, untilMs - timeline.now())),
    counts,
  }
}

export interface World {
  readonly random: Random
  readonly timeline: Timeline
  readonly faults: Faults
}
