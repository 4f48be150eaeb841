// Previews of orders through the whole service, with a provider in another process: what they take
// beyond the provider's round trip, with terms and margin cached and the quote read, and at first.
import { setTimeout as pause } from 'node:timers/promises'
import { createDatabase, median, percentile, timed, type Bench } from './bench.ts'
import { splitCores, startBroker } from './processes.ts'
import { accountUuid, apiKeyOf, askApi, linkUsers, providerToken, startService } from './service.ts'

const providerDelayMs = 100
const boundMs = 20
/** A quote is kept for a second: by the time a symbol's turn comes again it is read again. */
const symbols = [
  ...['EURUSD', 'GBPUSD', 'USDJPY', 'USDCHF', 'AUDUSD', 'USDCAD', 'EURGBP', 'XAUUSD'],
  ...['XAGUSD', 'USOIL', 'UKOIL', 'US30', 'US500', 'NAS100', 'AAPL'],
]
const quoteMs = 1_100
/** Within the minute that a margin is kept. */
const previewsPerBatch = 50
const batches = 4
/** Each has one cold preview of either type. */
const accounts = 20

interface Preview {
  readonly data: {
    readonly checks: readonly object[]
    readonly estimate: { readonly margin: number | null }
  }
}

export const previewBench: Bench = {
  name: 'preview',
  needsServer: true,
  run: async (server, closeLater) => {
    const cores = splitCores(closeLater)
    const broker = await startBroker(providerToken, accounts, providerDelayMs, closeLater)
    const service = await startService(
      {
        databaseUrl: await createDatabase(server, closeLater),
        providerUrl: broker.line,
        environment: { CAPABILITIES: 'trading-tools, pending-orders' },
        core: cores?.server,
      },
      closeLater,
    )
    const key = apiKeyOf('preview')
    const linked = Array.from({ length: accounts }, (_, index) => ({
      id: accountUuid(index),
      providerAccountId: `watched-${index}`,
    }))
    await linkUsers(service, [{ id: 'preview', accounts: linked, keys: [key] }])

    const preview = async (fields: object): Promise<number> => {
      const order = { accountId: accountUuid(0), type: 'buy', orderType: 'market', ...fields }
      const { ms, result } = await timed(() =>
        askApi<Preview>(service, key, 'orders/preview', { volume: 0.1, ...order }),
      )
      if (result.data.checks.length < 20 || result.data.estimate.margin === null)
        throw new Error(`a preview is incomplete: ${JSON.stringify(result.data)}`)
      return ms
    }
    const roundTrip = async (): Promise<number> => {
      const url = `${broker.line}/users/current/accounts/watched-0/account-information`
      const read = await timed(() => fetch(url, { headers: { 'auth-token': providerToken } }))
      await read.result.text()
      return read.ms
    }

    const [market, limit]: number[][] = [[], []]
    for (const { id: accountId } of linked) {
      market?.push(await preview({ accountId, symbol: 'EURUSD' }))
      // Another symbol, of which nothing is known yet.
      limit?.push(await preview({ accountId, symbol: 'GBPUSD', orderType: 'limit', price: 0.5 }))
    }
    const [warm, trips]: number[][] = [[], []]
    for (let batch = 0; batch < batches; batch += 1) {
      await Promise.all(symbols.map((symbol) => preview({ symbol })))
      await pause(quoteMs)
      for (let turn = 0; turn < previewsPerBatch; turn += 1)
        warm?.push(await preview({ symbol: symbols[turn % symbols.length] }))
      for (let trip = 0; trip < 10; trip += 1) trips?.push(await roundTrip())
    }

    const tripMs = median(trips ?? [])
    const beyond = (times: readonly number[] = [], count: number, share = 0.5) => ({
      ours: percentile(times, share) - count * tripMs,
      reference: boundMs,
      target: 1,
      against: `the bound; ${times.length} one after the other, the first included; a round trip is ${tripMs.toFixed(1)} ms`,
    })
    return [
      { name: 'a preview beyond one round trip, median', ...beyond(warm, 1) },
      { name: 'a preview beyond one round trip, 99th percentile', ...beyond(warm, 1, 0.99) },
      { name: 'the first of a market order beyond two, median', ...beyond(market, 2) },
      { name: 'the first of a limit order beyond one, median', ...beyond(limit, 1) },
    ]
  },
}
