// A broker that cannot be read is an error on every route that needs it, names the account, and is never an empty list.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fault } from '@tradeport/sandbox-broker'
import { providerToken, startTestService } from './support/running-service.ts'
import type { RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

interface Row {
  readonly name: string
  readonly fault: Fault
  readonly status: number
  readonly code: string
  readonly retryAfter: string | null
}

const row = (name: string, fault: Fault, [status, code]: readonly [number, string], retryAfter: string | null = null): Row => ({
  name,
  fault,
  status,
  code,
  retryAfter,
})
const unavailable = [503, 'BROKER_UNAVAILABLE'] as const
const rateLimited = [429, 'BROKER_RATE_LIMITED'] as const
const html = '<html><body>Bad gateway</body></html>'

const rows: readonly Row[] = [
  row('401', { kind: 'unauthorized' }, unavailable),
  row('403', { kind: 'forbidden' }, unavailable),
  row('404 of the provider', { kind: 'not-found' }, [400, 'NOT_PROVISIONED']),
  row('404 of something in between', { kind: 'reply', status: 404, text: html, headers: { 'content-type': 'text/html' } }, unavailable),
  row('429', { kind: 'rate-limit', retryAfterSeconds: 1 }, rateLimited, '1'),
  row('500', { kind: 'server-error' }, unavailable),
  row('502 in HTML', { kind: 'reply', status: 502, text: html, headers: { 'content-type': 'text/html' } }, unavailable),
  row('503 in HTML', { kind: 'unavailable' }, unavailable),
  row('504', { kind: 'timeout' }, unavailable),
  row('504 of an account that is switched off', { kind: 'undeployed' }, unavailable),
  row('a reset', { kind: 'cut' }, unavailable),
  row('a redirect', { kind: 'reply', status: 302, headers: { location: '/elsewhere' } }, unavailable),
  row('202', { kind: 'reply', status: 202, body: [] }, unavailable),
  row('204', { kind: 'reply', status: 204 }, unavailable),
  row('JSON that is cut off', { kind: 'malformed-json' }, unavailable),
  row('a page of HTML with 200', { kind: 'reply', status: 200, text: html, headers: { 'content-type': 'text/html' } }, unavailable),
  row('an object', { kind: 'wrong-shape', shape: 'object' }, unavailable),
  row('null', { kind: 'wrong-shape', shape: 'null' }, unavailable),
  row('a text', { kind: 'wrong-shape', shape: 'string' }, unavailable),
  row('no body', { kind: 'wrong-shape', shape: 'empty' }, unavailable),
  row('a list in a list', { kind: 'wrong-shape', shape: 'array' }, unavailable),
  row('rows without an id', { kind: 'patch', remove: ['id'] }, unavailable),
  row('money in words', { kind: 'patch', set: { profit: 'a lot' } }, unavailable),
]

/** A tenant and a provider token for each fault, because a token that was answered 429 reads nothing for a while. */
const tokenOf = (index: number): string => `token-${index}`
const keyOf = (index: number): string => `tp_live_only_for_automated_tests_unreadable_${index}`
const accountOf = (index: number): string => newAccountUuid(index + 1)

const routes = (accountId: string, position: string, trade: string): readonly string[] => [
  '/positions',
  `/positions?accountId=${accountId}`,
  `/positions/${accountId}:${position}`,
  '/trades',
  `/trades?accountId=${accountId}&symbol=EURUSD`,
  '/trades/stats',
  '/trades/export',
  '/trades/export?format=json',
  `/trades/${accountId}:${trade}`,
]

const clock = createTestClock('2026-03-04T12:00:00.000Z')
let service: RunningService

beforeAll(async () => {
  // One account, user and tenant for each fault, so that none has to wait for another.
  service = await startTestService(
    rows.map((_, index) => ({ id: `account-${index}`, generate: { trades: 2, openPositions: 1, symbols: ['EURUSD'] } })),
    { now: clock.now, providerTokens: [providerToken, ...rows.map((_, index) => tokenOf(index))] },
  )
  await service.setUp(
    ...rows.map((_, index) =>
      linkDocument({ tenant: `tenant-${index}`, user: `u-${index}`, key: keyOf(index), providerToken: tokenOf(index) }, [
        { id: accountOf(index), providerAccountId: `account-${index}` },
      ]),
    ),
  )
  for (const [index, { fault }] of rows.entries()) service.sandbox.faults.set(`account-${index}`, 'any', fault)
})
afterAll(() => service?.close())

const pathsOf = (index: number): readonly string[] => {
  const account = service.sandbox.account(`account-${index}`)
  const closed = account.deals().find((deal) => deal['entryType'] === 'DEAL_ENTRY_OUT')?.['positionId']
  return routes(accountOf(index), account.positions()[0]?.id ?? '', typeof closed === 'string' ? closed : '')
}

describe('a broker that cannot be read', () => {
  it.each(rows.map((one, index) => ({ ...one, index })))(
    'answers $name with $status $code',
    async ({ index, fault, status, code, retryAfter }) => {
      const accountId = accountOf(index)
      const paths = pathsOf(index)
      const replies = await Promise.all(paths.map((path) => service.get(path, keyOf(index))))
      for (const [at, reply] of replies.entries()) {
        expect(reply, paths[at]).toMatchObject({ status, body: { success: false, data: null, error: { code, details: { accountId } } } })
        expect(String(reply.body.error?.message).includes('the provider refused the token'), paths[at]).toBe(fault.kind === 'unauthorized')
        expect(reply.headers.get('Retry-After'), paths[at]).toBe(retryAfter)
        expect(reply.headers.get('Content-Disposition'), paths[at]).toBeNull()
      }
      // Account information has neither an id nor a profit that a patch could spoil.
      if (fault.kind === 'patch') return
      expect(await service.get(`/accounts/${accountId}`, keyOf(index))).toMatchObject({
        status: 503,
        body: { error: { code: 'ACCOUNT_DISCONNECTED', details: { accountId, status: 'error' } } },
      })
    },
  )

  it('is read again as soon as it can be: no failure is kept, and a 429 no longer than it asks for', async () => {
    service.sandbox.faults.clear()
    for (const [index, { code }] of rows.entries()) {
      const paths = pathsOf(index)
      if (code === 'BROKER_RATE_LIMITED') await pause(1_000)
      const replies = await Promise.all(paths.map((path) => service.get(path, keyOf(index))))
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    }
  })
})

describe('a history that is not all there', () => {
  const key = 'tp_live_only_for_automated_tests_unreadable_history'
  let linked = 0
  const link = async () => {
    linked += 1
    const [accountId, provider] = [newAccountUuid(500 + linked), `history-${linked}`]
    service.sandbox.addAccount({ id: provider, generate: { trades: 600 } })
    await service.setUp(
      linkDocument({ tenant: 'acme', user: 'u-long', key, providerToken }, [{ id: accountId, providerAccountId: provider }]),
    )
    return {
      accountId,
      fail: (fault: Fault) => service.sandbox.faults.set(provider, 'deals', fault),
      read: (path: string) => service.get(`${path}?accountId=${accountId}`, key),
    }
  }
  const whole = { status: 200, body: { meta: { pagination: { total: 600 }, provenance: { skipped: [] } } } }

  it.each<[string, Fault]>([
    ['cannot be read', { kind: 'timeout' }],
    ['is cut off', { kind: 'malformed-json' }],
    ['is still being loaded by the provider', { kind: 'wrong-shape', shape: 'wrapped', synchronizing: true }],
  ])('is an error where its second page %s; no part of it is shown, and all of it once that page is there', async (_, fault) => {
    const { accountId, fail, read } = await link()
    fail({ ...fault, skip: 1 })
    for (const path of ['/trades', '/trades/stats', '/trades/export']) {
      expect(await read(path), path).toMatchObject({
        status: 503,
        body: { data: null, error: { code: 'BROKER_UNAVAILABLE', details: { accountId } } },
      })
    }
    service.sandbox.faults.clear()
    expect(await read('/trades')).toMatchObject(whole)
  })

  it.each<[string, Fault]>([
    ['in an order that has nothing to do with time', { kind: 'shuffled' }],
    ['with rows repeated from page to page', { kind: 'duplicates', rows: 7 }],
    ['with ids as numbers', { kind: 'numeric-ids' }],
    ['wrapped in an object', { kind: 'wrong-shape', shape: 'wrapped' }],
  ])('is read all the same when it comes %s', async (_, fault) => {
    const { fail, read } = await link()
    fail(fault)
    expect(await read('/trades')).toMatchObject(whole)
  })
})
