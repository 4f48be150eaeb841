// The watch of a thousand accounts by one instance: how long a deal that is made at the broker
// takes to an open stream, and what that costs the process and the provider.
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@tradeport/client'
import { linkUsers, startService } from '@tradeport/harness'
import { paced, percentile, query, type Bench } from './bench.ts'
import { processorMs, splitCores, startProviderProcess } from './processes.ts'
import { accountOf, accountsOf, apiKeyOf, plainClient } from './service.ts'

const users = 10
const accounts = 1_000
/** WATCH_SECONDS when it is unset. */
const roundMs = 10_000
const providerDelayMs = 50
/** One in thirty rounds finds a deal, and reads the account's figures as well. */
const deals = 200
const measuredMs = 60_000

export const bench: Bench = async ({ stack, newDatabase }) => {
  const cores = splitCores(stack)
  const databaseUrl = await newDatabase()
  const provider = await startProviderProcess(stack, { accounts, delayMs: providerDelayMs })
  const service = await startService(stack, {
    databaseUrl,
    providerUrl: provider.ready,
    environment: { CAPABILITIES: 'events' },
    core: cores?.server,
  })
  const ending = new AbortController()
  stack.defer(() => ending.abort())
  const arrivals = new Map<string, number>()
  for (let user = 0; user < users; user += 1) {
    const [id, key] = [`watch-${user}`, apiKeyOf(`watch-${user}`)]
    const own = accountsOf(accounts).slice(
      (user * accounts) / users,
      ((user + 1) * accounts) / users,
    )
    await linkUsers(service, [{ id, tenantId: 'watched', accounts: own, keys: [key] }])
    await follow(plainClient(service, key), ending.signal, arrivals)
  }
  await everyAccountRead(databaseUrl)
  await pause(roundMs)

  const requests = () => provider.ask<number>('count')
  const [cpuBefore, callsBefore] = [await processorMs(service.child), await requests()]
  const startedAt = Date.now()
  const made = new Map<string, number>()
  await paced(deals, measuredMs, (index) => {
    // Each account has one deal at most; 617 and 1,000 have no common factor.
    const { id, providerAccountId } = accountOf((index * 617) % accounts)
    made.set(id, Date.now())
    return provider.ask(`buy ${providerAccountId}`)
  })
  const elapsedMs = Date.now() - startedAt
  const cpuMs = (await processorMs(service.child)) - cpuBefore
  const calls = (await requests()) - callsBefore
  await pause(2 * roundMs)
  const latencies = [...made].map(([account, at]) => (arrivals.get(account) ?? Infinity) - at)
  const readings = (accounts * elapsedMs) / roundMs
  return [
    {
      name: `p99 from a deal to its event on a stream, ${accounts} accounts`,
      ours: percentile(latencies, 0.99),
      reference: roundMs,
      target: 1 + 1_000 / roundMs,
      against: `the interval of the watch; ${deals} deals, a provider that takes ${providerDelayMs} ms`,
    },
    {
      name: 'processor time of the service for each second',
      ours: (cpuMs / elapsedMs) * 1_000,
      reference: 1_000,
      target: 0.4,
      against: `one core; ${accounts} accounts every ${roundMs} ms, all threads of the process`,
    },
    {
      name: 'calls to the provider for each account and round',
      ours: calls / readings,
      reference: 1,
      unit: 'calls',
      target: 1.05,
      against: `one call; ${deals} of ${Math.round(readings)} rounds found a deal`,
    },
  ]
}

/** Notes when the first event of each account arrives; resolves once the stream is open. */
const follow = (
  client: Client,
  signal: AbortSignal,
  arrivals: Map<string, number>,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const read = async (): Promise<void> => {
      const onConnection = (isOpen: boolean): void => void (isOpen && resolve())
      const events = client.events({ types: ['position.opened'], signal, onConnection })
      for await (const { accountId } of events)
        if (!arrivals.has(accountId)) arrivals.set(accountId, Date.now())
    }
    read().catch(reject)
  })

const everyAccountRead = async (databaseUrl: string): Promise<void> => {
  const read = 'select count(*)::int as count from journals where synced_at is not null'
  while ((await query(databaseUrl, read))[0]?.['count'] !== accounts) await pause(500)
}
