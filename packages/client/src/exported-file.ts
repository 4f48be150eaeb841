// The file of exportTrades, as a stream or as text.
import { toError, type ErrorContext } from './errors.ts'

/** What exportTrades resolves to. */
export interface ExportedFile {
  /** `trades_2026-11-21.csv` */
  readonly name: string
  readonly contentType: string
  /** How many positions could not be folded and are therefore missing. */
  readonly skippedPositions: number
  /** Codes: with `history_incomplete` trades may be missing or wrong. */
  readonly warnings: readonly string[]
  readonly headers: Headers
  /**
   * The bytes, to be read once. If the connection fails, the stream does, and the file is
   * incomplete.
   */
  readonly stream: ReadableStream<Uint8Array>
  /**
   * The whole file. Throws a TradeportError if it is incomplete, and a TypeError if it or `stream`
   * was read already.
   */
  readonly text: () => Promise<string>
}

// Node cancels the body of a response that nothing holds, and a cancelled stream ends as if the
// whole file had been read. So the stream holds its response.
const responses = new WeakMap<ReadableStream, Response>()

export const toExportedFile = (
  response: Response,
  context: ErrorContext,
  signal: AbortSignal | undefined,
): ExportedFile => {
  const { headers } = response
  const stream = response.body as ReadableStream<Uint8Array>
  responses.set(stream, response)
  return {
    name: /filename="?([\w.-]+)"?/.exec(headers.get('Content-Disposition') ?? '')?.[1] ?? 'trades',
    contentType: headers.get('Content-Type') ?? '',
    skippedPositions: Number(headers.get('X-Skipped-Positions') ?? 0),
    warnings: headers.get('X-Warnings')?.split(',') ?? [],
    headers,
    stream,
    text: async () => {
      if (response.bodyUsed || stream.locked)
        throw new TypeError('the file was read already: keep what the first read returned.')
      return response.text().catch((cause: unknown) => {
        const code = signal?.aborted === true ? 'ABORTED' : 'NETWORK_FAILURE'
        throw toError({ kind: 'no-answer', code, cause }, context)
      })
    },
  }
}
