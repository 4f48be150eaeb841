// Liveness and readiness, on both listeners, for everybody.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorApi, probePages } from '../src/index.ts'
import type { Readiness } from '../src/index.ts'
import { fakeEdge, run, runApi, send } from './fakes.ts'
import type { Running } from './fakes.ts'
import { operatorUseCases } from './operator-use-cases.ts'

let readiness: Readiness = { failing: [], limiter: 'shared' }
const unexpected = (): never => {
  throw new Error('a probe counts against no limit')
}
const edge = fakeEdge({ limiter: { decide: unexpected }, pages: probePages(async () => readiness) })

describe('a probe', () => {
  let listeners: readonly Running[]
  beforeAll(async () => {
    const operatorApi = createOperatorApi(operatorUseCases(), { ...edge, operatorToken: 'operator-token-for-tests' })
    listeners = [await runApi({}, edge), await run(operatorApi)]
  })
  afterAll(async () => {
    for (const listener of listeners) await listener[Symbol.asyncDispose]()
  })
  const probe = (path: string) => Promise.all(listeners.map((listener) => send(listener, path, { headers: {} })))

  it('answers that the process is alive', async () => {
    for (const { status, text, headers } of await probe('/healthz')) {
      expect({ status, text }).toEqual({ status: 200, text: '{"alive":true}' })
      expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    }
  })

  it.each<Readiness & { readonly status: number }>([
    { failing: [], limiter: 'in-process', status: 200 },
    { failing: [], limiter: 'shared', status: 200 },
    // An instance that cannot reach the shared limiter limits by itself, and serves.
    { failing: [], limiter: 'alone', status: 200 },
    { failing: ['database', 'jobs'], limiter: 'shared', status: 503 },
    { failing: ['draining'], limiter: 'alone', status: 503 },
  ])('answers $status to readiness with failing $failing and limiter $limiter', async ({ status, ...found }) => {
    readiness = found
    for (const reply of await probe('/readyz')) {
      expect(reply.status).toBe(status)
      expect(JSON.parse(reply.text)).toEqual({ ready: status === 200, ...found })
    }
  })
})
