// Orders as a caller places and follows them, and the broker's own book to hold the answers against.
import { setTimeout as pause } from 'node:timers/promises'
import type { DealRow } from '@tradeport/sandbox-broker'
import { request } from './running-service.ts'
import type { Json, Reply, RunningService } from './running-service.ts'

export interface OrderDesk {
  /** POST /orders of a small market order with these changes; a field that is undefined is not sent. */
  readonly post: (changes?: object, headers?: Readonly<Record<string, string>>) => Promise<Reply>
  /** The order of a POST that was accepted; throws where it was not. */
  readonly place: (changes?: object) => Promise<Json>
  readonly find: (id: string) => Promise<Json>
  /** The order once it is pending no longer. */
  readonly settled: (id: string) => Promise<Json>
  readonly placeAndSettle: (changes?: object) => Promise<Json>
  readonly get: (path: string) => Promise<Reply>
  readonly call: (method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>) => Promise<Reply>
  /** How many orders the list has. */
  readonly count: (query?: string) => Promise<number>
}

export interface DeskOptions {
  readonly key: string
  readonly accountId: string
  /** What orders say that do not say otherwise. */
  readonly order?: object
}

const patienceMs = 60_000
const pollMs = 20

export const openDesk = (service: Pick<RunningService, 'apiUrl'>, { key, accountId, order = {} }: DeskOptions): OrderDesk => {
  const base = { accountId, symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1, ...order }
  const call: OrderDesk['call'] = (method, path, body, headers = {}) =>
    request(`${service.apiUrl}/api/v1${path}`, {
      method,
      headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const post: OrderDesk['post'] = (changes, headers) => call('POST', '/orders', { ...base, ...changes }, headers)
  const place: OrderDesk['place'] = async (changes) => {
    const { status, body } = await post(changes)
    if (status !== 201) throw new Error(`the order was answered ${status}: ${JSON.stringify(body.error)}`)
    return body.data
  }
  const find = async (id: string): Promise<Json> => (await call('GET', `/orders/${id}`)).body.data
  const settled = async (id: string): Promise<Json> => {
    const found = await eventually(
      () => find(id),
      (one) => one.status !== 'pending',
    )
    if (found.status === 'pending') throw new Error(`order ${id} is still pending`)
    return found
  }
  return {
    post,
    place,
    find,
    settled,
    placeAndSettle: async (changes) => settled((await place(changes)).id),
    get: (path) => call('GET', path),
    call,
    count: async (query = '') => (await call('GET', `/orders?limit=1${query}`)).body.meta.pagination.total,
  }
}

/** Reads until what is read is as it should be, or the patience of a test is over; the last reading either way. */
export const eventually = async <A>(
  read: () => A | Promise<A>,
  isAsItShould: (reading: A) => boolean,
  withinMs = patienceMs,
): Promise<A> => {
  const until = performance.now() + withinMs
  for (;;) {
    const reading = await read()
    if (isAsItShould(reading) || performance.now() > until) return reading
    await pause(pollMs)
  }
}

/** What the broker truly executed on an account: the deals that open. */
export const executed = ({ sandbox }: RunningService, provider: string): readonly DealRow[] =>
  sandbox
    .account(provider)
    .deals()
    .filter((deal) => deal['entryType'] === 'DEAL_ENTRY_IN')

/** How often an order was sent to the broker. */
export const sends = ({ sandbox }: RunningService, provider: string): number =>
  sandbox.requests.count({ account: provider, route: 'trade' })

/** The provider's lists in which an order may be found. */
export const listRoutes = ['positions', 'orders', 'deals', 'history-orders'] as const

/** Leaves it unknown what becomes of orders on an account, although they are executed: they stay pending until its faults are cleared. */
export const holdPending = ({ sandbox }: RunningService, provider: string): void => {
  sandbox.faults.set(provider, 'trade', { kind: 'timeout', when: 'after' })
  for (const route of listRoutes) sandbox.faults.set(provider, route, { kind: 'timeout' })
}
