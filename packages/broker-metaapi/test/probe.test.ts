// What the provider says to a tenant's token, told apart without a word of the token.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { serviceUnavailable } from '@tradeport/domain/errors'
import type { ProviderTokens } from '@tradeport/domain/ports'
import type { TenantId } from '@tradeport/domain/primitives'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createProviderProbe } from '../src/index.ts'

const tenant = 'acme' as TenantId
const token = 'a-provider-secret'

const held = (text: string) => TE.right(O.some(text))

describe('the probe of a token', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await startSandbox({ seed: 1, tokens: [token], accounts: [{ id: 'main' }] })
  })
  afterAll(() => sandbox.close())
  afterEach(() => sandbox.faults.clear())

  const probe = (found: ReturnType<ProviderTokens['find']>, provisioningUrl = sandbox.url) =>
    createProviderProbe({
      provisioningUrl,
      clientUrl: sandbox.url,
      providerToken: () => found,
      clock: { now: Date.now },
    }).probe(tenant)()

  it('is accepted where the provider takes it, with the provider’s clock', async () => {
    const before = Date.now()
    const standing = await probe(held(token), `${sandbox.url}/`)
    expect(standing).toMatchObject({ kind: 'accepted', clock: { toleranceMs: 500 } })
    const told = standing.kind === 'accepted' ? (standing.clock?.told ?? 0) : 0
    expect(told).toBeGreaterThanOrEqual(before - 1_000)
    expect(told).toBeLessThanOrEqual(Date.now() + 1_000)
  })

  it('is refused where the provider does not know it', async () => {
    expect(await probe(held('another-secret'))).toStrictEqual({ kind: 'refused', status: 401 })
  })

  it('is no token where none is held, or none that a header can carry', async () => {
    expect(await probe(TE.right(O.none))).toStrictEqual({ kind: 'no_token' })
    expect(await probe(held('two words'))).toStrictEqual({ kind: 'no_token' })
  })

  it('is untried where it cannot be read, or the provider cannot be reached', async () => {
    const unread = await probe(TE.left(serviceUnavailable('down')))
    expect(unread).toStrictEqual({
      kind: 'unavailable',
      reason: 'the token cannot be read from the database',
    })
    expect(await probe(held(token), 'http://127.0.0.1:2')).toStrictEqual({
      kind: 'unavailable',
      reason: 'ECONNREFUSED',
    })
  })

  it('is untried where the provider asks to be asked less often, or fails', async () => {
    sandbox.faults.set('*', 'accounts', { kind: 'rate-limit', retryAfterSeconds: 2, times: 1 })
    expect(await probe(held(token))).toStrictEqual({
      kind: 'unavailable',
      reason: 'it answered 429',
    })
    sandbox.faults.clear()
    sandbox.faults.set('*', 'accounts', { kind: 'server-error', times: 1 })
    expect(await probe(held(token))).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringMatching(/^it answered 5\d\d$/),
    })
  })
})
