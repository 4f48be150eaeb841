// At most so many calls at once for each account; the others wait in the order in which they came.
import type { Clock } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import type * as T from 'fp-ts/lib/Task.js'

export interface CallGate {
  readonly through: <A>(group: string, task: T.Task<A>) => T.Task<A>
}

export interface CallGateOptions {
  readonly clock: Clock
  readonly maxCalls: number
  /**
   * A call that has not settled for so long no longer counts, so that hung calls cannot close the
   * gate for good.
   */
  readonly maxCallMs: number
}

interface Call {
  readonly startedAt: Instant
}

interface Lane {
  readonly running: Set<Call>
  readonly waiting: ((call: Call) => void)[]
}

export const createCallGate = ({ clock, maxCalls, maxCallMs }: CallGateOptions): CallGate => {
  const lanes = new Map<string, Lane>()

  const laneOf = (group: string): Lane => {
    const lane = lanes.get(group) ?? { running: new Set(), waiting: [] }
    lanes.set(group, lane)
    return lane
  }

  const admit = ({ running, waiting }: Lane): void => {
    const now = clock.now()
    for (const call of running) if (now - call.startedAt >= maxCallMs) running.delete(call)
    while (running.size < maxCalls) {
      const enter = waiting.shift()
      if (enter === undefined) return
      const call = { startedAt: now }
      running.add(call)
      enter(call)
    }
  }

  return {
    through: (group, task) => async () => {
      const lane = laneOf(group)
      const call = await new Promise<Call>((enter) => {
        lane.waiting.push(enter)
        admit(lane)
      })
      try {
        return await task()
      } finally {
        lane.running.delete(call)
        admit(lane)
        // Not when a hung call ends late and the account has another lane by now.
        if (lane.running.size === 0 && lanes.get(group) === lane) lanes.delete(group)
      }
    },
  }
}
