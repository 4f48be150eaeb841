// Open positions as their user sees them, over several accounts of a simulated provider.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Fault, PositionRow } from '@tradeport/sandbox-broker'
import { providerToken, startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_positions'
const strangeKey = 'tp_live_only_for_automated_tests_positions_on_strange_accounts'
const tokenlessKey = 'tp_live_only_for_automated_tests_positions_without_token'
/** Of users whose provider token is refused for a while; each has a tenant and a token of its own. */
const limitedUsers = ['limited-1', 'limited-2', 'limited-3', 'limited-4', 'limited-5', 'limited-6'] as const
type LimitedUser = (typeof limitedUsers)[number]
const keyOf = (user: LimitedUser): string => `tp_live_only_for_automated_tests_positions_${user}`
const accountOf = (user: LimitedUser): string => newAccountUuid(10 + limitedUsers.indexOf(user))
const emptyKey = 'tp_live_only_for_automated_tests_positions_of_nobody'
const cacheMs = 2_500
const clock = createTestClock('2026-03-03T09:00:00.000Z')

const main = newAccountUuid(1)
const live = newAccountUuid(2)
const idle = newAccountUuid(3)
const paper = newAccountUuid(4)
const foreign = newAccountUuid(5)
const unprovisioned = newAccountUuid(6)
const tokenless = newAccountUuid(7)

let service: RunningService
/** The provider's rows in the order in which they were opened, with the account that each is on. */
const opened: { readonly accountId: string; readonly provider: string; readonly ticket: string }[] = []

const open = (accountId: string, provider: string, order: object): void => {
  clock.advance(60_000)
  const { positionId = '' } = service.sandbox.account(provider).trade({ volume: 0.2, ...order })
  opened.push({ accountId, provider, ticket: positionId })
}
const rowOf = (provider: string, ticket: string): PositionRow => {
  const row = service.sandbox
    .account(provider)
    .positions()
    .find(({ id }) => id === ticket)
  if (row === undefined) throw new Error(`no position ${ticket} on ${provider}`)
  return row
}
const idsOf = (accountIds: readonly string[] = [main, live, idle]): string[] =>
  opened.filter(({ accountId }) => accountIds.includes(accountId)).map(({ accountId, ticket }) => `${accountId}:${ticket}`)
const list = async (query = '', as = key) => {
  const reply = await service.get(`/positions${query}`, as)
  return { ...reply, ids: reply.body.data?.map(({ id }: Json) => id) }
}
/** What a position shows beside its levels and its margin. */
const shownOf = (row: PositionRow, accountId: string) => ({
  id: `${accountId}:${row.id}`,
  userId: 'u-1',
  accountId,
  brokerPositionId: row.id,
  symbol: row.symbol,
  type: row.type === 'POSITION_TYPE_BUY' ? 'buy' : 'sell',
  volume: row.volume,
  entryPrice: row.openPrice,
  currentPrice: row.currentPrice,
  swap: row.swap,
  commission: row.commission,
  unrealizedPnl: row.unrealizedProfit,
  realizedPnl: 0,
  openedAt: row.time,
})
/** Of a contract of so many units, in dollars. */
const marginOf = (row: PositionRow, units: number, leverage: number) =>
  Math.round((row.volume * units * row.openPrice * 100) / leverage) / 100
const readAnew = () => clock.advance(cacheMs)

beforeAll(async () => {
  service = await startTestService(
    [
      { id: 'main', leverage: 50 },
      { id: 'live', type: 'real' },
      ...['idle', 'unprovisioned', 'tokenless', ...limitedUsers].map((id) => ({ id })),
    ],
    { now: clock.now, providerTokens: [providerToken, ...limitedUsers] },
  )
  await service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [
      { id: main, providerAccountId: 'main' },
      { id: live, providerAccountId: 'live', fields: { isDemo: false } },
      { id: idle, providerAccountId: 'idle', fields: { status: 'disconnected', purpose: 'trade_copier' } },
      { id: paper, providerAccountId: 'none', fields: { brokerType: 'paper', providerAccountId: null } },
    ]),
    linkDocument({ tenant: 'acme', user: 'u-2', key: strangeKey, providerToken }, [
      { id: foreign, providerAccountId: 'foreign', fields: { brokerType: 'ctrader' } },
      { id: unprovisioned, providerAccountId: 'none', fields: { providerAccountId: null } },
    ]),
    linkDocument({ tenant: 'tokenless', user: 'u-3', key: tokenlessKey, providerToken }, [
      { id: tokenless, providerAccountId: 'tokenless' },
    ]),
    linkDocument({ tenant: 'acme', user: 'u-4', key: emptyKey, providerToken }, []),
    ...limitedUsers.map((user) =>
      linkDocument({ tenant: user, user, key: keyOf(user), providerToken: user }, [{ id: accountOf(user), providerAccountId: user }]),
    ),
  )
  await service.setUp({ tenants: [{ id: 'tokenless', providerToken: null }] })
  open(main, 'main', { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', stopLoss: 0.5, takeProfit: 2.5 })
  open(live, 'live', { actionType: 'ORDER_TYPE_SELL', symbol: 'XAUUSD', volume: 0.05 })
  open(main, 'main', { actionType: 'ORDER_TYPE_SELL', symbol: 'GBPUSD', takeProfit: 0.5 })
  open(idle, 'idle', { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD' })
  open(live, 'live', { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD' })
  for (let n = 0; n < 20; n += 1) open(idle, 'idle', { actionType: 'ORDER_TYPE_BUY', symbol: 'USDJPY', volume: 0.01 })
})
afterAll(() => service?.close())
beforeEach(() => {
  service.sandbox.faults.clear()
  readAnew()
})

describe('GET /positions', () => {
  it('covers every linked account but the paper book, oldest position first, by twenty', async () => {
    const { status, body, ids } = await list()
    expect(status).toBe(200)
    expect(ids).toEqual(idsOf().slice(0, 20))
    expect(body.meta.pagination).toEqual({ page: 1, limit: 20, total: 25, total_pages: 2, has_next: true, has_prev: false })
    expect(body.meta.provenance).toEqual({ source: 'metaapi', accounts: [main, live, idle], readAt: new Date(clock.now()).toISOString() })
    expect(service.sandbox.requests.count({ account: 'none' })).toBe(0)
  })

  it('answers page after page, and nothing beyond the last', async () => {
    expect((await list('?page=2')).ids).toEqual(idsOf().slice(20))
    expect((await list('?page=3&limit=10')).ids).toEqual(idsOf().slice(20))
    expect((await list('?limit=100')).ids).toEqual(idsOf())
    const beyond = await list('?page=4&limit=10')
    expect(beyond.ids).toEqual([])
    expect(beyond.body.meta.pagination).toEqual({ page: 4, limit: 10, total: 25, total_pages: 3, has_next: false, has_prev: true })
  })

  it('shows what the broker says of a position', async () => {
    const { body } = await list('?limit=3')
    const rows = opened.slice(0, 3).map(({ provider, ticket }) => rowOf(provider, ticket))
    const [first, second, third] = rows as [PositionRow, PositionRow, PositionRow]
    expect(body.data).toEqual([
      { ...shownOf(first, main), stopLoss: 0.5, takeProfit: 2.5, marginUsed: marginOf(first, 100_000, 50) },
      { ...shownOf(second, live), marginUsed: marginOf(second, 100, 100) },
      { ...shownOf(third, main), takeProfit: 0.5, marginUsed: marginOf(third, 100_000, 50) },
    ])
  })

  it('filters by account and by symbol', async () => {
    const one = await list(`?accountId=${live}`)
    expect(one.ids).toEqual(idsOf([live]))
    expect(one.body.meta.provenance.accounts).toEqual([live])
    const eurusd = await list('?symbol=EURUSD')
    expect(eurusd.body.data.map(({ symbol, accountId }: Json) => [symbol, accountId])).toEqual([
      ['EURUSD', main],
      ['EURUSD', idle],
      ['EURUSD', live],
    ])
    expect(eurusd.body.meta.pagination.total).toBe(3)
    expect((await list(`?accountId=${live}&symbol=GBPUSD`)).body).toMatchObject({
      data: [],
      meta: { pagination: { total: 0, total_pages: 0 } },
    })
  })

  it('is an empty list when no account is linked', async () => {
    expect((await list('', emptyKey)).body).toMatchObject({ success: true, data: [], meta: { provenance: { accounts: [] } } })
  })

  it.each<Fault>([{ kind: 'server-error' }, { kind: 'timeout' }, { kind: 'malformed-json' }, { kind: 'not-found' }, { kind: 'no-margin' }])(
    'shows null for a margin whose calculation fails ($kind), and the positions all the same',
    async (fault) => {
      // A volume of its own, because margins are kept for a minute.
      open(live, 'live', { actionType: 'ORDER_TYPE_BUY', symbol: 'AUDUSD', volume: 0.1 + opened.length / 100 })
      readAnew()
      service.sandbox.faults.set('live', 'margin', fault)
      const { status, body } = await list(`?accountId=${live}&symbol=AUDUSD&limit=100`)
      expect(status).toBe(200)
      expect(body.data.at(-1)).toMatchObject({ symbol: 'AUDUSD', marginUsed: null })
    },
  )

  it('shows null for a margin whose calculation is answered 429, too', async () => {
    service.sandbox.account('limited-6').trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'AUDUSD', volume: 0.1 })
    service.sandbox.faults.set('limited-6', 'margin', { kind: 'rate-limit' })
    const { status, body } = await list('', keyOf('limited-6'))
    expect([status, body.data]).toMatchObject([200, [{ symbol: 'AUDUSD', marginUsed: null }]])
  })
})

describe('an account that cannot be read', () => {
  it('fails the whole list and is named, while others answer when they are asked for', async () => {
    service.sandbox.faults.set('live', 'positions', { kind: 'timeout' })
    expect(await list()).toMatchObject({
      status: 503,
      body: { success: false, data: null, error: { code: 'BROKER_UNAVAILABLE', details: { accountId: live } } },
    })
    expect((await list(`?accountId=${main}`)).ids).toEqual(idsOf([main]))
  })

  it.each<[LimitedUser, string, Fault, string]>([
    ['limited-1', 'seconds in Retry-After', { kind: 'rate-limit', retryAfterSeconds: 7 }, '7'],
    ['limited-2', 'a date in Retry-After', { kind: 'rate-limit', retryAfterSeconds: 9, header: 'date' }, '9'],
    ['limited-3', 'recommendedRetryTime alone', { kind: 'rate-limit', retryAfterSeconds: 11, header: 'none' }, '11'],
    [
      'limited-4',
      'recommendedRetryTime in the format of HTTP',
      { kind: 'rate-limit', retryAfterSeconds: 13, header: 'none', retryTime: 'rfc1123' },
      '13',
    ],
    ['limited-5', 'no time at all', { kind: 'rate-limit', header: 'none', retryTime: 'none' }, '1'],
  ])('passes on how long the broker asks to wait, as %s is told by %s', async (user, _, fault, seconds) => {
    service.sandbox.faults.set(user, 'positions', fault)
    const { status, headers, body } = await list('', keyOf(user))
    expect({ status, code: body.error.code, details: body.error.details, wait: headers.get('Retry-After') }).toEqual({
      status: 429,
      code: 'BROKER_RATE_LIMITED',
      details: { accountId: accountOf(user) },
      wait: seconds,
    })
  })

  it.each([
    ['on another platform', foreign, 'UNSUPPORTED_BROKER'],
    ['not connected to the provider', unprovisioned, 'NOT_PROVISIONED'],
  ])('answers 400 for one that is %s', async (_, accountId, code) => {
    expect(await list(`?accountId=${accountId}`, strangeKey)).toMatchObject({
      status: 400,
      body: { error: { code, details: { accountId } } },
    })
    expect(await service.get(`/positions/${accountId}:1`, strangeKey)).toMatchObject({ status: 400, body: { error: { code } } })
  })

  it('fails a list over such accounts too', async () => {
    expect(await list('', strangeKey)).toMatchObject({
      status: 400,
      body: { error: { code: 'UNSUPPORTED_BROKER', details: { accountId: foreign } } },
    })
  })

  it('answers 400 for the paper book when it is asked for by name', async () => {
    expect(await list(`?accountId=${paper}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'UNSUPPORTED_BROKER', details: { accountId: paper } } },
    })
  })

  it('answers 503 without asking the broker when the tenant has no token', async () => {
    const refused = { status: 503, body: { error: { code: 'BROKER_UNAVAILABLE', details: { accountId: tokenless } } } }
    expect(await list('', tokenlessKey)).toMatchObject(refused)
    expect(await service.get(`/positions/${tokenless}:1`, tokenlessKey)).toMatchObject(refused)
    expect(service.sandbox.requests.count({ account: 'tokenless' })).toBe(0)
  })

  it.each([foreign, newAccountUuid(99)])('answers 404 for account %s, which is not the caller’s', async (id) => {
    expect(await list(`?accountId=${id}`)).toMatchObject({ status: 404, body: { error: { code: 'ACCOUNT_NOT_FOUND' } } })
  })
})

describe('GET /positions/:id', () => {
  it('answers the position of the list', async () => {
    const { body } = await list(`?accountId=${main}`)
    for (const position of body.data) {
      const one = await service.get(`/positions/${position.id}`, key)
      expect(one.body.data).toEqual(position)
      expect(one.body.meta.provenance).toEqual(body.meta.provenance)
      expect(one.body.meta).not.toHaveProperty('pagination')
    }
  })

  it('takes the colon of the id percent-encoded, as programs send it', async () => {
    const [id = ''] = idsOf([main])
    expect((await service.get(`/positions/${encodeURIComponent(id)}`, key)).body.data.id).toBe(id)
  })

  it('keeps the realised part of a position that was closed in part, and answers 404 once it is closed', async () => {
    open(main, 'main', { actionType: 'ORDER_TYPE_BUY', symbol: 'EURGBP', volume: 1 })
    const { ticket } = opened.at(-1) ?? { ticket: '' }
    const path = `/positions/${main}:${ticket}`
    service.sandbox.account('main').trade({ actionType: 'POSITION_PARTIAL', positionId: ticket, volume: 0.4 })
    readAnew()
    const row = rowOf('main', ticket)
    expect((await service.get(path, key)).body.data).toMatchObject({
      volume: 0.6,
      commission: row.commission,
      // The provider counts the closed part's charges into its realised profit; they stand in commission and swap already.
      realizedPnl: Math.round((row.realizedProfit - row.realizedCommission - row.realizedSwap) * 100) / 100,
    })
    service.sandbox.account('main').trade({ actionType: 'POSITION_CLOSE_ID', positionId: ticket })
    opened.pop()
    readAnew()
    expect(await service.get(path, key)).toMatchObject({ status: 404, body: { error: { code: 'POSITION_NOT_FOUND' } } })
  })

  it.each([
    ['of a ticket that is not there', `${main}:999999`],
    ['of an account that is not the caller’s', `${foreign}:1`],
    ['without an account', '12345'],
    ['without a ticket', `${main}:`],
    ['of a trade in another notation', `${main}-1`],
  ])('answers 404 for an id %s', async (_, id) => {
    expect(await service.get(`/positions/${id}`, key)).toMatchObject({ status: 404, body: { error: { code: 'POSITION_NOT_FOUND' } } })
  })
})
