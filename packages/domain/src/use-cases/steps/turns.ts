// Bounds how much of one kind is under way at a time, and how much waits for it.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { refuse, type ServiceUnavailable } from '../../errors.ts'

interface TurnLimits {
  /** Of each key. */
  readonly atOnce: number
  readonly waiting: number
  /** What they are, for the reason of a refusal. */
  readonly what: string
}

/** Of each key, works run in the order in which they came; those beyond the limits are refused. */
export const createTurns = ({ atOnce, waiting, what }: TurnLimits) => {
  const byKey = new Map<string, { running: number; readonly queue: (() => void)[] }>()
  return <Failure, A>(
    key: string,
    work: TE.TaskEither<Failure, A>,
  ): TE.TaskEither<Failure | ServiceUnavailable, A> =>
    async () => {
      const turns = byKey.get(key) ?? { running: 0, queue: [] }
      byKey.set(key, turns)
      const { queue } = turns
      if (turns.running < atOnce) turns.running += 1
      else if (queue.length < waiting)
        await new Promise<void>((resolve) => void queue.push(resolve))
      else
        return E.left(
          refuse('ServiceUnavailable', {
            reason: `${waiting} ${what} are already waiting`,
            retryAfterSeconds: 1,
          }),
        )
      try {
        return await work()
      } finally {
        const next = queue.shift()
        if (next !== undefined) next()
        else if ((turns.running -= 1) === 0) byKey.delete(key)
      }
    }
}
