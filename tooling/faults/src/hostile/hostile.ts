// The run of hostile requests: a hundred thousand drawn from the documents of the API and of the
// operator API and from raw bytes, on many connections at once. A fault is shrunk to the smallest
// request that shows it, and what the requests left in memory is measured.
import { createContractWatch } from '@tradeport/contract-watch'
import * as fc from 'fast-check'
import type { Measured } from '../probe.ts'
import { inRun, say } from '../run.ts'
import { openConnection, type Connection } from './connection.ts'
import { rawRequest, unfinished, type RawRequest } from './raw.ts'
import { anyOperation, written, type HostileRequest } from './requests.ts'
import type { WireReply } from './wire.ts'
import { checkInstance, startWorld } from './world.ts'

export interface HostileRun {
  readonly databaseUrl: string | null
  readonly requests: number
}

const callers = 24
/** Of equal numbers of requests; memory is measured after each. */
const parts = 10
const mostFaults = 10
/** Connections that wait for the service to end them would make a short run long. */
const leastForUnfinished = 10_000
/** Of processor time: an event loop that is held longer keeps everybody waiting. */
const mostHeldMs = 500
/** The service may end a connection that was idle for longer. */
const mostIdleMs = 20_000

export const runHostile = (seed: number, { databaseUrl, requests }: HostileRun) =>
  inRun(seed, async (run) => {
    const world = await startWorld(run, {
      databaseUrl,
      requests,
      environment: {
        CAPABILITIES: 'events',
        WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
        TRUST_PROXY: '127.0.0.1/32',
      },
    })
    const { instance, fill, learn } = world
    const { apiUrl, operatorUrl } = instance
    const ports = { api: portOf(apiUrl), operator: portOf(operatorUrl) }
    const documents = {
      api: await documentAt(`${apiUrl}/openapi.json`),
      operator: await documentAt(`${operatorUrl}/operator/openapi.json`),
    }
    const watches = {
      api: createContractWatch(documents.api),
      operator: createContractWatch(documents.operator),
    }
    const anyRequest = fc.oneof<fc.MaybeWeightedArbitrary<HostileRequest | RawRequest>[]>(
      { weight: 6, arbitrary: anyOperation('api', documents.api) },
      { weight: 1, arbitrary: anyOperation('operator', documents.operator) },
      { weight: 1, arbitrary: rawRequest },
    )
    const counts = new Map<string, number>()
    const count = ({ status, body }: WireReply): void => {
      const name = `${status} ${(status >= 400 && parsed(body)?.error?.code) || ''}`.trim()
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }

    const sendRaw = async ({ listener, pieces, mostReplies }: RawRequest) => {
      const connection = await openConnection(ports[listener])
      // Filled as one, because a place may be cut in two.
      const text = fill(pieces.join(''))
      const cutAt = pieces.length > 1 ? (pieces[0]?.length ?? 0) : text.length
      connection.write(text.slice(0, cutAt))
      if (cutAt < text.length) setImmediate(() => connection.write(text.slice(cutAt)))
      const { replies, fault } = await connection.rest(false)
      for (const reply of replies) count(reply)
      return [
        ...(fault === undefined ? [] : [fault]),
        ...(replies.length > mostReplies ? [`${replies.length} replies, of ${mostReplies}`] : []),
        ...replies.flatMap((reply) => faultsOfReply(reply, false)),
      ]
    }

    /** Requests one after the other on a connection to each listener, as long as it lasts. */
    const createCaller = () => {
      const kept = new Map<string, { connection: Connection; usedAt: number }>()
      const connect = async (listener: HostileRequest['listener']): Promise<Connection> => {
        const open = kept.get(listener)
        kept.delete(listener)
        if (open !== undefined && Date.now() - open.usedAt < mostIdleMs) return open.connection
        open?.connection.close()
        return openConnection(ports[listener])
      }
      return async (request: HostileRequest): Promise<readonly string[]> => {
        const { listener, method } = request
        const { bytes, path, body } = written(request, fill)
        const connection = await connect(listener)
        connection.write(bytes)
        const reply = await connection.reply(method === 'HEAD')
        if (typeof reply === 'string' || reply.isLast) connection.close()
        else kept.set(listener, { connection, usedAt: Date.now() })
        if (typeof reply === 'string') return [reply]
        const { status, headers } = reply
        count(reply)
        const text = reply.body.toString()
        if (listener === 'api' && status < 300) learn(path, parsed(reply.body))
        const watch = watches[listener]
        const isRead = status < 300 && body !== undefined
        // What is not a request of HTTP/1.1 is refused before a route is looked for.
        const isOfRoute = !(status === 400 && /"path":"request"/.test(text))
        if (isOfRoute)
          watch.hearReply({
            method,
            url: path,
            // A byte order mark may be ignored (RFC 8259, 8.1).
            sent: isRead ? new TextDecoder().decode(body) : undefined,
            status,
            headers,
            text,
          })
        return [...faultsOfReply(reply, method === 'HEAD'), ...watch.takeFaults()]
      }
    }

    const faults: string[] = []
    const attack = async (callWhole: ReturnType<typeof createCaller>): Promise<void> => {
      const property = fc.asyncProperty(anyRequest, async (request) => {
        const found = await ('pieces' in request ? sendRaw(request) : callWhole(request))
        if (found.length > 0) throw new Error(found.join('\n    '))
      })
      const { failed, counterexample, errorInstance } = await fc.check(property, {
        seed: run.random.whole(0, 0x7f_ff_ff_ff),
        numRuns: Math.ceil(requests / parts / callers),
      })
      if (!failed) return
      const smallest = JSON.stringify(counterexample?.[0]).slice(0, 4_000)
      const fault = `${String(errorInstance)}\n    smallest request: ${smallest}`
      // At once, because a run may be long.
      say(`  found: ${fault}`)
      faults.push(fault)
    }

    const lanes = Array.from({ length: callers }, createCaller)
    const measured: Measured[] = []
    let waiting: Promise<readonly string[]> = Promise.resolve([])
    const startedAt = Date.now()
    await instance.measure()
    for (let part = 0; part < parts && faults.length < mostFaults; part += 1) {
      await Promise.all(lanes.map(attack))
      if (!instance.isAlive()) break
      if (part === 0 && requests >= leastForUnfinished) waiting = leaveUnfinished(ports)
      measured.push(await instance.measure())
    }
    const tookMs = Date.now() - startedAt
    faults.push(...(await waiting))
    say(`${Math.round((requests * 1_000) / tookMs)} requests a second; replies:`)
    say([...counts].map((one) => one.join(' × ')).join(', '))
    const heldMs = Math.max(0, ...measured.map((one) => one.heldMs))
    return [
      ...faults,
      ...checkInstance(instance, measured),
      ...(heldMs > mostHeldMs ? [`the event loop was held for ${Math.round(heldMs)} ms`] : []),
    ]
  })

export const portOf = (url: string): number => Number(new URL(url).port)

const documentAt = async (url: string): Promise<ReturnType<typeof JSON.parse>> =>
  (await fetch(url)).json()

/** Each is to be ended by the service while the others go on. */
const leaveUnfinished = async (
  ports: Readonly<Record<'api' | 'operator', number>>,
): Promise<readonly string[]> => {
  const ended = await Promise.all(
    Object.values(ports).flatMap((port) =>
      unfinished.map(async (text) => {
        const connection = await openConnection(port)
        connection.write(text)
        const { fault } = await connection.rest(true)
        return fault === undefined ? [] : [`${fault}: ${JSON.stringify(text)}`]
      }),
    ),
  )
  return ended.flat()
}

const guards = ['x-content-type-options', 'content-security-policy', 'referrer-policy']
/** Codes that blame the service. */
const ownFaults: readonly unknown[] = ['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']

/** What holds for every reply of an API, whatever was asked. */
export const faultsOfReply = (
  { status, headers, body }: WireReply,
  isHead: boolean,
): readonly string[] => {
  const fields = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]))
  const isJson = /^application\/json\b/.test(fields.get('content-type') ?? '')
  const value = isJson && !isHead && status !== 304 ? parsed(body) : {}
  const requestId = value?.error?.request_id ?? value?.meta?.request_id
  const isRefusal =
    value?.success === false && value.data === null && /./.test(value.error?.message ?? '')
  const wrong: readonly (readonly [isWrong: boolean, what: string])[] = [
    [status === 500 || ownFaults.includes(value?.error?.code), 'the service blames itself'],
    [fields.size !== headers.length, 'a header is sent twice'],
    [guards.some((name) => !fields.has(name)), 'a header that protects browsers is missing'],
    [value === undefined, 'the body is not JSON in UTF-8'],
    [status >= 400 && !isHead && !isRefusal, 'a refusal is not in the envelope'],
    [
      requestId !== undefined && requestId !== fields.get('x-request-id'),
      'the request id of the header is not that of the body',
    ],
  ]
  return wrong
    .filter(([isWrong]) => isWrong)
    .map(([, what]) => `${status}: ${what}: ${body.toString().slice(0, 500)}`)
}

const parsed = (body: Buffer): ReturnType<typeof JSON.parse> => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
