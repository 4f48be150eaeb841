// Market data: as the specification has it without the capability, and with it who may read what,
// what may be cached, and how a stream is written.
import { refuse } from '@tradeport/domain/errors'
import type { StreamedQuote } from '@tradeport/domain/use-cases'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import {
  accountId,
  fakeDependencies,
  goodKey,
  issuesOf,
  lasting,
  scopelessKey,
  now,
  runApi,
  send,
} from './fakes.ts'

const get = (api: Awaited<ReturnType<typeof runApi>>, target: string, key?: string) =>
  send(api, `/api/v1${target}`, { headers: key === undefined ? {} : { 'x-api-key': key } })

const hasNoFeed = () => TE.left(refuse('NotImplemented', { feature: 'market-data' }))

describe('without the capability', async () => {
  const api = await lasting(
    runApi(
      { getQuote: hasNoFeed, listCandles: hasNoFeed, listTicks: hasNoFeed },
      fakeDependencies({ capabilities: [] }),
    ),
  )

  it.each([
    ['/symbols', 200, undefined],
    ['/quotes/EURUSD', 501, 'NOT_IMPLEMENTED'],
    ['/candles/EURUSD?timeframe=1h', 501, 'NOT_IMPLEMENTED'],
    ['/ticks/EURUSD', 501, 'NOT_IMPLEMENTED'],
    ['/candles/EURUSD', 400, 'VALIDATION_ERROR'],
    ['/quotes/eurusd', 400, 'VALIDATION_ERROR'],
    [`/quotes/EURUSD?accountId=${accountId}`, 400, 'VALIDATION_ERROR'],
    [`/symbols?accountId=${accountId}`, 400, 'VALIDATION_ERROR'],
    ['/symbols?limit=5', 400, 'VALIDATION_ERROR'],
    ['/quotes?symbols=EURUSD', 404, 'NOT_FOUND'],
    // The symbol of a quote, and no symbol.
    ['/quotes/stream?symbols=EURUSD', 400, 'VALIDATION_ERROR'],
  ])('%s is %i %s', async (target, status, code) => {
    const reply = await get(api, target)
    expect([reply.status, reply.json.error?.code]).toEqual([status, code])
  })
})

describe('with the capability', async () => {
  const api = await lasting(runApi())

  it.each([
    '/symbols',
    '/quotes/EURUSD',
    '/quotes?symbols=EURUSD',
    '/candles/EURUSD?timeframe=1M',
    '/ticks/EURUSD',
  ])('%s needs a credential with the scope for an account, and none without one', async (path) => {
    const ofAccount = `${path}${path.includes('?') ? '&' : '?'}accountId=${accountId}`
    const replies = [
      await get(api, path),
      await get(api, path, 'tp_live_unknown'),
      await get(api, ofAccount),
      await get(api, ofAccount, 'tp_live_unknown'),
      await get(api, `${ofAccount}&api_key=${goodKey}`, goodKey),
      await get(api, ofAccount, scopelessKey),
      await get(api, ofAccount, goodKey),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 401, 401, 401, 403, 200])
    expect(replies[5]?.json.error?.details).toEqual({ required_any_of: ['market-data:read'] })
  })

  it.each(['EURUSD,', 'eurusd', Array(51).fill('EURUSD').join()])(
    'refuses the symbols %s',
    async (symbols) => {
      const reply = await get(api, `/quotes?symbols=${symbols}`)
      expect(issuesOf(reply)).toMatchObject([{ path: 'symbols' }])
    },
  )

  it('a stream needs a credential, and writes each quote and why there is none', async () => {
    const quote = { symbol: 'EURUSD', bid: 1, ask: 1.5, spread: 0.5, time: now, stale: true }
    const batches: readonly (readonly StreamedQuote[])[] = [
      [quote],
      [],
      [{ symbol: 'XAUUSD', refusal: refuse('BrokerUnavailable', { accountId, reason: 'x' }) }],
    ]
    await using streaming = await runApi({
      streamQuotes: () =>
        TE.right({
          batches: (async function* () {
            yield* batches
          })(),
          close: () => undefined,
        }),
    })
    const target = '/quotes/stream?symbols=EURUSD,XAUUSD'
    expect((await get(streaming, target)).status).toBe(401)
    const { text, headers } = await get(streaming, target, goodKey)
    expect(headers['content-type']).toBe('text/event-stream')
    expect(text).toBe(
      `retry: 2000\n\nevent: quote\ndata: ${JSON.stringify({ ...quote, time: '2026-11-21T10:11:12.345Z' })}\n\n` +
        'event: quote_unavailable\ndata: {"symbol":"XAUUSD","code":"BROKER_UNAVAILABLE"}\n\n',
    )
  })
})
