// Previews of orders through the whole service, with a provider in another process: what they take
// beyond the provider's round trip, with terms and margin cached and the quote read, and at first.
import { setTimeout as pause } from 'node:timers/promises'
import type { NewOrder } from '@tradeport/client'
import { providerToken } from '@tradeport/harness'
import { bounded, inTurn, median, msOf, msOfEach, percentile, timed, type Bench } from './bench.ts'
import { splitCores } from './processes.ts'
import { accountOf, accountsOf, openService, smallOrder } from './service.ts'

const providerDelayMs = 100
const boundMs = 20
/** A quote is kept for a second: by the time a symbol's turn comes again it is read again. */
const symbols =
  'EURUSD GBPUSD USDJPY USDCHF AUDUSD USDCAD EURGBP XAUUSD XAGUSD USOIL UKOIL US30 US500 NAS100 AAPL'.split(
    ' ',
  )
const quoteMs = 1_100
/** Within the minute that a margin is kept. */
const previewsPerBatch = 50
const batches = 4
/** Each has one cold preview of either type. */
const accounts = accountsOf(20)

export const bench: Bench = async (tools) => {
  const { provider, client } = await openService(
    tools,
    { accounts: accounts.length, delayMs: providerDelayMs },
    {
      environment: { CAPABILITIES: 'trading-tools, pending-orders' },
      core: splitCores(tools.stack)?.server,
    },
  )

  const preview = async (fields: Partial<NewOrder>, { id } = accountOf(0)): Promise<number> => {
    const order = { ...smallOrder, accountId: id, volume: 0.1, ...fields }
    const { ms, result } = await timed(() => client.previewOrder(order))
    if (result.data.checks.length < 20 || result.data.estimate.margin === null)
      throw new Error(`a preview is incomplete: ${JSON.stringify(result.data)}`)
    return ms
  }
  const roundTrip = () =>
    msOf(async () => {
      const url = `${provider.ready}/users/current/accounts/account-0/account-information`
      await (await fetch(url, { headers: { 'auth-token': providerToken } })).text()
    })

  const first = await inTurn(
    accounts.length,
    {
      market: (index) => preview({}, accounts[index]),
      // Another symbol, of which nothing is known yet.
      limit: (index) =>
        preview({ symbol: 'GBPUSD', orderType: 'limit', price: 0.5 }, accounts[index]),
    },
    0,
  )
  const [warm, trips]: [number[], number[]] = [[], []]
  for (let batch = 0; batch < batches; batch += 1) {
    await Promise.all(symbols.map((symbol) => preview({ symbol })))
    await pause(quoteMs)
    for (let turn = 0; turn < previewsPerBatch; turn += 1)
      warm.push(await preview({ symbol: symbols[turn % symbols.length] ?? '' }))
    trips.push(...(await msOfEach(10, roundTrip)))
  }

  const tripMs = median(trips)
  const beyond = (name: string, times: readonly number[], count: number, share = 0.5) =>
    bounded(
      name,
      percentile(times, share) - count * tripMs,
      boundMs,
      `${times.length} one after the other, the first included; a round trip is ${tripMs.toFixed(1)} ms`,
    )
  return [
    beyond('a preview beyond one round trip, median', warm, 1),
    beyond('a preview beyond one round trip, 99th percentile', warm, 1, 0.99),
    beyond('the first of a market order beyond two, median', first.market, 2),
    beyond('the first of a limit order beyond one, median', first.limit, 1),
  ]
}
