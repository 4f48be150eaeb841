// The checks of the doctor: it reports every clock that is certainly off and none that may be
// right, and every problem has an action.
import * as E from 'fp-ts/lib/Either.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountId } from '../../src/primitives/ids.ts'
import {
  clockHealth,
  durabilityHealth,
  failSkewMs,
  haltsHealth,
  journalsHealth,
  ordersHealth,
  providerTokenHealth,
  warnSkewMs,
  type Durability,
  type FeedStanding,
  type HealthCheck,
  type LimiterStanding,
  type ProviderStanding,
} from '../../src/operator/health.ts'
import {
  createFakeOperatorOrders,
  createFakeRecords,
  createFakeTenantRecords,
  newAccount,
  newOrderUnderWay,
  newTenant,
  newUser,
  putOrders,
  rightOf,
} from '@tradeport/testkit'
import { createOperatorHealth } from '../../src/use-cases/operator-health.ts'
import type { SecretCounts } from '../../src/operator/sealed-secrets.ts'
import type { SealedSecrets } from '../../src/ports/index.ts'
import { partOf, unavailable } from '../use-cases/desk.ts'

const now = Date.parse('2026-11-21T12:00:00.000Z')
const summary = ({ name, status }: HealthCheck) => `${status} ${name}`

const expectActions = (checks: readonly HealthCheck[]) => {
  for (const { status, action } of checks) expect(action === null).toBe(status === 'ok')
}

/** The other clock is read at a share of the time between question and answer. */
const readClock = (tookMs: number, share: number, offMs: number, toleranceMs = 0) =>
  clockHealth('provider clock', {
    askedAt: now,
    reportedAt: now + Math.floor(tookMs * share) + offMs,
    answeredAt: now + tookMs,
    toleranceMs,
  })

describe('a clock', () => {
  const tookMs = fc.nat(120_000)
  const share = fc.double({ min: 0, max: 1, noNaN: true })

  it('that agrees is never reported, however long its answer took and however it is rounded', () => {
    const rounding = fc.integer({ min: -500, max: 500 })
    fc.assert(
      fc.property(tookMs, share, rounding, (...reading) => {
        expect(readClock(...reading, 500).status).toBe('ok')
      }),
    )
  })

  it('that is off by more than the answer’s time and the bound is reported', () => {
    const skewMs = fc.integer({ min: -200_000, max: 200_000 })
    fc.assert(
      fc.property(tookMs, share, skewMs, (took, at, skew) => {
        const { status } = readClock(took, at, skew)
        const off = Math.abs(skew)
        if (off > took + failSkewMs) expect(status).toBe('fail')
        else if (off > took + warnSkewMs) expect(status).not.toBe('ok')
        if (off <= warnSkewMs) expect(status).toBe('ok')
        if (off <= failSkewMs) expect(status).not.toBe('fail')
      }),
    )
  })

  it.each([
    [5_010, 'ahead of'],
    [-5_000, 'behind'],
  ])('that is off by %d ms is reported as %s the service’s', (offMs, where) => {
    expect(readClock(10, 0, offMs).message).toBe(
      `It is 5.0 seconds or more ${where} the service’s.`,
    )
  })
})

const durable = {
  isEmbedded: false,
  fsync: true,
  fullPageWrites: true,
  synchronousCommit: 'on',
  defaultSynchronousCommit: 'on',
  waitsForStandby: true,
  synchronousStandbys: 1,
  asynchronousStandbys: 0,
  unreadableStandbys: 0,
}

describe('durability', () => {
  const alone = { waitsForStandby: false, synchronousStandbys: 0 }
  const embedded = { ...alone, isEmbedded: true, fsync: false }
  it.each<[Partial<Durability>, string, string]>([
    [{ fsync: false }, 'fail fsync', 'can damage the whole database'],
    [{ fullPageWrites: false }, 'warn full_page_writes', 'can stay damaged'],
    [{ synchronousCommit: 'local' }, 'fail synchronous_commit', 'It is local in the sessions'],
    [{ defaultSynchronousCommit: 'off' }, 'warn synchronous_commit', 'whatever else writes'],
    [alone, 'warn replication', 'if the disk of the server is lost'],
    [{ ...alone, asynchronousStandbys: 1 }, 'warn replication', 'the last orders can be missing'],
    [{ ...alone, unreadableStandbys: 1 }, 'warn replication', 'may not see whether commits wait'],
    [{ synchronousStandbys: 0, asynchronousStandbys: 1 }, 'fail replication', 'every write waits'],
    [embedded, 'warn fsync', 'does not flush to disk at each commit'],
  ])('with %j has one failing check, "%s", with its risk', (settings, expected, risk) => {
    const all = E.right({ ...durable, ...settings })
    const checks = durabilityHealth(all, true)
    const wrong = checks.filter(({ status }) => status !== 'ok')
    expect(checks).toHaveLength(settings.isEmbedded === true ? 1 : 4)
    expect(wrong.map(summary)).toStrictEqual([expected])
    expect(wrong[0]?.message).toContain(risk)
    expectActions(checks)
  })

  it('of the embedded database is fine without real orders', () => {
    const all = E.right({ ...durable, ...embedded })
    expect(durabilityHealth(all, false).map(summary)).toEqual(['ok fsync'])
  })
})

const account = newAccount({ tenantId: newTenant().id, userId: newUser(newTenant().id).id })
const ordersAged = (...agesMs: readonly number[]) => {
  const records = createFakeRecords()
  putOrders(records, ...agesMs.map((ageMs) => newOrderUnderWay(account, now - ageMs)))
  return createFakeOperatorOrders(records)
}
const sealed = (counts: SecretCounts) => partOf<SealedSecrets>({ counts: TE.right(counts) })
const records = createFakeRecords()
const good = {
  health: {
    databaseNow: TE.right(now),
    tryWrite: TE.right(undefined),
    isMigrated: TE.right(true),
    durability: TE.right(durable),
    disagreeingJournals: TE.right([]),
    ignoredHalts: TE.right(0),
    uncheckedThresholds: TE.right([]),
    limiterStanding: T.of<LimiterStanding>({ status: 'shared' }),
    readIssuerKeys: TE.right(undefined),
    noticesConfirmedAt: () => now - 400,
    sendsRealOrders: true,
    probeProvider: () => T.of<ProviderStanding>({ kind: 'no_token' }),
  },
  sealedSecrets: sealed({ current: 3, earlier: 0, unknown: 0 }),
  operatorOrders: ordersAged(),
  records: createFakeTenantRecords(records),
  clock: { now: () => now },
}
const down = unavailable()
const feeds: readonly (readonly [string, FeedStanding, ...string[]])[] = [
  ['no feed', { kind: 'none' }],
  ['a feed that cannot be read', { kind: 'unreadable', reason: 'x' }, 'fail market data feed'],
  ['no database to read the feed from', { kind: 'database_unreadable' }, 'fail market data feed'],
  [
    'a feed with every instrument',
    { kind: 'read', accountId: account.id, unknown: [], ambiguous: [] },
  ],
  [
    'a feed that lacks some',
    { kind: 'read', accountId: account.id, unknown: ['AAPL'], ambiguous: ['US500'] },
    'warn market data feed',
  ],
]
const feedRows = feeds.map(([what, standing, ...wrong]): [string, object, ...string[]] => [
  `has ${what}`,
  { feedStanding: T.of(standing) },
  ...wrong,
])

describe('the service', () => {
  it('is checked in all of its parts', async () => {
    const checks = await rightOf(createOperatorHealth(good).checkService())
    const names =
      'database,database clock,database writes,tables,fsync,full_page_writes,synchronous_commit,replication,limits,peer notices,token issuer,secrets,orders,journals,halts,risk thresholds'
    expect(checks.map(summary)).toEqual(names.split(',').map((name) => `ok ${name}`))
  })

  it.each([
    [
      'has a database that is unavailable',
      {
        health: {
          ...good.health,
          databaseNow: down,
          tryWrite: down,
          isMigrated: down,
          durability: down,
          disagreeingJournals: down,
          ignoredHalts: down,
          uncheckedThresholds: down,
        },
        sealedSecrets: partOf({ counts: down }),
        operatorOrders: { underWay: () => down },
      },
      ...'fail database,fail database writes,fail tables,fail fsync,fail secrets,fail orders,fail journals,fail halts,fail risk thresholds'.split(
        ',',
      ),
    ],
    [
      'has older tables',
      { health: { ...good.health, isMigrated: TE.right(false) } },
      'fail tables',
    ],
    [
      'has lost Redis',
      {
        health: {
          ...good.health,
          limiterStanding: T.of({ status: 'alone', reason: 'x' }),
        },
      },
      'warn limits',
    ],
    [
      'has an issuer whose keys cannot be read',
      { health: { ...good.health, readIssuerKeys: down } },
      'fail token issuer',
    ],
    [
      'gets no notices',
      { health: { ...good.health, noticesConfirmedAt: () => -Infinity } },
      'warn peer notices',
    ],
    [
      'has secrets under an earlier key',
      { sealedSecrets: sealed({ current: 1, earlier: 2, unknown: 0 }) },
      'warn secrets',
    ],
    [
      'has secrets under a key that is not given',
      { sealedSecrets: sealed({ current: 1, earlier: 2, unknown: 1 }) },
      'fail secrets',
    ],
    [
      'has a halt that is ignored',
      { health: { ...good.health, ignoredHalts: TE.right(1) } },
      'warn halts',
    ],
    [
      'has a threshold that is not checked',
      { health: { ...good.health, uncheckedThresholds: TE.right([account.id]) } },
      'warn risk thresholds',
    ],
    [
      'has an order that has been pending for ten minutes',
      { operatorOrders: ordersAged(600_000, 599_999) },
      'warn orders',
    ],
    ...feedRows,
    ['has orders that are younger', { operatorOrders: ordersAged(599_999) }],
  ])('that %s has these checks that are not fine', async (_, parts, ...wrong) => {
    const checks = await rightOf(createOperatorHealth({ ...good, ...parts }).checkService())
    expect(checks.filter(({ status }) => status !== 'ok').map(summary)).toStrictEqual(wrong)
    expectActions(checks)
  })
})

it.each([
  [1, '1 has'],
  [1_000, 'At least 1000 have'],
])('counts %d stuck orders', (stuck, text) => {
  expect(ordersHealth(E.right(stuck)).message).toBe(
    `${text} been pending, or open and missing at the broker, for longer than ten minutes.`,
  )
})

it.each([
  [1, '1 account is halted, and gets'],
  [2, '2 accounts are halted, and get'],
])('counts %d halted accounts that trade', (ignored, text) => {
  expect(haltsHealth(E.right(ignored)).message).toContain(`${text} orders all the same`)
})

it.each([
  [1, '1 account do not add up to the balance: account-0 by 12.3.'],
  [
    4,
    '4 accounts do not add up to the balance: account-0 by 12.3, account-1 by -4, account-2 by 0.01, ….',
  ],
])('names the first accounts of %d whose journals do not add up', (count, text) => {
  const journals = [12.3, -4, 0.01, 5].map((difference, index) => ({
    accountId: `account-${index}` as AccountId,
    difference,
  }))
  expect(journalsHealth(E.right(journals.slice(0, count))).message).toBe(`The deals of ${text}`)
})

describe('a tenant', () => {
  const clock = { askedAt: now, reportedAt: now, answeredAt: now, toleranceMs: 500 }
  it.each<[ProviderStanding, HealthCheck['status']]>([
    [{ kind: 'no_token' }, 'fail'],
    [{ kind: 'invalid_token' }, 'fail'],
    [{ kind: 'unreadable_token' }, 'fail'],
    [{ kind: 'refused', status: 401 }, 'fail'],
    [{ kind: 'refused', status: 403 }, 'warn'],
    [{ kind: 'unavailable', reason: 'ECONNREFUSED' }, 'warn'],
  ])('whose token is %j has the status %s', (standing, status) => {
    const check = providerTokenHealth(newTenant(), standing)
    expect(check.status).toBe(status)
    expectActions([check])
  })

  it('is probed once, and reported with the provider’s clock, also where that cannot be read', async () => {
    const tenant = newTenant()
    records.tables.tenants.set(tenant.id, { ...tenant, providerToken: 'secret' })
    const asked: string[] = []
    for (const [reading, status] of [
      [{ ...clock, reportedAt: now + 3_000 }, 'warn'],
      [null, 'warn'],
      [clock, 'ok'],
    ] as const) {
      const probeProvider = (id: string) => (
        asked.push(id),
        T.of({ kind: 'accepted', clock: reading } as const)
      )
      const { checkTenant } = createOperatorHealth({
        ...good,
        health: { ...good.health, probeProvider },
      })
      const checks = (await rightOf(checkTenant(undefined, { tenantId: tenant.id }))).map(summary)
      expect(checks).toStrictEqual(['ok provider token', `${status} provider clock`])
      expect(E.isLeft(await checkTenant(undefined, { tenantId: newTenant().id })())).toBe(true)
    }
    expect(asked).toStrictEqual([tenant.id, tenant.id, tenant.id])
  })
})
