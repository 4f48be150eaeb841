// Server-sent events: how a stream begins, what keeps it alive, and how it ends when the instance
// is about to stop.
import type { Draining, StreamedReply } from './route.ts'
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

interface LiveBatches<Batch> {
  /** What the client resumes after where nothing came; undefined where it cannot resume. */
  readonly startsAfter?: string
  /** A batch about every second, an empty one where nothing came. */
  readonly batches: AsyncIterable<Batch>
  /** Empty for an empty batch. */
  readonly framesOf: (batch: Batch) => string
  /** What the client resumes after once it has this batch. */
  readonly resumesAfter?: (batch: Batch) => string
  /** Whether it has ended, as where the reader is too slow. */
  readonly isOver?: () => boolean
  readonly close: () => void
}

const heartbeatMs = 15_000
/** How long a client waits before it connects again. */
const retry = { usual: 'retry: 2000\n', draining: 'retry: 1000\n\n' }

export const eventStreamReply = <Batch>(events: LiveBatches<Batch>): StreamedReply => ({
  headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
  content: (dependencies) => frames(events, dependencies),
  live: events,
})

async function* frames<Batch>(
  { startsAfter, batches, framesOf, resumesAfter }: LiveBatches<Batch>,
  { isDraining }: Draining,
): AsyncGenerator<string, void, void> {
  yield `${retry.usual}${idLine(startsAfter)}\n`
  let writtenAt = performance.now()
  for await (const batch of batches) {
    const written = framesOf(batch)
    // Without data it is no event, but the client remembers its id.
    const heartbeat = `:\n${idLine(resumesAfter?.(batch))}\n`
    if (isDraining()) {
      yield written + retry.draining
      return
    }
    const now = performance.now()
    if (written === '' && now - writtenAt < heartbeatMs) continue
    writtenAt = now
    yield written === '' ? heartbeat : written
  }
}

const idLine = (id: string | undefined): string => (id === undefined ? '' : `id: ${id}\n`)

/** One event; `data` is written as JSON on one line. */
export const eventFrame = (event: string, data: unknown, id?: string): string =>
  `${idLine(id)}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
