// Orders as their user sees them: from the request to the position at the simulated broker.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually, executed, holdPending, openDesk, sends } from './support/order-desk.ts'
import type { OrderDesk } from './support/order-desk.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { hearReply } from './support/hear-reply.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
// Nine o'clock of tomorrow: never near midnight, and ahead of the database's own clock, by which keys of days long past are cleared away.
const clock = createTestClock(Math.floor(Date.now() / dayMs) * dayMs + 33 * 60 * minuteMs)
const bid = 1.1
const ask = 1.1002
/** Its market is shut for the whole file: an order in it is accepted, and ends without touching the book. */
const shut = 'UKOIL'
const allScopes = ['accounts:read', 'trading:read', 'trading:write']

/** The provider's accounts and the id that each is linked under. */
const ids = {
  main: newAccountUuid(1),
  poor: newAccountUuid(2),
  investor: newAccountUuid(3),
  list: newAccountUuid(4),
  listTwo: newAccountUuid(5),
  ladder: newAccountUuid(6),
  limited: newAccountUuid(7),
  deskmate: newAccountUuid(8),
  crowd: newAccountUuid(9),
  keyed: newAccountUuid(10),
  real: newAccountUuid(11),
  contest: newAccountUuid(12),
  linkedLive: newAccountUuid(13),
  paper: newAccountUuid(14),
  other: newAccountUuid(15),
  unprovisioned: newAccountUuid(16),
  rungs: newAccountUuid(17),
  mislinked: newAccountUuid(18),
} as const

let service: RunningService
let main: OrderDesk

/** A user of the tenant `acme`, or another, with these accounts and a key of the same name. */
const userDocument = (user: string, accounts: readonly (keyof typeof ids)[], tenant = 'acme', scopes = allScopes): object =>
  linkDocument(
    { tenant, user, key: keyOf(user), providerToken },
    accounts.map((name) => ({ id: ids[name], providerAccountId: name, fields: oddLinks[name] ?? {} })),
    scopes,
  )
const oddLinks: { readonly [Name in keyof typeof ids]?: object } = {
  linkedLive: { isDemo: false },
  paper: { brokerType: 'paper', providerAccountId: null },
  other: { brokerType: 'ctrader' },
  unprovisioned: { providerAccountId: null },
}
const keyOf = (user: string): string => `tp_live_only_for_automated_tests_orders_${user}`
const deskOf = (user: string, account: keyof typeof ids, order: object = {}): OrderDesk =>
  openDesk(service, { key: keyOf(user), accountId: ids[account], order })
const now = (): string => new Date(clock.now()).toISOString()
const refusalOf = ({ status, body }: Reply) => ({ status, code: body.error?.code, details: body.error?.details })
const noneIsPending = async (desk: OrderDesk): Promise<void> => {
  const pending = () => desk.count('&status=pending')
  expect(await eventually(pending, (count) => count === 0)).toBe(0)
}

/** Users whose orders several tests look at. */
const limited = (): OrderDesk => deskOf('u-limited', 'limited', { symbol: shut })
const keyed = (): OrderDesk => deskOf('u-keyed', 'keyed')
const withKey = (key: string, changes: object = {}) => keyed().post(changes, { 'Idempotency-Key': key })

const change = (desk: OrderDesk, id: string) => desk.call('PUT', `/orders/${id}`, { takeProfit: 1.3 })
const cancel = (desk: OrderDesk, id: string) => desk.call('DELETE', `/orders/${id}`)
/** All that a stranger is sent, but the time and what is left of the limits. */
const sentToStranger = async (method: string, id: string): Promise<object> => {
  const url = `${service.apiUrl}/api/v1/orders/${id}`
  const response = await fetch(url, {
    method,
    headers: { 'X-API-Key': keyOf('u-list'), 'X-Request-ID': 'the-same', 'Content-Type': 'application/json' },
    ...(method === 'PUT' && { body: '{"stopLoss":1}' }),
  })
  const [status, text] = [response.status, await response.text()]
  hearReply({ method, url, sent: undefined, status, headers: [...response.headers], text })
  const headers = [...response.headers].filter(([name]) => name !== 'date' && !name.startsWith('x-ratelimit-'))
  return { status, headers, text }
}
const list = async (query = ''): Promise<Json> => (await deskOf('u-list', 'list').get(`/orders${query}`)).body
const listed = (query: Record<string, string>): Promise<Json> => list(`?${new URLSearchParams(query).toString()}`)
const idsOf = (body: Json): readonly string[] => body.data.map(({ id }: Json) => id)
const lacksScope = (required: readonly string[]) => ({ status: 403, code: 'INSUFFICIENT_SCOPE', details: { required_any_of: required } })
const challenge = (status: string, day: number) => ({ accountId: ids.limited, status, startedAt: `2026-01-0${day}T00:00:00.000Z` })
const openPosition = (provider: string, volume: number) =>
  service.sandbox.account(provider).trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume })

// Several keys, because each may place a hundred a minute.
const keys = (user: string) =>
  Array.from({ length: 4 }, (_, n) => ({ id: `${user}-${n}`, userId: user, name: 'bot', key: `${keyOf(user)}_${n}`, scopes: allScopes }))
const atOnce = (user: string, account: keyof typeof ids, many: number, changes: object): Promise<readonly Reply[]> => {
  const desks = keys(user).map(({ key }) => openDesk(service, { key, accountId: ids[account] }))
  return Promise.all(Array.from({ length: many }, (_, n) => (desks[n % desks.length] as OrderDesk).post(changes)))
}
const accepted = (replies: readonly Reply[]): number => replies.filter(({ status }) => status === 201).length
const refusals = (replies: readonly Reply[]): readonly object[] => replies.filter(({ status }) => status !== 201).map(refusalOf)

beforeAll(async () => {
  const accounts = Object.keys(ids).filter((name) => !['paper', 'other', 'unprovisioned'].includes(name))
  service = await startTestService(
    accounts.map((id) => ({
      id,
      ...(id === 'poor' && { startBalance: 10 }),
      ...(id === 'investor' && { tradeAllowed: false }),
      ...((id === 'real' || id === 'mislinked') && { type: 'real' }),
      ...(id === 'contest' && { type: 'contest' }),
    })),
    { now: clock.now },
  )
  service.sandbox.prices.pin('EURUSD', { bid, ask })
  service.sandbox.market.close(shut)
  await service.setUp(
    userDocument('u-main', ['main', 'poor', 'investor', 'real', 'contest', 'linkedLive', 'paper', 'other', 'unprovisioned']),
    userDocument('u-list', ['list', 'listTwo']),
    userDocument('u-limited', ['limited']),
    userDocument('u-deskmate', ['deskmate']),
    userDocument('u-crowd', ['crowd']),
    userDocument('u-keyed', ['keyed']),
    userDocument('u-mislinked', ['mislinked']),
    userDocument('u-day', ['ladder', 'rungs'], 'ladders'),
  )
  main = deskOf('u-main', 'main')
})
afterAll(() => service?.close())
beforeEach(() => {
  service.sandbox.faults.clear()
  service.sandbox.requests.clear()
  clock.advance(minuteMs)
})

describe('POST /orders', () => {
  const said = { price: 1.05, stopLoss: 1.05, takeProfit: 1.25, comment: 'breakfast 🥐', clientId: 'mine-1' }

  it('answers 201 pending with Location, then shows the order filled with its position', async () => {
    const { status, headers, body } = await main.post(said)
    const { id } = body.data
    const recorded = { id, userId: 'u-main', accountId: ids.main, symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1, ...said }
    const times = { createdAt: now(), updatedAt: now() }
    expect({ status, location: headers.get('Location') }).toEqual({ status: 201, location: `/api/v1/orders/${id}` })
    expect(id).toMatch(/^ord_[a-z0-9]+$/)
    expect(body.data).toEqual({ ...recorded, ...times, status: 'pending' })
    const order = await main.settled(id)
    const positionId = `${ids.main}:${service.sandbox.account('main').positions()[0]?.id}`
    const fill = { fillPrice: ask, filledVolume: 0.1, filledAt: now(), positionId }
    expect(order).toEqual({ ...recorded, ...times, status: 'filled', ...fill })
    const position = await main.get(`/positions/${encodeURIComponent(positionId)}`)
    expect(position.body.data).toMatchObject({
      id: positionId,
      accountId: ids.main,
      symbol: 'EURUSD',
      type: 'buy',
      volume: 0.1,
      entryPrice: ask,
      stopLoss: said.stopLoss,
      takeProfit: said.takeProfit,
    })
  })

  it('keeps the caller’s comment, reference and price from the broker, and sends once', async () => {
    await main.placeAndSettle(said)
    const row = service.sandbox.account('main').positions().at(-1)
    expect(row).toMatchObject({ openPrice: ask, clientId: expect.stringMatching(/^TP_[a-z0-9]+_[a-z0-9]+$/) })
    expect(row).not.toHaveProperty('comment')
    expect(sends(service, 'main')).toBe(1)
  })

  it('sells at the bid, with what is not said left out', async () => {
    const order = await main.placeAndSettle({ type: 'sell', volume: 0.03 })
    expect(order).toMatchObject({ type: 'sell', volume: 0.03, status: 'filled', fillPrice: bid, filledVolume: 0.03 })
    for (const field of ['price', 'stopLoss', 'takeProfit', 'comment', 'clientId', 'rejectReason']) expect(order).not.toHaveProperty(field)
  })

  it('shows the position at once in what was cached before', async () => {
    const numbers = async () => [
      (await main.get(`/positions?accountId=${ids.main}`)).body.meta.pagination.total,
      (await main.get(`/accounts/${ids.main}`)).body.data.margin,
    ]
    const [positions, margin] = await numbers()
    // The clock stands still, so that nothing would expire by itself.
    await main.placeAndSettle()
    const [positionsAfter, marginAfter] = await numbers()
    expect(positionsAfter).toBe(positions + 1)
    expect(marginAfter).toBeGreaterThan(margin)
  })

  it.each([
    ['while the market is shut', 'main', { symbol: shut }, 'TRADE_RETCODE_MARKET_CLOSED'],
    ['for want of money', 'poor', { volume: 5 }, 'TRADE_RETCODE_NO_MONEY'],
    ['for a stop on the wrong side', 'main', { stopLoss: 1.3 }, 'TRADE_RETCODE_INVALID_STOPS'],
    ['for a volume between two steps', 'main', { volume: 0.015 }, 'TRADE_RETCODE_INVALID_VOLUME'],
    ['for a symbol that it lacks', 'main', { symbol: 'NOPE.X' }, 'SYMBOL_NOT_FOUND'],
    ['because the account may only look on', 'investor', {}, 'ERR_INVESTOR'],
  ] as const)('is rejected with the broker’s reason %s', async (_, account, changes, code) => {
    const before = executed(service, account).length
    const order = await deskOf('u-main', account).placeAndSettle(changes)
    expect(order).toMatchObject({ status: 'rejected', rejectReason: { code, message: expect.stringMatching(/\w/) } })
    for (const field of ['fillPrice', 'filledVolume', 'filledAt', 'positionId']) expect(order).not.toHaveProperty(field)
    expect([executed(service, account).length, sends(service, account)]).toEqual([before, 1])
  })
})

describe('PUT and DELETE /orders/:id', () => {
  it('answer 409 while the order is on its way', async () => {
    holdPending(service, 'main')
    const { id } = await main.place()
    for (const act of [change, cancel]) expect(refusalOf(await act(main, id))).toMatchObject({ status: 409, code: 'ORDER_IN_FLIGHT' })
    service.sandbox.faults.clear()
    expect((await main.settled(id)).status).toBe('filled')
  })

  it.each([
    ['filled', {}],
    ['partially_filled', {}],
    ['rejected', { symbol: shut }],
  ] as const)('answer 400 once it is %s, and change nothing', async (status, changes) => {
    if (status === 'partially_filled') service.sandbox.faults.set('main', 'trade', { kind: 'partial-fill', times: 1 })
    const order = await main.placeAndSettle(changes)
    expect(order.status).toBe(status)
    expect(refusalOf(await change(main, order.id))).toEqual({ status: 400, code: 'ORDER_NOT_MODIFIABLE', details: { status } })
    expect(refusalOf(await cancel(main, order.id))).toEqual({ status: 400, code: 'ORDER_NOT_CANCELLABLE', details: { status } })
    expect(await main.find(order.id)).toEqual(order)
  })

  it('take a change that names something to change', async () => {
    const { id } = await main.placeAndSettle({ symbol: shut })
    for (const body of [{}, { volume: 1 }, { stopLoss: 0 }, { takeProfit: '1.2' }])
      expect(refusalOf(await main.call('PUT', `/orders/${id}`, body))).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })
})

describe('an order of another user', () => {
  it.each(['GET', 'PUT', 'DELETE'])('is on %s the very answer of one that never was', async (method) => {
    const { id } = await main.placeAndSettle({ symbol: shut })
    const foreign = await sentToStranger(method, id)
    expect(foreign).toMatchObject({ status: 404, text: expect.stringContaining('"NOT_FOUND"') })
    expect(foreign).toEqual(await sentToStranger(method, 'ord_abcdefghij0123456789'))
    expect(foreign).toEqual(await sentToStranger(method, 'x'))
  })

  it('is in no list, whatever is asked for', async () => {
    await main.placeAndSettle({ symbol: shut })
    const stranger = deskOf('u-deskmate', 'deskmate')
    expect(await stranger.count()).toBe(0)
    expect(await stranger.count('&status=rejected')).toBe(0)
    for (const accountId of [ids.main, newAccountUuid(99)])
      expect(refusalOf(await stranger.get(`/orders?accountId=${accountId}`))).toMatchObject({ status: 404, code: 'ACCOUNT_NOT_FOUND' })
  })
})

describe('GET /orders', () => {
  /** Newest first. */
  const placed: Readonly<Record<'id' | 'at' | 'accountId' | 'symbol' | 'clientId', string>>[] = []
  const where = (isOne: (order: (typeof placed)[number]) => boolean): readonly string[] => placed.filter(isOne).map(({ id }) => id)

  beforeAll(async () => {
    // Three groups of four, each within one instant.
    for (let n = 0; n < 12; n += 1) {
      // What is on its way would be rejected as late.
      if (n % 4 === 0) {
        await noneIsPending(deskOf('u-list', 'list'))
        clock.advance(dayMs)
      }
      const account = n % 2 === 0 ? 'list' : 'listTwo'
      const clientId = `Grid #${n % 4}`
      const order = await deskOf('u-list', account).place({ symbol: n % 3 === 0 ? 'EURUSD' : shut, volume: 0.01, clientId })
      placed.unshift({ id: order.id, at: order.createdAt, accountId: order.accountId, symbol: order.symbol, clientId })
    }
    await noneIsPending(deskOf('u-list', 'list'))
  })

  it('lists the newest first, those of one instant in the order of their recording', async () => {
    const body = await list()
    expect(idsOf(body)).toEqual(where(() => true))
    expect(new Set(placed.map(({ at }) => at)).size).toBe(3)
    expect(body.meta.pagination).toEqual({ page: 1, limit: 20, total: 12, total_pages: 1, has_next: false, has_prev: false })
    for (const order of body.data) expect((await deskOf('u-list', 'list').find(order.id)) as object).toEqual(order)
  })

  it.each([1, 3, 5])('gives each order once over pages of %i', async (limit) => {
    const pages: string[] = []
    for (let page = 1; page <= Math.ceil(12 / limit); page += 1) pages.push(...idsOf(await list(`?page=${page}&limit=${limit}`)))
    expect(pages).toEqual(where(() => true))
    expect(await list(`?page=13&limit=${limit}`)).toMatchObject({ data: [], meta: { pagination: { total: 12, has_next: false } } })
  })

  it('filters by account, status, symbol and creation, and by all of them', async () => {
    const [, , , , middle] = placed
    const day = middle?.at.slice(0, 10) ?? ''
    expect(idsOf(await list(`?accountId=${ids.listTwo}`))).toEqual(where(({ accountId }) => accountId === ids.listTwo))
    expect(idsOf(await list('?status=filled'))).toEqual(where(({ symbol }) => symbol === 'EURUSD'))
    expect(idsOf(await list('?status=rejected'))).toEqual(where(({ symbol }) => symbol === shut))
    expect(idsOf(await list(`?symbol=${shut}`))).toEqual(where(({ symbol }) => symbol === shut))
    expect(idsOf(await list(`?startDate=${day}&endDate=${day}`))).toEqual(where(({ at }) => at === middle?.at))
    expect(idsOf(await list(`?startDate=${middle?.at}`))).toEqual(where(({ at }) => at >= (middle?.at ?? '')))
    expect(idsOf(await list(`?endDate=${middle?.at}`))).toEqual(where(({ at }) => at <= (middle?.at ?? '')))
    expect(idsOf(await list(`?accountId=${ids.list}&status=filled&symbol=EURUSD&startDate=${day}`))).toEqual(
      where(({ accountId, symbol, at }) => accountId === ids.list && symbol === 'EURUSD' && at >= day),
    )
    for (const status of ['pending', 'open', 'partially_filled', 'cancelled', 'expired'])
      expect(idsOf(await list(`?status=${status}`))).toEqual([])
  })

  it('filters by the reference of the caller, to the letter, and by others with it', async () => {
    const grid = await listed({ clientId: 'Grid #1' })
    expect(idsOf(grid)).toEqual(where(({ clientId }) => clientId === 'Grid #1'))
    expect(grid.meta.pagination.total).toBe(3)
    expect(idsOf(await listed({ clientId: 'Grid #1', symbol: 'EURUSD' }))).toEqual(
      where(({ clientId, symbol }) => clientId === 'Grid #1' && symbol === 'EURUSD'),
    )
    expect(idsOf(await listed({ clientId: 'Grid #1', limit: '1', page: '2' }))).toEqual(
      where(({ clientId }) => clientId === 'Grid #1').slice(1, 2),
    )
    for (const other of ['grid #1', 'Grid #', 'Grid #1 ', 'Grid %', "Grid #1' OR '1'='1"])
      expect(idsOf(await listed({ clientId: other }))).toEqual([])
    expect((await deskOf('u-keyed', 'keyed').get('/orders?clientId=Grid%20%231')).body.data).toEqual([])
  })

  it.each(['status=done', 'symbol=eurusd', 'accountId=1', 'page=0', 'limit=101', 'startDate=2026-03-02&endDate=2026-03-01', 'clientid=1'])(
    'refuses ?%s',
    async (query) => {
      expect((await list(`?${query}`)).error).toMatchObject({ code: 'VALIDATION_ERROR', details: { issues: [expect.anything()] } })
    },
  )
})

describe('scopes', () => {
  const writers = ['trading:write', 'orders:write']
  const readers = ['trading:read']
  const rows = [
    { scope: 'trading:write', mayPlace: true, mayRead: false },
    { scope: 'orders:write', mayPlace: true, mayRead: false },
    { scope: 'trading:read', mayPlace: false, mayRead: true },
    { scope: 'orders:read', mayPlace: false, mayRead: false },
    { scope: 'positions:write', mayPlace: false, mayRead: false },
  ]
  const order = { symbol: shut }

  it.each(rows)('$scope: may place $mayPlace, may read $mayRead', async ({ scope, mayPlace, mayRead }) => {
    const key = `${keyOf('u-main')}_${scope}`
    await service.setUp({ apiKeys: [{ id: `only-${scope}`, userId: 'u-main', name: scope, key, scopes: [scope] }] })
    const desk = openDesk(service, { key, accountId: ids.main, order })
    const { id } = await main.placeAndSettle(order)
    const placing = await desk.post()
    if (mayPlace) expect(placing.status).toBe(201)
    else expect(refusalOf(placing)).toEqual(lacksScope(writers))
    // The scope comes before the order type, which comes before everything else.
    const limit = refusalOf(await desk.post({ orderType: 'limit' }))
    expect(limit).toEqual(
      mayPlace ? { status: 501, code: 'ORDER_TYPE_NOT_SUPPORTED', details: { orderType: 'limit' } } : lacksScope(writers),
    )
    for (const [method, body] of [['PUT', { price: 1 }], ['DELETE']] as const) {
      const reply = refusalOf(await desk.call(method, `/orders/${id}`, body))
      if (mayPlace) expect(reply.status).toBe(400)
      else expect(reply).toEqual(lacksScope(writers))
    }
    for (const path of ['/orders', `/orders/${id}`]) {
      const reply = await desk.get(path)
      if (mayRead) expect(reply.status).toBe(200)
      else expect(refusalOf(reply)).toEqual(lacksScope(readers))
    }
  })

  it('are those of an access token too', async () => {
    const token = { id: 'app-token', userId: 'u-main', applicationId: 'app-1', token: 'app-token-for-orders', scopes: ['orders:write'] }
    await service.setUp({ accessTokens: [{ ...token, expiresAt: '2100-01-01T00:00:00.000Z', enabled: true }] })
    const reply = await request(`${service.apiUrl}/api/v1/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ accountId: ids.main, symbol: shut, type: 'buy', orderType: 'market', volume: 0.1 }),
    })
    expect(reply).toMatchObject({ status: 201, body: { data: { userId: 'u-main', status: 'pending' } } })
  })
})

describe('what an order is refused for', () => {
  it.each(['limit', 'stop', 'stop_limit'])('an order type %s: 501 before anything is looked at', async (orderType) => {
    const reply = await main.call('POST', '/orders', { orderType, accountId: 7 })
    expect(reply.body.data).toBeNull()
    expect(refusalOf(reply)).toEqual({ status: 501, code: 'ORDER_TYPE_NOT_SUPPORTED', details: { orderType } })
  })

  it.each<[string, object, readonly string[]]>([
    ['nothing at all', {}, ['accountId', 'symbol', 'type', 'orderType', 'volume']],
    [
      'everything wrong',
      {
        accountId: 'main',
        symbol: 'eurusd',
        type: 'long',
        orderType: 'iceberg',
        volume: 0,
        price: -1,
        stopLoss: '1.1',
        takeProfit: null,
        comment: 'x'.repeat(501),
        clientId: 'x'.repeat(101),
      },
      ['accountId', 'symbol', 'type', 'orderType', 'volume', 'price', 'stopLoss', 'takeProfit', 'comment', 'clientId'],
    ],
  ])('%s: every fault at once', async (_, body, paths) => {
    const reply = await main.call('POST', '/orders', body)
    expect(refusalOf(reply)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect(reply.body.error.details.issues.map(({ path }: Json) => path)).toEqual(paths)
  })

  it.each([
    ['is live at its broker', 'real', 403, 'LIVE_ACCOUNT_RESTRICTED'],
    ['is in a contest', 'contest', 403, 'LIVE_ACCOUNT_RESTRICTED'],
    ['is linked as live', 'linkedLive', 403, 'LIVE_ACCOUNT_RESTRICTED'],
    ['is the paper book', 'paper', 400, 'UNSUPPORTED_BROKER'],
    ['is on another platform', 'other', 400, 'UNSUPPORTED_BROKER'],
    ['is not connected to the provider', 'unprovisioned', 400, 'NOT_PROVISIONED'],
  ] as const)('an account that %s', async (_, account, status, code) => {
    // The broker's word on what an account is comes with a live read, and wins over the link for good.
    if (account === 'real' || account === 'contest') await main.get(`/accounts/${ids[account]}`)
    const reply = refusalOf(await deskOf('u-main', account).post())
    expect(reply).toMatchObject({ status, code })
    if (status === 400) expect(reply.details).toEqual({ accountId: ids[account] })
    expect(sends(service, account)).toBe(0)
  })

  describe('a challenge', () => {
    it('that failed locks the account when it is the newest, and not when a newer one runs', async () => {
      await service.setUp({ challenges: [challenge('active', 1), challenge('failed', 3)] })
      expect(refusalOf(await limited().post())).toMatchObject({ status: 403, code: 'CHALLENGE_LOCKED' })
      await service.setUp({ challenges: [challenge('active', 4)] })
      expect((await limited().post()).status).toBe(201)
      await service.setUp({ challenges: [challenge('failed', 4)] })
      expect(refusalOf(await limited().post())).toMatchObject({ status: 403, code: 'CHALLENGE_LOCKED' })
      // Modify and cancel stay open.
      const { id } = (await limited().get('/orders?limit=1')).body.data[0]
      await limited().settled(id)
      expect(refusalOf(await limited().call('DELETE', `/orders/${id}`)).code).toBe('ORDER_NOT_CANCELLABLE')
      await service.setUp({ challenges: [3, 4].map((day) => challenge('passed', day)) })
      expect((await limited().post()).status).toBe(201)
    })
  })

  describe('the limits that a head trader set', () => {
    const noDeskLimits = { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null }
    const noLimits = { ...noDeskLimits, maxLotsPerOrder: null, approvalAboveLots: null }
    const desk = (limits: object = {}) => ({
      desks: [{ id: 'd-1', tenantId: 'acme', accounts: [ids.limited, ids.deskmate], limits: { ...noDeskLimits, ...limits } }],
    })
    const trader = (limits: object = {}) => ({ traderLimits: [{ accountId: ids.limited, limits: { ...noLimits, ...limits } }] })

    // 0.1 and 0.2 lots are 0.3, and not what binary fractions make of them.
    beforeAll(() => {
      for (const [provider, volume] of [
        ['limited', 0.1],
        ['limited', 0.2],
        ['deskmate', 0.4],
      ] as const)
        openPosition(provider, volume)
    })
    beforeEach(async () => {
      await noneIsPending(limited())
      service.sandbox.requests.clear()
      await service.setUp(desk(), trader())
    })

    const traderBreached = { status: 403, code: 'TRADER_LIMIT_BREACHED' }
    const deskBreached = { status: 403, code: 'DESK_LIMIT_BREACHED' }

    it.each([
      ['lots of one order', trader({ maxLotsPerOrder: 0.5 }), 0.51, traderBreached, ['maxLotsPerOrder', 0.5, 0.51], 0.5],
      ['open lots', trader({ maxOpenLots: 0.6 }), 0.31, traderBreached, ['maxOpenLots', 0.6, 0.3], 0.3],
      ['open lots over the accounts of the desk', desk({ maxOpenLots: 1 }), 0.31, deskBreached, ['maxOpenLots', 1, 0.7], 0.3],
    ] as const)('%s', async (_, document, tooMuch, refusal, [limit, allowed, current], enough) => {
      await service.setUp(document)
      expect(refusalOf(await limited().post({ volume: tooMuch }))).toEqual({ ...refusal, details: { limit, allowed, current } })
      expect((await limited().post({ volume: enough })).status).toBe(201)
    })

    it.each([
      ['open positions', trader, traderBreached, 2],
      ['open positions over the accounts of the desk', desk, deskBreached, 3],
    ] as const)('%s', async (_, document, refusal, held) => {
      await service.setUp(document({ maxOpenPositions: held }))
      const details = { limit: 'maxOpenPositions', allowed: held, current: held }
      expect(refusalOf(await limited().post())).toEqual({ ...refusal, details })
      await service.setUp(document({ maxOpenPositions: held + 1 }))
      expect((await limited().post()).status).toBe(201)
    })

    it.each([
      ['the trader', trader, traderBreached],
      ['the desk', desk, deskBreached],
    ] as const)('the symbols of %s', async (_, document, refusal) => {
      await service.setUp(document({ allowedSymbols: ['EURUSD', 'GBPUSD'] }))
      const details = { limit: 'allowedSymbols', allowed: ['EURUSD', 'GBPUSD'], current: shut }
      expect(refusalOf(await limited().post())).toEqual({ ...refusal, details })
      await service.setUp(document({ allowedSymbols: ['EURUSD', shut] }))
      expect((await limited().post()).status).toBe(201)
    })

    it('lots above which an approval is needed', async () => {
      await service.setUp(trader({ approvalAboveLots: 0.2 }))
      const before = await limited().count()
      expect(refusalOf(await limited().post({ volume: 0.21 }))).toEqual({
        status: 409,
        code: 'APPROVAL_REQUIRED',
        details: { approvalAboveLots: 0.2 },
      })
      expect(await limited().count()).toBe(before)
      expect((await limited().post({ volume: 0.2 })).status).toBe(201)
    })

    it.each([
      ['the account', 'limited', trader({ maxOpenPositions: 50 })],
      ['another account of the desk', 'deskmate', desk({ maxOpenLots: 50 })],
    ] as const)('refuse with 503 when the book of %s cannot be read, and place nothing', async (_, provider, document) => {
      await service.setUp(document)
      const before = await limited().count()
      for (const kind of ['timeout', 'malformed-json', 'not-found'] as const) {
        service.sandbox.faults.set(provider, 'positions', { kind })
        expect(refusalOf(await limited().post())).toMatchObject({ status: 503, code: 'LIMIT_CHECK_UNAVAILABLE' })
      }
      expect([await limited().count(), sends(service, 'limited')]).toEqual([before, 0])
    })

    it('leave the broker’s book alone where no limit needs it', async () => {
      await service.setUp(trader({ maxLotsPerOrder: 5, allowedSymbols: [shut], approvalAboveLots: 5 }))
      service.sandbox.faults.set('limited', 'positions', { kind: 'timeout' })
      expect((await limited().post()).status).toBe(201)
    })

    it('go by the book as the broker has it now, not as it was last read, and by orders on their way', async () => {
      await limited().get('/positions')
      await service.setUp(trader({ maxOpenPositions: 4 }))
      service.sandbox.faults.set('limited', 'trade', { kind: 'delay', ms: 2_000 })
      const { id } = await limited().place({ symbol: 'EURUSD' })
      openPosition('limited', 0.01)
      const details = { limit: 'maxOpenPositions', allowed: 4, current: 4 }
      expect(refusalOf(await limited().post({ symbol: 'EURUSD' }))).toEqual({ ...traderBreached, details })
      expect((await limited().settled(id)).status).toBe('filled')
    })

    it('count a position that was opened a moment ago, which the provider’s copy does not show yet', async () => {
      const allowed = service.sandbox.account('limited').positions().length + 1
      await service.setUp(trader({ maxOpenPositions: allowed }))
      service.sandbox.faults.set('limited', 'trade', { kind: 'positions-lag', reads: 1_000, times: 1 })
      const { id } = await limited().place({ symbol: 'EURUSD' })
      expect((await limited().settled(id)).status).toBe('filled')
      const details = { limit: 'maxOpenPositions', allowed, current: allowed }
      expect(refusalOf(await limited().post({ symbol: 'EURUSD' }))).toEqual({ ...traderBreached, details })
    })
  })
})

describe('how many orders', () => {
  beforeAll(() => service.setUp({ apiKeys: [...keys('u-crowd'), ...keys('u-day')] }))

  it('never lets the 51st pending one through, of a hundred at once', async () => {
    const crowd = deskOf('u-crowd', 'crowd')
    holdPending(service, 'crowd')
    const replies = await atOnce('u-crowd', 'crowd', 100, { volume: 0.01 })
    const details = { limit: 'open_orders', allowed: 50, current: 50 }
    expect(refusals(replies)).toEqual(Array.from({ length: 50 }, () => ({ status: 400, code: 'RISK_LIMIT_EXCEEDED', details })))
    expect(accepted(replies)).toBe(50)
    expect([await crowd.count('&status=pending'), await crowd.count()]).toEqual([50, 50])
    // It is the user's limit and nobody else's.
    expect((await main.post({ symbol: shut })).status).toBe(201)
    service.sandbox.faults.clear()
    await noneIsPending(crowd)
    expect([executed(service, 'crowd').length, sends(service, 'crowd')]).toEqual([50, 50])
    expect((await crowd.post({ symbol: shut })).status).toBe(201)
  })

  it('lets one of a hundred through when 99 were made today, whatever became of them', async () => {
    const day = deskOf('u-day', 'ladder')
    for (const many of [50, 49]) {
      expect(accepted(await atOnce('u-day', 'ladder', many, { symbol: shut }))).toBe(many)
      await noneIsPending(day)
    }
    const replies = await atOnce('u-day', 'ladder', 100, { symbol: shut })
    const resetsAt = new Date(Math.floor(clock.now() / dayMs) * dayMs + dayMs).toISOString()
    const details = { limit: 'orders_per_day', allowed: 100, current: 100, resetsAt }
    expect(refusals(replies)).toEqual(Array.from({ length: 99 }, () => ({ status: 400, code: 'RISK_LIMIT_EXCEEDED', details })))
    expect([accepted(replies), await day.count()]).toEqual([1, 100])
    await noneIsPending(day)
  })

  it('every reason at once is answered one after the other, in the documented order', async () => {
    const link = (fields: object) => service.setUp({ accounts: [{ id: ids.rungs, ...fields }] })
    const traderLimits = { maxLotsPerOrder: 5, maxOpenPositions: 50, approvalAboveLots: 2 }
    await link({ purpose: 'trade_copier', isDemo: false, brokerType: 'ctrader', providerAccountId: null })
    await service.setUp({
      tenants: [{ id: 'ladders', providerToken: null }],
      challenges: [{ accountId: ids.rungs, status: 'failed', startedAt: '2026-02-01T00:00:00.000Z' }],
      desks: [{ id: 'd-2', tenantId: 'ladders', accounts: [ids.rungs], limits: { allowedSymbols: [] } }],
      traderLimits: [{ accountId: ids.rungs, limits: traderLimits }],
    })
    service.sandbox.faults.set('rungs', 'positions', { kind: 'timeout' })
    const order: Record<string, unknown> = { orderType: 'stop', symbol: 'eurusd', volume: 11, accountId: newAccountUuid(99) }
    const say = (changes: object) => async () => void Object.assign(order, changes)
    const rungs: readonly (readonly [mend: () => Promise<void>, code: string])[] = [
      [async () => undefined, '501 ORDER_TYPE_NOT_SUPPORTED'],
      [say({ orderType: 'market' }), '400 VALIDATION_ERROR'],
      [say({ symbol: shut }), '400 RISK_LIMIT_EXCEEDED volume_per_order'],
      [say({ volume: 6 }), '404 ACCOUNT_NOT_FOUND'],
      [say({ accountId: ids.rungs }), '403 ACCOUNT_PURPOSE_RESTRICTED'],
      [() => link({ purpose: 'trading' }), '403 LIVE_ACCOUNT_RESTRICTED'],
      [() => link({ isDemo: true }), '400 UNSUPPORTED_BROKER'],
      [() => link({ brokerType: 'mt5' }), '400 NOT_PROVISIONED'],
      [() => link({ providerAccountId: 'rungs' }), '503 BROKER_UNAVAILABLE'],
      [() => service.setUp({ tenants: [{ id: 'ladders', providerToken }] }), '403 CHALLENGE_LOCKED'],
      [
        () => service.setUp({ challenges: [{ accountId: ids.rungs, status: 'active', startedAt: '2026-02-02T00:00:00.000Z' }] }),
        '503 LIMIT_CHECK_UNAVAILABLE',
      ],
      [async () => service.sandbox.faults.clear(), '403 DESK_LIMIT_BREACHED allowedSymbols'],
      [() => service.setUp({ desks: [{ id: 'd-2', limits: { allowedSymbols: [shut] } }] }), '403 TRADER_LIMIT_BREACHED maxLotsPerOrder'],
      [say({ volume: 5 }), '409 APPROVAL_REQUIRED'],
      [say({ volume: 2 }), '400 RISK_LIMIT_EXCEEDED orders_per_day'],
      [async () => clock.advance(dayMs), '201'],
    ]
    const told: string[] = []
    for (const [mend] of rungs) {
      await mend()
      const { status, body } = await deskOf('u-day', 'rungs').post(order)
      told.push([status, body.error?.code, body.error?.details?.limit].filter((part) => part !== undefined).join(' '))
    }
    expect(told).toEqual(rungs.map(([, code]) => code))
    await noneIsPending(deskOf('u-day', 'rungs'))
    expect(sends(service, 'rungs')).toBe(1)
  })

  it('are never sent to an account that its broker does not call a demo account, whatever the link says', async () => {
    const desk = deskOf('u-mislinked', 'mislinked')
    const { status, body } = await desk.post()
    expect([status, body.data.status]).toEqual([201, 'pending'])
    expect(await desk.settled(body.data.id)).toMatchObject({ status: 'rejected', rejectReason: { code: 'LIVE_ACCOUNT_RESTRICTED' } })
    expect(sends(service, 'mislinked')).toBe(0)
    expect(refusalOf(await desk.post())).toMatchObject({ status: 403, code: 'LIVE_ACCOUNT_RESTRICTED' })
  })

  it('tells what it took of a volume over ten lots', async () => {
    const details = { limit: 'volume_per_order', allowed: 10, current: 10.01 }
    expect(refusalOf(await main.post({ volume: 10.01 }))).toEqual({ status: 400, code: 'RISK_LIMIT_EXCEEDED', details })
    expect((await main.post({ symbol: shut, volume: 10 })).status).toBe(201)
  })
})

describe('an order with an Idempotency-Key', () => {
  it('gives the first answer again, however the body is written, and makes no second order', async () => {
    const first = await withKey('k-1', { stopLoss: 1.05 })
    expect(first).toMatchObject({ status: 201, body: { data: { status: 'pending' } } })
    expect(first.headers.get('Idempotent-Replayed')).toBeNull()
    await keyed().settled(first.body.data.id)
    const { accountId, ...rest } = { stopLoss: 1.05, volume: 0.1, orderType: 'market', type: 'buy', symbol: 'EURUSD', accountId: ids.keyed }
    const again = await request(`${service.apiUrl}/api/v1/orders`, {
      method: 'POST',
      headers: { 'X-API-Key': keyOf('u-keyed'), 'Content-Type': 'application/json', 'Idempotency-Key': 'k-1' },
      body: `  ${JSON.stringify({ ...rest, volume: 0.1, accountId }, undefined, 2)}`,
    })
    expect([again.status, again.body.data]).toEqual([201, first.body.data])
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'))
    expect([await keyed().count(), sends(service, 'keyed')]).toEqual([1, 1])
  })

  it.each([{ volume: 0.2 }, { comment: '' }, { stopLoss: 1 }])('answers 409 for another body, such as %j', async (changes) => {
    await withKey('k-2', { symbol: shut })
    const before = await keyed().count()
    expect(refusalOf(await withKey('k-2', { symbol: shut, ...changes }))).toMatchObject({ status: 409, code: 'IDEMPOTENCY_KEY_REUSED' })
    expect(await keyed().count()).toBe(before)
  })

  it('makes one order of many requests at once', async () => {
    const before = await keyed().count()
    const replies = await Promise.all(Array.from({ length: 30 }, () => withKey('k-3', { symbol: shut })))
    const made = replies.filter(({ status }) => status === 201)
    expect(made.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)).toHaveLength(1)
    expect(new Set(made.map(({ body }) => body.data.id)).size).toBe(1)
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      expect(refusalOf(reply)).toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_PROGRESS' })
      expect(reply.headers.get('Retry-After')).toBe('1')
    }
    expect(await keyed().count()).toBe(before + 1)
  })

  it('answers 409 while the first is being checked, and gives its answer after that', async () => {
    await service.setUp({ traderLimits: [{ accountId: ids.keyed, limits: { maxOpenPositions: 100 } }] })
    service.sandbox.faults.set('keyed', 'positions', { kind: 'delay', ms: 5_000, times: 1 })
    const first = withKey('k-4', { symbol: shut })
    expect(
      await eventually(
        () => service.sandbox.requests.count({ account: 'keyed', route: 'positions' }),
        (count) => count === 1,
      ),
    ).toBe(1)
    expect(refusalOf(await withKey('k-4', { symbol: shut }))).toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_PROGRESS' })
    expect(refusalOf(await withKey('k-4', { symbol: 'EURUSD' }))).toMatchObject({ status: 409, code: 'IDEMPOTENCY_KEY_REUSED' })
    const { id } = (await first).body.data
    expect((await withKey('k-4', { symbol: shut })).body.data.id).toBe(id)
  })

  it('is free again after a refusal, for any body', async () => {
    expect((await withKey('k-5', { volume: 11 })).status).toBe(400)
    service.sandbox.faults.set('keyed', 'positions', { kind: 'timeout' })
    expect((await withKey('k-5', { symbol: shut })).status).toBe(503)
    service.sandbox.faults.clear()
    expect((await withKey('k-5', { symbol: shut, volume: 0.2 })).status).toBe(201)
  })

  it('is each user’s own', async () => {
    const mine = await withKey('k-6', { symbol: shut })
    const theirs = await main.post({ symbol: shut }, { 'Idempotency-Key': 'k-6' })
    expect([mine.status, theirs.status]).toEqual([201, 201])
    expect(theirs.headers.get('Idempotent-Replayed')).toBeNull()
    expect(theirs.body.data.id).not.toBe(mine.body.data.id)
  })

  it.each(['', 'x'.repeat(256), 'caf\u00e9'])('takes 1 to 255 printable characters, and not %j', async (key) => {
    expect(refusalOf(await withKey(key))).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  it('outlives a restart, as the orders do, and counts no more after 24 hours', async () => {
    const { positionId } = await keyed().placeAndSettle()
    const close = () => keyed().call('POST', `/positions/${positionId}/close`, {}, { 'Idempotency-Key': 'k-close' })
    const closed = await close()
    expect(closed).toMatchObject({ status: 200, body: { data: { remainingVolume: 0 } } })
    const first = await withKey('k-7', { symbol: shut })
    await noneIsPending(keyed())
    const before = (await keyed().get('/orders?limit=100')).body.data
    await service.restart()
    expect((await keyed().get('/orders?limit=100')).body.data).toEqual(before)
    const again = await withKey('k-7', { symbol: shut })
    expect([again.headers.get('Idempotent-Replayed'), again.body.data]).toEqual(['true', first.body.data])
    const closedAgain = await close()
    expect([closedAgain.headers.get('Idempotent-Replayed'), closedAgain.body.data]).toEqual(['true', closed.body.data])
    expect((await withKey('k-7')).status).toBe(409)
    clock.advance(dayMs)
    const anew = await withKey('k-7', { symbol: shut })
    expect([anew.status, anew.headers.get('Idempotent-Replayed')]).toEqual([201, null])
    expect(anew.body.data.id).not.toBe(first.body.data.id)
  })
})
