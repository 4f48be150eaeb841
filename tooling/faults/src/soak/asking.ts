// Requests of a soak: each over a kept connection to one of the instances, held against the document and against what its sender expects, and timed.
import { Agent, request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ContractWatch } from '@tradeport/contract-watch'
import type { Random } from '../random.ts'
import { createLatencies } from './latencies.ts'
import type { Latencies } from './latencies.ts'

export interface Reply {
  readonly status: number
  /** Undefined on success. */
  readonly code: string | undefined
  readonly headers: IncomingHttpHeaders
  /** What the envelope holds as data; undefined of a reply without one. */
  readonly data: ReturnType<typeof JSON.parse>
  readonly meta: ReturnType<typeof JSON.parse>
}

export interface Request {
  /** The header that holds the credential, if any. */
  readonly credential?: Readonly<Record<string, string>>
  /** Put into the route's path. */
  readonly id?: string
  readonly deliveryId?: string
  readonly symbol?: string
  readonly query?: string
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** Codes that are as well as the first success: `ok` for one. Only a success when left out. */
  readonly expects?: readonly string[]
  /** Waits for somebody else on purpose, so that its time says nothing of the service. */
  readonly isSlow?: boolean
  /** The instance that is asked; either when left out. */
  readonly slot?: number
}

/** @param route as the document writes it, such as `GET /orders/{id}` */
export type Ask = (route: string, asked?: Request) => Promise<Reply>

/** What was unexpected is told already; what would have followed does not. */
export class Unexpected extends Error {}

export interface Asking {
  /** For one arrival: its first request is timed from when it should have been sent, since whoever waits does so from then on. */
  readonly askOf: (random: Random, at: number) => Ask
  /** Sentences, each a broken promise with how often and an example. */
  readonly broken: () => readonly string[]
  readonly latencies: Latencies
  readonly byRoute: ReadonlyMap<string, Latencies>
  /** How often each code was answered, `ok` for success. */
  readonly answers: ReadonlyMap<string, number>
  readonly count: () => number
  /** Closes the connections that nobody uses. */
  readonly hangUp: () => void
  readonly tell: (sentence: string, example: string) => void
}

interface Parts {
  readonly apiUrls: readonly string[]
  readonly watch: ContractWatch
  /** The minute of the load that it is. */
  readonly minute: () => number
}

const timeoutMs = 60_000

export const createAsking = ({ apiUrls, watch, minute }: Parts): Asking => {
  const agents = apiUrls.map(() => new Agent({ keepAlive: true }))
  const latencies = createLatencies()
  const byRoute = new Map<string, Latencies>()
  const answers = new Map<string, number>()
  const faults = new Map<string, { count: number; readonly example: string }>()
  let count = 0

  const tell = (sentence: string, example: string): void => {
    const known = faults.get(sentence)
    if (known === undefined) faults.set(sentence, { count: 1, example })
    else known.count += 1
  }

  const time = (route: string, ms: number): void => {
    latencies.add(minute(), ms)
    const own = byRoute.get(route) ?? createLatencies()
    byRoute.set(route, own)
    own.add(minute(), ms)
  }

  const check = (route: string, { expects = ['ok'] }: Request, { status, code, headers }: Reply): void => {
    const outcome = code ?? 'ok'
    answers.set(outcome, (answers.get(outcome) ?? 0) + 1)
    for (const fault of watch.takeFaults()) tell(`${route} answered ${status} ${outcome} otherwise than the document says`, fault)
    if (expects.includes(outcome)) return
    tell(
      `${route} answered ${status} ${outcome} where ${expects.join(' or ')} was to come`,
      `minute ${minute() + 1}, ${String(headers['x-request-id'])}`,
    )
    throw new Unexpected()
  }

  const askOf: Asking['askOf'] = (random, at) => {
    let since: number | undefined = at
    return async (route, asked = {}) => {
      const slot = asked.slot ?? random.whole(0, apiUrls.length - 1)
      const from = since ?? Date.now()
      since = undefined
      count += 1
      const reply = await send(watch, apiUrls[slot] ?? '', agents[slot], route, asked).catch((error: unknown) => {
        tell(`${route} was not answered`, `minute ${minute()}: ${String(error)}`)
        throw new Unexpected()
      })
      if (asked.isSlow !== true) time(route, Date.now() - from)
      check(route, asked, reply)
      return reply
    }
  }

  return {
    askOf,
    broken: () => [...faults].map(([sentence, { count, example }]) => `${sentence}: ${count} times (${example})`),
    latencies,
    byRoute,
    answers,
    count: () => count,
    hangUp: () => {
      for (const agent of agents) agent.destroy()
    },
    tell,
  }
}

const send = async (watch: ContractWatch, apiUrl: string, agent: Agent | undefined, route: string, asked: Request): Promise<Reply> => {
  const [method = '', template = ''] = route.split(' ')
  const { id = '', deliveryId = '', symbol = '', query = '', body, credential = {}, headers = {} } = asked
  const path = template.replace('{id}', id).replace('{deliveryId}', deliveryId).replace('{symbol}', symbol)
  const content = typeof body === 'object' ? JSON.stringify(body) : body
  const all = { ...credential, ...(content === undefined ? {} : contentHeaders(content)), ...headers }
  const options = { method, headers: all, signal: AbortSignal.timeout(timeoutMs), ...(agent === undefined ? {} : { agent }) }
  const url = `${apiUrl}${path}${query === '' ? '' : `?${query}`}`
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      const read = async (): Promise<void> => {
        const said = await text(response)
        watch.hearReply({
          method,
          url,
          sent: content,
          status: response.statusCode ?? 0,
          headers: headersOf(response.rawHeaders),
          text: said,
        })
        const isJson = response.headers['content-type']?.startsWith('application/json') === true && said !== ''
        const { data, meta, error } = isJson ? JSON.parse(said) : {}
        resolve({ status: response.statusCode ?? 0, code: error?.code, headers: response.headers, data, meta })
      }
      read().catch(reject)
    })
    sent.once('error', reject)
    sent.end(content)
  })
}

const contentHeaders = (content: string): Readonly<Record<string, string | number>> => ({
  'Content-Type': 'application/json',
  'Content-Length': Buffer.byteLength(content),
})

/** As they came: names and values in turn. */
const headersOf = (raw: readonly string[]): readonly (readonly [string, string])[] =>
  raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []))
