// The run of hostile requests: a hundred thousand drawn from the documents of the API and of the operator API and from raw bytes, on many connections at once. What
// is wrong with a reply is shrunk to the smallest request that shows it, and what they left in memory is measured.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContractWatch } from '@tradeport/contract-watch'
import * as fc from 'fast-check'
import { newFleet, operatorToken, say } from '../fleet.ts'
import { createRandom } from '../random.ts'
import type { Random } from '../random.ts'
import { createCaller, newTally } from './caller.ts'
import type { Caller, Tally } from './caller.ts'
import { createKnown } from './known.ts'
import type { Known } from './known.ts'
import { tellRaw } from './line.ts'
import { faultsOfGrowth, inMemory } from './memory.ts'
import { operatorRequestOf } from './operator-requests.ts'
import type { Measured } from './probe.ts'
import { rawRequest, unfinished } from './raw.ts'
import type { RawRequest } from './raw.ts'
import { operationsOf, requestOf } from './requests.ts'
import type { HostileRequest } from './request.ts'
import { startWatchedService } from './watched-service.ts'
import type { WatchedService } from './watched-service.ts'
import { applyWorld, createWorld, startBroker } from './world.ts'
import type { World } from './world.ts'

export interface HostileRun {
  readonly seed: number
  readonly requests: number
  /** null for the embedded database. */
  readonly databaseUrl: string | null
}

const callers = 24
/** Of equal numbers of requests; memory is measured after each. */
const parts = 10
/** After all of these the rest is not worth its time. */
const mostFaults = 10
/** What waits for its own end would make a short run long. */
const leastForUnfinished = 10_000
/** Held longer in one turn, the loop keeps everybody waiting. */
const mostHeldMs = 500

/** @returns whether every promise was kept */
export const runHostile = async (run: HostileRun): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-hostile-'))
  const broker = await startBroker(run.seed)
  const more = { CAPABILITIES: 'events', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', TRUST_PROXY: '127.0.0.1/32' }
  const { environment } = newFleet({ databaseUrl: run.databaseUrl, providerUrl: broker.url, dataFolder: join(folder, 'data'), more })

  const service = await startWatchedService(environment)
  try {
    return await attack(run, service)
  } finally {
    await service.stop()
    await broker.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const attack = async (run: HostileRun, service: WatchedService): Promise<boolean> => {
  const world = createWorld(run.requests)
  await applyWorld(service.operatorPort, world)
  const documents = {
    api: await documentAt(`http://127.0.0.1:${service.apiPort}/api/v1/openapi.json`),
    operator: await documentAt(`http://127.0.0.1:${service.operatorPort}/operator/openapi.json`),
  }
  const known = createKnown(world.users)
  await learnAll(service, world, known)
  const requests = anyRequest(documents)
  const watches = { api: createContractWatch(documents.api), operator: createContractWatch(documents.operator) }
  const tally = newTally()
  let filled = 0
  const fill = (text: string): string => {
    filled += 1
    return known.fill(text.replaceAll('{{operator}}', operatorToken).replaceAll('{{address}}', addressOf(filled)))
  }
  const lanes = Array.from({ length: callers }, () => createCaller({ target: service, watches, known, fill, tally }))
  const faults: string[] = []
  const random = createRandom(run.seed)
  const measured: Measured[] = []
  let waiting: Promise<readonly string[]> = Promise.resolve([])
  await service.measure()
  const startedAt = Date.now()
  for (let part = 0; part < parts && faults.length < mostFaults && service.isAlive(); part += 1) {
    await Promise.all(lanes.map((lane) => attackOn(lane, { requests, count: Math.ceil(run.requests / parts / callers), random, faults })))
    if (part === 0 && run.requests >= leastForUnfinished) waiting = leaveUnfinished(service)
    if (service.isAlive()) measured.push(await service.measure())
    if (run.requests >= leastForUnfinished) say(`  ${part + 1} of ${parts} parts after ${Math.round((Date.now() - startedAt) / 1_000)} s`)
  }
  const tookMs = Date.now() - startedAt
  faults.push(...(await waiting))
  for (const lane of lanes) lane.close()
  return report(run, { service, tally, faults, measured, tookMs })
}

const documentAt = async (url: string): Promise<ReturnType<typeof JSON.parse>> => (await fetch(url)).json()

const anyRequest = ({ api, operator }: Readonly<Record<'api' | 'operator', object>>): fc.Arbitrary<HostileRequest | RawRequest> =>
  fc.oneof(
    { weight: 76, arbitrary: fc.oneof(...operationsOf(api).map(requestOf)) },
    { weight: 12, arbitrary: operatorRequestOf(operationsOf(operator)) },
    { weight: 12, arbitrary: rawRequest },
  )

interface Attack {
  readonly requests: fc.Arbitrary<HostileRequest | RawRequest>
  readonly count: number
  readonly random: Random
  readonly faults: string[]
}

const attackOn = async (lane: Caller, { requests, count, random, faults }: Attack): Promise<void> => {
  const property = fc.asyncProperty(requests, async (request) => {
    const found = await lane.send(request)
    if (found.length > 0) throw new Error(found.join('\n    '))
  })
  const { failed, counterexample, errorInstance } = await fc.check(property, { seed: random.whole(0, 0x7f_ff_ff_ff), numRuns: count })
  if (!failed) return
  const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  const smallest = JSON.stringify(counterexample?.[0])
  const shown = smallest.length > 4_000 ? `${smallest.slice(0, 4_000)}… (${smallest.length} characters)` : smallest
  const fault = `${why}\n    smallest request: ${shown}`
  // At once, since a run may be long.
  say(`  found: ${fault}`)
  faults.push(fault)
}

/** From one address, the service looks up only so many bad credentials a minute, and no key that it does not know yet among them. */
const requestsPerAddress = 256

const addressOf = (request: number): string => {
  const index = Math.floor(request / requestsPerAddress)
  return `10.0.${index >> 8}.${index & 255}`
}

/** Ids of positions and trades, so that they are asked for from the first request on. */
const learnAll = async ({ apiPort }: WatchedService, { users }: World, known: Known): Promise<void> => {
  for (const user of users) {
    for (const path of [
      `/api/v1/positions?accountId=${user['trading']?.[0]}`,
      `/api/v1/trades?accountId=${user['trading']?.[0]}&limit=20`,
    ]) {
      const response = await fetch(`http://127.0.0.1:${apiPort}${path}`, { headers: { 'X-API-Key': user['key:full']?.[0] ?? '' } })
      if (response.status !== 200) throw new Error(`the run cannot begin: ${await response.text()}`)
      known.learn(path, await response.json())
    }
  }
}

/** Each is to be ended by the service while the others go on. */
const leaveUnfinished = async ({ apiPort, operatorPort }: WatchedService): Promise<readonly string[]> => {
  const told = await Promise.all(
    [apiPort, operatorPort].flatMap((port) =>
      unfinished.map(async (text) => ({
        text,
        ...(await tellRaw(
          port,
          [Buffer.from(text, 'latin1')].filter(({ length }) => length > 0),
          true,
        )),
      })),
    ),
  )
  return told.flatMap(({ text, fault }) => (fault === undefined ? [] : [`${fault}\n    smallest request: ${JSON.stringify(text)}`]))
}

interface Outcome {
  readonly service: WatchedService
  readonly tally: Tally
  readonly faults: readonly string[]
  readonly measured: readonly Measured[]
  readonly tookMs: number
}

const report = ({ seed, databaseUrl }: HostileRun, { service, tally, faults, measured, tookMs }: Outcome): boolean => {
  const { document, operator, raw } = tally.requests
  const all = document + operator + raw
  say(`seed ${seed}, ${databaseUrl === null ? 'embedded database' : 'PostgreSQL server'}`)
  say(
    `requests: ${all} (${document} from the document, ${operator} to the operator's listener, ${raw} of raw bytes) in ${Math.round(tookMs / 1_000)} s, ${Math.round((all * 1_000) / tookMs)} a second`,
  )
  const counts = [...tally.replies].toSorted(([, a], [, b]) => b - a)
  say(`replies: ${counts.map(([name, count]) => `${name}: ${count}`).join(', ')}`)
  const [first, last] = [measured[0], measured.at(-1)]
  const heldMs = Math.max(0, ...measured.map((one) => one.heldMs))
  if (first !== undefined && last !== undefined) {
    say(`memory after the first tenth: ${inMemory(first)}; at the end: ${inMemory(last)}`)
    say(`the event loop was held for ${Math.round(heldMs)} ms of processor time at most`)
  }
  const broken = [
    ...faults,
    ...(service.isAlive() ? [] : ['the service has ended']),
    ...service.complaints().map((line) => `the service complained: ${line.slice(0, 2_000)}`),
    ...(first === undefined || last === undefined ? [] : faultsOfGrowth(first, last)),
    ...(heldMs > mostHeldMs ? [`the event loop was held for ${Math.round(heldMs)} ms`] : []),
  ]
  for (const one of broken) say(`  broken: ${one}`)
  say(broken.length === 0 ? 'every promise was kept' : `${broken.length} promises were broken`)
  return broken.length === 0
}
