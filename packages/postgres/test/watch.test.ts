// The watch: which accounts have rounds, when these are due, and that instances share them.
import type { Account } from '@tradeport/domain/accounts'
import type { JournalClaim, JournalReadResult } from '@tradeport/domain/ports'
import { minuteMs, secondMs } from '@tradeport/domain/primitives'
import { brokerEventTypes } from '@tradeport/domain/webhooks'
import {
  newAccount,
  newOrderOn,
  puts,
  removes,
  rightOf,
  storedOwner,
  write,
  times,
} from '@tradeport/testkit'
import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { openJournal, type OpenedJournal } from '../src/index.ts'
import { filled, onEachDatabase, opened, poll, runsOn, storedAccount } from './harness.ts'

/** So long that none is due again while a test runs. */
const roundMs = 10_000 * secondMs

/** Times in epoch milliseconds by the database's clock. */
interface Round {
  readonly accountId: string
  readonly at: number
  readonly pausedUntil: number | null
  readonly now: number
}

const ms = (time: string) => `round(extract(epoch from ${time}) * 1000)::float8`

onEachDatabase('the watch', (here, there, kind, onServer) => {
  let ports: OpenedJournal
  let elsewhere: OpenedJournal
  beforeAll(() => {
    ports = openJournal({ ...here, watchMs: roundMs })
    elsewhere = openJournal({ ...there, watchMs: roundMs })
  })

  const rounds = async (accounts: readonly Account[]) => {
    const { rows } = await here.knex.raw<{ rows: Round[] }>(
      `select account_id as "accountId", ${ms('watch_at')} as at, ${ms('paused_until')} as "pausedUntil", ${ms('now()')} as now
          from journals where watch_at is not null and account_id = any(?) order by account_id`,
      [accounts.map(({ id }) => id)],
    )
    return rows
  }
  /** Of these accounts alone: those of other tests would take the slots. */
  const setBack = (accounts: readonly Account[], column: 'watch_at' | 'paused_until', ms: number) =>
    here
      .knex('journals')
      .whereIn(
        'account_id',
        accounts.map(({ id }) => id),
      )
      .update({ [column]: here.knex.raw(`${column} - ${ms} * interval '1 ms'`) })
  const watchedAccounts = async (count: number) => {
    const operator = here.operator
    const first = await storedAccount(operator)
    const others = times(count - 1, () => newAccount(first.owner))
    await write(operator, { accounts: puts(...others) })
    await here.storedWebhook(first.owner)
    return [first, ...others]
  }
  /** Follows who waits, reads what is due, and stops. Returns the reads of the accounts. */
  const run = async (accounts: readonly Account[], result: JournalReadResult = 'read') => {
    const read: JournalClaim[] = []
    const worker = await ports.jobs.work(async (claim) => {
      read.push(claim)
      await rightOf(ports.journal.release(claim, result))
    })
    await worker.stop()
    return read.filter(({ account }) => accounts.some(({ id }) => id === account.accountId))
  }

  it('is of linked MT4 and MT5 accounts, while their user has an enabled webhook or an open stream for events of the broker, or they have a threshold', async () => {
    const situation = fc.record({
      webhook: fc.constantFrom('none', 'enabled', 'disabled', 'for orders'),
      hasStream: fc.boolean(),
      platform: fc.constantFrom('mt4', 'mt5', 'other', 'not linked'),
      hasThreshold: fc.boolean(),
    })
    const { operator, webhooks } = here
    await fc.assert(
      fc.asyncProperty(fc.array(situation, { minLength: 1, maxLength: 4 }), async (situations) => {
        const account = await storedAccount(operator)
        const { owner } = account
        for (const { webhook, hasStream, hasThreshold, platform } of situations) {
          const created =
            webhook === 'none'
              ? undefined
              : await here.storedWebhook(owner, {
                  enabled: webhook !== 'disabled',
                  eventTypes:
                    webhook === 'for orders'
                      ? ['order.filled']
                      : [brokerEventTypes[situations.length % brokerEventTypes.length]!],
                })
          if (hasStream) await rightOf(ports.watch.keepWatching([owner]))
          await write(operator, {
            accounts: puts({
              ...account,
              brokerType: platform === 'not linked' ? 'mt5' : platform,
              provider: platform === 'not linked' ? null : account.provider,
            }),
          })
          const threshold = {
            accountId: account.id,
            type: 'equity_below',
            severity: 'warning',
            value: 1,
            halt: false,
            cancelOrders: false,
          } as const
          await write(operator, { riskThresholds: (hasThreshold ? puts : removes)(threshold) })
          await run([])
          const isWaitedFor = webhook === 'enabled' || hasStream || hasThreshold
          expect(await rounds([account])).toHaveLength(
            isWaitedFor && platform.startsWith('mt') ? 1 : 0,
          )
          if (created) await rightOf(webhooks.remove(owner, created.id))
          await here.knex.raw(
            `update stream_leases set leased_until = leased_until - interval '21 seconds'`,
          )
        }
      }),
      runsOn(kind, 24),
    )
  })

  it('is of accounts with an open order, also where no events are recorded, until it has ended', async () => {
    const account = await storedAccount(here.operator)
    const { owner } = account
    await here.storedWebhook(owner)
    const withoutEvents = openJournal({ ...here, recorder: undefined, watchMs: roundMs })
    const follow = async () => {
      const worker = await withoutEvents.jobs.work(async () => undefined)
      await worker.stop()
    }
    const { id } = await here.recordOrder(newOrderOn(account, Date.now(), { orderType: 'limit' }))
    await follow()
    expect(await rounds([account])).toHaveLength(0)
    for (const [step, count] of [
      [opened, 1],
      [filled, 0],
    ] as const) {
      await here.advance(owner, id, step)
      await follow()
      expect(await rounds([account])).toHaveLength(count)
    }
  })

  it('spreads the rounds of its accounts, makes one for those that were missed, and keeps their places', async () => {
    const accounts = await watchedAccounts(200)
    await run(accounts)
    const before = await rounds(accounts)
    const quarterOf = ({ at, now }: Round) => Math.floor((4 * (at - now)) / roundMs)
    for (const quarter of [0, 1, 2, 3]) {
      const count = before.filter((round) => quarterOf(round) === quarter).length
      // Four standard deviations from fifty.
      expect(count).toBeGreaterThan(25)
      expect(count).toBeLessThan(75)
    }
    await setBack(accounts, 'watch_at', 3.5 * roundMs)
    const read: string[] = []
    while (read.length < accounts.length)
      read.push(...(await run(accounts)).map(({ account }) => account.accountId))
    expect(read.toSorted()).toStrictEqual(accounts.map(({ id }) => id).toSorted())
    for (const [index, { at, now }] of (await rounds(accounts)).entries()) {
      const movedMs = at - (before[index]?.at ?? Number.NaN)
      expect(Math.abs(movedMs % roundMs)).toBe(roundMs / 2)
      expect(at).toBeGreaterThan(now)
      expect(at).toBeLessThanOrEqual(now + roundMs)
    }
  })

  it('backs off to a minute from an account that cannot be read, and leaves out rounds while the provider limits the tenant', async () => {
    const accounts = await watchedAccounts(1)
    await run(accounts)
    const before = await rounds(accounts)
    await setBack(accounts, 'watch_at', roundMs)
    const pauses: number[] = []
    for (let failures = 0; failures < 8; failures += 1) {
      expect(await run(accounts, 'failed')).toHaveLength(1)
      const [{ pausedUntil, now } = expect.fail('is not watched')] = await rounds(accounts)
      pauses.push(Math.round(((pausedUntil ?? now) - now) / secondMs))
      expect(await run(accounts)).toHaveLength(0)
      await setBack(accounts, 'paused_until', minuteMs)
    }
    expect(pauses).toStrictEqual([1, 2, 4, 8, 16, 32, 60, 60])
    // Its thresholds are checked as often as others.
    expect(await run(accounts, 'history_failed')).toHaveLength(1)
    const [{ pausedUntil, now } = expect.fail('is not watched')] = await rounds(accounts)
    expect(Math.abs((pausedUntil ?? 0) - now - roundMs)).toBeLessThan(secondMs)
    await setBack(accounts, 'paused_until', roundMs)
    expect(await run(accounts, { retryAfterSeconds: 15_000 })).toHaveLength(1)
    // Another sweep leaves the pause as it is.
    expect(await run(accounts)).toHaveLength(0)
    const [limited = expect.fail('is not watched')] = await rounds(accounts)
    expect((limited.pausedUntil ?? 0) - limited.now).toBeGreaterThan(14_000 * secondMs)
    expect(limited.at).toBeGreaterThanOrEqual(limited.pausedUntil ?? Infinity)
    expect((limited.at - (before[0]?.at ?? 0)) % roundMs).toBe(0)
    await setBack(accounts, 'paused_until', 15_000 * secondMs)
    await setBack(accounts, 'watch_at', 3 * roundMs)
    expect(await run(accounts)).toHaveLength(1)
    expect(await rounds(accounts)).toMatchObject([{ pausedUntil: null }])
  })

  it('keeps no record of streams that have ended', async () => {
    const owners = [await storedOwner(here.operator), await storedOwner(here.operator)]
    await rightOf(ports.watch.keepWatching(owners))
    const [ended, open] = owners.map(({ userId }) => ({ user_id: userId }))
    await here
      .knex('stream_leases')
      .where({ ...ended })
      .update({ leased_until: here.knex.raw(`now() - interval '1 second'`) })
    await run([])
    expect(await here.knex('stream_leases').select('user_id')).toStrictEqual([open])
  })

  onServer(
    'gives an account its first round while the journal of another is being written',
    async () => {
      const accounts = await watchedAccounts(2)
      const [first, second] = accounts.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      await here.knex('journals').insert(
        accounts.map(({ id, owner }) => ({
          tenant_id: owner.tenantId,
          account_id: id,
          provider_account_id: 'one',
          linked_at: here.knex.fn.now(),
        })),
      )
      const watched = () => rounds(first === undefined ? [] : [first])
      const worker = await there.knex.transaction(async (writing) => {
        await writing('journals')
          .where({ account_id: second?.id ?? '' })
          .forUpdate()
        const started = await ports.jobs.work(async () => undefined)
        await poll(watched, { timeout: 3_000 }).toHaveLength(1)
        return started
      })
      await poll(() => rounds(accounts)).toHaveLength(2)
      await worker.stop()
    },
  )

  it('is shared by instances: each round is made once', async () => {
    const accounts = await watchedAccounts(60)
    await run(accounts)
    await setBack(accounts, 'watch_at', roundMs)
    const read: string[] = []
    const workers = await Promise.all(
      [ports, elsewhere].map(({ jobs, journal }) =>
        jobs.work(async (claim) => {
          read.push(claim.account.accountId)
          await rightOf(journal.release(claim, 'read'))
        }),
      ),
    )
    const ofThese = () => read.filter((id) => accounts.some((account) => account.id === id))
    await poll(ofThese).toHaveLength(60)
    for (const { stop } of workers) await stop()
    expect(new Set(ofThese()).size).toBe(60)
  })
})
