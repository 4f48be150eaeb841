// A cold read of a 20,000-deal history through the whole service, against fetching the same pages and no more; and how long other requests are
// held while such reads go on. Provider, service and this bench are three processes.
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Ratio } from './bench.ts'
import type { Holds } from './hold-meter.ts'
import { median } from './bench.ts'
import { linkAccounts, providerToken, repositoryRoot, startMeasuredService } from './measured-service.ts'
import { startProgram, stopPrograms } from './processes.ts'

const deals = 20_000
const pageSize = 1_000
const rounds = 9
const maxHoldMs = 15
const pageDelayMs = 5
const cacheMs = 5_500
const key = 'tp_live_bench'
const holdMeter = new URL('./hold-meter.js', import.meta.url).href

const run = async (): Promise<readonly Ratio[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-bench-'))
  const children: ChildProcess[] = []
  try {
    const accounts = Array.from({ length: 2 * rounds }, (_, index) => `bench-${index}`)
    const providerUrl = await startProvider(folder, accounts, children)
    const service = await startMeasuredService({ folder, providerUrl, children, nodeOptions: ['--import', holdMeter] })
    await linkAccounts(
      service,
      accounts.map((providerAccountId, index) => ({ id: accountUuid(index), providerAccountId })),
      [key],
    )
    const holds = holdsOf(service.child)
    const read = (index: number): Promise<void> => readTrades(service.api, accountUuid(index))

    // On loopback a page comes quicker than a program can parse it, so the reference parses; a provider some way off is fetched and no more.
    const near = await compare(0, (index) => fetchPages(providerUrl, accounts[index] ?? '', 'parsed'), read)
    await delayPages(providerUrl)
    const far = await compare(rounds, (index) => fetchPages(providerUrl, accounts[index] ?? '', 'bytes'), read)
    // The deals cache keeps a history for five seconds; after it every read is cold again.
    await pause(cacheMs)
    const held: Holds[] = []
    const waited: number[] = []
    for (let index = 0; index < rounds; index++) {
      await holds()
      waited.push(await longestWait(service.api, () => read(index)))
      held.push(await holds())
    }
    const longestHoldMs = Math.max(...held.slice(1).map(({ processorMs }) => processorMs))
    return [
      {
        ...near,
        name: `cold read of ${deals} deals`,
        target: 1.25,
        reference: `fetching its pages one after the other and parsing them as JSON`,
      },
      {
        ...far,
        name: `cold read of ${deals} deals from a provider that takes ${pageDelayMs} ms for a page`,
        target: 1.25,
        reference: 'fetching the bytes of its pages one after the other and doing nothing with them',
      },
      {
        name: 'longest time that such a read holds other requests',
        ratio: longestHoldMs / maxHoldMs,
        target: 1,
        oursMs: longestHoldMs,
        referenceMs: maxHoldMs,
        reference:
          `the bound; ours is processor time of one turn, the longest of ${rounds - 1} reads. With the wait for a processor: a turn ` +
          `${Math.max(...held.slice(1).map(({ wallMs }) => wallMs)).toFixed(1)} ms, another request ${Math.max(...waited.slice(1)).toFixed(1)} ms (median ${median(waited.slice(1)).toFixed(1)})`,
      },
    ]
  } finally {
    await stopPrograms(children)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Both in turn on a history that neither has read before; what runs for the first time is compiled first and does not count. */
const compare = async (
  from: number,
  reference: (index: number) => Promise<void>,
  ours: (index: number) => Promise<void>,
): Promise<Pick<Ratio, 'ratio' | 'oursMs' | 'referenceMs'>> => {
  const pairs: { readonly oursMs: number; readonly referenceMs: number }[] = []
  for (let index = from; index < from + rounds; index++) {
    const referenceMs = await timed(() => reference(index))
    const oursMs = await timed(() => ours(index))
    if (index > from) pairs.push({ oursMs, referenceMs })
  }
  return {
    ratio: median(pairs.map(({ oursMs, referenceMs }) => oursMs / referenceMs)),
    oursMs: median(pairs.map(({ oursMs }) => oursMs)),
    referenceMs: median(pairs.map(({ referenceMs }) => referenceMs)),
  }
}

const delayPages = async (providerUrl: string): Promise<void> => {
  const fault = { account: '*', route: 'deals', fault: { kind: 'delay', ms: pageDelayMs } }
  const response = await fetch(`${providerUrl}/sandbox/v1/faults`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(fault),
  })
  if (!response.ok) throw new Error(`the provider took no delay: ${await response.text()}`)
}

export const historyBench: Bench = { name: 'history', run }

const timed = async (work: () => Promise<void>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

// One request after another, as a provider's client must who learns from a short page that there are no more.
const fetchPages = async (providerUrl: string, account: string, until: 'bytes' | 'parsed'): Promise<void> => {
  const span = `${encodeURIComponent('1970-01-01T00:00:00.000Z')}/${encodeURIComponent(new Date(Date.now() + 86_400_000).toISOString())}`
  for (let offset = 0; offset <= deals; offset += pageSize) {
    const url = `${providerUrl}/users/current/accounts/${account}/history-deals/time/${span}?offset=${offset}&limit=${pageSize}`
    const response = await fetch(url, { headers: { 'auth-token': providerToken } })
    await (until === 'bytes' ? response.arrayBuffer() : response.json())
    if (response.status !== 200) throw new Error(`the provider answered ${response.status}`)
  }
}

const readTrades = async (api: string, accountId: string): Promise<void> => {
  const response = await fetch(`${api}/api/v1/trades?limit=100&accountId=${accountId}`, { headers: { 'X-API-Key': key } })
  const { success, meta } = (await response.json()) as { success: boolean; meta?: { pagination: { total: number } } }
  if (!success || meta?.pagination.total !== deals / 2) throw new Error(`the history was not read: ${response.status}`)
}

// Small requests on a connection of their own, one after the other, for as long as the work goes on.
const longestWait = async (api: string, work: () => Promise<void>): Promise<number> => {
  const state = { isOver: false }
  const over = work().finally(() => {
    state.isOver = true
  })
  let longest = 0
  while (!state.isOver) {
    const wait = await timed(async () => {
      const response = await fetch(`${api}/api/v1/symbols?type=stock`)
      await response.arrayBuffer()
    })
    longest = Math.max(longest, wait)
    await pause(1)
  }
  await over
  return longest
}

const accountUuid = (index: number): string => `be9c4000-0000-4000-8000-${String(index).padStart(12, '0')}`

const startProvider = async (folder: string, accounts: readonly string[], children: ChildProcess[]): Promise<string> => {
  const file = join(folder, 'history.json')
  await writeFile(
    file,
    JSON.stringify({ platform: 'mt5', marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING', currency: 'USD', deals: makeDeals() }),
  )
  const named = accounts.flatMap((account) => ['--account', account, '--history', file])
  const program = join(repositoryRoot, 'packages/sandbox-broker/dist/bin.js')
  const { line } = await startProgram([program, '--port', '0', '--token', providerToken, ...named], {}, /^url\s+(\S+)/m, children)
  return line
}

/** The longest holds of a process's event loop since they were last asked for. */
const holdsOf = (child: ChildProcess) => (): Promise<Holds> =>
  new Promise((resolve) => {
    child.once('message', (message) => resolve(message as Holds))
    child.send('holds')
  })

// Closed positions one after the other, as a provider lists them, with every field that it sends.
const makeDeals = (): readonly object[] =>
  Array.from({ length: deals }, (_, index) => {
    const isOpening = index % 2 === 0
    const position = String(46_000_000 + (index >> 1))
    const time = new Date(Date.UTC(2025, 0, 1) + index * 60_000).toISOString()
    return {
      id: String(33_000_000 + index),
      platform: 'mt5',
      type: isOpening ? 'DEAL_TYPE_BUY' : 'DEAL_TYPE_SELL',
      time,
      brokerTime: time.replace('T', ' ').replace('Z', ''),
      commission: -0.35,
      swap: isOpening ? 0 : -0.12,
      profit: isOpening ? 0 : ((index % 400) - 190) / 10,
      symbol: index % 3 === 0 ? 'EURUSD' : 'XAUUSD',
      magic: 1_000,
      orderId: String(47_000_000 + index),
      positionId: position,
      volume: 0.12,
      price: 1.05 + (index % 997) / 100_000,
      entryType: isOpening ? 'DEAL_ENTRY_IN' : 'DEAL_ENTRY_OUT',
      reason: 'DEAL_REASON_EXPERT',
      clientId: `TE_EURUSD_${position}`,
      accountCurrencyExchangeRate: 1,
    }
  })
