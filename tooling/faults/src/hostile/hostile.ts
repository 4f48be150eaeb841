// The run of hostile requests: a hundred thousand drawn from the documents of the API and of the
// operator API and from raw bytes, on many connections at once. What is wrong with a reply is
// shrunk to the smallest request that shows it, and what they left in memory is measured.
import { createContractWatch } from '@tradeport/contract-watch'
import * as fc from 'fast-check'
import { operatorToken } from '../fleet.ts'
import type { Instance } from '../instance.ts'
import type { Measured } from '../probe.ts'
import { createRandom } from '../random.ts'
import type { Random } from '../random.ts'
import { inRun, say } from '../run.ts'
import { createCaller, newTally } from './caller.ts'
import type { Caller } from './caller.ts'
import { createKnown } from './known.ts'
import type { Known } from './known.ts'
import { tellRaw } from './line.ts'
import { rawRequest, unfinished } from './raw.ts'
import type { RawRequest } from './raw.ts'
import { operationsOf, requestOf } from './requests.ts'
import type { HostileRequest } from './request.ts'
import { among } from './values.ts'
import { checkMemory, faultsOfInstance, startHostileWorld } from './world.ts'
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
export const runHostile = ({ seed, requests: wanted, databaseUrl }: HostileRun): Promise<boolean> =>
  inRun(async (run) => {
    const more = {
      CAPABILITIES: 'events',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      TRUST_PROXY: '127.0.0.1/32',
    }
    const { instance, world } = await startHostileWorld(run, {
      seed,
      databaseUrl,
      more,
      requests: wanted,
    })
    const ports = portsOf(instance)
    const documents = {
      api: await documentAt(`${instance.apiUrl}/openapi.json`),
      operator: await documentAt(`${instance.operatorUrl}/operator/openapi.json`),
    }
    const known = createKnown(world.users)
    await learnAll(instance, world, known)
    const requests = anyRequest(documents)
    const watches = {
      api: createContractWatch(documents.api),
      operator: createContractWatch(documents.operator),
    }
    const tally = newTally()
    let filled = 0
    const fill = (text: string): string => {
      filled += 1
      return known.fill(
        text.replaceAll('{{operator}}', operatorToken).replaceAll('{{address}}', addressOf(filled)),
      )
    }
    const lanes = Array.from({ length: callers }, () =>
      createCaller({ ports, watches, known, fill, tally }),
    )
    const faults: string[] = []
    const random = createRandom(seed)
    const measured: Measured[] = []
    let waiting: Promise<readonly string[]> = Promise.resolve([])
    await instance.measure()
    const startedAt = Date.now()
    for (
      let part = 0;
      part < parts && faults.length < mostFaults && instance.isAlive();
      part += 1
    ) {
      await Promise.all(
        lanes.map((lane) =>
          attackOn(lane, { requests, count: Math.ceil(wanted / parts / callers), random, faults }),
        ),
      )
      if (part === 0 && wanted >= leastForUnfinished) waiting = leaveUnfinished(ports)
      if (instance.isAlive()) measured.push(await instance.measure())
      if (wanted >= leastForUnfinished)
        say(
          `  ${part + 1} of ${parts} parts after ${Math.round((Date.now() - startedAt) / 1_000)} s`,
        )
    }
    const tookMs = Date.now() - startedAt
    faults.push(...(await waiting))
    for (const lane of lanes) lane.close()
    const { document, operator, raw } = tally.requests
    const all = document + operator + raw
    say(`seed ${seed}, ${databaseUrl === null ? 'embedded database' : 'PostgreSQL server'}`)
    say(
      `requests: ${all} (${document} from the document, ${operator} to the operator's listener, ${raw} of raw bytes), ${Math.round((all * 1_000) / tookMs)} a second`,
    )
    const counts = [...tally.replies].toSorted(([, one], [, other]) => other - one)
    say(`replies: ${counts.map(([name, count]) => `${name}: ${count}`).join(', ')}`)
    const heldMs = Math.max(0, ...measured.map((one) => one.heldMs))
    return [
      ...faults,
      ...faultsOfInstance(instance),
      ...checkMemory(measured),
      ...(heldMs > mostHeldMs ? [`the event loop was held for ${Math.round(heldMs)} ms`] : []),
    ]
  })

type Ports = Readonly<Record<HostileRequest['listener'], number>>

const portsOf = ({ apiUrl, operatorUrl }: Instance): Ports => ({
  api: Number(new URL(apiUrl).port),
  operator: Number(new URL(operatorUrl).port),
})

const documentAt = async (url: string): Promise<ReturnType<typeof JSON.parse>> =>
  (await fetch(url)).json()

const anyRequest = ({
  api,
  operator,
}: Readonly<Record<'api' | 'operator', object>>): fc.Arbitrary<HostileRequest | RawRequest> => {
  const ofOperator = operationsOf(operator).map(
    (one) => [one.body === undefined ? 1 : 4, requestOf('operator', one)] as const,
  )
  return among<HostileRequest | RawRequest>(
    [76, fc.oneof(...operationsOf(api).map((one) => requestOf('api', one)))],
    [12, among(...ofOperator)],
    [12, rawRequest],
  )
}

interface Attack {
  readonly requests: fc.Arbitrary<HostileRequest | RawRequest>
  readonly count: number
  readonly random: Random
  readonly faults: string[]
}

const attackOn = async (
  lane: Caller,
  { requests, count, random, faults }: Attack,
): Promise<void> => {
  const property = fc.asyncProperty(requests, async (request) => {
    const found = await lane.send(request)
    if (found.length > 0) throw new Error(found.join('\n    '))
  })
  const { failed, counterexample, errorInstance } = await fc.check(property, {
    seed: random.whole(0, 0x7f_ff_ff_ff),
    numRuns: count,
  })
  if (!failed) return
  const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  const smallest = JSON.stringify(counterexample?.[0])
  const shown =
    smallest.length > 4_000
      ? `${smallest.slice(0, 4_000)}… (${smallest.length} characters)`
      : smallest
  const fault = `${why}\n    smallest request: ${shown}`
  // At once, since a run may be long.
  say(`  found: ${fault}`)
  faults.push(fault)
}

/**
 * From one address, the service looks up only so many bad credentials a minute, and no key that it
 * does not know yet among them.
 */
const requestsPerAddress = 256

const addressOf = (request: number): string => {
  const index = Math.floor(request / requestsPerAddress)
  return `10.0.${index >> 8}.${index & 255}`
}

/** Ids of positions and trades, so that they are asked for from the first request on. */
const learnAll = async ({ apiUrl }: Instance, { users }: World, known: Known): Promise<void> => {
  for (const user of users) {
    for (const path of [
      `/positions?accountId=${user['trading']?.[0]}`,
      `/trades?accountId=${user['trading']?.[0]}&limit=20`,
    ]) {
      const response = await fetch(`${apiUrl}${path}`, {
        headers: { 'X-API-Key': user['key:full']?.[0] ?? '' },
      })
      if (response.status !== 200) throw new Error(`the run cannot begin: ${await response.text()}`)
      known.learn(`/api/v1${path}`, await response.json())
    }
  }
}

const leave = async (port: number, text: string): Promise<readonly string[]> => {
  const { fault } = await tellRaw(port, text === '' ? [] : [Buffer.from(text, 'latin1')], true)
  return fault === undefined ? [] : [`${fault}\n    smallest request: ${JSON.stringify(text)}`]
}

/** Each is to be ended by the service while the others go on. */
const leaveUnfinished = async (ports: Ports): Promise<readonly string[]> =>
  (
    await Promise.all(
      Object.values(ports).flatMap((port) => unfinished.map((text) => leave(port, text))),
    )
  ).flat()
