// Sends GET requests at a fixed rate, whether or not earlier ones were answered, and prints their
// latencies when the last was answered. `node paced-client.js <options as JSON>`.
import { randomBytes } from 'node:crypto'
import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Paced, PacedOptions } from './paced.ts'
import { deadlineMs } from './paced.ts'

const { url, perSecond, seconds, key, localAddress } = JSON.parse(
  process.argv[2] ?? '',
) as PacedOptions
const agent = new Agent({ keepAlive: true, maxSockets: 50 })

/**
 * As long as generated keys on one request, and as short as an operator's on the next: a service
 * may refuse the former by their form alone.
 */
const madeUpKey = (index: number): string =>
  `tp_live_${randomBytes(index % 2 === 0 ? 20 : 14).toString('hex')}`

const statusOf = (index: number): Promise<number> =>
  new Promise((resolvePromise) => {
    const options = {
      agent,
      ...(localAddress !== undefined && { localAddress }),
      headers: { 'X-API-Key': key ?? madeUpKey(index) },
      signal: AbortSignal.timeout(deadlineMs),
    }
    get(url, options, (response) => {
      response.resume()
      response.once('end', () => resolvePromise(response.statusCode ?? 0))
      response.once('error', () => resolvePromise(0))
    }).once('error', () => resolvePromise(0))
  })

const statuses: Record<string, number> = {}
const latencies: number[] = []

const send = async (index: number): Promise<void> => {
  const sentAt = performance.now()
  const status = await statusOf(index)
  latencies.push(status === 200 ? performance.now() - sentAt : deadlineMs)
  statuses[status] = (statuses[status] ?? 0) + 1
}

const startedAt = performance.now()
const sent: Promise<void>[] = []
for (let index = 0; index < perSecond * seconds; index += 1) {
  await pause(Math.max(0, startedAt + (index * 1_000) / perSecond - performance.now()))
  sent.push(send(index))
}
await Promise.all(sent)

const sorted = latencies.toSorted((a, b) => a - b)
const percentile = (share: number): number =>
  sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
const result: Paced = { medianMs: percentile(0.5), p99Ms: percentile(0.99), statuses }
process.stdout.write(JSON.stringify(result))
process.exit(0)
