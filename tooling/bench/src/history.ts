// A cold read of a 20,000-deal history through the whole service, against fetching the same pages and no more; and how long other requests are
// held while such reads go on. Provider, service and this bench are three processes.
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Ratio } from './bench.ts'
import type { Holds } from './hold-meter.ts'
import { median } from './bench.ts'
import { accountUuid, historyDeals, startHistoryProvider } from './long-history.ts'
import { apiKeyOf, linkAccounts, providerToken, startMeasuredService } from './measured-service.ts'
import { stopPrograms } from './processes.ts'

const deals = historyDeals
const pageSize = 1_000
const rounds = 9
const maxHoldMs = 15
const pageDelayMs = 5
const cacheMs = 5_500
const key = apiKeyOf('bench')
const holdMeter = new URL('./hold-meter.js', import.meta.url).href

const run = async (): Promise<readonly Ratio[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-bench-'))
  const children: ChildProcess[] = []
  try {
    const accounts = Array.from({ length: 2 * rounds }, (_, index) => `bench-${index}`)
    const providerUrl = await startHistoryProvider(folder, accounts, children)
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
        name: `the same from a provider that takes ${pageDelayMs} ms a page`,
        target: 1.25,
        reference: 'fetching the bytes of its pages one after the other and doing nothing with them',
      },
      {
        name: 'how long such a read holds other requests',
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
): Promise<{ readonly ratio: number; readonly oursMs: number; readonly referenceMs: number }> => {
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

/** The longest holds of a process's event loop since they were last asked for. */
const holdsOf = (child: ChildProcess) => (): Promise<Holds> =>
  new Promise((resolve) => {
    child.once('message', (message) => resolve(message as Holds))
    child.send('holds')
  })
