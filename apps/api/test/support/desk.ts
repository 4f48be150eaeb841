// A user's orders and positions through the API, and the broker's own records to compare the
// answers with.
import { setTimeout as pause } from 'node:timers/promises'
import type { AccountOptions, DealRow, Sandbox } from '@tradeport/sandbox-broker'
import {
  moreProviderTokens,
  providerToken,
  request,
  type Reply,
  type TestService,
} from './service.ts'

export const everyScope = [
  'accounts:read',
  'market-data:read',
  'trading:read',
  'trading:write',
  'webhooks:read',
  'webhooks:write',
]
export const newAccountUuid = (n: number) =>
  `7e57acc0-0000-4000-8000-${String(n).padStart(12, '0')}`
export const keyOf = (user: string) => `tp_live_only_for_automated_tests_${user}`

interface LinkedUser {
  readonly user: string
  readonly tenant?: string
  readonly providerToken?: string
  readonly scopes?: readonly string[]
  /** Fields of accounts that differ from those of a connected demo account. */
  readonly accounts?: readonly {
    readonly id: string
    readonly providerAccountId: string | null
    readonly [field: string]: unknown
  }[]
}

/** An operator document with a user, a key of the same name, and accounts. */
export const linkDocument = ({
  user,
  tenant = 'acme',
  scopes = everyScope,
  accounts = [],
  ...rest
}: LinkedUser): object => ({
  tenants: [{ id: tenant, name: tenant, providerToken: rest.providerToken ?? providerToken }],
  users: [{ id: user, tenantId: tenant, email: `${user}@example.com`, plan: 'enterprise' }],
  accounts: accounts.map((fields, index) => ({
    userId: user,
    name: `Account ${index + 1}`,
    brokerType: 'mt5',
    accountNumber: String(5_000_000 + index),
    server: 'Example-Demo',
    purpose: 'trading',
    isDemo: true,
    currency: 'USD',
    status: 'connected',
    balance: 1_000,
    equity: 1_000,
    margin: 0,
    region: 'new-york',
    createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
    ...fields,
  })),
  apiKeys: [{ id: `${user}-key`, userId: user, name: 'bot', key: keyOf(user), scopes }],
})

interface DeskOptions {
  readonly user: string
  readonly accountId: string
  /** Fields of every order that the test does not set. */
  readonly order?: object
  readonly key?: string
}

export type Desk = ReturnType<typeof openDesk>

export const openDesk = (
  service: { readonly apiUrl: string },
  { user, accountId, order = {}, key = keyOf(user) }: DeskOptions,
) => {
  const base = {
    accountId,
    symbol: 'EURUSD',
    type: 'buy',
    orderType: 'market',
    volume: 0.1,
    ...order,
  }
  const call = (
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ) =>
    request(`${service.apiUrl}/api/v1${path}`, {
      method,
      headers: {
        'X-API-Key': key,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const get = (path: string) => call('GET', path)
  const post = (changes: object = {}, headers?: Readonly<Record<string, string>>, query = '') =>
    call('POST', `/orders${query}`, { ...base, ...changes }, headers)
  const place = async (changes?: object) => created(await post(changes))
  /** The data of a reply. */
  const read = async (path: string) => (await get(path)).body.data
  const find = (id: string) => read(`/orders/${id}`)
  const ended = (id: string) =>
    eventually(
      () => find(id),
      ({ status }) => status !== 'pending',
    )
  const position = (ticket: string, change = '') => `/positions/${accountId}:${ticket}${change}`
  return {
    accountId,
    call,
    get,
    read,
    post,
    place,
    find,
    ended,
    placeAndWait: async (changes?: object) => ended((await place(changes)).id),
    countOrders: async (query = '') =>
      (await get(`/orders?limit=1${query}`)).body.meta.pagination.total,
    createWebhook: async (fields: object) => created(await call('POST', '/webhooks', fields)),
    list: () => get(`/positions?accountId=${accountId}`),
    positions: () => read(`/positions?accountId=${accountId}`),
    trades: () => read(`/trades?accountId=${accountId}`),
    findPosition: (ticket: string) => get(position(ticket)),
    moveStopLoss: (ticket: string, value: number) =>
      call('PUT', position(ticket, '/sl'), { value }),
    close: (ticket: string, volume?: number, headers?: Readonly<Record<string, string>>) =>
      call('POST', position(ticket, '/close'), volume === undefined ? {} : { volume }, headers),
  }
}

/** The record that was created. */
const created = ({ status, body }: Reply) => {
  if (status !== 201) throw new Error(`the service answered ${status}: ${JSON.stringify(body)}`)
  return body.data
}

export const refusalOf = ({ status, body }: Reply) => ({
  status,
  code: body.error?.code,
  details: body.error?.details,
})

/**
 * Reads until the reading is as it should be, or a minute has passed; returns the last reading
 * either way.
 */
export const eventually = async <A>(
  read: () => A | Promise<A>,
  isAsItShould: (reading: A) => boolean,
) => {
  const until = performance.now() + 60_000
  for (;;) {
    const reading = await read()
    if (isAsItShould(reading) || performance.now() > until) return reading
    await pause(20)
  }
}

/**
 * Until a desk's history was compared with its balance: a page that reads the history before knows
 * no balance at first.
 */
export const untilAgreed = ({ accountId, read }: Pick<Desk, 'accountId' | 'read'>) =>
  eventually(
    () => read(`/accounts/${accountId}/reconciliation`),
    ({ difference }) => difference === 0,
  )

/** Keeps the price of EURUSD where it is set, with a spread of two pips. */
export const pinPrice = ({ prices }: Sandbox, bid: number) =>
  prices.pin('EURUSD', { bid, ask: Number((bid + 0.0002).toFixed(5)) })

/** The broker's own records of an account. */
export const brokerOf = (sandbox: Sandbox, provider: string) => {
  const account = sandbox.account(provider)
  const dealsOf = (entryType: string): readonly DealRow[] =>
    account.deals().filter((deal) => deal['entryType'] === entryType)
  return {
    ...account,
    /**
     * Opens a position and returns its ticket: 0.4 lots of EURUSD, bought, unless `order` changes
     * that.
     */
    open: (order: object = {}) =>
      account.trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.4, ...order })
        .positionId ?? '',
    /** Closes a position, the first one that is open unless another is named. */
    close: (positionId = account.positions()[0]?.id ?? '') =>
      account.trade({ actionType: 'POSITION_CLOSE_ID', positionId }),
    held: () =>
      account.positions().map(({ id, volume, stopLoss, takeProfit }) => ({
        ticket: id,
        volume,
        stopLoss,
        takeProfit,
      })),
    opened: () => dealsOf('DEAL_ENTRY_IN'),
    closed: () => dealsOf('DEAL_ENTRY_OUT'),
    /** How many orders and changes reached the broker. */
    sends: () => sandbox.requests.count({ account: provider, route: 'trade' }),
  }
}

let linked = 0
export type LinkedDesk = Awaited<ReturnType<typeof linkDesk>>

interface LinkOptions
  extends Partial<Omit<LinkedUser, 'accounts'>>, Pick<Partial<DeskOptions>, 'order'> {
  readonly broker?: Partial<AccountOptions>
  readonly fields?: object
}

/** Links a new account at the broker, by default to the user `u-1`. */
export const linkDesk = async (
  service: TestService,
  { broker: options = {}, fields, order, user = 'u-1', ...rest }: LinkOptions = {},
) => {
  linked += 1
  const [accountId, provider] = [newAccountUuid(linked), `linked-${linked}`]
  service.sandbox.addAccount({ id: provider, ...options })
  const account = {
    id: accountId,
    providerAccountId: provider,
    brokerType: options.platform ?? 'mt5',
    ...fields,
  }
  await service.setUp(linkDocument({ user, ...rest, accounts: [account] }))
  return {
    ...openDesk(service, { user, accountId, ...(order === undefined ? {} : { order }) }),
    provider,
    broker: brokerOf(service.sandbox, provider),
    idOf: (ticket: string) => `${accountId}:${ticket}`,
    fail: (
      ...fault: [...Parameters<typeof service.sandbox.faults.set>] extends [unknown, ...infer Rest]
        ? Rest
        : never
    ) => service.sandbox.faults.set(provider, ...fault),
    heal: () => service.sandbox.faults.clear({ account: provider }),
    requests: (route: string) => service.sandbox.requests.count({ account: provider, route }),
  }
}

/**
 * Links a new account of a new user, whose tenant has a token of its own, because a provider that
 * limits requests refuses a token for a while.
 */
export const linkOwnDesk = (service: TestService, options: Omit<LinkOptions, 'user'> = {}) => {
  const name = `own-${linked}`
  const token = moreProviderTokens[linked]
  if (token === undefined) throw new Error('there are no more tokens of the provider')
  return linkDesk(service, { user: name, tenant: name, providerToken: token, ...options })
}

/** The provider's lists in which an order may be found. */
export const listRoutes = ['positions', 'orders', 'deals', 'history-orders'] as const
