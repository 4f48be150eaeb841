// A client whose fetch answers as the test says.
import {
  type Client,
  createClient,
  isTradeportError,
  type ClientOptions,
  type TradeportError,
} from '../src/index.ts'
import { routes } from '../src/contract-tables.ts'

export const baseUrl = 'https://trade.example.com/api/v1'

interface Sent {
  readonly atMs: number
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal | null | undefined
}

export type Answer = (sent: Sent) => Response | Promise<Response>

/** The last answer stands for all that follow. */
export const clientWith = (answers: readonly Answer[], options: Partial<ClientOptions> = {}) => {
  const sent: Sent[] = []
  const fetch: typeof globalThis.fetch = async (
    url: unknown,
    { method = '', headers, body, signal, redirect } = {},
  ) => {
    // It would send the API key elsewhere.
    if (redirect !== 'manual') throw new Error('fetch would follow a redirect')
    const request = {
      atMs: performance.now(),
      url: url as string,
      method,
      headers: new Headers(headers),
      body: typeof body === 'string' ? JSON.parse(body) : body,
      signal,
    }
    sent.push(request)
    const answer = answers[Math.min(sent.length, answers.length) - 1]
    if (answer === undefined) throw new Error('the test has no answer')
    return answer(request)
  }
  return { client: createClient({ baseUrl, apiKey: 'tp_live_key', fetch, ...options }), sent }
}

/** Calls the method of a route with ids, and with what is sent. */
export const callWith = (
  client: Client,
  operation: keyof typeof routes & keyof Client,
  input: object,
) => {
  const ids = routes[operation].route.split(':').slice(1)
  const method = client[operation] as (...args: readonly unknown[]) => Promise<unknown>
  return method(...ids, input)
}

export const success =
  (data: unknown = [], meta: object = {}): Answer =>
  () =>
    new Response(
      JSON.stringify({ success: true, data, meta: { request_id: 'req_1', ...meta }, error: null }),
      { headers: { 'X-RateLimit-Remaining': '7' } },
    )

export const refusal =
  (status: number, code: string, details?: unknown, headers: Record<string, string> = {}): Answer =>
  () =>
    new Response(
      JSON.stringify({
        success: false,
        data: null,
        error: { code, message: `${code}, in words.`, details, request_id: 'req_1' },
      }),
      { status, headers },
    )

export const lost: Answer = () => Promise.reject(new TypeError('fetch failed'))

/** Until the request is given up. */
export const hanging: Answer = ({ signal }) =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason))
  })

/** The connection fails while the body is read. */
export const cutOff: Answer = () =>
  new Response(
    new ReadableStream({ start: (controller) => controller.error(new TypeError('terminated')) }),
    { headers: { 'Content-Disposition': 'attachment' } },
  )

/** The error that a method threw; undefined if it threw none. */
export const errorOf = (call: Promise<unknown>): Promise<TradeportError | undefined> =>
  call.then(
    () => undefined,
    (error: unknown) => {
      if (isTradeportError(error)) return error
      throw error
    },
  )
