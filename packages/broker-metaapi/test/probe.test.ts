// What the provider says of a tenant's token, and of an account that nobody has linked yet.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startSandbox, type Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { refuse } from '@tradeport/domain/errors'
import type { ProviderTokens } from '@tradeport/domain/ports'
import type { TenantId } from '@tradeport/domain/primitives'
import { createProviderProbe } from '../src/index.ts'
import { apiWith, token } from './support.ts'

const tenant = 'acme' as TenantId
let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({
    tokens: [token],
    accounts: [
      { id: 'demo', login: '5000101', server: 'Example-Demo', currency: 'EUR' },
      { id: 'old', platform: 'mt4', type: 'real' },
    ],
  })
})
afterAll(() => sandbox?.close())

const held = (text: string) => TE.right(O.some(text))
const unavailable = (reason: unknown) => ({ kind: 'unavailable', reason })

it('a token is accepted, refused, absent, or cannot be tried', async () => {
  const probe = (
    providerToken: ProviderTokens['find'] = () => held(token),
    provisioningUrl = sandbox.url,
  ) =>
    createProviderProbe({
      provisioningUrl,
      providerToken,
      clock: { now: Date.now },
    })(tenant)()
  const before = Date.now()
  const standing = await probe()
  expect(standing).toMatchObject({ kind: 'accepted', clock: { toleranceMs: 500 } })
  const time = standing.kind === 'accepted' ? (standing.clock?.reportedAt ?? 0) : 0
  expect(Math.abs(time - before)).toBeLessThanOrEqual(2_000)
  expect(await probe(() => held('another-secret'))).toEqual({ kind: 'refused', status: 401 })
  expect(await probe(() => TE.right(O.none))).toEqual({ kind: 'no_token' })
  expect(await probe(() => held('two words'))).toEqual({ kind: 'invalid_token' })
  expect(await probe(() => TE.left(refuse('ServiceUnavailable', { reason: 'down' })))).toEqual({
    kind: 'unreadable_token',
  })
  expect(await probe(undefined, 'http://127.0.0.1:2')).toEqual(unavailable('ECONNREFUSED'))
  sandbox.faults.set('*', 'accounts', { kind: 'rate-limit', retryAfterSeconds: 2, times: 1 })
  expect(await probe()).toEqual(unavailable('it answered 429'))
  sandbox.faults.set('*', 'accounts', { kind: 'server-error', times: 1 })
  expect(await probe()).toEqual(unavailable(expect.stringMatching(/^it answered 5\d\d$/)))
})

it('an account is described by its provisioning and its broker, or is an error', async () => {
  const find = (id: string) =>
    apiWith({
      provisioningUrl: sandbox.url,
      clientUrl: sandbox.url,
      clock: { now: Date.now },
    }).providerAccounts.find(tenant, id)()
  const { broker } = sandbox.account('demo').information()
  expect(await find('demo')).toMatchObject({
    right: {
      accountNumber: '5000101',
      server: 'Example-Demo',
      brokerType: 'mt5',
      region: 'new-york',
      broker,
      currency: 'EUR',
      isDemo: true,
    },
  })
  expect(await find('old')).toMatchObject({ right: { brokerType: 'mt4', isDemo: false } })
  expect(await find('nowhere')).toMatchObject({ left: { _tag: 'NotProvisioned' } })
  sandbox.faults.set('demo', 'account-information', { kind: 'forbidden' })
  expect(await find('demo')).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
})
