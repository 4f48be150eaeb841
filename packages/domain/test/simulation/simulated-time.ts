// What a simulation needs in place of a real machine: chance that a seed repeats, and time that
// passes only from event to event.
import * as E from 'fp-ts/lib/Either.js'
import type * as T from 'fp-ts/lib/Task.js'
import { refuse } from '../../src/errors.ts'
import type { ChangeLocks } from '../../src/ports/index.ts'

const createRandom = (seed: number) => {
  let state = seed >>> 0
  // Mulberry32.
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  /** Both bounds included. */
  const whole = (from: number, to: number) => from + Math.floor(fraction() * (to - from + 1))
  return {
    /** From 0 up to 1. */
    fraction,
    chance: (probability: number) => fraction() < probability,
    whole,
    pick: <A>(values: readonly A[]): A => values[whole(0, values.length - 1)] as A,
    /** From 100 ms up to `to`, of every order of magnitude alike. */
    delayMs: (to: number) => {
      const shortestMs = Math.max(0, Math.min(100, to))
      return shortestMs === 0 ? 0 : Math.floor(shortestMs * (to / shortestMs) ** fraction())
    },
  }
}

/** Lets every promise that can go on do so. */
const yieldToEventLoop = (): Promise<void> => new Promise(setImmediate)

const createTimeline = () => {
  // Latest first; of one moment, the last scheduled first.
  const queue: { readonly atMs: number; readonly event: () => void }[] = []
  const history: string[] = []
  let nowMs = 0
  return {
    /** Milliseconds since the beginning of the simulation. */
    now: () => nowMs,
    schedule: (inMs: number, event: () => void) => {
      const atMs = nowMs + inMs
      let index = queue.length
      while (index > 0 && (queue[index - 1]?.atMs ?? Infinity) <= atMs) index -= 1
      queue.splice(index, 0, { atMs, event })
    },
    /**
     * Runs what is scheduled up to `untilMs`, and all promises that follow from each event before
     * the next.
     */
    run: async (untilMs: number) => {
      for (
        let next = queue.at(-1);
        next !== undefined && next.atMs <= untilMs;
        next = queue.at(-1)
      ) {
        queue.pop()
        nowMs = next.atMs
        next.event()
        await yieldToEventLoop()
      }
      nowMs = untilMs
    },
    note: (text: string) => history.push(`${(nowMs / 1_000).toFixed(3).padStart(9)} s  ${text}`),
    history: history as readonly string[],
  }
}

/**
 * One life of a process, from its start to its crash. What it waits for when it crashes never
 * comes.
 */
export const createLife = (
  timeline: ReturnType<typeof createTimeline>,
  id: string,
  crashed: () => void,
) => {
  let isAlive = true
  const wait = (ms: number): Promise<void> =>
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
    /**
     * Asks something elsewhere: `work` runs when the request arrives, also when the process crashed
     * meanwhile.
     */
    ask: <A>(outMs: number, work: T.Task<A>, backMs: number): Promise<A> =>
      new Promise((resolve) => {
        const arrive = async () => {
          const answer = await work()
          await wait(backMs)
          resolve(answer)
        }
        timeline.schedule(outMs, () => void arrive())
      }),
  }
}

/** Locks of all processes, which those of a dead one lose. */
export const createSimulatedLocks = () => {
  const holders = new Map<string, Life>()
  return (life: Life): ChangeLocks['holding'] =>
    (_, subject, patienceMs) =>
    (work) =>
    async () => {
      for (let waitedMs = 0; holders.get(subject)?.isAlive() === true; waitedMs += 100) {
        if (waitedMs >= patienceMs) return E.left(refuse('InternalTimeout'))
        await life.wait(100)
      }
      holders.set(subject, life)
      try {
        return await work(() => life.isAlive())()
      } finally {
        if (holders.get(subject) === life) holders.delete(subject)
      }
    }
}

const faults = [
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
  'delayed_fill',
  'partial_fills',
  'new_number',
  'late_number',
  'lost_answer',
  'stale_copy',
  'unreadable',
] as const
type Fault = (typeof faults)[number]

/** Each fault is possible in about half of the runs, until `untilMs`. */
export const createWorld = (seed: number, untilMs: number) => {
  const random = createRandom(seed)
  const timeline = createTimeline()
  const possible = new Set(faults.filter(() => random.chance(0.5)))
  const counts = Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>
  return {
    random,
    timeline,
    counts: counts as Readonly<typeof counts>,
    /** Whether the fault happens at this moment. */
    strikes: (fault: Fault, probability: number) => {
      if (!random.chance(probability) || !possible.has(fault) || timeline.now() >= untilMs)
        return false
      counts[fault] += 1
      return true
    },
    /** A delay of up to `to` ms, which ends when the faults end. */
    delayMs: (to: number) => random.delayMs(Math.min(to, untilMs - timeline.now())),
  }
}

export type Life = ReturnType<typeof createLife>
export type World = ReturnType<typeof createWorld>
