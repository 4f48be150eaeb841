// Which scopes pass where: the table of the documented scopes, compared with every route of the API and tried over HTTP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopes } from '@tradeport/domain'
import type { Scope } from '@tradeport/domain'
import { apiRoutes } from '@tradeport/http'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Reply, RunningService } from './support/running-service.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

/** Written by hand: a new route gets its row from its documentation, not from its record. */
const table: Readonly<Record<string, readonly Scope[] | 'everybody'>> = {
  'GET /accounts': ['accounts:read'],
  'GET /accounts/:id': ['accounts:read'],
  'GET /accounts/:id/history': ['accounts:read'],
  'POST /orders': ['trading:write', 'orders:write'],
  'PUT /orders/:id': ['trading:write', 'orders:write'],
  'DELETE /orders/:id': ['trading:write', 'orders:write'],
  'GET /orders': ['trading:read'],
  'GET /orders/:id': ['trading:read'],
  'GET /positions': ['trading:read', 'positions:read'],
  'GET /positions/:id': ['trading:read', 'positions:read'],
  'PUT /positions/:id/sl': ['trading:write', 'positions:write'],
  'PUT /positions/:id/tp': ['trading:write', 'positions:write'],
  'POST /positions/:id/close': ['trading:write', 'positions:write'],
  'GET /trades': ['trading:read', 'history:read'],
  'GET /trades/stats': ['trading:read', 'history:read'],
  'GET /trades/export': ['trading:read', 'history:read'],
  'GET /trades/:id': ['trading:read', 'history:read'],
  'GET /webhooks': ['webhooks:read'],
  'GET /webhooks/:id': ['webhooks:read'],
  'GET /webhooks/:id/deliveries': ['webhooks:read'],
  'POST /webhooks': ['webhooks:write'],
  'PUT /webhooks/:id': ['webhooks:write'],
  'DELETE /webhooks/:id': ['webhooks:write'],
  'POST /webhooks/:id/test': ['webhooks:write'],
  'POST /webhooks/:id/deliveries/:deliveryId/replay': ['webhooks:write'],
  'GET /symbols': 'everybody',
  'GET /quotes/:symbol': 'everybody',
  'GET /candles/:symbol': 'everybody',
  'GET /ticks/:symbol': 'everybody',
}

const rows = Object.entries(table).map(([route, passing]) => ({ route, passing }))
const scopedRows = rows.flatMap(({ route, passing }) => (passing === 'everybody' ? [] : [{ route, passing }]))

const withOnly = (scope: Scope): string => `tp_live_only_for_automated_tests_scopes_only_${scope.replace(':', '_')}`
const withAllBut = (route: string): string =>
  `tp_live_only_for_automated_tests_scopes_all_but_${scopedRows.findIndex((row) => row.route === route)}`

const keyEntry = (key: string, granted: readonly Scope[]) => ({
  id: key.replace('tp_live_', 'k_'),
  userId: 'u-1',
  name: 'bot',
  key,
  scopes: granted,
})

let service: RunningService

beforeAll(async () => {
  service = await startTestService([{ id: 'main' }])
  await service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-1', key: 'tp_live_only_for_automated_tests_scopes', providerToken }, [
      { id: newAccountUuid(1), providerAccountId: 'main' },
    ]),
    {
      apiKeys: [
        ...scopes.map((scope) => keyEntry(withOnly(scope), [scope])),
        ...scopedRows.map(({ route, passing }) =>
          keyEntry(
            withAllBut(route),
            scopes.filter((scope) => !passing.includes(scope)),
          ),
        ),
      ],
    },
  )
})
afterAll(() => service?.close())

const ask = (route: string, key?: string): Promise<Reply> => {
  const [method = '', path = ''] = route.split(' ')
  const target = path.replace(':id', newAccountUuid(9)).replace(':deliveryId', newAccountUuid(9)).replace(':symbol', 'EURUSD')
  const hasBody = method === 'POST' || method === 'PUT'
  return request(`${service.apiUrl}/api/v1${target}`, {
    method,
    headers: { ...(key === undefined ? {} : { 'X-API-Key': key }), ...(hasBody ? { 'Content-Type': 'application/json' } : {}) },
    ...(hasBody ? { body: '{}' } : {}),
  })
}

describe('the table of scopes', () => {
  it('has a row for every route, and no other', () => {
    expect(rows.map(({ route }) => route).toSorted()).toEqual(apiRoutes.map(({ method, path }) => `${method} ${path}`).toSorted())
  })

  it.each(apiRoutes)('is what the record of $method $path says', ({ method, path, access }) => {
    expect(access.kind === 'scoped' ? access.scopes : 'everybody').toEqual(table[`${method} ${path}`])
  })
})

describe('a key', () => {
  it.each(scopedRows)('with every scope but $passing is refused by $route, and told which would pass', async ({ route, passing }) => {
    const { status, body } = await ask(route, withAllBut(route))
    expect({ status, data: body.data, code: body.error.code, details: body.error.details }).toEqual({
      status: 403,
      data: null,
      code: 'INSUFFICIENT_SCOPE',
      details: { required_any_of: passing },
    })
  })

  it.each(scopedRows.flatMap(({ route, passing }) => passing.map((scope) => ({ route, scope }))))(
    'with $scope alone passes at $route',
    async ({ route, scope }) => {
      expect([401, 403, 429]).not.toContain((await ask(route, withOnly(scope))).status)
    },
  )

  it.each(rows.filter(({ passing }) => passing === 'everybody'))('is not needed at $route, nor is any scope', async ({ route }) => {
    for (const key of [undefined, 'tp_live_only_for_automated_tests_scopes_unknown', withOnly('finance:read')])
      expect([401, 403]).not.toContain((await ask(route, key)).status)
  })

  it('that is new may read accounts and market data', async () => {
    const { body } = await service.apply({ apiKeys: [{ id: 'k-new', userId: 'u-1' }] })
    const key = body.data.apiKeys[0].key
    expect((await ask('GET /accounts', key)).status).toBe(200)
    expect((await ask('GET /positions', key)).status).toBe(403)
  })

  it('has the scopes that it was given last, from then on', async () => {
    await service.setUp({
      apiKeys: [{ id: 'k-turned', userId: 'u-1', key: 'tp_live_only_for_automated_tests_scopes_turned', scopes: ['accounts:read'] }],
    })
    expect((await ask('GET /positions', 'tp_live_only_for_automated_tests_scopes_turned')).status).toBe(403)
    await service.setUp({ apiKeys: [{ id: 'k-turned', scopes: ['positions:read'] }] })
    expect((await ask('GET /positions', 'tp_live_only_for_automated_tests_scopes_turned')).status).toBe(200)
    expect((await ask('GET /accounts', 'tp_live_only_for_automated_tests_scopes_turned')).status).toBe(403)
  })
})
