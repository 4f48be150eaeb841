// Limits how many streams are open, whatever they carry.
import * as E from 'fp-ts/lib/Either.js'
import type { ProgramId } from '../../access/credential.ts'
import { refuse, type Refusal } from '../../errors.ts'

/** Open streams: of one credential, and of this instance. */
export const streamLimits = { perProgram: 5, perInstance: 1_000 }
const retryAfterSeconds = 5

export interface StreamSlots {
  /** Counts a stream until the returned function is called. */
  readonly open: (program: ProgramId) => E.Either<Refusal<'StreamLimitReached'>, () => void>
}

export const createStreamSlots = (): StreamSlots => {
  /** The program of each open stream. */
  const programs: ProgramId[] = []
  return {
    open: (program) => {
      const { perProgram, perInstance } = streamLimits
      const ofProgram = programs.filter((one) => one === program)
      const limit =
        ofProgram.length >= perProgram
          ? perProgram
          : programs.length >= perInstance
            ? perInstance
            : undefined
      if (limit !== undefined)
        return E.left(refuse('StreamLimitReached', { limit, retryAfterSeconds }))
      programs.push(program)
      let isHeld = true
      return E.right(() => {
        if (isHeld) programs.splice(programs.indexOf(program), 1)
        isHeld = false
      })
    },
  }
}
