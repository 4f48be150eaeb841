// The checks of the doctor: it reports every clock that is certainly off and none that may be right,
// and every problem has an action.
import * as E from 'fp-ts/lib/Either.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refuse } from '../../src/errors.ts'
import type { AccountId } from '../../src/primitives/ids.ts'
import {
  clockHealth,
  durabilityHealth,
  failSkewMs,
  journalsHealth,
  ordersHealth,
  providerTokenHealth,
  warnSkewMs,
  type Durability,
  type HealthCheck,
  type LimiterStanding,
  type ProviderStanding,
} from '../../src/operator/health.ts'
import {
  createFakeOperatorOrders,
  createFakeOperatorStore,
  createFakeRecords,
  createFakeTenantRecords,
  newAccount,
  newOrderUnderWay,
  newTenant,
  newUser,
  puts,
  rightOf,
  write,
} from '@tradeport/testkit'
import { createOperatorHealth } from '../../src/use-cases/operator-health.ts'

const now = Date.parse('2026-11-21T12:00:00.000Z')
const summary = ({ name, status }: HealthCheck): string => `${status} ${name}`

const read = (
  { tookMs, at, skewMs }: { tookMs: number; at: number; skewMs: number },
  toleranceMs: number,
  rounding: number,
) =>
  clockHealth('provider clock', {
    askedAt: now,
    reportedAt: now + Math.floor(tookMs * at) + skewMs + rounding,
    answeredAt: now + tookMs,
    toleranceMs,
  })

describe('a clock', () => {
  // The other's clock is read at some moment between question and answer.
  const asked = fc.record({
    tookMs: fc.nat(120_000),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    skewMs: fc.integer({ min: -200_000, max: 200_000 }),
  })
  it('that agrees is never reported as wrong, however long its answer took and however it is rounded', () => {
    fc.assert(
      fc.property(asked, fc.integer({ min: -500, max: 500 }), (reading, rounding) => {
        expect(read({ ...reading, skewMs: 0 }, 500, rounding).status).toBe('ok')
      }),
    )
  })

  it('that is off by more than the answer’s time and the bound is reported', () => {
    fc.assert(
      fc.property(asked, (reading) => {
        const { status } = read(reading, 0, 0)
        const off = Math.abs(reading.skewMs)
        if (off > reading.tookMs + failSkewMs) expect(status).toBe('fail')
        else if (off > reading.tookMs + warnSkewMs) expect(status).not.toBe('ok')
        if (off <= warnSkewMs) expect(status).toBe('ok')
        if (off <= failSkewMs) expect(status).not.toBe('fail')
      }),
    )
  })

  it('is reported as ahead or behind', () => {
    expect(read({ tookMs: 10, at: 0, skewMs: 5_010 }, 0, 0).message).toBe(
      'It is 5.0 seconds or more ahead of the service’s.',
    )
    expect(read({ tookMs: 10, at: 0, skewMs: -5_000 }, 0, 0).message).toBe(
      'It is 5.0 seconds or more behind the service’s.',
    )
  })
})

const durable: Durability = {
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
const durabilityChecks = [
  'ok fsync',
  'ok full_page_writes',
  'ok synchronous_commit',
  'ok replication',
]

describe('durability', () => {
  const alone = { waitsForStandby: false, synchronousStandbys: 0 }

  it.each<[Partial<Durability>, string, string]>([
    [{ fsync: false }, 'fail fsync', 'can damage the whole database'],
    [{ fullPageWrites: false }, 'warn full_page_writes', 'can stay damaged'],
    [{ synchronousCommit: 'off' }, 'fail synchronous_commit', 'an order can be lost after its 201'],
    [
      { synchronousCommit: 'local' },
      'fail synchronous_commit',
      'It is local in the sessions of the service',
    ],
    [
      { defaultSynchronousCommit: 'off' },
      'warn synchronous_commit',
      'whatever else writes to this database can lose',
    ],
    [{ ...alone }, 'warn replication', 'if the disk of the server is lost'],
    [{ ...alone, asynchronousStandbys: 1 }, 'warn replication', 'the last orders can be missing'],
    [{ ...alone, unreadableStandbys: 1 }, 'warn replication', 'may not see whether commits wait'],
    [
      { ...alone, waitsForStandby: true, asynchronousStandbys: 1 },
      'fail replication',
      'every write waits',
    ],
  ])(
    'with %j has one failing check, "%s", with its risk and an action',
    (settings, expected, risk) => {
      const checks = durabilityHealth(E.right({ ...durable, ...settings }), {
        sendsRealOrders: true,
      })
      const wrong = checks.filter(({ status }) => status !== 'ok')
      expect(checks).toHaveLength(4)
      expect(wrong.map(summary)).toStrictEqual([expected])
      expect(wrong[0]).toMatchObject({
        message: expect.stringContaining(risk),
        action: expect.any(String),
      })
    },
  )

  it.each([
    [true, 'warn fsync'],
    [false, 'ok fsync'],
  ])('of the embedded database with real orders (%s) is "%s"', (sendsRealOrders, expected) => {
    const checks = durabilityHealth(
      E.right({ ...durable, ...alone, isEmbedded: true, fsync: false }),
      { sendsRealOrders },
    )
    expect(checks.map(summary)).toStrictEqual([expected])
    expect(checks[0]?.message).toContain('does not flush to disk at each commit')
  })
})

const good = {
  database: { now: TE.right(now), isMigrated: TE.right(true), durability: TE.right(durable) },
  brokerHealth: { sendsRealOrders: true },
  limiterHealth: { standing: T.of<LimiterStanding>('shared') },
  journalHealth: { disagreeing: TE.right([]) },
  sealedSecrets: { census: TE.right({ current: 3, others: 0 }) },
  operatorOrders: createFakeOperatorOrders(),
  records: createFakeTenantRecords(createFakeRecords()),
  providerProbe: { probe: () => T.of<ProviderStanding>({ kind: 'no_token' }) },
  clock: { now: () => now },
}

describe('the service', () => {
  const down = TE.left(refuse('ServiceUnavailable', { reason: 'database.now: ECONNREFUSED' }))
  const noOrders = createFakeOperatorOrders()
  noOrders.takeDown(true)
  const stuckOrders = createFakeOperatorOrders()
  const account = newAccount({ tenantId: newTenant().id, userId: newUser(newTenant().id).id })
  stuckOrders.put(...[600_000, 599_999].map((age) => newOrderUnderWay(account, now - age)))
  const allDown = {
    database: { now: down, isMigrated: down, durability: down },
    sealedSecrets: { census: down },
    operatorOrders: noOrders,
    journalHealth: { disagreeing: down },
  }
  const fine = [
    'ok database',
    'ok database clock',
    'ok tables',
    ...durabilityChecks,
    'ok limits',
    'ok secrets',
    'ok orders',
    'ok journals',
  ]
  const except = (wrong: string): readonly string[] =>
    fine.map((check) => (check.slice('ok '.length) === wrong.slice('fail '.length) ? wrong : check))

  it.each<[string, Partial<Parameters<typeof createOperatorHealth>[0]>, readonly string[]]>([
    ['is fine', {}, fine],
    [
      'has a database that is unavailable',
      allDown,
      [
        'fail database',
        'fail tables',
        'fail fsync',
        'ok limits',
        'fail secrets',
        'fail orders',
        'fail journals',
      ],
    ],
    [
      'has older tables',
      { database: { ...good.database, isMigrated: TE.right(false) } },
      except('fail tables'),
    ],
    [
      'has lost Redis',
      { limiterHealth: { standing: T.of<LimiterStanding>('alone') } },
      except('warn limits'),
    ],
    [
      'has secrets under an earlier key',
      { sealedSecrets: { census: TE.right({ current: 1, others: 2 }) } },
      except('warn secrets'),
    ],
    [
      'has a clock that is off',
      { database: { ...good.database, now: TE.right(now - 60_000) } },
      except('fail database clock'),
    ],
    [
      'has an order that has been pending for ten minutes',
      { operatorOrders: stuckOrders },
      except('warn orders'),
    ],
  ])(
    'that %s has these checks, and an action for each that is not ok',
    async (_, parts, expected) => {
      const checks = await rightOf(createOperatorHealth({ ...good, ...parts }).checkService)
      expect(checks.map(summary)).toStrictEqual(expected)
      for (const { status, action } of checks) expect(action === null).toBe(status === 'ok')
    },
  )
})

it.each([
  [1, '1 has'],
  [999, '999 have'],
  [1_000, 'At least 1000 have'],
])('counts %d stuck orders', (stuck, text) => {
  expect(ordersHealth(E.right(stuck)).message).toBe(
    `${text} been pending for longer than ten minutes.`,
  )
})

it('names the accounts whose journals do not add up', () => {
  const journals = [12.3, -4, 0.01, 5].map((difference, index) => ({
    accountId: `account-${index}` as AccountId,
    difference,
  }))
  expect(journalsHealth(E.right(journals.slice(0, 1))).message).toBe(
    'The deals of 1 account do not add up to the balance: account-0 by 12.3.',
  )
  expect(journalsHealth(E.right(journals)).message).toBe(
    'The deals of 4 accounts do not add up to the balance: account-0 by 12.3, account-1 by -4, account-2 by 0.01, ….',
  )
})

describe('a tenant', () => {
  const clock = { askedAt: now, reportedAt: now, answeredAt: now, toleranceMs: 500 }
  it.each<[ProviderStanding, boolean, string]>([
    [{ kind: 'accepted', clock }, true, 'ok'],
    [{ kind: 'no_token' }, false, 'fail'],
    [{ kind: 'no_token' }, true, 'fail'],
    [{ kind: 'refused', status: 401 }, true, 'fail'],
    [{ kind: 'refused', status: 403 }, true, 'warn'],
    [{ kind: 'unavailable', reason: 'ECONNREFUSED' }, true, 'warn'],
  ])('whose token is %j (stored: %s) has the status %s', (standing, hasProviderToken, status) => {
    const check = providerTokenHealth({ ...newTenant(), hasProviderToken }, standing)
    expect(check.status).toBe(status)
    expect(check.action === null).toBe(status === 'ok')
  })

  it('is probed once, and reported with the provider’s clock, also where that cannot be read', async () => {
    const records = createFakeRecords()
    const tenant = newTenant()
    await write(createFakeOperatorStore(records), {
      tenants: puts({ ...tenant, providerToken: 'secret-of-the-provider' }),
    })
    const asked: string[] = []
    const readings = [{ ...clock, reportedAt: now + 3_000 }, null, clock]
    const { checkTenant: check } = createOperatorHealth({
      ...good,
      records: createFakeTenantRecords(records),
      providerProbe: {
        probe: (id) => {
          asked.push(id)
          return T.of({ kind: 'accepted', clock: readings[asked.length - 1] ?? null })
        },
      },
    })
    for (const expected of ['warn', 'warn', 'ok'])
      expect((await rightOf(check(tenant.id))).map(summary)).toStrictEqual([
        'ok provider token',
        `${expected} provider clock`,
      ])
    expect(await check(newTenant().id)()).toStrictEqual(
      E.left({ _tag: 'NotFound', what: 'tenant' }),
    )
    expect(asked).toStrictEqual([tenant.id, tenant.id, tenant.id])
  })
})
