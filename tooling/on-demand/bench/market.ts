// Market data through the whole service: a quote from the cache beside positions from the cache, a
// thousand candles from the database, and what a thousand streams of quotes ask of the provider.
import { setTimeout as pause } from 'node:timers/promises'
import { linkUsers, startProvider, startService } from '@tradeport/harness'
import { bounded, compared, inTurn, median, msOfEach, percentile, type Bench } from './bench.ts'
import { openStreams, streamsPerKey } from './open-streams.ts'
import { runLoad, splitCores } from './processes.ts'
import { accountOf, apiKeyOf, plainClient } from './service.ts'

const roundSeconds = 2
const rounds = 11
const candleReads = 200
const maxCandlesMs = 10
const streams = 1_000
const streamSeconds = 20
const symbols = 'EURUSD,GBPUSD,USDJPY,USDCHF,AUDUSD,USDCAD,EURGBP,XAUUSD,XAGUSD,US30'
const symbolCount = symbols.split(',').length
// A key may ask for a thousand quotes a minute.
const keys = Array.from({ length: 1_000 }, (_, index) => apiKeyOf(`market-${index}`))
const account = accountOf(0)
const day = 86_400_000

export const bench: Bench = async ({ stack, newDatabase }) => {
  const cores = splitCores(stack)
  const provider = await startProvider(stack, {
    accounts: [{ id: account.providerAccountId, generate: { trades: 10, openPositions: 1 } }],
  })
  const service = await startService(stack, {
    databaseUrl: await newDatabase(),
    providerUrl: provider.url,
    environment: { CAPABILITIES: 'market-data', METAAPI_MARKET_DATA_URL: provider.url },
    core: cores?.server,
  })
  await linkUsers(service, [{ id: 'bench', accounts: [account], keys }])
  const msPerRequest = async (path: string): Promise<number> => {
    const url = `${service.api}/${path}?accountId=${account.id}`
    const options = { url, seconds: roundSeconds, connections: 50, keys }
    const { perSecond } = await runLoad(stack, options, cores?.clients)
    return 1_000 / perSecond
  }
  const cached = await inTurn(
    rounds,
    { quotes: () => msPerRequest('quotes/EURUSD'), positions: () => msPerRequest('positions') },
    2,
  )

  const client = plainClient(service, keys[0] ?? '')
  const readCandles = () =>
    client.listCandles('EURUSD', {
      accountId: account.id,
      timeframe: '1m',
      endTime: new Date(Math.floor(Date.now() / day) * day - day).toISOString(),
      limit: 1_000,
    })
  if ((await readCandles()).data.length !== 1_000) throw new Error('candles are missing')
  const calls = provider.requests.count({ route: 'candles' })
  const candlesMs = await msOfEach(candleReads, readCandles)
  if (provider.requests.count({ route: 'candles' }) > calls)
    throw new Error('candles that were read are asked for again')

  const open = await openStreams(
    `${service.api}/quotes/stream?symbols=${symbols}&accountId=${account.id}`,
    keys.slice(0, streams / streamsPerKey),
  )
  await pause(2_000)
  const before = provider.requests.count({ route: 'price' })
  await pause(streamSeconds * 1_000)
  const reads = (provider.requests.count({ route: 'price' }) - before) / streamSeconds
  for (const stream of open) stream.close()
  return [
    {
      name: 'GET /quotes/:symbol from the cache',
      ...compared(cached.quotes, cached.positions),
      target: 1,
      against: `GET /positions of one position from the cache, ${rounds} rounds in turn`,
    },
    bounded(
      '1,000 candles from the database',
      median(candlesMs),
      maxCandlesMs,
      `one after the other with the client's own time, the 99th percentile of ${candleReads} is ${percentile(candlesMs, 0.99).toFixed(1)} ms`,
    ),
    {
      ...bounded(
        `reads a second of ${streams} streams of ${symbolCount} symbols`,
        reads,
        symbolCount,
        `each symbol once a second; over ${streamSeconds} s`,
      ),
      unit: 'calls',
    },
  ]
}
