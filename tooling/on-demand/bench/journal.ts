// The journal through the whole service on a PostgreSQL server: reading a history of 20,000 deals
// for the first time and again, and answering from it, alone and beside ten million deals of
// others. Provider, service and this bench are three processes.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createDatabase, median, timed, withClient, type Bench, type Ratio } from './bench.ts'
import { accountUuid, apiKeyOf, askApi, historyDeals, linkUsers } from './service.ts'
import { providerToken, startHistoryProvider, startService } from './service.ts'
import type { MeasuredService } from './service.ts'

const pageSize = 1_000
const rounds = 9
const queries = 40
const othersDeals = 10_000_000
const pageDelayMs = 5
/** Requests within five seconds of a read do not read again. */
const staleMs = 5_200
const maxHoldMs = 15
const key = apiKeyOf('bench')
const holdMeter = new URL('./hold-meter.ts', import.meta.url).href

export const journalBench: Bench = {
  name: 'journal',
  needsServer: true,
  run: async (server, closeLater) => {
    const databaseUrl = await createDatabase(server, closeLater)
    const names = Array.from({ length: 2 * rounds }, (_, index) => `bench-${index}`)
    const providerUrl = await startHistoryProvider(names, closeLater)
    const start = () =>
      startService({ databaseUrl, providerUrl, nodeOptions: ['--import', holdMeter] }, closeLater)
    const service = await start()
    const accounts = names.map((providerAccountId, index) => ({
      id: accountUuid(index),
      providerAccountId,
    }))
    await linkUsers(service, [{ id: 'bench', accounts, keys: [key] }])

    /** Both in turn on histories that neither has read; the first pair does not count. */
    const inTurn = async (from: number) => {
      const pairs: { readonly ours: number; readonly reference: number }[] = []
      for (let index = from; index < from + rounds - 1; index += 1) {
        const { ms: reference } = await timed(() => fetchPages(providerUrl, names[index] ?? ''))
        pairs.push({ reference, ours: (await timed(() => readTrades(service, index))).ms })
      }
      const counted = pairs.slice(1)
      return {
        ours: median(counted.map((pair) => pair.ours)),
        reference: median(counted.map((pair) => pair.reference)),
        ratio: median(counted.map((pair) => pair.ours / pair.reference)),
      }
    }
    await longestHold(service)
    const near = await inTurn(1)
    const hold = await longestHold(service)
    await setDelay(providerUrl, pageDelayMs)
    const far = await inTurn(rounds)
    const fresh = await start()
    await pause(staleMs)
    const again: number[] = []
    for (let index = rounds; index < 2 * rounds - 1; index += 1)
      again.push((await timed(() => readTrades(fresh, index))).ms)
    await setDelay(providerUrl, 0)

    const alone = await answers(fresh)
    await addOthers(databaseUrl)
    const beside = await answers(fresh)
    return [
      {
        name: `first read of ${historyDeals} deals`,
        ...near,
        target: 2,
        against: 'fetching its pages one after the other and parsing them as JSON',
      },
      {
        name: 'how long such a read holds other requests',
        ours: hold,
        reference: maxHoldMs,
        target: 1,
        against: `the bound; ours is the processor time of the longest turn of the event loop in ${rounds} reads`,
      },
      {
        name: 'a later read, by a fresh process',
        ours: median(again.slice(1)),
        reference: far.ours,
        target: 0.15,
        against: `the first read, both from a provider that takes ${pageDelayMs} ms a page`,
      },
      ...bounded('statistics', alone.statistics, beside.statistics, 60),
      ...bounded('a page of trades', alone.page, beside.page, 5),
    ]
  },
}

const bounded = (what: string, alone: number, beside: number, bound: number): readonly Ratio[] => [
  {
    name: `${what} over ${historyDeals} deals`,
    ours: alone,
    reference: bound,
    target: 1,
    against: `the bound; median of ${queries} requests one after the other, as the client sees them`,
  },
  {
    name: `${what} beside ${othersDeals} deals of others`,
    ours: beside,
    reference: alone,
    target: 1.2,
    against: 'the same without them',
  },
]

/** Of requests that need not read the broker. */
const answers = async (service: MeasuredService) => {
  const statistics: number[] = []
  const pages: number[] = []
  for (let index = 0; index < queries; index += 1) {
    await readTrades(service, rounds)
    statistics.push((await timed(() => readStatistics(service, rounds))).ms)
    pages.push((await timed(() => readTrades(service, rounds))).ms)
  }
  return { statistics: median(statistics), page: median(pages) }
}

const requireWhole = (trades: number): void => {
  if (trades !== historyDeals / 2) throw new Error(`the history has ${trades} trades`)
}

const readTrades = async (service: MeasuredService, account: number): Promise<void> => {
  const path = `trades?limit=100&accountId=${accountUuid(account)}`
  const { meta } = await askApi<{ meta: { pagination: { total: number } } }>(service, key, path)
  requireWhole(meta.pagination.total)
}

const readStatistics = async (service: MeasuredService, account: number): Promise<void> => {
  const path = `trades/stats?accountId=${accountUuid(account)}`
  requireWhole(
    (await askApi<{ data: { totalTrades: number } }>(service, key, path)).data.totalTrades,
  )
}

// One request after another, as a client must that learns from a short page that there are no more.
const fetchPages = async (providerUrl: string, account: string): Promise<void> => {
  const span = ['1970-01-01T00:00:00.000Z', new Date(Date.now() + 86_400_000).toISOString()]
    .map(encodeURIComponent)
    .join('/')
  for (let offset = 0; offset <= historyDeals; offset += pageSize) {
    const url = `${providerUrl}/users/current/accounts/${account}/history-deals/time/${span}?offset=${offset}&limit=${pageSize}`
    const response = await fetch(url, { headers: { 'auth-token': providerToken } })
    if (response.status !== 200) throw new Error(`the provider answered ${response.status}`)
    await response.json()
  }
}

const setDelay = async (providerUrl: string, ms: number): Promise<void> => {
  const response = await fetch(`${providerUrl}/sandbox/v1/faults`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ account: '*', route: 'deals', fault: { kind: 'delay', ms } }),
  })
  if (!response.ok) throw new Error(`the provider refused the delay: ${await response.text()}`)
}

/** The processor time of the longest turn of the event loop since the last call. */
const longestHold = async ({ child }: MeasuredService): Promise<number> => {
  const answer = once(child, 'message')
  child.send('holds')
  const [processorMs] = (await answer) as [number]
  return processorMs
}

/** Journals of a thousand accounts that belong to nobody here, of the same size each. */
const addOthers = (databaseUrl: string): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    const account = `('00000000-0000-4000-8000-' || lpad((n % 1000)::text, 12, '0'))::uuid`
    await client.query(
      `insert into deals (tenant_id, account_id, time_ms, id, entry, kind, position_id, symbol, volume, price, profit, commission, swap)
       select 'others', ${account}, 1700000000000 + n * 1000, n::text, case n % 2 when 0 then 'in' else 'out' end, 'buy', (n / 2)::text, 'EURUSD',
         0.1, 1.1, 1, -0.1, 0 from generate_series(1::bigint, ${othersDeals}) n`,
    )
    await client.query(
      `insert into trades (tenant_id, account_id, position_id, status, symbol, side, volume, entry_price, exit_price, profit, commission, swap,
         net_profit, opened_at, closed_at, holding_time, closing_deal_id)
       select 'others', ${account}, n::text, 'closed', 'EURUSD', 'buy', 0.1, 1.1, 1.2, 1, -0.1, 0, 0.9, 1700000000000 + n * 1000,
         1700000000000 + n * 2000, 1000, n::text from generate_series(1::bigint, ${othersDeals / 2}) n`,
    )
    await client.query('vacuum analyze deals, trades')
  })
