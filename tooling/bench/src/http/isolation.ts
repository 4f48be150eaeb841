// How long a good caller's GET /positions takes while another client misbehaves, against the same
// caller on the same service while the other is quiet. Quiet and disturbed rounds alternate, so
// that whatever else the machine does slows both.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ratio } from '../bench.ts'
import { median } from '../bench.ts'
import { runProgram } from '../processes.ts'
import type { HostileOptions } from './hostile-client.ts'
import type { Paced, PacedOptions } from './paced.ts'
import { deadlineMs } from './paced.ts'

const rounds = 5
const roundSeconds = 6
const callsPerSecond = 100
/**
 * By when the misbehaving client is at full speed; it also goes on for as long after the good
 * caller's last request.
 */
const leadSeconds = 1
const madeUpPerSecond = 200
const maxMedianRatio = 1.5
const maxP99Ms = 50
// Another client is at another address, which limits per address must tell apart. Only Linux gives
// a process every loopback address.
const otherAddress = process.platform === 'linux' ? '127.0.0.2' : undefined

export interface Isolation {
  readonly api: string
  /** What the good caller requests, with this key. */
  readonly url: string
  readonly key: string
  /** The keys of the tenant that sends hostile bodies. */
  readonly hostileKeys: readonly string[]
  readonly clientCore: number | undefined
}

/** Hostile bodies come last: they may leave the service with memory to give back. */
export const measureIsolation = async (measured: Isolation): Promise<readonly Ratio[]> => [
  await measureMadeUpKeys(measured),
  await measureHostileBodies(measured),
]

const measureMadeUpKeys = async (measured: Isolation): Promise<Ratio> => {
  const { url, clientCore } = measured
  const disturbed = await alternate(measured, (seconds) =>
    runClient<Paced>(
      'paced-client.js',
      { url, perSecond: madeUpPerSecond, seconds, localAddress: otherAddress },
      clientCore,
    ),
  )
  const ratios = disturbed.map(({ quiet, beside }) => beside.medianMs / quiet.medianMs)
  return {
    name: `its median beside ${madeUpPerSecond} made-up keys a second`,
    ratio: median(ratios),
    target: maxMedianRatio,
    oursMs: median(disturbed.map(({ beside }) => beside.medianMs)),
    referenceMs: median(disturbed.map(({ quiet }) => quiet.medianMs)),
    reference: `the same caller, ${callsPerSecond} requests a second, without them; the ratio in each round: ${listed(ratios)}; ${failuresOf(disturbed)}; the made-up keys were answered with ${countsOf(disturbed.map(({ other }) => other.statuses))}`,
  }
}

const measureHostileBodies = async (measured: Isolation): Promise<Ratio> => {
  const { api, hostileKeys, clientCore } = measured
  const disturbed = await alternate(measured, (seconds) => {
    const options: HostileOptions = { api, keys: hostileKeys, seconds, localAddress: otherAddress }
    return runClient<Paced['statuses']>('hostile-client.js', options, clientCore)
  })
  const p99s = disturbed.map(({ beside }) => beside.p99Ms)
  const p99Ms = median(p99s)
  const quiet = disturbed.map((round) => round.quiet.p99Ms)
  return {
    name: 'its 99th percentile beside hostile bodies of another tenant',
    ratio: p99Ms / maxP99Ms,
    target: 1,
    oursMs: p99Ms,
    referenceMs: maxP99Ms,
    reference: `${maxP99Ms} ms; in each round ${listed(p99s)} ms at ${callsPerSecond} requests a second, and ${listed(quiet)} ms without hostile bodies; ${failuresOf(disturbed)}; the hostile requests were answered with ${countsOf(disturbed.map(({ other }) => other))}`,
  }
}

interface Disturbed<Other> {
  readonly quiet: Paced
  readonly beside: Paced
  /** What the other client printed. */
  readonly other: Other
}

const alternate = async <Other>(
  { url, key, clientCore }: Isolation,
  disturb: (seconds: number) => Promise<Other>,
): Promise<readonly Disturbed<Other>[]> => {
  const options: PacedOptions = { url, key, perSecond: callsPerSecond, seconds: roundSeconds }
  const call = (): Promise<Paced> => runClient<Paced>('paced-client.js', options, clientCore)
  const results: Disturbed<Other>[] = []
  for (let round = 0; round < rounds; round += 1) {
    const quiet = await call()
    const disturbing = disturb(leadSeconds + roundSeconds + leadSeconds)
    await pause(leadSeconds * 1_000)
    const [beside, other] = await Promise.all([call(), disturbing])
    results.push({ quiet, beside, other })
    await pause(leadSeconds * 1_000)
  }
  return results
}

const runClient = async <Printed>(
  program: string,
  options: object,
  core: number | undefined,
): Promise<Printed> =>
  JSON.parse(
    await runProgram(
      process.execPath,
      [join(import.meta.dirname, program), JSON.stringify(options)],
      core,
    ),
  ) as Printed

const listed = (figures: readonly number[]): string =>
  figures.map((figure) => figure.toFixed(2)).join(', ')

const failuresOf = (results: readonly Disturbed<unknown>[]): string => {
  const calls = results.flatMap(({ quiet, beside }) => [quiet, beside])
  const failed = calls
    .flatMap(({ statuses }) => Object.entries(statuses))
    .reduce((sum, [status, count]) => (status === '200' ? sum : sum + count), 0)
  return `${failed} of the good caller's requests were not answered with 200 and count as ${deadlineMs / 1_000} s each`
}

const countsOf = (rounds: readonly Paced['statuses'][]): string => {
  const sums = new Map<string, number>()
  for (const [status, count] of rounds.flatMap((statuses) => Object.entries(statuses)))
    sums.set(status, (sums.get(status) ?? 0) + count)
  return [...sums]
    .map(([status, count]) => `${status === '0' ? 'nothing' : status} (${count})`)
    .join(', ')
}
