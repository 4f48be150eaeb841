// Unknown query parameters and body fields are refused by every route, with the nearest known name.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiRoutes } from '../src/index.ts'
import { goodKey, issuesOf, jsonRequest, requestOf, runApi, send, targetOf } from './fakes.ts'
import type { Running } from './fakes.ts'

const bodyOf = (route: (typeof apiRoutes)[number]): object => JSON.parse(String(requestOf(route).body)) as object
const fieldsOf = ({ body }: (typeof apiRoutes)[number]): readonly string[] => Object.keys(exampleOf(body))
const exampleOf = (body: (typeof apiRoutes)[number]['body']): object => Object(body?.example) as object

// The second letter is written twice: `liimit` is nearest to `limit`.
const misspelt = (name: string): string => name.slice(0, 2) + name.slice(1)

describe('an unknown name', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it.each(apiRoutes.filter(({ query }) => Object.keys(query).length > 0))('in the query of $method $path is refused', async (route) => {
    for (const name of Object.keys(route.query)) {
      const wrong = misspelt(name)
      const issues = issuesOf(await send(api, targetOf(route, `${wrong}=1`), requestOf(route)))
      expect(issues).toEqual([{ path: wrong, message: `${wrong} is not known; the nearest name is ${name}` }])
    }
  })

  it.each(apiRoutes.filter(({ query }) => Object.keys(query).length === 0))(
    'in the query of $method $path, which accepts none, is refused',
    async (route) => {
      const issues = issuesOf(await send(api, targetOf(route, 'page=1'), requestOf(route)))
      expect(issues).toEqual([{ path: 'page', message: 'page is not known; none is accepted here' }])
    },
  )

  it.each(apiRoutes.filter(({ body }) => body !== undefined))('in the body of $method $path is refused', async (route) => {
    for (const name of fieldsOf(route)) {
      const wrong = misspelt(name)
      const issues = issuesOf(await send(api, targetOf(route), jsonRequest(route.method, { ...bodyOf(route), [wrong]: null })))
      expect(issues).toEqual([{ path: wrong, message: `${wrong} is not known; the nearest name is ${name}` }])
    }
  })

  it('is refused together with every other fault, before them', async () => {
    const issues = issuesOf(await send(api, '/api/v1/positions?simbol=EURUSD&limit=0&pages=2'))
    expect(issues.map(({ path }) => path)).toEqual(['simbol', 'pages', 'limit'])
  })

  it('that may hold a secret is not repeated', async () => {
    const body = { value: 1, 'https://me:hush@example.com': 1 }
    const reply = await send(api, '/api/v1/positions/x/sl', jsonRequest('PUT', body))
    expect(issuesOf(reply)).toEqual([
      { path: 'a name that is not shown here', message: 'a name that is not shown here is not known; the nearest name is value' },
    ])
  })

  it.each([[{ toString: 1 }], [{ valueOf: 1, toString: null }], [[]], [{}], [null], [true]])(
    'and a value of another kind, such as %j, are faults and nothing worse',
    async (value) => {
      const issues = issuesOf(await send(api, '/api/v1/positions/x/sl', jsonRequest('PUT', { value, unknown: value })))
      expect(issues.map(({ path }) => path)).toEqual(['unknown', 'value'])
    },
  )

  it('and a text of millions of characters are refused in a few words', async () => {
    const long = 'x'.repeat(3_000_000)
    for (const [target, body] of [
      ['/api/v1/webhooks', { url: long, eventTypes: [long] }],
      ['/api/v1/orders', { symbol: long, comment: long, accountId: `://${long}` }],
    ] as const) {
      const reply = await send(api, target, jsonRequest('POST', body))
      expect(issuesOf(reply).length).toBeGreaterThan(1)
      expect(reply.text.length).toBeLessThan(3_000)
    }
  })

  it('is shortened, and at most 20 are named', async () => {
    const long = 'é'.repeat(200)
    const query = [long, ...Array.from({ length: 30 }, (_, index) => `y${index}`)].map((name) => `${encodeURIComponent(name)}=1`).join('&')
    const issues = issuesOf(await send(api, `/api/v1/positions?${query}`))
    expect(issues).toHaveLength(20)
    expect(issues[0]?.path).toBe(`${'é'.repeat(60)}…`)
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('is also %s', async (name) => {
    expect(issuesOf(await send(api, `/api/v1/positions?${name}=1`)).map(({ path }) => path)).toEqual([name])
    const headers = { 'x-api-key': goodKey, 'content-type': 'application/json' }
    const body = `{${JSON.stringify(name)}:1}`
    expect(issuesOf(await send(api, '/api/v1/positions/x/close', { method: 'POST', headers, body })).map(({ path }) => path)).toEqual([
      name,
    ])
  })
})
