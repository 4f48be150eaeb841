// Limits how many streams are open, whatever they carry.
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Refusal } from '../../errors.ts'

/** Open streams: of one credential, and of this instance. */
export const streamLimits = { perProgram: 5, perInstance: 1_000 }
const retryAfterSeconds = 5

export interface StreamSlots {
  /** Counts a stream until the returned function is called. */
  readonly open: (program: string) => E.Either<Refusal<'StreamLimitReached'>, () => void>
}

export const createStreamSlots = (): StreamSlots => {
  const open = new Map<string, number>()
  let openInAll = 0
  return {
    open: (program) => {
      const count = open.get(program) ?? 0
      const limit =
        count >= streamLimits.perProgram
          ? streamLimits.perProgram
          : openInAll >= streamLimits.perInstance
            ? streamLimits.perInstance
            : undefined
      if (limit !== undefined)
        return E.left(refuse('StreamLimitReached', { limit, retryAfterSeconds }))
      open.set(program, count + 1)
      openInAll++
      let isHeld = true
      return E.right(() => {
        if (!isHeld) return
        isHeld = false
        openInAll--
        const left = (open.get(program) ?? 1) - 1
        if (left === 0) open.delete(program)
        else open.set(program, left)
      })
    },
  }
}
