// Server-sent events: how a stream begins, what keeps it alive, and how it ends when the instance
// is about to stop.
import type { LiveStream } from '@tradeport/domain/use-cases'
import type { StreamedReply } from './route.ts'
import { text } from './schema.ts'

/** What a route with such a reply has in the document. */
export const eventStreamOf = (description: string) => ({
  streamedContent: {
    'text/event-stream': text(
      `${description} Without any there is a comment every 15 seconds.`,
      '',
    ),
  },
  streamedHeaders: {
    'X-Accel-Buffering': {
      description: 'no: a proxy passes each event on at once.',
      schema: { type: 'string' },
    },
  },
})

const heartbeatMs = 15_000
/** How long a client waits before it connects again. */
const retry = { usual: 'retry: 2000\n', draining: 'retry: 1000\n\n' }

/**
 * @param framesOf empty for an empty batch
 * @param resumesAfter what the client resumes after once it has this batch
 */
export const eventStreamReply = <Batch>(
  live: LiveStream<Batch>,
  framesOf: (batch: Batch) => string,
  resumesAfter?: (batch: Batch) => string,
): StreamedReply => ({
  headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
  content: async function* ({ isDraining }) {
    yield `${retry.usual}${idLine(live.startsAfter)}\n`
    let writtenAt = performance.now()
    for await (const batch of live.batches) {
      const written = framesOf(batch)
      if (isDraining()) {
        yield written + retry.draining
        return
      }
      const now = performance.now()
      if (written === '' && now - writtenAt < heartbeatMs) continue
      writtenAt = now
      // A heartbeat has no data and is no event, but the client remembers its id.
      yield written || `:\n${idLine(resumesAfter?.(batch))}\n`
    }
  },
  live,
})

const idLine = (id: string | undefined): string => (id === undefined ? '' : `id: ${id}\n`)

/** One event; `data` is written as JSON on one line. */
export const eventFrame = (event: string, data: unknown, id?: string): string =>
  `${idLine(id)}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
