// Follows a stream of events or quotes, and connects again where the connection ends.
import type { DataOf, LogEvent, QueryOf } from './contract-types.ts'
import { isTradeportError } from './errors.ts'
import { anySignal, sleep } from './send.ts'

/** Of `events`. */
export interface FollowOptions extends Pick<QueryOf<'streamEvents'>, 'accountId'> {
  /** Without it, every type that the credential may read. */
  readonly types?: readonly LogEvent['event'][]
  /**
   * The id of an event: begin with the one after it. Without it, begin with those that are recorded
   * once there is a connection.
   */
  readonly after?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with true whenever a connection is open, and with false when it is lost or refused. */
  readonly onConnection?: ((isOpen: boolean) => void) | undefined
}

/** A quote, or the code of the error because of which a symbol has none now. */
export type QuoteUpdate = DataOf<'getQuote'> | { readonly symbol: string; readonly code: string }

/** Of `quotes`. */
export interface QuotesOptions
  extends
    Pick<QueryOf<'streamQuotes'>, 'accountId'>,
    Pick<FollowOptions, 'signal' | 'onConnection'> {
  /** 1 to 50, in capitals. */
  readonly symbols: readonly string[]
}

/** The service writes at least every 15 seconds; after such a silence the connection is lost. */
const eventSilenceMs = 45_000
/** Shorter, since prices look current until the loss of their connection is noticed. */
export const quoteSilenceMs = 20_000
const defaultRetryMs = 2_000

/** Opens the stream after an event; the signal closes it. */
type Connect = (after: string | undefined, signal: AbortSignal) => Promise<Response>

interface Following extends Pick<FollowOptions, 'after' | 'signal' | 'onConnection'> {
  readonly silenceMs?: number
}

export const follow = <Item>(
  connect: Connect,
  following: Following,
): AsyncGenerator<Item, void, void> => {
  const stopping = new AbortController()
  const items = itemsOf<Item>(connect, following, stopping.signal)
  const end = items.return.bind(items)
  return Object.assign(items, {
    // The generator's own `return` waits for its next item.
    return: () => {
      stopping.abort()
      return end()
    },
  })
}

async function* itemsOf<Item>(
  connect: Connect,
  { after, signal: ofCaller, onConnection, silenceMs = eventSilenceMs }: Following,
  stopped: AbortSignal,
): AsyncGenerator<Item, void, void> {
  const signal = anySignal(ofCaller, stopped)
  let last = after
  let retryMs = defaultRetryMs
  let wasOpen = false
  for (;;) {
    let retryAfterMs = 0
    const response = await connect(last, signal).catch((error: unknown) => {
      if (stopped.aborted) return undefined
      // Once there was a connection, what is not the service's answer comes from a proxy.
      const isOfProxy = wasOpen && isTradeportError(error) && error.code === 'UNREADABLE_ANSWER'
      const afterMs = retryDelayMs(error) ?? (isOfProxy ? 0 : undefined)
      if (afterMs === undefined) throw error
      retryAfterMs = afterMs
      return undefined
    })
    if (stopped.aborted) return
    wasOpen ||= response !== undefined
    try {
      onConnection?.(response !== undefined)
    } catch (error) {
      void response?.body?.cancel()
      throw error
    }
    for await (const frame of framesOf(response, signal, silenceMs)) {
      // As browsers do: another text than digits is ignored.
      if (/^\d+$/.test(frame['retry'] ?? '')) retryMs = Number(frame['retry'])
      last = frame['id'] ?? last
      if (signal.aborted) break
      if (frame['data'] !== undefined) yield JSON.parse(frame['data']) as Item
    }
    if (stopped.aborted) return
    if (response !== undefined) onConnection?.(false)
    await sleep(Math.max(retryMs, retryAfterMs), signal)
  }
}

/** After how long the same request may succeed; undefined where it cannot, however long that is. */
export const retryDelayMs = (error: unknown): number | undefined => {
  if (!isTradeportError(error) || error.code === 'ABORTED') return undefined
  // Without the capability or a feed there are no quotes, however often they are asked for.
  if (error.code === 'NOT_IMPLEMENTED') return undefined
  if ('status' in error && error.status < 500 && ![408, 429].includes(error.status))
    return undefined
  return 'retryAfterSeconds' in error ? 1_000 * (error.retryAfterSeconds ?? 0) : 0
}

type Frame = Readonly<Record<string, string>>

/** Ends where the stream does, fails or falls silent. */
async function* framesOf(
  response: Response | undefined,
  signal: AbortSignal,
  silenceMs: number,
): AsyncGenerator<Frame, void, void> {
  const reader = response?.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  const close = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', close)
  let rest = ''
  try {
    for (;;) {
      const silence = setTimeout(close, silenceMs)
      const { value, done } = await reader.read().finally(() => clearTimeout(silence))
      if (done) return
      const frames = (rest + value).split('\n\n')
      rest = frames.pop() ?? ''
      yield* frames.map(frameOf)
    }
  } catch {
    return
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

const frameOf = (text: string): Frame =>
  Object.fromEntries(
    text.split('\n').map((line) => {
      const end = line.indexOf(': ')
      return end < 0 ? [line, ''] : [line.slice(0, end), line.slice(end + 2)]
    }),
  )
