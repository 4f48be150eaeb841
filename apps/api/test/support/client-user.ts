// A user of the client on a started service: a demo account with a history, a key for everything, and connections that can be cut behind an answer.
import { createClient } from '@tradeport/client'
import type { Client, ClientOptions, Operation } from '@tradeport/client'
import { providerToken } from './running-service.ts'
import type { RunningService } from './running-service.ts'
import { hearReply } from './hear-reply.ts'
import { linkDocument, newAccountUuid } from './trading-user.ts'

const everyScope = ['accounts:read', 'trading:read', 'trading:write', 'webhooks:read', 'webhooks:write']

export const accountId = newAccountUuid(1)

export interface ClientUser {
  readonly client: Client
  /** The methods that were called. */
  readonly called: ReadonlySet<string>
  /** `POST /orders`, as the service got them. */
  readonly arrived: readonly string[]
  /** The answers to so many of the next requests are lost on their way, after the service gave them. */
  readonly loseAnswers: (count: number) => void
}

export const linkClientUser = (service: RunningService, key: string, provider: string): Promise<void> =>
  service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-client', key, providerToken }, [{ id: accountId, providerAccountId: provider }], everyScope),
  )

export const openClientUser = (service: RunningService, key: string, options: Partial<ClientOptions> = {}): ClientUser => {
  const baseUrl = `${service.apiUrl}/api/v1`
  const called = new Set<string>()
  const arrived: string[] = []
  let toLose = 0
  const fetchThrough: typeof fetch = async (input, init = {}) => {
    const { url, method } = new Request(input, init)
    const response = await fetch(input, init)
    arrived.push(`${method} ${url.slice(baseUrl.length)}`)
    const { status, headers } = response
    const text = await response.clone().text()
    hearReply({ method, url, sent: typeof init.body === 'string' ? init.body : undefined, status, headers: [...headers], text })
    if (toLose === 0) return response
    toLose -= 1
    throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') })
  }
  const client = createClient({ baseUrl, apiKey: key, fetch: fetchThrough, ...options })
  const noting = new Proxy(client, {
    get: (target, name: Operation) => {
      called.add(name)
      return target[name]
    },
  })
  return {
    client: noting,
    called,
    arrived,
    loseAnswers: (count) => {
      toLose = count
    },
  }
}
