// GET /positions of 20 positions from the cache, authenticated and rate limited, by the whole built
// service: how many a second against a bare Koa application that answers the same object, and how
// long one takes while another client misbehaves. The servers have a processor core for themselves
// where the machine allows it; what loads them, the provider and this process share another.
import type { ChildProcess } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Bench, Ratio } from '../bench.ts'
import { closingAll, median, newFolder } from '../bench.ts'
import {
  apiKeyOf,
  applyDocument,
  demoAccount,
  providerToken,
  startMeasuredService,
} from '../measured-service.ts'
import type { MeasuredService } from '../measured-service.ts'
import { processorMs, splitCores, startProgram, stopPrograms } from '../processes.ts'
import type { Generator, Load } from './generator.ts'
import { findGenerator } from './generator.ts'
import { measureIsolation } from './isolation.ts'

const positions = 20
const connections = 50
// Short rounds, and many: what else the machine does changes from second to second.
const roundSeconds = 2
const warmUpSeconds = 3
// After its start the embedded database's code is compiled in the background, on the service's
// core.
const settlingSeconds = 20
const rounds = 11
const minShareOfKoa = 0.8
const maxP99Ratio = 2
// A key may send 30,000 requests at once: enough keys that none is ever refused.
const keys = Array.from({ length: 200 }, (_, index) => apiKeyOf(`good-${index}`))
const callerKey = apiKeyOf('good-caller')
// Twenty connections share them, so that a limit of two bodies per credential does not refuse them.
const hostileKeys = Array.from({ length: 10 }, (_, index) => apiKeyOf(`hostile-${index}`))
const providerAccountId = 'bench-http'
const accountId = 'be9c4000-0000-4000-8000-00000000abcd'
const path = `/api/v1/positions?accountId=${accountId}&limit=${positions}`

interface Target {
  readonly url: string
  readonly child: ChildProcess
}

interface Measured extends Load {
  /** How much of its core the server used. */
  readonly busyShare: number | undefined
}

type Round = Readonly<Record<'service' | 'koa', Measured>>

const run = (): Promise<readonly Ratio[]> =>
  closingAll(async (closeLater) => {
    const folder = await newFolder(closeLater)
    const cores = await splitCores()
    if (cores !== undefined) closeLater(cores.release)
    const sandbox = await startSandbox({
      tokens: [providerToken],
      accounts: [{ id: providerAccountId, generate: { trades: 10, openPositions: positions } }],
    })
    closeLater(sandbox.close)
    const children: ChildProcess[] = []
    closeLater(() => stopPrograms(children))
    const service = await startMeasuredService({
      folder,
      providerUrl: sandbox.url,
      children,
      core: cores?.server,
    })
    await applyRecords(service)
    const url = `${service.api}${path}`
    const replyFile = join(folder, 'reply.json')
    await writeFile(replyFile, await fetchReply(url))
    const keysFile = join(folder, 'keys')
    await writeFile(keysFile, keys.join('\n'))
    const generator = await findGenerator({ connections, keysFile, core: cores?.clients })
    const bareServer = [join(import.meta.dirname, '../bare-server.js'), 'koa', replyFile]
    const koa = await startProgram(bareServer, {}, /^url (\S+)/m, children, cores?.server)
    const measured = await measureRates(generator, {
      service: { url, child: service.child },
      koa: { url: koa.line, child: koa.child },
    })
    const setting = `${generator.name} with ${connections} connections, ${cores === undefined ? 'no process pinned to a core' : `server on core ${cores.server}, load on core ${cores.clients}`}`
    const isolation = await measureIsolation({
      api: service.api,
      url,
      key: callerKey,
      hostileKeys,
      clientCore: cores?.clients,
    })
    return [...ratiosOf(measured, setting), ...isolation]
  })

export const httpBench: Bench = { name: 'http', run }

/** A round is one load of each, one after the other. */
const measureRates = async (
  { load }: Generator,
  targets: Readonly<Record<keyof Round, Target>>,
): Promise<readonly Round[]> => {
  const measure = async ({ url, child }: Target): Promise<Measured> => {
    const before = await processorMs(child.pid)
    const startedAt = performance.now()
    const measured = await load(url, roundSeconds)
    const [after, elapsedMs] = [await processorMs(child.pid), performance.now() - startedAt]
    return {
      ...measured,
      busyShare:
        before === undefined || after === undefined ? undefined : (after - before) / elapsedMs,
    }
  }
  await load(targets.service.url, settlingSeconds)
  await load(targets.koa.url, warmUpSeconds)
  const measured: Round[] = []
  for (let round = 0; round < rounds; round += 1) {
    measured.push({ service: await measure(targets.service), koa: await measure(targets.koa) })
  }
  return measured
}

const ratiosOf = (measured: readonly Round[], setting: string): readonly Ratio[] => {
  const rateOf = (name: keyof Round): number =>
    median(measured.map((round) => round[name].perSecond))
  const p99Of = (name: keyof Round): number => median(measured.map((round) => round[name].p99Ms))
  const shares = measured.map(({ service, koa }) => service.perSecond / koa.perSecond)
  return [
    {
      name: `GET /positions of ${positions} from the cache`,
      ratio: 1 / median(shares),
      target: 1 / minShareOfKoa,
      oursMs: 1_000 / rateOf('service'),
      referenceMs: 1_000 / rateOf('koa'),
      reference:
        `a bare Koa server that serializes the same object for each request: ${Math.round(rateOf('koa'))} a second, ours ${Math.round(rateOf('service'))}, ` +
        `which is ${median(shares).toFixed(3)} of it; in each round ${shares.map((share) => share.toFixed(3)).join(', ')}; ` +
        `${busyOf(measured, 'service')} of its core used by ours and ${busyOf(measured, 'koa')} by the reference, ${perProcessorTime(measured)}; ${setting}`,
    },
    {
      name: 'its 99th percentile under that load',
      ratio: median(measured.map(({ service, koa }) => service.p99Ms / koa.p99Ms)),
      target: maxP99Ratio,
      oursMs: p99Of('service'),
      referenceMs: p99Of('koa'),
      reference: `the bare Koa server under the same load; ${setting}`,
    },
  ]
}

const busyOf = (measured: readonly Round[], name: keyof Round): string => {
  const shares = measured.flatMap((round) => round[name].busyShare ?? [])
  return shares.length === 0 ? 'an unknown share' : `${Math.round(100 * median(shares))} %`
}

/**
 * Counts only the time in which the servers ran, so that other programs on their core change it
 * less.
 */
const perProcessorTime = (measured: readonly Round[]): string => {
  const shares = measured.flatMap(({ service, koa: reference }) =>
    service.busyShare === undefined || reference.busyShare === undefined
      ? []
      : (service.perSecond * reference.busyShare) / (reference.perSecond * service.busyShare),
  )
  return shares.length === 0
    ? 'requests per processor time unknown'
    : `${median(shares).toFixed(3)} of its requests per processor time`
}

/** Two tenants: the good caller's, and the one whose client sends hostile bodies. */
const applyRecords = (service: MeasuredService): Promise<void> =>
  applyDocument(service, {
    tenants: ['good', 'hostile'].map((id) => ({ id, name: id, providerToken })),
    users: ['good', 'hostile'].map((id) => ({
      id,
      tenantId: id,
      email: `${id}@example.com`,
      plan: 'enterprise',
    })),
    accounts: [demoAccount({ id: accountId, userId: 'good', providerAccountId })],
    apiKeys: [
      ...[...keys, callerKey].map((key, index) => ({
        id: `good-${index}`,
        userId: 'good',
        key,
        scopes: ['trading:read'],
      })),
      ...hostileKeys.map((key, index) => ({
        id: `hostile-${index}`,
        userId: 'hostile',
        key,
        scopes: ['trading:read', 'trading:write', 'webhooks:write'],
      })),
    ],
  })

const fetchReply = async (url: string): Promise<string> => {
  const response = await fetch(url, { headers: { 'X-API-Key': callerKey } })
  const text = await response.text()
  const { data } = JSON.parse(text) as { data: readonly unknown[] | null }
  if (data?.length !== positions)
    throw new Error(
      `the service answered ${response.status} without ${positions} positions: ${text.slice(0, 500)}`,
    )
  return text
}
