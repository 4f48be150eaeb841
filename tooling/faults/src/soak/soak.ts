// The soak: mixed load at a constant rate for a long while, with rests in which what the service holds is measured.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { createContractWatch } from '@tradeport/contract-watch'
import type { WatchedDocument } from '@tradeport/contract-watch'
import { startOfUtcDay } from '@tradeport/domain'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { checkBook } from '../book-check.ts'
import type { OpeningDeal, ToldOrder } from '../book-check.ts'
import { newFleet, providerToken, say, startFleet, stopFleet } from '../fleet.ts'
import type { Fleet } from '../fleet.ts'
import { createRandom } from '../random.ts'
import { startReceivers } from '../webhook-receivers.ts'
import type { ReceiverName, Receivers } from '../webhook-receivers.ts'
import { createAsking, Unexpected } from './asking.ts'
import type { Asking } from './asking.ts'
import { documentedCodes } from './documented.ts'
import { probeEnvironment, readProbes, writeSnapshots } from './instance-probes.ts'
import { judgeHeld, judgeLatencies, judgeState, trendsOf } from './judge.ts'
import type { Rest } from './judge.ts'
import { createPopulation, documentOf, sandboxAccounts, setFaults } from './population.ts'
import type { Person, Population } from './population.ts'
import { reads } from './reads.ts'
import { refusals } from './refusals.ts'
import { printLatencies, printRests, printRoutes } from './report.ts'
import type { Scene } from './scene.ts'
import { arrivalOf, paced } from './schedule.ts'
import { openServers } from './server-state.ts'
import type { Servers, ServerState } from './server-state.ts'
import { trading } from './trading.ts'
import { webhookWork } from './webhook-work.ts'

export interface SoakRun {
  readonly seed: number
  readonly minutes: number
  /** Arrivals a second; some make several requests. */
  readonly rate: number
  /** null for the embedded database, which cannot be looked into while it is used. */
  readonly databaseUrl: string | null
  readonly redisUrl: string | null
  /** Where heap snapshots are written, after the warm-up and at the end; null for none. */
  readonly snapshotsFolder: string | null
}

const operatorToken = 'soak-operator-token'
const instances = 2
/** Of each: its pool, and the one that listens. */
const connectionsEach = 11
/** The warm-up is the first of these, and a rest ends each. */
const parts = 6
const kinds = [...reads, ...trading, ...webhookWork, ...refusals]
const eventTypes = ['order.created', 'order.filled', 'position.closed', 'trade.closed']
const minuteMs = 60_000

/** @returns whether every promise was kept */
export const runSoak = async (run: SoakRun): Promise<boolean> => {
  const { databaseUrl, redisUrl, seed } = run
  if (databaseUrl === null) throw new Error('a soak needs DATABASE_URL: a PostgreSQL database of its own')
  requireOneDay(run, Date.now())
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-soak-'))
  const probes = join(folder, 'probes')
  await mkdir(probes)
  const population = createPopulation()
  const receivers = await startReceivers(join(folder, 'authority.pem'), createRandom(seed))
  const sandbox = await startSandbox({ seed, tokens: [providerToken], accounts: [...sandboxAccounts(population)] })
  const fleet = newFleet({
    databaseUrl,
    providerUrl: sandbox.url,
    dataFolder: join(folder, 'data'),
    more: {
      ...probeEnvironment(probes),
      OPERATOR_TOKEN: operatorToken,
      REDIS_URL: redisUrl ?? '',
      CAPABILITIES: 'events',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
      WEBHOOK_RETRY_SECONDS: '1,2,3,4',
      NODE_EXTRA_CA_CERTS: receivers.authorityFile,
    },
  })
  const servers = await openServers(databaseUrl, redisUrl)
  try {
    await startFleet(fleet)
    const soak = await prepare(run, { fleet, population, receivers, sandbox, servers, probes })
    return await soakAndReport(soak)
  } finally {
    await stopFleet(fleet)
    await servers.close()
    await sandbox.close()
    await receivers.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Beside the load: the rests, and the account at the end. */
const besideMs = 15 * minuteMs

// Who has used up the orders of a day is refused more of them, which midnight would change.
const requireOneDay = ({ minutes }: SoakRun, now: number): void => {
  const end = now + minutes * minuteMs + besideMs
  if (startOfUtcDay(now) === startOfUtcDay(end)) return
  throw new Error('the soak would pass midnight UTC, at which the orders of a day are counted anew: begin it after that')
}

interface Parts {
  readonly fleet: Fleet
  readonly population: Population
  readonly receivers: Receivers
  readonly sandbox: Sandbox
  readonly servers: Servers
  readonly probes: string
}

interface Soak extends Parts {
  readonly run: SoakRun
  readonly scene: Scene
  readonly asking: Asking
  readonly codes: ReadonlySet<string>
  /** The minute of the load that it is; rests are not counted. */
  readonly clock: { minute: number }
  readonly dealsBefore: ReadonlySet<string>
  readonly connections: number[]
  readonly rests: Rest[]
}

const prepare = async (run: SoakRun, parts: Parts): Promise<Soak> => {
  const { fleet, population, receivers, sandbox } = parts
  const apiUrls = fleet.slots.flatMap((instance) => (instance === null ? [] : [instance.apiUrl]))
  const scene: Scene = {
    population,
    urlOf: receivers.urlOf,
    apply: (document) => applyTo(fleet, document),
    webhooks: new Map(),
    failingWebhook: undefined,
    standing: new Map(),
    skipped: new Map(),
  }
  await scene.apply(documentOf(population))
  const document = (await (await fetch(`${apiUrls[0]}/openapi.json`)).json()) as WatchedDocument
  const clock = { minute: 0 }
  const asking = createAsking({ apiUrls, watch: createContractWatch(document), minute: () => clock.minute })
  const dealsBefore = new Set(dealsOf(sandbox).map(({ key }) => key))
  await findStanding(run, scene, asking)
  await makeWebhooks(run, scene, asking)
  setFaults(sandbox, population)
  return { ...parts, run, scene, asking, codes: documentedCodes(document), clock, dealsBefore, connections: [], rests: [] }
}

const applyTo = async ({ slots }: Fleet, document: object): Promise<void> => {
  const response = await fetch(`${slots[0]?.operatorUrl}/operator/v1/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })
  const said = await response.text()
  if (response.status !== 200) throw new Error(`the run's records were refused: ${said}`)
}

const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id)

const askNow = ({ seed }: SoakRun, asking: Asking) => asking.askOf(createRandom(seed), Date.now())

/** Positions that stay open, and trades, of those who only read. */
const findStanding = async (run: SoakRun, scene: Scene, asking: Asking): Promise<void> => {
  const { readers, special } = scene.population
  for (const { id, credential, account } of [...readers, special.rejecting, special.silent]) {
    const ask = askNow(run, asking)
    const query = `accountId=${account.id}`
    const positions = await ask('GET /positions', { credential, query })
    const trades = await ask('GET /trades', { credential, query })
    scene.standing.set(id, { positions: idsOf(positions.data), trades: idsOf(trades.data) })
  }
}

const makeWebhooks = async (run: SoakRun, scene: Scene, asking: Asking): Promise<void> => {
  const { traders, special } = scene.population
  const make = async ({ credential }: Person, receiver: ReceiverName): Promise<string> => {
    const { data } = await askNow(run, asking)('POST /webhooks', { credential, body: { url: scene.urlOf(receiver), eventTypes } })
    return data.id
  }
  for (const trader of traders) scene.webhooks.set(trader.id, await make(trader, 'fine'))
  const [owner] = traders
  if (owner !== undefined) scene.failingWebhook = { owner, id: await make(owner, 'failing') }
  for (let made = 0; made < 10; made += 1) await make(special.fullOfWebhooks, 'slow')
}

const soakAndReport = async (soak: Soak): Promise<boolean> => {
  const { run, servers } = soak
  say(
    `seed ${run.seed}: ${run.minutes} minutes at ${run.rate} arrivals a second, ${instances} instances, ${soak.population.everybody.length} users`,
  )
  const start = await servers.read()
  const settledInTime: boolean[] = []
  for (let part = 1, first = 0; part <= parts; part += 1) {
    first = await load(soak, first, Math.round((run.minutes * minuteMs) / parts))
    settledInTime.push(await settle(soak))
    await measure(soak, part)
  }
  return report(soak, start, settledInTime)
}

/** @returns the number of the next arrival */
const load = async (soak: Soak, first: number, ms: number): Promise<number> => {
  const { run, clock, asking, scene, connections, servers } = soak
  const underWay = new Set<Promise<void>>()
  const startsAt = Date.now() + 100
  const loadBefore = first / run.rate
  const delay = monitorEventLoopDelay()
  delay.enable()
  const watch = setInterval(() => {
    servers.connections().then(
      (count) => connections.push(count),
      (error: unknown) => asking.tell('the connections could not be counted', String(error)),
    )
  }, 10_000)
  const begin = (index: number, at: number): void => {
    clock.minute = Math.floor((loadBefore + (at - startsAt) / 1_000) / 60)
    const { kind, random } = arrivalOf(run.seed, kinds, index)
    const done = kind.run({ scene, random, ask: asking.askOf(random, at) }).catch((error: unknown) => {
      if (!(error instanceof Unexpected)) asking.tell(`${kind.name} could not be carried through`, String(error))
    })
    underWay.add(done)
    void done.finally(() => underWay.delete(done))
  }
  const count = await paced({ perSecond: run.rate, startsAt, endsAt: startsAt + ms }, first, begin)
  await Promise.all(underWay)
  clearInterval(watch)
  delay.disable()
  say(
    `  minute ${clock.minute + 1} is over: ${asking.count()} requests; the run itself was late by ${Math.round(delay.percentile(99) / 1e6)} ms at the 99th percentile`,
  )
  return first + count
}

const settleMs = 8 * minuteMs
/** Longer than anything that grows with trading is kept, margins being the last of it, and than connections that nobody uses: what is left is what is needed. */
const quietMs = 100_000

const readAtOnce = 8

/** Reads what there is of everybody from every instance, so that each measurement finds the same credentials kept however the load fell. */
const readAll = async ({ run, asking, population }: Soak): Promise<void> => {
  const left = [...population.readers, ...population.traders].flatMap(({ credential }) =>
    Array.from({ length: instances }, (_, slot) => ({ credential, slot, isSlow: true })),
  )
  const readOn = async (): Promise<void> => {
    for (let asked = left.pop(); asked !== undefined; asked = left.pop()) {
      const ask = askNow(run, asking)
      for (const route of ['GET /accounts', 'GET /positions', 'GET /trades']) await ask(route, asked).catch(passUnexpected)
    }
  }
  await Promise.all(Array.from({ length: readAtOnce }, readOn))
}

/** It is told already. */
const passUnexpected = (error: unknown): void => {
  if (!(error instanceof Unexpected)) throw error
}

/** @returns whether everything that the load left was done in time */
const settle = async (soak: Soak): Promise<boolean> => {
  const { servers, asking } = soak
  const deadline = Date.now() + settleMs
  for (;;) {
    const { pendingOrders, pendingDeliveries } = await servers.read()
    if (pendingOrders + pendingDeliveries === 0) break
    if (Date.now() > deadline) return false
    await pause(1_000)
  }
  await readAll(soak)
  asking.hangUp()
  await pause(quietMs)
  return true
}

const measure = async ({ run, clock, probes, servers, rests }: Soak, part: number): Promise<void> => {
  const held = await readProbes(probes)
  rests.push({ minute: clock.minute + 1, held, state: await servers.read() })
  say(`  rest ${part}: heap ${held.map(({ heapUsed }) => `${(heapUsed / 1e6).toFixed(2)} MB`).join(', ')}`)
  if (run.snapshotsFolder === null || (part !== 1 && part !== parts)) return
  await mkdir(run.snapshotsFolder, { recursive: true })
  for (const path of await writeSnapshots(probes, run.snapshotsFolder, `part-${part}`)) say(`  heap snapshot: ${path}`)
}

interface Deal extends OpeningDeal {
  readonly key: string
}

const dealsOf = (sandbox: Sandbox): readonly Deal[] =>
  sandbox.accountIds().flatMap((account) =>
    sandbox
      .account(account)
      .deals()
      .filter(({ entryType }) => entryType === 'DEAL_ENTRY_IN')
      .map(({ id, clientId, orderId, volume }) => ({
        key: `${account}:${id}`,
        clientId: textOf(clientId),
        orderId: textOf(orderId),
        volume: Number(volume ?? 0),
      })),
  )

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** As many as a user may make in a day are one page. */
const ordersOf = async ({ run, asking, population }: Soak): Promise<readonly ToldOrder[]> => {
  const told: ToldOrder[] = []
  for (const { credential, left, id } of population.everybody) {
    if (left.orders === 100) continue
    const { data, meta } = await askNow(run, asking)('GET /orders', { credential, query: 'limit=100' })
    if (meta.pagination.total > 100) throw new Error(`${id} has more orders than the run placed`)
    told.push(...data)
  }
  return told
}

const report = async (soak: Soak, start: ServerState, settledInTime: readonly boolean[]): Promise<boolean> => {
  const { run, asking, rests, connections, dealsBefore, sandbox, scene, codes } = soak
  const minutes = asking.latencies.minutes()
  const warmUpMinutes = run.minutes / parts
  const trends = trendsOf(minutes, warmUpMinutes)
  const book = checkBook(
    await ordersOf(soak),
    dealsOf(sandbox).filter(({ key }) => !dealsBefore.has(key)),
  )
  const never = [...codes].filter((code) => !asking.answers.has(code))
  printRests(start, rests, connections)
  printLatencies(minutes, trends)
  printRoutes(asking.byRoute, warmUpMinutes)
  say(
    `answers: ${[...asking.answers]
      .toSorted(([, a], [, b]) => b - a)
      .map(([code, count]) => `${code} ${count}`)
      .join(', ')}`,
  )
  say(`documented and never answered: ${never.join(', ')}`)
  say(`left out: ${[...scene.skipped].map(([why, count]) => `${why} ${count}`).join(', ') || 'nothing'}`)
  say(`orders: ${book.filled} filled, ${book.partiallyFilled} partially filled, ${book.rejected} rejected`)
  say(`seed ${run.seed}: ${asking.count()} requests in ${run.minutes} minutes`)
  const broken = [
    ...asking.broken(),
    ...(settledInTime.every(Boolean) ? [] : ['what the load left was not done within eight minutes']),
    ...judgeHeld(rests),
    ...judgeState(rests, instances * connectionsEach, connections),
    ...judgeLatencies(trends),
    ...book.broken,
  ]
  for (const fault of broken) say(`  broken: ${fault}`)
  say(broken.length === 0 ? 'every promise was kept' : `${broken.length} promises were broken`)
  return broken.length === 0
}
