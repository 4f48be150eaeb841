// Dead accounts, hanging trades and rate limits do not use up the tenant's token.
import { times } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startSandbox, type Fault, type Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { refuse } from '@tradeport/domain/errors'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import {
  account,
  always,
  apiWith,
  close,
  everWindow,
  notSent,
  order,
  sentOrder,
  unknown,
} from './support.ts'

const tokens = { acme: 'acme-token', other: 'other-token' }
let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ tokens: Object.values(tokens) })
})
afterEach(() => sandbox.faults.clear())
afterAll(() => sandbox.close())

let accounts = 0
const newAccount = (tenantId: keyof typeof tokens = 'acme', more: object = {}) => {
  accounts += 1
  const providerAccountId = `p-${accounts}`
  sandbox.addAccount({ id: providerAccountId, region: 'london', startBalance: 100_000, ...more })
  return {
    ...account,
    providerAccountId,
    owner: { ...account.owner, tenantId: tenantId as BrokerAccount['owner']['tenantId'] },
  }
}

const open = (deadlines: object = {}) => {
  const time = { elapsedMs: 0 }
  const api = apiWith({
    provisioningUrl: sandbox.url,
    clientUrl: `${sandbox.url}/{region}`,
    marketDataUrl: `${sandbox.url}/{region}`,
    providerToken: (tenantId) =>
      TE.right(O.some(tenantId === 'other' ? tokens.other : tokens.acme)),
    clock: { now: Date.now },
    stopwatch: { elapsedMs: () => time.elapsedMs },
    limits: { perSecondPerAccount: 1_000 },
    deadlines: { readMs: 10_000, fillMs: 2_000, ...deadlines },
  })
  const positions = (of: BrokerAccount) => api.broker.positions(of)()
  const place = (of: BrokerAccount) => api.trading.placeOrder(of, order, always)()
  const quote = (of: BrokerAccount, symbol = 'EURUSD') => api.marketData.quote(of, symbol)()
  const ticks = (of: BrokerAccount) =>
    api.marketData.ticks(of, 'EURUSD', { from: 0, offset: 0, limit: 1 })()
  const reads = async (of: BrokerAccount) =>
    expect(await positions(of)).toMatchObject({ _tag: 'Right' })
  const fills = async (of: BrokerAccount) =>
    expect(await place(of)).toMatchObject({ kind: 'filled' })
  return { ...api, time, positions, reads, place, fills, quote, ticks }
}

const fail = (
  { providerAccountId }: BrokerAccount,
  ...of: Parameters<Sandbox['faults']['set']> extends [string, ...infer Rest] ? Rest : never
) => sandbox.faults.set(providerAccountId, ...of)

/** The real clock advances between the failure and its answer. */
const about = (ms: number) => expect.closeTo(ms, -2)

const callsTo = ({ providerAccountId }: BrokerAccount, route?: string) =>
  sandbox.requests.count({ account: providerAccountId, ...(route !== undefined && { route }) })

describe('an account that cannot be read', () => {
  it.each<[Fault, string]>([
    [{ kind: 'undeployed' }, 'BrokerUnavailable'],
    [{ kind: 'not-found' }, 'NotProvisioned'],
  ])(
    'by %j is read a few times in 40 seconds of reads, and all of them are %s',
    async (fault, tag) => {
      const { broker, positions, quote, ticks, time } = open()
      const own = newAccount()
      fail(own, 'any', fault)
      for (let round = 0; round < 40; round += 1) {
        const reads = [
          positions(own),
          broker.accountInformation(own)(),
          broker.dealsPage(own, everWindow)(),
          quote(own),
          ticks(own),
        ]
        for (const read of await Promise.all(reads))
          expect(read).toMatchObject({ left: { _tag: tag } })
        time.elapsedMs += 1_000
      }
      // At once and after 2, 6, 14 and 30 seconds, records, prices and ticks apart; the first reads
      // of the account itself were simultaneous.
      expect(callsTo(own)).toBeLessThanOrEqual(2 + 4 + 3 * 5)
    },
  )

  it('is not read for 2 seconds, doubling to 60, with one read after each pause', async () => {
    const { positions, time } = open()
    const own = newAccount()
    fail(own, 'any', { kind: 'undeployed' })
    await positions(own)
    for (const pauseMs of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      const before = callsTo(own)
      time.elapsedMs += pauseMs - 1
      await Promise.all([positions(own), positions(own)])
      expect(callsTo(own)).toBe(before)
      time.elapsedMs += 1
      await Promise.all([positions(own), positions(own), positions(own)])
      expect(callsTo(own)).toBe(before + 1)
    }
  })

  it('is read by all that wait for the read that succeeds, or one by one after others', async () => {
    const { positions, time } = open()
    const own = newAccount()
    const dead = () => fail(own, 'any', { kind: 'undeployed', times: 1 })
    const readThree = async () => {
      time.elapsedMs += 2_000
      const reads = await Promise.all([positions(own), positions(own), positions(own)])
      return reads.map(({ _tag }) => _tag)
    }
    dead()
    await positions(own)
    // A 401 says nothing of the account, so the next that waits tries again.
    fail(own, 'any', { kind: 'unauthorized', times: 1 })
    expect((await readThree()).toSorted()).toEqual(['Left', 'Right', 'Right'])
    // The next failure is the first again.
    dead()
    await positions(own)
    expect(await readThree()).toEqual(['Right', 'Right', 'Right'])
  })

  it('by a read that hangs is paused in the same way, and delays no other account', async () => {
    const { positions, time, reads } = open({ readMs: 2_000 })
    const [own, other] = [newAccount(), newAccount()]
    fail(own, 'any', { kind: 'lost' })
    const hanging = times(60, () => positions(own))
    await reads(other)
    expect((await Promise.all(hanging)).every(E.isLeft)).toBe(true)
    const calls = callsTo(own)
    expect(calls).toBeLessThanOrEqual(8)
    expect(E.isLeft(await positions(own))).toBe(true)
    expect(callsTo(own)).toBe(calls)
    sandbox.faults.clear()
    time.elapsedMs += 2_000
    await reads(own)
  })

  it('is not paused if another of its reads works', async () => {
    const { trading, reads } = open()
    const own = newAccount()
    expect(await trading.placeOrder(own, order, always)()).toMatchObject({ kind: 'filled' })
    fail(own, 'deals', { kind: 'timeout' })
    const sought = sentOrder({ sentAt: Date.now() })
    expect(await trading.findOrder(own, sought)()).toMatchObject({ kind: 'found' })
    await reads(own)
  })

  it('is read while its margins, its records, its ticks or its prices are paused, because one of them takes too long', async () => {
    const { broker, positions, quote, ticks } = open()
    const query = { symbol: 'EURUSD', side: 'buy', volume: 0.1, openPrice: 1.1 } as const
    const reads = {
      margin: (of: BrokerAccount) => broker.requiredMargin(of, query)(),
      ticks,
      price: quote,
      deals: (of: BrokerAccount) => broker.dealsPage(of, everWindow)(),
      positions,
    }
    for (const slow of ['margin', 'ticks', 'price', 'deals'] as const) {
      const own = newAccount()
      fail(own, slow, { kind: 'timeout' })
      for (const [route, read] of [...Object.entries(reads), ...Object.entries(reads)])
        expect([route, (await read(own))._tag]).toEqual([route, route === slow ? 'Left' : 'Right'])
      expect(callsTo(own, slow)).toBe(1)
    }
  })

  it.each<[Fault, boolean]>([
    [{ kind: 'lost' }, true],
    [{ kind: 'undeployed' }, false],
  ])('whose figures meet %j can be read for its positions: %j', async (fault, canBeRead) => {
    const { broker, fills, positions } = open(fault.kind === 'lost' ? { shortReadMs: 500 } : {})
    const own = newAccount()
    // An empty list would be compared with the figures.
    await fills(own)
    fail(own, 'account-information', fault)
    const readFigures = () => broker.accountInformation(own)()
    const reads = [await readFigures(), await positions(own), await readFigures()]
    expect(reads.map(({ _tag }) => _tag)).toEqual(['Left', canBeRead ? 'Right' : 'Left', 'Left'])
    expect(callsTo(own, 'account-information')).toBe(1)
  })

  it('is read for its positions after a pause during which its figures hang', async () => {
    const { broker, fills, positions, time, reads } = open({ shortReadMs: 100 })
    const own = newAccount()
    await fills(own)
    fail(own, 'positions', { kind: 'undeployed', times: 1 })
    fail(own, 'account-information', { kind: 'lost' })
    expect(E.isLeft(await positions(own))).toBe(true)
    time.elapsedMs += 2_000
    expect(E.isLeft(await broker.accountInformation(own)())).toBe(true)
    await reads(own)
  })

  it('is read for its figures after a pause of all, which a read after a pause of the figures met', async () => {
    const { broker, positions, time } = open({ shortReadMs: 500 })
    const own = newAccount()
    const figures = async () => (await broker.accountInformation(own)())._tag
    fail(own, 'account-information', { kind: 'lost', times: 1 })
    expect(await figures()).toBe('Left')
    time.elapsedMs += 2_000
    fail(own, 'positions', { kind: 'undeployed', times: 1 })
    await positions(own)
    expect(await figures()).toBe('Left')
    time.elapsedMs += 2_000
    expect(await figures()).toBe('Right')
  })

  it('because of a symbol that the provider does not know is read for others, and for that one a few times', async () => {
    const { quote, time } = open()
    const own = newAccount()
    for (let round = 0; round < 40; round += 1) {
      expect(await quote(own, 'GONE')).toMatchObject({
        left: { _tag: 'BrokerUnavailable', symbol: 'GONE' },
      })
      expect(E.isRight(await quote(own))).toBe(true)
      time.elapsedMs += 1_000
    }
    expect([callsTo(own, 'price'), callsTo(own, 'account-information')]).toEqual([45, 5])
  })

  it('is read for a symbol that it knows again by all, also after a read that failed in another way', async () => {
    const { quote, time } = open()
    const own = newAccount()
    for (const kind of ['not-found', 'unauthorized'] as const) {
      fail(own, 'price', { kind, times: 1 })
      expect(E.isLeft(await quote(own))).toBe(true)
      time.elapsedMs += 2_000
    }
    expect(E.isRight(await quote(own))).toBe(true)
    expect((await Promise.all([quote(own), quote(own)])).every(E.isRight)).toBe(true)
  })

  it('that the provider does not know is sent a trade only after each pause', async () => {
    const { place, time, fills } = open()
    const own = newAccount()
    fail(own, 'any', { kind: 'not-found' })
    for (let second = 0; second < 30; second += 1) {
      expect(await place(own)).toMatchObject({ kind: 'not_sent' })
      time.elapsedMs += 1_000
    }
    // At once and after 2, 6 and 14 seconds.
    expect([callsTo(own, 'trade'), callsTo(own, 'account-information')]).toEqual([4, 4])
    sandbox.faults.clear()
    time.elapsedMs += 16_000
    await fills(own)
  })

  it('is read again once it has answered a trade', async () => {
    const { positions, fills } = open()
    const own = newAccount()
    fail(own, 'positions', { kind: 'undeployed', times: 1 })
    expect(await positions(own)).toMatchObject({ _tag: 'Left' })
    expect(await positions(own)).toMatchObject({ _tag: 'Left' })
    await fills(own)
    expect(await positions(own)).toMatchObject({ _tag: 'Right' })
  })

  it('of one tenant is read for another', async () => {
    const { positions, quote, reads } = open()
    const own = newAccount()
    expect(await positions({ ...own, providerAccountId: 'none' })).toEqual(
      E.left(refuse('NotProvisioned', { accountId: account.accountId })),
    )
    await reads(own)
    const others = { ...own, owner: { ...own.owner, tenantId: 'other' as never } }
    expect(E.isRight(await positions(others))).toBe(true)
    for (const one of [own, others]) await quote(one, 'GONE')
    expect(callsTo(own, 'price')).toBe(2)
  })
})

const limited = (retryAfterSeconds: number) =>
  E.left({ _tag: 'BrokerRateLimited', accountId: account.accountId, retryAfterSeconds })

describe('a 429', () => {
  it('stops all calls of the token until its time, trades included, and of no other', async () => {
    const { positions, place, positionTrading, time, broker, reads, fills } = open()
    const [own, second, foreign] = [newAccount(), newAccount(), newAccount('other')]
    fail(own, 'positions', {
      kind: 'rate-limit',
      retryAfterSeconds: 60,
      times: 1,
    })
    expect(await positions(own)).toEqual(limited(60))
    const before = sandbox.requests.count()
    time.elapsedMs += 20_000
    for (let round = 0; round < 10; round += 1) {
      expect(await positions(second)).toEqual(limited(40))
      expect(await broker.accountInformation(own)()).toEqual(limited(40))
      const placed = await place(second)
      expect(placed.kind === 'not_sent' && placed.retryAfterMs).toBeGreaterThan(30_000)
    }
    expect(await close(positionTrading, second)).toEqual(limited(40))
    expect(sandbox.requests.count()).toBe(before)
    await reads(foreign)
    time.elapsedMs += 40_000
    await fills(second)
    await reads(own)
  })

  it('of provisioning or of past prices, which have limits of their own, stops no other call of the token', async () => {
    const { positions, ticks, reads, fills } = open()
    const own = newAccount()
    const unplaced = { ...newAccount(), region: null }
    fail(unplaced, 'any', {
      kind: 'rate-limit',
      retryAfterSeconds: 60,
    })
    expect(await positions(unplaced)).toEqual(limited(60))
    await fills(own)
    await reads(own)
    const another = { ...newAccount(), region: null }
    expect(await positions(another)).toEqual(limited(60))
    expect(await ticks(another)).toEqual(limited(60))
    fail(own, 'ticks', { kind: 'rate-limit', retryAfterSeconds: 60 })
    expect(await ticks(own)).toEqual(limited(60))
    await reads(own)
  })

  it.each(['positions', 'trade'] as const)(
    'of an account alone, to its %s, stops its reads, its trades if it was to one, and no call for another account',
    async (route) => {
      const { positions, place, time, reads, fills } = open()
      const [own, second] = [newAccount(), newAccount()]
      fail(own, route, {
        kind: 'rate-limit',
        retryAfterSeconds: 60,
        exceededConfig: 'perAccount',
        times: 1,
      })
      if (route === 'trade') expect(await place(own)).toEqual(notSent(about(60_000)))
      else expect(await positions(own)).toEqual(limited(60))
      const before = callsTo(own)
      expect(await positions(own)).toEqual(limited(60))
      const isTrade = route === 'trade'
      if (isTrade) expect(await place(own)).toEqual(notSent(about(60_000)))
      expect(callsTo(own)).toBe(before)
      if (!isTrade) await fills(own)
      await fills(second)
      await reads(second)
      time.elapsedMs += 60_000
      await reads(own)
    },
  )

  it('that names its method stops no other method, so that trades are sent while the history may not be read', async () => {
    const { broker, reads, fills } = open()
    const own = newAccount()
    const metadata = {
      exceededConfig: 'perUser',
      exceededPeriod: '1h',
      method: 'getDealsByTimeRange',
      recommendedRetryTime: new Date(Date.now() + 3_600_000).toISOString(),
    }
    const body = { id: 3, error: 'TooManyRequestsError', message: 'Too many', metadata }
    fail(own, 'deals', { kind: 'reply', status: 429, body })
    for (const ofSecond of [own, newAccount()])
      expect(await broker.dealsPage(ofSecond, everWindow)()).toMatchObject({
        left: { _tag: 'BrokerRateLimited' },
      })
    await reads(own)
    await fills(own)
  })

  it('of a trade stops the reads of the token', async () => {
    const { positions, place, time, reads } = open()
    const own = newAccount()
    fail(own, 'trade', {
      kind: 'rate-limit',
      retryAfterSeconds: 5,
      times: 1,
    })
    expect(await place(own)).toEqual(notSent(about(5_000)))
    const before = sandbox.requests.count()
    expect(await positions(own)).toMatchObject({
      left: { _tag: 'BrokerRateLimited', retryAfterSeconds: 5 },
    })
    expect(sandbox.requests.count()).toBe(before)
    time.elapsedMs += 5_000
    await reads(own)
  })
})

describe('an account whose trades hang', () => {
  it('is sent none for 2 seconds, doubling to 60, with one trade after each pause, until one is answered', async () => {
    const { place, positionTrading, time } = open({ tradeMs: 200 })
    const own = newAccount()
    fail(own, 'trade', { kind: 'lost' })
    expect(await place(own)).toEqual(unknown)
    const pausesMs = [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
    for (const [index, pauseMs] of pausesMs.entries()) {
      const before = callsTo(own, 'trade')
      time.elapsedMs += pauseMs - 500
      expect(await place(own)).toEqual(notSent(about(500)))
      expect(await close(positionTrading, own)).toMatchObject({
        left: { _tag: 'BrokerUnavailable' },
      })
      time.elapsedMs += 500
      const probe = place(own)
      // Others wait for it.
      await expect.poll(() => callsTo(own, 'trade')).toBe(before + 1)
      expect(await place(own)).toEqual(notSent(about(pausesMs[index + 1] ?? 60_000)))
      expect(await probe).toEqual(unknown)
      expect(callsTo(own, 'trade')).toBe(before + 1)
    }
    time.elapsedMs += 3_600_000
    // A trade after the pause that breaks off makes way for the next.
    fail(own, 'trade', { kind: 'cut' })
    expect([await place(own), await place(own)]).toEqual([unknown, unknown])
    sandbox.faults.clear()
    const placed = await Promise.all([place(own), place(own), place(own)])
    expect(placed.map(({ kind }) => kind)).not.toContain('not_sent')
  })

  it('is not paused by a refusal, a broken connection or a 504', async () => {
    const { place, fills } = open()
    const faults: readonly Fault[] = [
      { kind: 'return-code', numericCode: 10_018 },
      { kind: 'cut' },
      { kind: 'timeout' },
    ]
    for (const fault of faults) {
      const own = newAccount()
      fail(own, 'trade', { ...fault, times: 1 })
      expect((await place(own)).kind).not.toBe('not_sent')
      await fills(own)
    }
  })
})
