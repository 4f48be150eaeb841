// PUT /positions/:id/sl and /tp and POST /positions/:id/close at the door: their bodies, scopes and replies (2.4, 4.3, section 7; decisions 2, 4, 5 and 28).
import {
  accountPurposeRestricted,
  brokerOutcomeUnknown,
  brokerUnavailable,
  internalTimeout,
  invalidPrice,
  invalidVolume,
  liveAccountRestricted,
  notProvisioned,
  parseTicket,
  positionNotFound,
  scopes,
  tradeRejected,
  unsupportedBroker,
} from '@tradeport/domain'
import type { BrokerRateLimited, ClosedPosition, Issue, Scope } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  accountId,
  caller,
  closedPosition,
  credential,
  goodKey,
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

const issuesOf = (reply: Answer): readonly Issue[] => {
  expect([reply.status, reply.json.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
  return reply.json.error?.details?.issues ?? []
}

const shownProvenance = { source: 'metaapi', accounts: [accountId], readAt: '2026-11-21T10:11:11.345Z' }

describe.each(routes)('$what', (route) => {
  let api: Running
  const asked: unknown[][] = []
  beforeAll(async () => {
    api = await runApi({
      moveStopLoss: (...inputs) => {
        asked.push(['sl', ...inputs])
        return TE.right({ position, provenance })
      },
      moveTakeProfit: (...inputs) => {
        asked.push(['tp', ...inputs])
        return TE.right({ position, provenance })
      },
      closePosition: (...inputs) => {
        asked.push(['close', ...inputs])
        return TE.right({ closed: closedPosition, provenance })
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const ask = (request: SentRequest, id?: string): Promise<Answer> => {
    asked.length = 0
    return send(api, targetOf(route, id), request)
  }
  const change = (body: unknown, headers: SentRequest['headers'] = {}): Promise<Answer> => ask(jsonRequest(route.method, body, headers))
  const changeText = (body: string, headers: SentRequest['headers'] = {}): Promise<Answer> =>
    ask({ ...jsonRequest(route.method, {}, headers), body })
  const refused = async (answer: Promise<Answer>): Promise<readonly Issue[]> => {
    const issues = issuesOf(await answer)
    expect(asked).toEqual([])
    return issues
  }

  it('asks for the change by the id as it was sent, and the value of the body', async () => {
    expect((await change(route.body)).status).toBe(200)
    expect(asked).toEqual([[route.tail, caller, positionId, Object.values(route.body)[0]]])
    await ask(jsonRequest(route.method, route.body), encodeURIComponent('no such\0thing'))
    expect(asked).toEqual([[route.tail, caller, 'no such\0thing', Object.values(route.body)[0]]])
  })

  it.each([Number.MIN_VALUE, 1e300, 10.01, 0.1 + 0.2])('takes %d, and fields that it does not know (decision 5)', async (number) => {
    expect((await change({ [route.field]: number, other: null, comment: 'x' })).status).toBe(200)
    expect(asked[0]?.[3]).toBe(number)
  })

  it.each([0, -1, -0.1, '1', '', null, true, [1], { value: 1 }])('refuses %j, which never gets to the broker', async (value) => {
    const [issue, ...others] = await refused(change({ [route.field]: value }))
    expect([issue?.path, others]).toEqual([route.field, []])
    expect(issue?.message).toMatch(new RegExp(`^${route.field} takes a number above 0; got `))
  })

  it.each(['1e999', '-1e999', '-0'])('refuses the number %s', async (text) => {
    expect((await refused(changeText(`{"${route.field}":${text}}`))).map(({ path }) => path)).toEqual([route.field])
  })

  it.each([
    ['no body', ''],
    ['what is no JSON', '{"value":1'],
    ['a list', '[]'],
    ['a text', '"1"'],
    ['a number', '1'],
    ['null', 'null'],
  ])('refuses %s (4.3 rule 8, decision 4)', async (_, body) => {
    expect((await refused(changeText(body))).map(({ path }) => path)).toEqual(['body'])
  })

  it('refuses a request that has no body at all, and a body that is not said to be JSON', async () => {
    expect((await refused(ask({ method: route.method }))).map(({ path }) => path)).toEqual(['body'])
    expect((await refused(change(route.body, { 'content-type': 'text/plain' }))).map(({ path }) => path)).toEqual(['body'])
  })

  it('refuses a credential in the body (decision 2)', async () => {
    expect((await change({ ...route.body, api_key: goodKey })).status).toBe(401)
    expect(asked).toEqual([])
  })

  it('tells of credential and scope before the body (decision 1)', async () => {
    expect((await ask({ ...jsonRequest(route.method, {}), headers: {} })).status).toBe(401)
    const scopeless = await changeText('null', { 'x-api-key': scopelessKey })
    expect([scopeless.status, scopeless.json.error?.details]).toEqual([403, { required_any_of: ['trading:write', 'positions:write'] }])
    expect(asked).toEqual([])
  })

  it.each<readonly [held: Scope, status: number]>(
    scopes.map((scope) => [scope, scope === 'trading:write' || scope === 'positions:write' ? 200 : 403]),
  )('for a holder of %s alone answers %i (section 5)', async (scope, status) => {
    await using other = await runApi({ identifyCaller: () => TE.right(credential([scope])) })
    expect((await send(other, targetOf(route), jsonRequest(route.method, route.body))).status).toBe(status)
  })

  it.each([
    [positionNotFound, 404, { code: 'POSITION_NOT_FOUND' }],
    [accountPurposeRestricted, 403, { code: 'ACCOUNT_PURPOSE_RESTRICTED' }],
    [liveAccountRestricted, 403, { code: 'LIVE_ACCOUNT_RESTRICTED' }],
    [unsupportedBroker(accountId), 400, { code: 'UNSUPPORTED_BROKER', details: { accountId } }],
    [notProvisioned(accountId), 400, { code: 'NOT_PROVISIONED', details: { accountId } }],
    [brokerUnavailable(accountId, 'down'), 503, { code: 'BROKER_UNAVAILABLE', details: { accountId } }],
    [
      { _tag: 'BrokerRateLimited', accountId, retryAfterSeconds: 7 } satisfies BrokerRateLimited,
      429,
      { code: 'BROKER_RATE_LIMITED', details: { accountId } },
    ],
    [
      tradeRejected('TRADE_RETCODE_MARKET_CLOSED', 'Market is closed'),
      422,
      { code: 'TRADE_REJECTED', details: { brokerCode: 'TRADE_RETCODE_MARKET_CLOSED', brokerMessage: 'Market is closed' } },
    ],
    [brokerOutcomeUnknown(accountId), 504, { code: 'BROKER_OUTCOME_UNKNOWN', details: { accountId } }],
    [internalTimeout, 504, { code: 'INTERNAL_TIMEOUT' }],
  ])('passes $_tag on as %i (section 7)', async (refusal, status, error) => {
    const refuse = () => TE.left(refusal)
    await using other = await runApi({ moveStopLoss: refuse, moveTakeProfit: refuse, closePosition: refuse })
    const reply = await send(other, targetOf(route), jsonRequest(route.method, route.body))
    expect([reply.status, reply.json.data]).toEqual([status, null])
    expect(reply.json.error).toMatchObject(error)
    expect(reply.headers['retry-after']).toBe(refusal._tag === 'BrokerRateLimited' ? '7' : undefined)
  })
})

describe('a level', () => {
  it.each([
    ['sl', { stopLoss: 1.05 }],
    ['tp', { takeProfit: 1.05 }],
  ])('that was moved by /%s is shown in the position, with provenance (2.1, 2.4)', async (tail, level) => {
    await using api = await runApi()
    const reply = await send(api, `/api/v1/positions/${positionId}/${tail}`, jsonRequest('PUT', { value: 1.05 }))
    expect(reply.json.data).toMatchObject({ id: positionId, brokerPositionId: '42', marginUsed: null, ...level })
    expect(reply.json.meta).toMatchObject({ provenance: shownProvenance })
    expect(reply.headers['cache-control']).toBe('no-store')
  })

  it('is required', async () => {
    await using api = await runApi()
    const [issue] = issuesOf(await send(api, `/api/v1/positions/${positionId}/sl`, jsonRequest('PUT', {})))
    expect(issue).toEqual({ path: 'value', message: 'value is required; it takes a number above 0' })
  })

  it('on the wrong side is refused with the current price (4.3 rule 5)', async () => {
    const refusal = invalidPrice({ level: 'takeProfit', side: 'sell', value: 1.3, currentPrice: 1.2 })
    await using api = await runApi({ moveTakeProfit: () => TE.left(refusal) })
    const reply = await send(api, `/api/v1/positions/${positionId}/tp`, jsonRequest('PUT', { value: 1.3 }))
    expect(reply.status).toBe(400)
    expect(reply.json.error).toMatchObject({
      code: 'INVALID_PRICE',
      message: 'The take profit 1.3 is on the wrong side of the current price 1.2. For a sell it must be below it.',
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

  it('of all takes {} (4.3 rule 8)', async () => {
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

  it.each<readonly [what: string, parts: Partial<ClosedPosition>, told: object]>([
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
    ['all, the order of which nobody told', { orderId: null }, { brokerOrderId: null }],
    ['all, at a loss of nothing', { realizedPnl: -0 }, { realizedPnl: 0 }],
  ])('of %s is shown with what is known of it (2.4)', async (_, parts, told) => {
    await using api = await runApi({ closePosition: () => TE.right({ closed: { ...closedPosition, ...parts }, provenance }) })
    const reply = await send(api, target, jsonRequest('POST', {}))
    expect([reply.status, reply.json.data]).toEqual([200, { ...shown, ...told }])
    expect(reply.json.meta).toMatchObject({ provenance: shownProvenance })
    expect(reply.headers).not.toHaveProperty('location')
  })

  it('of too much is refused with how much is open', async () => {
    await using api = await runApi({ closePosition: () => TE.left(invalidVolume(0.3, 0.2)) })
    const reply = await send(api, target, jsonRequest('POST', { volume: 0.3 }))
    expect([reply.status, reply.json.error]).toMatchObject([400, { code: 'INVALID_VOLUME', details: { volume: 0.3, openVolume: 0.2 } }])
  })
})
