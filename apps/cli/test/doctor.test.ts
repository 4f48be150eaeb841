// The doctor against the demo, which needs nothing configured, and against a service with much
// wrong with it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, startService } from './service.ts'
import type { StartedService } from './service.ts'

const token = 'operator-token-for-tests'

describe('the doctor', () => {
  let demo: StartedService
  let ailing: StartedService
  beforeAll(async () => {
    demo = await startService()
    // The provider is not there, and neither is Redis.
    ailing = await startService({
      OPERATOR_TOKEN: token,
      BROKER: 'metaapi',
      METAAPI_PROVISIONING_URL: 'http://127.0.0.1:2',
      METAAPI_CLIENT_URL: 'http://127.0.0.1:2',
      REDIS_URL: 'redis://127.0.0.1:2',
    })
  })
  afterAll(async () => {
    await demo?.stop()
    await ailing?.stop()
  })

  it('finds the demo in good health, by the token that it keeps', async () => {
    const environment = { OPERATOR_URL: demo.operatorUrl, DATA_DIR: demo.folder }
    const { exit, out, err } = await call(['doctor'], { environment })
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out.split('\n')).toEqual([
      `ok    service: It answers at ${demo.operatorUrl}, and takes the token.`,
      'ok    database: It answers.',
      'ok    database clock: It agrees with the service’s within a second.',
      'ok    tables: They are those that this version needs.',
      'ok    fsync: The embedded database (PGlite) does not flush to disk at each commit, and no order reaches a real broker.',
      'ok    limits: This instance counts requests by itself; several instances need REDIS_URL to share their limits.',
      'ok    secrets: All 1 are sealed under the current key.',
      'ok    orders: None has been pending for longer than ten minutes.',
      'ok    journals: The deals of every account that was compared add up to its balance.',
      'ok    provider token of demo: The provider takes it.',
      'ok    provider clock of demo: It agrees with the service’s within a second.',
      '',
    ])
    const { checks } = JSON.parse((await call(['doctor', '--json'], { environment })).out) as {
      checks: object[]
    }
    expect(checks.find((check) => 'name' in check && check.name === 'provider token')).toEqual({
      tenant: 'demo',
      name: 'provider token',
      status: 'ok',
      message: 'The provider takes it.',
      action: null,
    })
  })

  it('says what is wrong and what to do, and ends with 1 where something failed', async () => {
    const environment = { OPERATOR_URL: ailing.operatorUrl, OPERATOR_TOKEN: token }
    const tenants = [
      { id: 'a', name: 'A', providerToken: 'provider-secret-of-a' },
      { id: 'b', name: 'B' },
    ]
    expect(
      (await call(['apply', '-'], { environment, input: JSON.stringify({ tenants }) })).exit,
    ).toBe(0)
    const { exit, out, err } = await call(['doctor'], { environment })
    expect([exit, err]).toEqual([1, '1 of 11 checks failed.\nWhat to do stands beside each.\n'])
    expect(out).toContain(
      'warn  limits: Redis does not answer: this instance limits by itself until it does.\n      Look at the Redis server and at REDIS_URL;',
    )
    expect(out).toContain(
      'warn  fsync: The embedded database (PGlite) does not flush to disk at each commit: in a power cut',
    )
    expect(ailing.log()).toContain(
      'BROKER is metaapi and DATABASE_URL is not set. The embedded database (PGlite) does not flush to disk',
    )
    expect(demo.log()).not.toContain('does not flush to disk')
    expect(out).toContain(
      'warn  provider token of a: It cannot be tried: the provider cannot be asked (ECONNREFUSED).\n      Look at',
    )
    expect(out).toContain(
      'fail  provider token of b: It is not set: no account of the tenant can be read.\n      Apply a document with {"tenants": [{"id": "b", "providerToken": "…"}]}.',
    )
    expect(out).not.toContain('provider-secret-of-a')
    expect((await call(['doctor', '--tenant', 'a'], { environment })).exit).toBe(0)
    expect(await call(['doctor', '--tenant', 'nobody'], { environment })).toMatchObject({
      exit: 1,
      err: expect.stringContaining('no tenant with this name or id'),
    })
  })
})
