// The journal through the whole service on a PostgreSQL server: reading a history of 20,000 deals
// for the first time and again, and answering from it, alone and beside ten million deals of
// others. Provider, service and this bench are three processes.
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import type { Bench, Outcome, Ratio } from './bench.ts'
import { median, needsServer } from './bench.ts'
import type { Holds } from './hold-meter.ts'
import { accountUuid, historyDeals, startHistoryProvider } from './long-history.ts'
import { apiKeyOf, linkAccounts, providerToken, startMeasuredService } from './measured-service.ts'
import type { MeasuredService } from './measured-service.ts'
import { stopPrograms } from './processes.ts'
import { benchServer, createDatabase } from './server-database.ts'

const pageSize = 1_000
const rounds = 9
const queries = 40
const othersDeals = 10_000_000
const pageDelayMs = 5
/** A read stands for five seconds for those that follow. */
const staleMs = 5_200
const maxHoldMs = 15
const key = apiKeyOf('bench')
const holdMeter = new URL('./hold-meter.js', import.meta.url).href

const run = async (): Promise<Outcome> => {
  const server = benchServer()
  if (server === undefined) return needsServer
  const { url: databaseUrl, drop } = await createDatabase(server)
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-bench-'))
  const children: ChildProcess[] = []
  try {
    const accounts = Array.from({ length: 2 * rounds }, (_, index) => `bench-${index}`)
    const providerUrl = await startHistoryProvider(folder, accounts, children)
    const start = () =>
      startMeasuredService({
        folder,
        databaseUrl,
        providerUrl,
        children,
        nodeOptions: ['--import', holdMeter],
      })
    const service = await start()
    await linkAccounts(
      service,
      accounts.map((providerAccountId, index) => ({ id: accountUuid(index), providerAccountId })),
      [key],
    )
    const fetched = (index: number): Promise<number> =>
      timed(() => fetchPages(providerUrl, accounts[index] ?? ''))
    const read = (of: MeasuredService, index: number): Promise<number> =>
      timed(() => readTrades(of.api, accountUuid(index)))

    await longestHold(service)
    const near = await inTurn(1, fetched, (index) => read(service, index))
    const hold = await longestHold(service)
    await setDelay(providerUrl, pageDelayMs)
    const far = await inTurn(rounds, fetched, (index) => read(service, index))
    const fresh = await start()
    await pause(staleMs)
    const again = await mediansOf(rounds - 1, (index) => read(fresh, rounds + index))
    await setDelay(providerUrl, 0)

    const alone = await answers(fresh)
    await addOthers(databaseUrl)
    const beside = await answers(fresh)
    return [
      {
        name: `first read of ${historyDeals} deals`,
        ...near,
        target: 2,
        reference: 'fetching its pages one after the other and parsing them as JSON',
      },
      {
        name: 'how long such a read holds other requests',
        ratio: hold / maxHoldMs,
        target: 1,
        oursMs: hold,
        referenceMs: maxHoldMs,
        reference: `the bound; ours is the processor time of the longest turn of the event loop in ${rounds} reads`,
      },
      {
        name: 'a later read, by a fresh process',
        ratio: again / far.oursMs,
        target: 0.15,
        oursMs: again,
        referenceMs: far.oursMs,
        reference: `the first read, both from a provider that takes ${pageDelayMs} ms a page`,
      },
      ...bounded('statistics', alone.statsMs, beside.statsMs, 60),
      ...bounded('a page of trades', alone.pageMs, beside.pageMs, 5),
    ]
  } finally {
    await stopPrograms(children)
    await rm(folder, { recursive: true, force: true })
    await drop()
  }
}

export const journalBench: Bench = { name: 'journal', run }

const bounded = (
  what: string,
  aloneMs: number,
  besideMs: number,
  boundMs: number,
): readonly Ratio[] => [
  {
    name: `${what} over ${historyDeals} deals`,
    ratio: aloneMs / boundMs,
    target: 1,
    oursMs: aloneMs,
    referenceMs: boundMs,
    reference: `the bound; median of ${queries} requests one after the other, as the client sees them`,
  },
  {
    name: `${what} beside ${othersDeals} deals of others`,
    ratio: besideMs / aloneMs,
    target: 1.2,
    oursMs: besideMs,
    referenceMs: aloneMs,
    reference: 'the same without them',
  },
]

/**
 * Both in turn on a history that neither has read before; the first pair is for the compiler and
 * does not count.
 */
const inTurn = async (
  from: number,
  reference: (index: number) => Promise<number>,
  ours: (index: number) => Promise<number>,
): Promise<{ readonly ratio: number; readonly oursMs: number; readonly referenceMs: number }> => {
  const pairs: { readonly oursMs: number; readonly referenceMs: number }[] = []
  for (let index = from; index < from + rounds - 1; index++)
    pairs.push({ referenceMs: await reference(index), oursMs: await ours(index) })
  const counted = pairs.slice(1)
  return {
    ratio: median(counted.map(({ oursMs, referenceMs }) => oursMs / referenceMs)),
    oursMs: median(counted.map(({ oursMs }) => oursMs)),
    referenceMs: median(counted.map(({ referenceMs }) => referenceMs)),
  }
}

const mediansOf = async (
  count: number,
  work: (index: number) => Promise<number>,
): Promise<number> => {
  const times: number[] = []
  for (let index = 0; index < count; index++) times.push(await work(index))
  return median(times.slice(1))
}

const timed = async (work: () => Promise<void>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Of requests that find the journal read within the last seconds. */
const answers = async ({
  api,
}: MeasuredService): Promise<{ readonly statsMs: number; readonly pageMs: number }> => {
  const account = accountUuid(rounds)
  const stats: number[] = []
  const pages: number[] = []
  for (let index = 0; index < queries; index++) {
    // Where the journal is no longer fresh the request reads the broker, which is not what is
    // measured.
    await readTrades(api, account)
    stats.push(await timed(() => readStatistics(api, account)))
    pages.push(await timed(() => readTrades(api, account)))
  }
  return { statsMs: median(stats), pageMs: median(pages) }
}

const readTrades = async (api: string, accountId: string): Promise<void> => {
  const { meta } = await readJson<{ meta: { pagination: { total: number } } }>(
    api,
    `trades?limit=100&accountId=${accountId}`,
  )
  if (meta.pagination.total !== historyDeals / 2)
    throw new Error(`the list has ${meta.pagination.total} trades`)
}

const readStatistics = async (api: string, accountId: string): Promise<void> => {
  const { data } = await readJson<{ data: { totalTrades: number } }>(
    api,
    `trades/stats?accountId=${accountId}`,
  )
  if (data.totalTrades !== historyDeals / 2)
    throw new Error(`the statistics are over ${data.totalTrades} trades`)
}

const readJson = async <Reply>(api: string, path: string): Promise<Reply> => {
  const response = await fetch(`${api}/api/v1/${path}`, { headers: { 'X-API-Key': key } })
  if (response.status !== 200)
    throw new Error(`the service answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Reply
}

// One request after another, as a client must that learns from a short page that there are no more.
const fetchPages = async (providerUrl: string, account: string): Promise<void> => {
  const span = `${encodeURIComponent('1970-01-01T00:00:00.000Z')}/${encodeURIComponent(new Date(Date.now() + 86_400_000).toISOString())}`
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
  if (!response.ok) throw new Error(`the provider took no delay: ${await response.text()}`)
}

/** The longest turn of the service's event loop since it was last asked for, in processor time. */
const longestHold = async ({ child }: MeasuredService): Promise<number> => {
  const { processorMs } = await new Promise<Holds>((resolve) => {
    child.once('message', (message) => resolve(message as Holds))
    child.send('holds')
  })
  return processorMs
}

/**
 * Journals of a thousand accounts that belong to nobody here, each with the same number of deals
 * and trades.
 */
const addOthers = async (databaseUrl: string): Promise<void> => {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
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
  } finally {
    await client.end()
  }
}
