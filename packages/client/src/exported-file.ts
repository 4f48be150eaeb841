// The file of exportTrades: as a stream, for files of any length, or as text.
import { toError } from './errors.ts'
import type { Operation } from './routes.ts'

export interface ExportedFile {
  /** `trades_2026-11-21.csv` */
  readonly name: string
  readonly contentType: string
  /** How many positions could not be folded and are therefore not in the file. */
  readonly skippedPositions: number
  readonly headers: Headers
  /**
   * The bytes as they come. A stream is read once, and fails where the connection does: what came
   * until then is not the file.
   */
  readonly stream: ReadableStream<Uint8Array>
  /** All of it. Throws a TradeportError where it did not come whole. */
  readonly text: () => Promise<string>
}

export const exportedFile = (
  response: Response,
  operation: Operation,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): ExportedFile => ({
  name:
    /filename="?([\w.-]+)"?/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ??
    'trades',
  contentType: response.headers.get('Content-Type') ?? '',
  skippedPositions: Number(response.headers.get('X-Skipped-Positions') ?? 0),
  headers: response.headers,
  // A reply with a body has one.
  stream: response.body as ReadableStream<Uint8Array>,
  text: async () => {
    try {
      return await response.text()
    } catch (cause) {
      const code = signal?.aborted === true ? 'ABORTED' : 'NETWORK_FAILURE'
      const circumstances = {
        operation,
        idempotencyKey: undefined,
        timeoutMs,
        attempts: 1,
        isUnknown: false,
      }
      throw toError({ kind: 'no-answer', code, isSent: true, cause }, circumstances)
    }
  },
})
