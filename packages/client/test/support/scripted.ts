// A platform on which time passes at once, and whose fetch answers as a script says.
import type { Call } from '../../src/send.ts'
import type { Operation } from '../../src/routes.ts'
import type { Runtime } from '../../src/runtime.ts'

/** One answer: a reply of the service, a reply of something else, or none. */
export type Scripted =
  | { readonly kind: 'success' }
  | {
      readonly kind: 'refusal'
      readonly status: number
      readonly code: string
      readonly retryAfter?: number
    }
  | { readonly kind: 'foreign'; readonly status: number; readonly retryAfter?: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'cut off' }

export interface SentRequest {
  readonly atMs: number
  readonly url: string
  readonly init: RequestInit
}

export interface ScriptedPlatform {
  readonly runtime: Runtime
  readonly sent: readonly SentRequest[]
}

/** The last answer of the script stands for all that follow. */
export const scriptedPlatform = (
  script: readonly Scripted[],
  chance = 0.5,
  msPerRequest = 10,
): ScriptedPlatform => {
  let now = 0
  const sent: SentRequest[] = []
  const runtime: Runtime = {
    fetch: async (input, init = {}) => {
      sent.push({ atMs: now, url: new Request(input).url, init })
      now += msPerRequest
      return answer(script[Math.min(sent.length, script.length) - 1] ?? { kind: 'lost' })
    },
    now: () => now,
    sleep: async (ms) => {
      now += ms
    },
    random: () => chance,
  }
  return { runtime, sent }
}

export const callOf = (operation: Operation, changes: Partial<Call> = {}): Call => ({
  operation,
  url: 'http://service/api/v1/somewhere',
  body: undefined,
  headers: {},
  idempotencyKey: undefined,
  signal: undefined,
  timeoutMs: 1_000,
  retry: { attempts: 4, withinMs: 60_000 },
  ...changes,
})

export const success = (data: unknown = [], meta: object = {}): string =>
  JSON.stringify({ success: true, data, meta: { request_id: 'req_1', ...meta }, error: null })

export const refusal = (code: string, details?: unknown): string =>
  JSON.stringify({
    success: false,
    data: null,
    error: { code, message: `${code}, in words.`, details, request_id: 'req_1' },
  })

const answer = (scripted: Scripted): Response => {
  switch (scripted.kind) {
    case 'success':
      return new Response(success())
    case 'refusal':
      return new Response(refusal(scripted.code), {
        status: scripted.status,
        headers: retryAfter(scripted.retryAfter),
      })
    case 'foreign':
      return new Response('<html>', {
        status: scripted.status,
        headers: retryAfter(scripted.retryAfter),
      })
    case 'lost':
      throw new TypeError('fetch failed')
    case 'cut off':
      return new Response(
        new ReadableStream({
          start: (controller) => controller.error(new TypeError('terminated')),
        }),
      )
  }
}

const retryAfter = (seconds: number | undefined): Record<string, string> =>
  seconds === undefined ? {} : { 'Retry-After': String(seconds) }
