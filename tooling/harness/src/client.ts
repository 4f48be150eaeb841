// The API's client for runs, which count every reply: each call is one request.
import { createClient, type Client, type ClientOptions } from '@tradeport/client'
import type { Service } from './service.ts'

export const clientOf = (
  { api }: Pick<Service, 'api'>,
  apiKey: string,
  options: Partial<ClientOptions> = {},
): Client => createClient({ baseUrl: api, apiKey, retry: { attempts: 1 }, ...options })

/** For a client whose POSTs are sent without the key that it gives them, as plain requests are. */
export const withoutIdempotencyKey: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers)
  headers.delete('Idempotency-Key')
  return fetch(url, { ...init, headers })
}
