// The watch of a thousand accounts by one instance: how long a deal that is made at the broker takes
// to an open stream, and what that costs the process and the provider.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createDatabase, percentile, withClient, type Bench, type CloseLater } from './bench.ts'
import { processorMs, splitCores, startBroker, type Started } from './processes.ts'
import {
  accountUuid,
  apiKeyOf,
  linkUsers,
  providerToken,
  startService,
  type MeasuredService,
} from './service.ts'

const users = 10
const accountsPerUser = 100
const accounts = users * accountsPerUser
/** WATCH_SECONDS when it is unset. */
const roundMs = 10_000
const providerDelayMs = 50
/** One in thirty rounds finds a deal, and reads the account's figures as well. */
const deals = 200
const measuredMs = 60_000

const userOf = (user: number) => ({ id: `watch-${user}`, key: apiKeyOf(`watch-${user}`) })

export const watchBench: Bench = {
  name: 'watch',
  needsServer: true,
  run: async (server, closeLater) => {
    const cores = splitCores(closeLater)
    const databaseUrl = await createDatabase(server, closeLater)
    const broker = await startBroker(providerToken, accounts, providerDelayMs, closeLater)
    const service = await startService(
      {
        databaseUrl,
        providerUrl: broker.line,
        environment: { CAPABILITIES: 'events' },
        core: cores?.server,
      },
      closeLater,
    )
    const arrivals = new Map<string, number>()
    for (let user = 0; user < users; user += 1) {
      await link(service, user)
      await follow(service, user, arrivals, closeLater)
    }
    await everyAccountRead(databaseUrl)
    await pause(roundMs)

    const [cpuBefore, callsBefore] = [await processorMs(service.child), await tell(broker, null)]
    const startedAt = Date.now()
    const made = new Map<string, number>()
    for (let index = 0; index < deals; index += 1) {
      await pause(Math.max(0, startedAt + (index * measuredMs) / deals - Date.now()))
      // Each account has one deal at most; 617 and 1,000 have no common factor.
      const account = (index * 617) % accounts
      made.set(accountUuid(account), Date.now())
      await tell(broker, `watched-${account}`)
    }
    await pause(Math.max(0, startedAt + measuredMs - Date.now()))
    const elapsedMs = Date.now() - startedAt
    const cpuMs = (await processorMs(service.child)) - cpuBefore
    const calls = (await tell(broker, null)) - callsBefore
    await pause(2 * roundMs)
    const latencies = [...made].map(([account, at]) => (arrivals.get(account) ?? Infinity) - at)
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
        ours: calls / (accounts * (elapsedMs / roundMs)),
        reference: 1,
        unit: 'calls',
        target: 1.05,
        against: `one call; ${deals} of ${Math.round((accounts * elapsedMs) / roundMs)} rounds found a deal`,
      },
    ]
  },
}

/** Makes a deal, unless the account is null; how many requests the provider has received. */
const tell = async ({ child }: Started, account: string | null): Promise<number> => {
  const answer = once(child, 'message')
  child.send(account as string)
  const [requests] = (await answer) as [number]
  return requests
}

const link = async (service: MeasuredService, user: number): Promise<void> => {
  const { id, key } = userOf(user)
  const numbers = Array.from({ length: accountsPerUser }, (_, at) => user * accountsPerUser + at)
  await linkUsers(service, [
    {
      id,
      tenantId: 'watched',
      accounts: numbers.map((number) => ({
        id: accountUuid(number),
        providerAccountId: `watched-${number}`,
      })),
      keys: [key],
    },
  ])
}

/** Notes when the first event of each account arrives, until the bench is closed. */
const follow = async (
  { api }: MeasuredService,
  user: number,
  arrivals: Map<string, number>,
  closeLater: CloseLater,
): Promise<void> => {
  const ending = new AbortController()
  closeLater(async () => ending.abort())
  const response = await fetch(`${api}/api/v1/events/stream?types=position.opened`, {
    headers: { 'X-API-Key': userOf(user).key },
    signal: ending.signal,
  })
  if (response.status !== 200) throw new Error(`the stream was refused: ${await response.text()}`)
  const read = async (): Promise<void> => {
    let rest = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines.filter((one) => one.startsWith('data: '))) {
        const { accountId } = JSON.parse(line.slice('data: '.length)) as { accountId: string }
        if (!arrivals.has(accountId)) arrivals.set(accountId, Date.now())
      }
    }
  }
  read().catch(() => undefined)
}

const everyAccountRead = (databaseUrl: string): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    for (;;) {
      const { rows } = await client.query<{ count: number }>(
        'select count(*)::int as count from journals where synced_at is not null',
      )
      if (rows[0]?.count === accounts) return
      await pause(500)
    }
  })
