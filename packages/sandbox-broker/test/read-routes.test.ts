// The reading routes, and how they refuse.
import { describe, expect, it } from 'vitest'
import type { AccountInformation, DealRow } from '../src/index.ts'
import { EVER, NOON, setUp } from './harness.ts'

const errorOf = (name: string) =>
  expect.objectContaining({
    error: name,
    id: expect.any(Number) as number,
    message: expect.any(String) as string,
  })

const secondsBeforeNoon = (seconds: number): string =>
  new Date(NOON - seconds * 1_000).toISOString()

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
  it('has the start balance, and no marginLevel at margin 0', async () => {
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
})

describe('history-deals/time', () => {
  it('serves a loaded history unchanged, page by page', async () => {
    const deals = history(2_500)
    const { get } = await setUp({
      history: {
        platform: 'mt5',
        marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_NETTING',
        currency: 'EUR',
        deals,
      },
    })
    const pages = await Promise.all(
      [0, 1_000, 2_000, 3_000].map((offset) =>
        get<DealRow[]>(`history-deals/time/${EVER}?offset=${offset}&limit=1000`),
      ),
    )
    expect(pages.map((page) => page.body.length)).toEqual([1_000, 1_000, 500, 0])
    expect(pages.flatMap((page) => page.body)).toEqual(deals)
    expect((await get('account-information')).body).toMatchObject({
      balance: 250,
      currency: 'EUR',
      marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_NETTING',
    })
  })

  it.each([
    [`history-deals/time/${EVER}?limit=1001`, 'limit'],
    [`history-deals/time/${EVER}?limit=0`, 'limit'],
    [`history-deals/time/${EVER}?limit=ten`, 'limit'],
    [`history-deals/time/${EVER}?offset=-1`, 'offset'],
    ['history-deals/time/monday/2026-01-01T00:00:00.000Z', 'startTime'],
    ['history-deals/time/2026-01-01T00:00:00.000Z/never', 'endTime'],
  ])('refuses %s and names %s', async (path, parameter) => {
    const { get } = await setUp()
    const { status, body } = await get<{ details: { parameter: string }[] }>(path)
    expect(status).toBe(400)
    expect(body).toEqual(errorOf('ValidationError'))
    expect(body.details.map((detail) => detail.parameter)).toEqual([parameter])
  })
})

describe('tokens, paths and regions', () => {
  it('answers 401 without a known token, before it checks the account', async () => {
    const { get } = await setUp()
    const answers = await Promise.all([
      get('positions', { 'auth-token': 'wrong' }),
      get('/users/current/accounts/none/positions', { 'auth-token': '' }),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([401, 401])
    expect(answers[0]?.body).toEqual(errorOf('UnauthorizedError'))
  })

  it.each([
    '//',
    '/london/',
    '/users/current/%zz',
    '/users/current/accounts/%zz/positions',
    '/users/current/accounts/none/positions',
  ])('answers 404 to %s', async (path) => {
    const { get } = await setUp()
    expect((await get(path)).body).toEqual(errorOf('NotFoundError'))
  })

  it('answers 504 in the wrong region and 200 in the right one by its path, and logs each request by its route', async () => {
    const { get, sandbox } = await setUp({ region: 'london' })
    const path = '/users/current/accounts/acc/positions'
    const statuses = [
      await get(`/singapore${path}`),
      await get(`/london${path}`),
      await get(path),
    ].map(({ status }) => status)
    expect(statuses).toEqual([504, 200, 200])
    expect((await get('/users/current/accounts')).body).toMatchObject([
      { _id: 'acc', region: 'london', version: 5 },
    ])
    expect(await get('/users/current/accounts/acc')).toMatchObject({
      body: { _id: 'acc', state: 'DEPLOYED' },
    })
    expect(sandbox.requests.count({ account: 'acc', route: 'positions' })).toBe(3)
    expect(sandbox.requests.list().map(({ route }) => route)).toEqual([
      'positions',
      'positions',
      'positions',
      'accounts',
      'account',
    ])
    sandbox.requests.clear()
    expect(sandbox.requests.count()).toBe(0)
  })
})
