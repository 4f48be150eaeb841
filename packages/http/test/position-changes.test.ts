// PUT /positions/:id/sl and /tp and POST /positions/:id/close: their bodies, replies and refusals.
import { invalidPrice, invalidVolume, parseTicket } from '@tradeport/domain'
import type { ClosedPosition, Issue } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  accountId,
  caller,
  closedPosition,
  goodKey,
  issuesOf,
  jsonRequest,
  position,
  provenance,
  runApi,
  scopelessKey,
  send,
} from './fakes.ts'
import type { Answer, Running, SentRequest } from './fakes.ts'

const positionId = `${accountId}:42`

const routes = [
  { what: 'PUT /positions/:id/sl', method: 'PUT', tail: 'sl', field: 'value', body: { value: 1.05 } },
  { what: 'PUT /positions/:id/tp', method: 'PUT', tail: 'tp', field: 'value', body: { value: 1.5 } },
  { what: 'POST /positions/:id/close', method: 'POST', tail: 'close', field: 'volume', body: { volume: 0.05 } },
] as const

type ChangeRoute = (typeof routes)[number]

const targetOf = ({ tail }: ChangeRoute, id = positionId): string => `/api/v1/positions/${id}/${tail}`

const shownProvenance = { source: 'metaapi', accounts: [accountId], readAt: '2026-11-21T10:11:11.345Z' }

describe.each(routes)('$what', (route) => {
  let api: Running
  const calls: unknown[][] = []
  beforeAll(async () => {
    api = await runApi({
      moveStopLoss: (...inputs) => {
        calls.push(['sl', ...inputs])
        return TE.right({ position, provenance })
      },
      moveTakeProfit: (...inputs) => {
        calls.push(['tp', ...inputs])
        return TE.right({ position, provenance })
      },
      closePosition: (asking, id, volume) => {
        calls.push(['close', asking, id, volume])
        return TE.right({ closed: closedPosition, provenance })
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const ask = (request: SentRequest, id?: string): Promise<Answer> => {
    calls.length = 0
    return send(api, targetOf(route, id), request)
  }
  const change = (body: unknown, headers: SentRequest['headers'] = {}): Promise<Answer> => ask(jsonRequest(route.method, body, headers))
  const changeText = (body: string, headers: SentRequest['headers'] = {}): Promise<Answer> =>
    ask({ ...jsonRequest(route.method, {}, headers), body })
  const refused = async (answer: Promise<Answer>): Promise<readonly Issue[]> => {
    const issues = issuesOf(await answer)
    expect(calls).toEqual([])
    return issues
  }

  it('passes on the id as it was sent, and the value of the body', async () => {
    expect((await change(route.body)).status).toBe(200)
    expect(calls).toEqual([[route.tail, caller, positionId, Object.values(route.body)[0]]])
    await ask(jsonRequest(route.method, route.body), encodeURIComponent('no such\0thing'))
    expect(calls).toEqual([[route.tail, caller, 'no such\0thing', Object.values(route.body)[0]]])
  })

  it.each([Number.MIN_VALUE, 1e300, 10.01, 0.1 + 0.2])('accepts %d', async (number) => {
    expect((await change({ [route.field]: number })).status).toBe(200)
    expect(calls[0]?.[3]).toBe(number)
  })

  it.each([0, -1, -0.1, '1', '', null, true, [1], { value: 1 }])('refuses %j', async (value) => {
    const [issue, ...others] = await refused(change({ [route.field]: value }))
    expect([issue?.path, others]).toEqual([route.field, []])
    expect(issue?.message).toMatch(new RegExp(`^${route.field} must be a number above 0; got `))
  })

  it.each(['1e999', '-1e999', '-0'])('refuses the number %s', async (text) => {
    expect((await refused(changeText(`{"${route.field}":${text}}`))).map(({ path }) => path)).toEqual([route.field])
  })

  it.each([
    ['no body', ''],
    ['text that is not JSON', '{"value":1'],
    ['a list', '[]'],
    ['a text', '"1"'],
    ['a number', '1'],
    ['null', 'null'],
  ])('refuses %s', async (_, body) => {
    expect((await refused(changeText(body))).map(({ path }) => path)).toEqual(['body'])
  })

  it('refuses a request without a body, and a body without the content type of JSON', async () => {
    expect((await refused(ask({ method: route.method }))).map(({ path }) => path)).toEqual(['body'])
    expect((await refused(change(route.body, { 'content-type': 'text/plain' }))).map(({ path }) => path)).toEqual(['body'])
  })

  it('refuses a credential in the body', async () => {
    expect((await change({ ...route.body, api_key: goodKey })).status).toBe(401)
    expect(calls).toEqual([])
  })

  it('checks credential and scope before the body', async () => {
    expect((await ask({ ...jsonRequest(route.method, {}), headers: {} })).status).toBe(401)
    const scopeless = await changeText('null', { 'x-api-key': scopelessKey })
    expect([scopeless.status, scopeless.json.error?.details]).toEqual([403, { required_any_of: ['trading:write', 'positions:write'] }])
    expect(calls).toEqual([])
  })
})

describe('a level', () => {
  it.each([
    ['sl', { stopLoss: 1.05 }],
    ['tp', { takeProfit: 1.05 }],
  ])('that was moved by /%s is shown in the position, with provenance', async (tail, level) => {
    await using api = await runApi()
    const reply = await send(api, `/api/v1/positions/${positionId}/${tail}`, jsonRequest('PUT', { value: 1.05 }))
    expect(reply.json.data).toMatchObject({ id: positionId, brokerPositionId: '42', marginUsed: null, ...level })
    expect(reply.json.meta).toMatchObject({ provenance: shownProvenance })
    expect(reply.headers['cache-control']).toBe('no-store')
  })

  it('is required', async () => {
    await using api = await runApi()
    const [issue] = issuesOf(await send(api, `/api/v1/positions/${positionId}/sl`, jsonRequest('PUT', {})))
    expect(issue).toEqual({ path: 'value', message: 'value is required; it must be a number above 0' })
  })

  it('on the wrong side is refused with the current price', async () => {
    const refusal = invalidPrice({ level: 'takeProfit', side: 'sell', value: 1.3, currentPrice: 1.2 })
    await using api = await runApi({ moveTakeProfit: () => TE.left(refusal) })
    const reply = await send(api, `/api/v1/positions/${positionId}/tp`, jsonRequest('PUT', { value: 1.3 }))
    expect(reply.status).toBe(400)
    expect(reply.json.error).toMatchObject({
      code: 'INVALID_PRICE',
      message: 'takeProfit must be below the current price 1.2 for a sell; got 1.3.',
      details: { currentPrice: 1.2 },
    })
  })
})

describe('a close', () => {
  const target = `/api/v1/positions/${positionId}/close`
  const shown = {
    id: positionId,
    accountId,
    brokerPositionId: '42',
    brokerOrderId: '99',
    closedVolume: 0.1,
    remainingVolume: 0,
    closePrice: 1.2,
    realizedPnl: 10,
    closedAt: '2026-11-21T10:11:10.001Z',
  }

  it('of all is asked for with {}', async () => {
    const volumes: unknown[] = []
    await using api = await runApi({
      closePosition: (_caller, _id, volume) => {
        volumes.push(volume)
        return TE.right({ closed: closedPosition, provenance })
      },
    })
    expect((await send(api, target, jsonRequest('POST', {}))).status).toBe(200)
    expect(volumes).toEqual([undefined])
  })

  it.each<readonly [what: string, parts: Partial<ClosedPosition>, expected: object]>([
    ['all', {}, {}],
    ['a part', { remainingVolume: 0.2 }, { remainingVolume: 0.2 }],
    [
      'a part, the rest of which has a new number',
      { remainingVolume: 0.2, remainingTicket: O.toUndefined(parseTicket('43')) ?? position.ticket },
      { remainingVolume: 0.2, remainingPositionId: `${accountId}:43` },
    ],
    [
      'all, the deal of which was not found',
      { closePrice: null, realizedPnl: null, closedAt: null },
      { closePrice: null, realizedPnl: null, closedAt: null },
    ],
    ['all, the order of which is not known', { orderId: null }, { brokerOrderId: null }],
    ['all, at a loss of nothing', { realizedPnl: -0 }, { realizedPnl: 0 }],
  ])('of %s is shown with what is known of it', async (_, parts, expected) => {
    await using api = await runApi({ closePosition: () => TE.right({ closed: { ...closedPosition, ...parts }, provenance }) })
    const reply = await send(api, target, jsonRequest('POST', {}))
    expect([reply.status, reply.json.data]).toEqual([200, { ...shown, ...expected }])
    expect(reply.json.meta).toMatchObject({ provenance: shownProvenance })
    expect(reply.headers).not.toHaveProperty('location')
  })

  it('of too much is refused with how much is open', async () => {
    await using api = await runApi({ closePosition: () => TE.left(invalidVolume(0.3, 0.2)) })
    const reply = await send(api, target, jsonRequest('POST', { volume: 0.3 }))
    expect([reply.status, reply.json.error]).toMatchObject([400, { code: 'INVALID_VOLUME', details: { volume: 0.3, openVolume: 0.2 } }])
  })
})
