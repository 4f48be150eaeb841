// Server-sent events: how a stream begins, what keeps it alive, and how it ends when the instance is
// about to stop.
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

interface Events<A> {
  /** What the client resumes after where nothing came; undefined where it cannot resume. */
  readonly startsAfter?: string
  /** An empty batch about every second without anything. */
  readonly batches: AsyncIterable<readonly A[]>
  readonly frameOf: (item: A) => string
  /** Aborted where the reader is too slow. */
  readonly tooSlow?: AbortSignal
  readonly close: () => void
}

const heartbeatMs = 15_000
/** How long a client waits before it connects again. */
const retry = { usual: 'retry: 2000\n', draining: 'retry: 1000\n\n' }

export const eventStreamReply = <A>(events: Events<A>): StreamedReply => ({
  headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
  content: (dependencies) => frames(events, dependencies),
  ...(events.tooSlow && { abort: events.tooSlow }),
  onClose: events.close,
})

async function* frames<A>(
  { startsAfter, batches, frameOf }: Events<A>,
  { isDraining }: { readonly isDraining?: (() => boolean) | undefined },
): AsyncGenerator<string, void, void> {
  yield `${retry.usual}${startsAfter === undefined ? '' : `id: ${startsAfter}\n`}\n`
  let writtenAt = performance.now()
  for await (const items of batches) {
    const frame = items.map(frameOf).join('')
    if (isDraining?.() === true) {
      yield frame + retry.draining
      return
    }
    const now = performance.now()
    if (frame === '' && now - writtenAt < heartbeatMs) continue
    writtenAt = now
    yield frame === '' ? ':\n\n' : frame
  }
}

/** One event; `data` is written as JSON on one line. */
export const eventFrame = (event: string, data: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
