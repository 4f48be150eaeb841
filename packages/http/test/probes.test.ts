// What the probes say, on either listener, to whoever asks.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorApi, probeRoutes } from '../src/index.ts'
import type { Readiness } from '../src/index.ts'
import { fakeEdge, run, runApi, send } from './fakes.ts'
import type { Running } from './fakes.ts'
import { operatorVerbs } from './operator-verbs.ts'

const said: { readiness: Readiness } = { readiness: { failing: [], limiter: 'shared' } }
const notAsked = (): never => {
  throw new Error('a probe asks for nothing')
}
const edge = fakeEdge({ limiter: { decide: notAsked }, plainRoutes: probeRoutes(async () => said.readiness) })

describe('the probes', () => {
  let listeners: readonly Running[]
  beforeAll(async () => {
    const operatorApi = createOperatorApi(operatorVerbs(), { ...edge, operatorToken: 'operator-token-for-tests' })
    listeners = [await runApi({}, edge), await run(operatorApi)]
  })
  afterAll(async () => {
    for (const listener of listeners) await listener[Symbol.asyncDispose]()
  })
  const ask = (path: string) => Promise.all(listeners.map((listener) => send(listener, path, { headers: {} })))

  it('say that the process lives', async () => {
    for (const { status, text, headers } of await ask('/healthz')) {
      expect({ status, text }).toEqual({ status: 200, text: '{"alive":true}' })
      expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    }
  })

  it.each<Readiness & { readonly status: number }>([
    { failing: [], limiter: 'in-process', status: 200 },
    { failing: [], limiter: 'shared', status: 200 },
    // Decision 16: it limits by itself, says so, and serves.
    { failing: [], limiter: 'alone', status: 200 },
    { failing: ['database', 'jobs'], limiter: 'shared', status: 503 },
    { failing: ['draining'], limiter: 'alone', status: 503 },
  ])('say whether requests are wanted: $failing, limiter $limiter', async ({ status, ...readiness }) => {
    said.readiness = readiness
    for (const reply of await ask('/readyz')) {
      expect(reply.status).toBe(status)
      expect(JSON.parse(reply.text)).toEqual({ ready: status === 200, ...readiness })
    }
  })
})
