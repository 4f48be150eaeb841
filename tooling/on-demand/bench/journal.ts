// The journal through the whole service on a PostgreSQL server: reading a history of 20,000 deals
// for the first time and again, and answering from it, alone and beside ten million deals of
// others. Provider, service and this bench are three processes.
import { setTimeout as pause } from 'node:timers/promises'
import { probed, providerToken } from '@tradeport/harness'
import type { Client } from '@tradeport/client'
import { bounded, compared, inTurn, median, msOf, query, type Bench } from './bench.ts'
import { accountOf, heldMs, openService } from './service.ts'

const historyDeals = 20_000
const pageSize = 1_000
const rounds = 8
const queries = 100
const othersDeals = 10_000_000
const pageDelayMs = 5
/** Requests within five seconds of a read do not read again. */
const staleMs = 5_200
const maxHoldMs = 15

export const bench: Bench = async (tools) => {
  const { provider, databaseUrl, service, client, startAnother } = await openService(
    tools,
    { accounts: 2 * rounds + 2, deals: historyDeals },
    { nodeOptions: probed },
  )

  /** Both in turn on histories that neither has read; the first pair does not count. */
  const firstReads = (from: number) =>
    inTurn(rounds, {
      pages: (round) => msOf(() => fetchPages(provider.ready, from + 1 + round)),
      ours: (round) => msOf(() => readTrades(client, from + 1 + round)),
    })
  await heldMs(service)
  const near = await firstReads(0)
  const hold = await heldMs(service)
  await provider.ask(`delay ${pageDelayMs}`)
  const far = await firstReads(rounds + 1)
  const { client: fresh, serverMs } = await startAnother()
  await pause(staleMs)
  const { again } = await inTurn(rounds, {
    again: (round) => msOf(() => readTrades(fresh, rounds + 2 + round)),
  })
  await provider.ask('delay 0')

  const answerMs = (route: string, read: typeof readTrades) =>
    serverMs(route, async () => {
      for (let count = 0; count < queries; count += 1) await read(fresh, rounds + 1)
    })
  /** Of requests that the journal answers without the broker. */
  const answers = async () => ({
    page: await answerMs('/trades', readTrades),
    statistics: await answerMs('/trades/stats', readStatistics),
  })
  // The planner knows the tables in both cases, as it does of those that are not new.
  await query(databaseUrl, 'vacuum analyze deals, trades')
  // A fresh process compiles its code during its first requests.
  await answers()
  const alone = await answers()
  await query(databaseUrl, ...othersJournals)
  await answers()
  const beside = await answers()
  const answered = (what: string, of: 'page' | 'statistics', bound: number) => [
    bounded(
      `${what} over ${historyDeals} deals`,
      alone[of],
      bound,
      `mean of ${queries} requests one after the other, in the service`,
    ),
    {
      name: `${what} beside ${othersDeals} deals of others`,
      ours: beside[of],
      reference: alone[of],
      target: 1.2,
      against: 'the same without them',
    },
  ]
  return [
    {
      name: `first read of ${historyDeals} deals`,
      ...compared(near.ours, near.pages),
      target: 2,
      against: 'fetching its pages one after the other and parsing them as JSON',
    },
    bounded(
      'how long such a read holds other requests',
      hold,
      maxHoldMs,
      `ours is the processor time of the longest turn of the event loop in ${rounds + 1} reads`,
    ),
    {
      name: 'a later read, by a fresh process',
      ours: median(again),
      reference: median(far.ours),
      target: 0.15,
      against: `the first read, both from a provider that takes ${pageDelayMs} ms a page`,
    },
    ...answered('a page of trades', 'page', 5),
    ...answered('statistics', 'statistics', 60),
  ]
}

const requireWhole = (trades: number): void => {
  if (trades !== historyDeals / 2) throw new Error(`the history has ${trades} trades`)
}

const readTrades = async (client: Client, account: number): Promise<void> => {
  const { meta } = await client.listTrades({ limit: 100, accountId: accountOf(account).id })
  requireWhole(meta.pagination.total)
}

const readStatistics = async (client: Client, account: number): Promise<void> => {
  const { data } = await client.getTradeStatistics({ accountId: accountOf(account).id })
  requireWhole(data.totalTrades)
}

// One request after another, as a client must that learns from a short page that there are no more.
const fetchPages = async (providerUrl: string, account: number): Promise<void> => {
  const span = ['1970-01-01T00:00:00.000Z', new Date(Date.now() + 86_400_000).toISOString()]
    .map(encodeURIComponent)
    .join('/')
  const { providerAccountId } = accountOf(account)
  for (let offset = 0; offset <= historyDeals; offset += pageSize) {
    const url = `${providerUrl}/users/current/accounts/${providerAccountId}/history-deals/time/${span}?offset=${offset}&limit=${pageSize}`
    const response = await fetch(url, { headers: { 'auth-token': providerToken } })
    if (response.status !== 200) throw new Error(`the provider answered ${response.status}`)
    await response.json()
  }
}

const otherAccount = `('00000000-0000-4000-8000-' || lpad((n % 1000)::text, 12, '0'))::uuid`
/** Journals of a thousand accounts that belong to nobody here, of the same size each. */
const othersJournals = [
  `insert into deals (tenant_id, account_id, time_ms, id, entry, kind, position_id, symbol, volume, price, profit, commission, swap)
   select 'others', ${otherAccount}, 1700000000000 + n * 1000, n::text, case n % 2 when 0 then 'in' else 'out' end, 'buy', (n / 2)::text, 'EURUSD',
     0.1, 1.1, 1, -0.1, 0 from generate_series(1::bigint, ${othersDeals}) n`,
  `insert into trades (tenant_id, account_id, position_id, status, symbol, side, volume, entry_price, exit_price, profit, commission, swap,
     net_profit, opened_at, closed_at, holding_time, closing_deal_id)
   select 'others', ${otherAccount}, n::text, 'closed', 'EURUSD', 'buy', 0.1, 1.1, 1.2, 1, -0.1, 0, 0.9, 1700000000000 + n * 1000,
     1700000000000 + n * 2000, 1000, n::text from generate_series(1::bigint, ${othersDeals / 2}) n`,
  'vacuum analyze deals, trades',
  // Or the server would write these rows to disk during the measurements.
  'checkpoint',
]
