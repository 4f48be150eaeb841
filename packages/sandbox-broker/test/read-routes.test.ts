// Every reading route in its happy shape, and how it refuses.
import { describe, expect, it } from 'vitest'
import type { AccountInformation, DealRow, PositionRow } from '../src/index.ts'
import { ROUTE_NAMES, type RouteName } from '../src/rest/route-names.ts'
import { EVER, NOON, setUp } from './harness.ts'

const errorOf = (name: string) =>
  expect.objectContaining({ error: name, id: expect.any(Number) as number, message: expect.any(String) as string })

const secondsBeforeNoon = (seconds: number): string => new Date(NOON - seconds * 1_000).toISOString()

const history = (count: number): DealRow[] =>
  Array.from({ length: count }, (_, index) => ({
    id: String(index + 1),
    platform: 'mt5',
    type: 'DEAL_TYPE_BALANCE',
    time: secondsBeforeNoon(count - index),
    profit: 0.1,
    commission: 0,
    swap: 0,
    extra: { kept: [index, null] },
  }))

describe('account-information', () => {
  it('reads the start balance and leaves marginLevel out at margin 0', async () => {
    const { get } = await setUp({ startBalance: 5_000, login: '77', type: 'contest', leverage: 30 })
    const { status, body } = await get<AccountInformation>('account-information')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      platform: 'mt5',
      balance: 5_000,
      equity: 5_000,
      margin: 0,
      freeMargin: 5_000,
      login: 77,
      leverage: 30,
      type: 'ACCOUNT_TRADE_MODE_CONTEST',
    })
    expect(body).not.toHaveProperty('marginLevel')
  })

  it('values open positions: equity from their profit, margin from the opening price', async () => {
    const { get, sandbox } = await setUp({ positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.1 }], commission: 'none' })
    const [position] = (await get<PositionRow[]>('positions')).body
    const { body } = await get<AccountInformation>('account-information')
    expect(body.equity).toBe(10_000 + (position?.unrealizedProfit ?? 0))
    expect(body.margin).toBe(Math.round((position?.openPrice ?? 0) * 10_000) / 100)
    expect(sandbox.account('acc').information()).toEqual(body)
  })
})

describe('history-deals/time', () => {
  it('serves a loaded history just as it stands, page by page', async () => {
    const deals = history(2_500)
    const { get } = await setUp({ history: { platform: 'mt5', marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_NETTING', currency: 'EUR', deals } })
    const pages = await Promise.all(
      [0, 1_000, 2_000, 3_000].map((offset) => get<DealRow[]>(`history-deals/time/${EVER}?offset=${offset}&limit=1000`)),
    )
    expect(pages.map((page) => page.body.length)).toEqual([1_000, 1_000, 500, 0])
    expect(pages.flatMap((page) => page.body)).toEqual(deals)
    expect((await get('account-information')).body).toMatchObject({
      balance: 250,
      currency: 'EUR',
      marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_NETTING',
    })
  })

  it('includes the start and excludes the end', async () => {
    const deals = history(10)
    const { get } = await setUp({ history: { deals } })
    const { body } = await get<DealRow[]>(`history-deals/time/${secondsBeforeNoon(8)}/${secondsBeforeNoon(5)}`)
    expect(body.map((deal) => deal.id)).toEqual(['3', '4', '5'])
  })

  it('puts deals without a readable time last in every range', async () => {
    const deals: DealRow[] = [{ id: 'x', time: 'yesterday' }, { id: 'y' }, ...history(3)]
    const { get } = await setUp({ history: { deals } })
    expect((await get<DealRow[]>(`history-deals/time/${EVER}`)).body.map((deal) => deal.id)).toEqual(['1', '2', '3', 'x', 'y'])
    expect((await get<DealRow[]>(`history-deals/time/${EVER}?offset=2&limit=2`)).body.map((deal) => deal.id)).toEqual(['3', 'x'])
    expect((await get<DealRow[]>(`history-deals/time/${EVER}?offset=4&limit=2`)).body.map((deal) => deal.id)).toEqual(['y'])
  })

  it.each([
    [`history-deals/time/${EVER}?limit=1001`, 'limit'],
    [`history-deals/time/${EVER}?limit=0`, 'limit'],
    [`history-deals/time/${EVER}?limit=ten`, 'limit'],
    [`history-deals/time/${EVER}?offset=-1`, 'offset'],
    ['history-deals/time/monday/2026-01-01T00:00:00.000Z', 'startTime'],
    ['history-deals/time/2026-01-01T00:00:00.000Z/never', 'endTime'],
    ['positions?refreshTerminalState=maybe', 'refreshTerminalState'],
  ])('refuses %s and names %s', async (path, parameter) => {
    const { get } = await setUp()
    const { status, body } = await get<{ details: { parameter: string }[] }>(path)
    expect(status).toBe(400)
    expect(body).toEqual(errorOf('ValidationError'))
    expect(body.details.map((detail) => detail.parameter)).toEqual([parameter])
  })
})

describe('tokens, paths and regions', () => {
  it('answers 401 without a known token, before it looks at the account', async () => {
    const { get } = await setUp()
    const answers = await Promise.all([
      get('positions', { 'auth-token': 'wrong' }),
      get('/users/current/accounts/none/positions', { 'auth-token': '' }),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([401, 401])
    expect(answers[0]?.body).toEqual(errorOf('UnauthorizedError'))
  })

  it('answers 404 for an unknown account, path or one that the token does not see, and 405 for another method', async () => {
    const { get, post } = await setUp({}, { tokens: ['sandbox-token', { token: 'narrow', accounts: [] }] })
    expect((await get('/users/current/accounts/none/positions')).status).toBe(404)
    expect((await get('positions', { 'auth-token': 'narrow' })).status).toBe(404)
    expect((await get('/users/current/nothing')).body).toEqual(errorOf('NotFoundError'))
    expect((await post('positions', {})).status).toBe(405)
  })

  it.each(['//', '/', '/london', '/london/', '/users/current/%zz', '/users/current/accounts/%zz/positions', '/sandbox/v1/%zz'])(
    'answers 404 to %s',
    async (path) => {
      const { get } = await setUp()
      expect((await get(path)).body).toEqual(errorOf('NotFoundError'))
    },
  )

  it('answers 504 in the wrong region, and answers in the right one', async () => {
    const { get } = await setUp({ region: 'london' })
    const path = '/users/current/accounts/acc/positions'
    expect((await get(`/london${path}`)).status).toBe(200)
    const wrong = await get(`/new-york${path}`)
    expect(wrong.status).toBe(504)
    expect(wrong.body).toMatchObject({ error: 'TimeoutError', metadata: {} })
  })

  it('answers 504 for an account that is not deployed or not connected', async () => {
    const { get, sandbox } = await setUp({ state: 'UNDEPLOYED' })
    expect((await get('positions')).status).toBe(504)
    sandbox.account('acc').deployment({ state: 'DEPLOYED', connectionStatus: 'DISCONNECTED_FROM_BROKER' })
    expect((await get('positions')).status).toBe(504)
    sandbox.account('acc').deployment({ connectionStatus: 'CONNECTED' })
    expect((await get('positions')).status).toBe(200)
  })
})

/** The path of each route; one that begins with / is not of an account. */
const PATHS: Readonly<Record<RouteName, string>> = {
  accounts: '/users/current/accounts',
  account: '/users/current/accounts/acc',
  deploy: 'deploy',
  undeploy: 'undeploy',
  regions: '/users/current/regions',
  'account-information': 'account-information',
  positions: 'positions',
  position: 'positions/1',
  orders: 'orders',
  order: 'orders/1',
  trade: 'trade',
  deals: `history-deals/time/${EVER}`,
  'deals-by-position': 'history-deals/position/1',
  'deals-by-ticket': 'history-deals/ticket/1',
  'history-orders': `history-orders/time/${EVER}`,
  'history-orders-by-position': 'history-orders/position/1',
  'history-orders-by-ticket': 'history-orders/ticket/1',
  margin: 'calculate-margin',
  symbols: 'symbols',
  specification: 'symbols/EURUSD/specification',
  price: 'symbols/EURUSD/current-price',
  'server-time': 'server-time',
}
const POSTED: readonly RouteName[] = ['deploy', 'undeploy', 'trade', 'margin']

describe('the request log', () => {
  it.each(ROUTE_NAMES)('names the route %s', async (route) => {
    const { get, post, sandbox } = await setUp()
    await (POSTED.includes(route) ? post(PATHS[route], {}) : get(PATHS[route]))
    expect(sandbox.requests.byRoute()).toEqual({ [route]: 1 })
  })

  it('counts by account and route', async () => {
    const { get, sandbox } = await setUp()
    await get('positions')
    await get('positions')
    await get('account-information')
    await get('/users/current/accounts/other/positions')
    expect(sandbox.requests.count()).toBe(4)
    expect(sandbox.requests.count({ route: 'positions' })).toBe(3)
    expect(sandbox.requests.count({ account: 'acc', route: 'positions' })).toBe(2)
    expect(sandbox.requests.list({ account: 'other' })).toMatchObject([{ method: 'GET', route: 'positions', status: 404 }])
    sandbox.requests.clear()
    expect(sandbox.requests.count()).toBe(0)
  })
})
