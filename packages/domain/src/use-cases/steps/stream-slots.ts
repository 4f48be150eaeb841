// Streams that readers follow, and a limit on how many are open, whatever they carry.
import * as E from 'fp-ts/lib/Either.js'
import type { ProgramId } from '../../access/credential.ts'
import { refuse, type AsyncResult, type RefusalTag } from '../../errors.ts'
import type { EventId } from '../../events/event-log.ts'

/** Open streams: of one credential, and of this instance. */
export const streamLimits = { perProgram: 5, perInstance: 1_000 }
const retryAfterSeconds = 5

/** What one reader follows until either side ends it. */
export interface LiveStream<Batch> {
  /** What a reader resumes after where nothing came; undefined where it cannot resume. */
  readonly startsAfter?: EventId
  /** What is new, and an empty batch about every second where nothing is. */
  readonly batches: AsyncIterable<Batch>
  /** Whether it has ended by itself, which a reader that reads nothing does not see. */
  readonly isOver?: () => boolean
  /**
   * Must be called when the reader is gone, also where nothing was read. It may be called again.
   */
  readonly close: () => void
}

/** Bounds how many streams are open (`streamLimits`). */
export interface StreamSlots {
  /** Opens a stream, which counts until it is closed. */
  readonly open: <Stream extends LiveStream<unknown>, Tag extends RefusalTag>(
    program: ProgramId,
    opening: AsyncResult<Stream, Tag>,
  ) => AsyncResult<Stream, Tag | 'StreamLimitReached'>
}

/** The slots of this instance. */
export const createStreamSlots = (): StreamSlots => {
  /** One for each open stream. */
  const slots = new Set<{ readonly program: ProgramId }>()
  return {
    open: (program, opening) => async () => {
      const { perProgram, perInstance } = streamLimits
      const isProgramFull =
        [...slots].filter((slot) => slot.program === program).length >= perProgram
      if (isProgramFull || slots.size >= perInstance) {
        const limit = isProgramFull ? perProgram : perInstance
        return E.left(refuse('StreamLimitReached', { limit, retryAfterSeconds }))
      }
      const slot = { program }
      slots.add(slot)
      const stream = await opening()
      if (E.isLeft(stream)) {
        slots.delete(slot)
        return stream
      }
      const close = () => {
        stream.right.close()
        slots.delete(slot)
      }
      return E.right({ ...stream.right, close })
    },
  }
}
