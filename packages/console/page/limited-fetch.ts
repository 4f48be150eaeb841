// Requests with one key: reads pause once its limits refused one, and a refused key is reported.

import { serviceNow } from './format.ts'

const shortestPauseMs = 60_000

/**
 * Fetches, but answers reads itself after the service refused one for the limits of the key: each
 * further refusal would count towards a suspension.
 */
export const createFetch = (onUnauthorized: () => void): typeof fetch => {
  let refusal = ''
  let pausedUntil = 0
  return async (input, init) => {
    const pauseMs = pausedUntil - serviceNow()
    const isPreview = typeof input === 'string' && input.endsWith('/preview')
    if (pauseMs > 0 && (init?.method === 'GET' || isPreview)) {
      const headers = { 'Retry-After': String(Math.ceil(pauseMs / 1_000)) }
      return new Response(refusal, { status: 429, headers })
    }
    const reply = await fetch(input, init)
    // After the caller has read the answer, so that a write that was refused is known as such.
    if (reply.status === 401)
      void reply
        .clone()
        .text()
        .catch(() => undefined)
        .then(() => setTimeout(onUnauthorized))
    if (reply.status === 429) {
      const text = await reply.clone().text()
      // Other limits are those of one route.
      if (/"scope": ?"(tier|suspension|address)"/.test(text)) {
        refusal = text
        const retryAfterMs = 1_000 * Number(reply.headers.get('Retry-After'))
        pausedUntil = serviceNow() + Math.max(shortestPauseMs, retryAfterMs)
      }
    }
    return reply
  }
}
