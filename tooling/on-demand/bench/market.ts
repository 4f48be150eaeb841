// Market data through the whole service: a quote from the cache beside positions from the cache, a
// thousand candles from the database, and what a thousand streams of quotes ask of the provider.
import { get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import { createDatabase, median, percentile, timed, type Bench } from './bench.ts'
import type { Load, LoadOptions } from './load.ts'
import { runClient, splitCores } from './processes.ts'
import {
  accountUuid,
  apiKeyOf,
  askApi,
  linkUsers,
  providerToken,
  startService,
  type MeasuredService,
} from './service.ts'

const roundSeconds = 2
const rounds = 11
const candleReads = 200
const maxCandlesMs = 10
const streams = 1_000
const streamsPerKey = 5
const streamSeconds = 20
const symbols = 'EURUSD,GBPUSD,USDJPY,USDCHF,AUDUSD,USDCAD,EURGBP,XAUUSD,XAGUSD,US30'
const symbolCount = symbols.split(',').length
// A key may ask for a thousand quotes a minute.
const keys = Array.from({ length: 1_000 }, (_, index) => apiKeyOf(`market-${index}`))
const [key = ''] = keys
const accountId = accountUuid(0)
const day = 86_400_000

export const marketBench: Bench = {
  name: 'market',
  needsServer: true,
  run: async (server, closeLater) => {
    const cores = splitCores(closeLater)
    const sandbox = await startSandbox({
      tokens: [providerToken],
      accounts: [{ id: 'bench', generate: { trades: 10, openPositions: 1 } }],
    })
    closeLater(sandbox.close)
    const service = await startService(
      {
        databaseUrl: await createDatabase(server, closeLater),
        providerUrl: sandbox.url,
        environment: { CAPABILITIES: 'market-data', METAAPI_MARKET_DATA_URL: sandbox.url },
        core: cores?.server,
      },
      closeLater,
    )
    await linkUsers(service, [
      { id: 'bench', accounts: [{ id: accountId, providerAccountId: 'bench' }], keys },
    ])
    const rateOf = async (path: string): Promise<number> => {
      const options: LoadOptions = {
        url: `${service.api}/api/v1/${path}`,
        seconds: roundSeconds,
        connections: 50,
        keys,
      }
      const { statuses, perSecond } = await runClient<Load>('load.ts', options, cores?.clients)
      if (Object.keys(statuses).join() !== '200')
        throw new Error(`${path} was answered ${JSON.stringify(statuses)}`)
      return perSecond
    }
    const pairs: { readonly quotes: number; readonly positions: number }[] = []
    for (let round = -2; round < rounds; round += 1) {
      const pair = {
        quotes: await rateOf(`quotes/EURUSD?accountId=${accountId}`),
        positions: await rateOf(`positions?accountId=${accountId}`),
      }
      if (round >= 0) pairs.push(pair)
    }

    const until = new Date(Math.floor(Date.now() / day) * day - day).toISOString()
    const candles = `candles/EURUSD?accountId=${accountId}&timeframe=1m&endTime=${until}&limit=1000`
    const readCandles = () => askApi<{ readonly data: readonly unknown[] }>(service, key, candles)
    if ((await readCandles()).data.length !== 1_000) throw new Error('candles are missing')
    const calls = sandbox.requests.count({ route: 'candles' })
    const times: number[] = []
    for (let read = 0; read < candleReads; read += 1) times.push((await timed(readCandles)).ms)
    if (sandbox.requests.count({ route: 'candles' }) > calls)
      throw new Error('candles that were read are asked for again')

    const open = await openStreams(service)
    await pause(2_000)
    const before = sandbox.requests.count({ route: 'price' })
    await pause(streamSeconds * 1_000)
    const reads = (sandbox.requests.count({ route: 'price' }) - before) / streamSeconds
    for (const close of open) close()
    return [
      {
        name: 'GET /quotes/:symbol from the cache',
        ours: 1_000 / median(pairs.map(({ quotes }) => quotes)),
        reference: 1_000 / median(pairs.map(({ positions }) => positions)),
        ratio: median(pairs.map(({ quotes, positions }) => positions / quotes)),
        target: 1,
        against: `GET /positions of one position from the cache, ${rounds} rounds in turn`,
      },
      {
        name: '1,000 candles from the database',
        ours: median(times),
        reference: maxCandlesMs,
        target: 1,
        against: `the bound; one after the other with the client's own time, the 99th percentile of ${candleReads} is ${percentile(times, 0.99).toFixed(1)} ms`,
      },
      {
        name: `reads a second of ${streams} streams of ${symbolCount} symbols`,
        ours: reads,
        reference: symbolCount,
        unit: 'calls',
        target: 1,
        against: `the bound: each symbol once a second; over ${streamSeconds} s`,
      },
    ]
  },
}

const openStreams = async ({ api }: MeasuredService): Promise<readonly (() => void)[]> => {
  const url = `${api}/api/v1/quotes/stream?symbols=${symbols}&accountId=${accountId}`
  const open = (credential: string): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const request = get(url, { agent: false, headers: { 'X-API-Key': credential } }, (reply) => {
        if (reply.statusCode !== 200)
          return reject(new Error(`a stream was answered ${reply.statusCode}`))
        reply.on('error', () => undefined).resume()
        return resolve(() => request.destroy())
      })
      request.on('error', reject)
    })
  const all: (() => void)[] = []
  for (const credential of keys.slice(0, streams / streamsPerKey))
    all.push(...(await Promise.all(Array.from({ length: streamsPerKey }, () => open(credential)))))
  return all
}
