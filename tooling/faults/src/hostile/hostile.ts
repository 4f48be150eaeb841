// The run of hostile requests: a hundred thousand drawn from the documents of the API and of the
// operator API, on many connections at once. A fault is shrunk to the smallest request that shows
// it, and what the requests left in memory is measured. Bytes that are no request, smuggled
// requests and slow clients are in the tests of packages/http.
import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { createContractWatch } from '@tradeport/testkit/contract-watch'
import type { Measured } from '@tradeport/harness'
import * as fc from 'fast-check'
import { count, fault, say, shown } from '../run.ts'
import { anyOperation, filled, type FilledRequest, type HostileRequest } from './requests.ts'
import { startWorld } from './world.ts'

const callers = 24
/** Of equal numbers of requests; memory is measured after each. */
const parts = 10
const mostFaults = 10
/** Of processor time: an event loop that is held longer keeps everybody waiting. */
const mostHeldMs = 500
const mostGrownBytes = 16 * 1024 * 1024
/** Longer than anything may take. */
const patienceMs = 100_000

export const hostile = fault({ requests: 100_000 }, async (run, { requests }) => {
  const world = await startWorld(run, requests)
  const { service, complaints } = world
  const listeners = {
    api: await listenerOf(`${service.api}/openapi.json`),
    operator: await listenerOf(`${service.operator}/operator/openapi.json`),
  }
  const anyRequest = fc.oneof(
    { weight: 6, arbitrary: anyOperation('api', listeners.api.document) },
    { weight: 1, arbitrary: anyOperation('operator', listeners.operator.document) },
  )
  const agent = new Agent({ keepAlive: true })
  run.stack.defer(() => agent.destroy())

  const attackOnce = async (hostile: HostileRequest): Promise<readonly string[]> => {
    const { listener } = hostile
    const { port, watch } = listeners[listener]
    const sent = filled(hostile, world.fill)
    const reply = await send(agent, port, sent).catch(String)
    if (typeof reply === 'string') return [`no reply: ${reply}`]
    const { status, headers, body } = reply
    count(run.counts, `${status} ${(status >= 400 && parsed(body)?.error?.code) || ''}`)
    const path = pathOf(sent.target)
    if (listener === 'api' && status < 300) world.learn(path, parsed(body))
    const text = body.toString()
    // What is not a request of HTTP/1.1 is refused before a route is looked for.
    if (status !== 400 || !/"path":"request"/.test(text))
      watch.hearReply({
        method: sent.method,
        url: path,
        // A byte order mark may be ignored (RFC 8259, 8.1).
        sent: status < 300 && sent.body ? new TextDecoder().decode(sent.body) : undefined,
        status,
        headers,
        text,
      })
    return [...faultsOfReply(reply, sent.method === 'HEAD'), ...watch.takeFaults()]
  }

  const attack = async (): Promise<void> => {
    const property = fc.asyncProperty(anyRequest, async (request) => {
      const found = await attackOnce(request)
      if (found.length > 0) throw new Error(found.join('\n    '))
    })
    const { failed, counterexample, errorInstance } = await fc.check(property, {
      seed: run.random.whole(0, 0x7f_ff_ff_ff),
      numRuns: Math.ceil(requests / parts / callers),
    })
    if (!failed) return
    const smallest = JSON.stringify(counterexample?.[0]).slice(0, 4_000)
    const found = `${String(errorInstance)}\n    smallest request: ${smallest}`
    // At once, because a run may be long.
    say(`  found: ${found}`)
    run.broken.push(found)
  }

  await service.ask('measure')
  const measured: Measured[] = []
  for (let part = 0; part < parts && run.broken.length < mostFaults; part += 1) {
    await Promise.all(Array.from({ length: callers }, attack))
    if (!service.isAlive()) break
    measured.push(await service.ask<Measured>('measure'))
  }
  say(shown(run.counts))
  const [first = 0, last = 0] = [measured[0]?.bytes, measured.at(-1)?.bytes]
  const heldMs = Math.max(0, ...measured.map((one) => one.heldMs))
  say(`memory without garbage: ${inMebibytes(first)} at first, ${inMebibytes(last)} at the end`)
  return [
    ...(service.isAlive() ? [] : ['the service has ended']),
    ...complaints.map((line) => `the service logged: ${line.slice(0, 2_000)}`),
    ...(last - first <= mostGrownBytes ? [] : [`memory grew by ${inMebibytes(last - first)}`]),
    ...(heldMs > mostHeldMs ? [`the event loop was held for ${Math.round(heldMs)} ms`] : []),
  ]
})

const inMebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

const listenerOf = async (url: string) => {
  const document: ReturnType<typeof JSON.parse> = await (await fetch(url)).json()
  return { port: new URL(url).port, document, watch: createContractWatch(document) }
}

interface Reply {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

const send = async (
  agent: Agent,
  port: string,
  { method, target, headers, body }: FilledRequest,
): Promise<Reply> => {
  const request = httpRequest({
    agent,
    port,
    host: '127.0.0.1',
    method,
    path: target,
    headers: [['Host', '127.0.0.1'], ...headers].flat(),
    signal: AbortSignal.timeout(patienceMs),
  })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, rawHeaders } = response
  const pairs = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : [],
  )
  return { status, headers: pairs, body: await buffer(response) }
}

/** As the service reads it. */
const pathOf = (target: string): string =>
  target.includes('#') ? target : (target.split('?')[0] ?? '')

const guards = ['x-content-type-options', 'content-security-policy', 'referrer-policy']
/** Codes that blame the service. */
const ownFaults: readonly unknown[] = ['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']

/** What holds for every reply of an API, whatever was asked. */
const faultsOfReply = ({ status, headers, body }: Reply, isHead: boolean): readonly string[] => {
  const fields = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]))
  const isJson = /^application\/json\b/.test(fields.get('content-type') ?? '')
  const value = isJson && !isHead && status !== 304 ? parsed(body) : {}
  const requestId = value?.error?.request_id ?? value?.meta?.request_id
  const wrong: readonly (readonly [isWrong: boolean, what: string])[] = [
    [status === 500 || ownFaults.includes(value?.error?.code), 'the service blames itself'],
    [fields.size !== headers.length, 'a header is sent twice'],
    [guards.some((name) => !fields.has(name)), 'a header that protects browsers is missing'],
    [value === undefined, 'the body is not JSON in UTF-8'],
    [status >= 400 && !isHead && value?.success !== false, 'a refusal is not in the envelope'],
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
