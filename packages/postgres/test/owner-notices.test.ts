// Notices to owners: each reaches a sender until it is sent, once, wherever and however often it
// was queued. Neither a notice that cannot be read nor a database that is unavailable loses one.
import { setTimeout } from 'node:timers/promises'
import type { OwnerNotice, SuspensionNotice } from '@tradeport/domain/notices'
import type { OwnerNoticeJob } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { rightOf, storedOwner } from '@tradeport/testkit'
import { afterEach, expect, it } from 'vitest'
import { onEachDatabase, poll } from './harness.ts'

const suspension: SuspensionNotice = {
  kind: 'suspended',
  credential: { kind: 'api_key', id: 'k-1', applicationId: null },
  since: 1,
  until: 2,
}
const ofToken = (id: string, applicationId: string): SuspensionNotice => ({
  ...suspension,
  credential: { kind: 'access_token', id, applicationId },
})
const disabling: OwnerNotice = {
  kind: 'webhook_disabled',
  webhookId: '0a000000-0000-4000-8000-000000000001',
  url: 'https://hooks.example.com/a?b=ü',
  at: 1,
  recoverSince: 0,
}

onEachDatabase('owner notices', (here, there) => {
  const stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
    await here.knex('owner_notices').delete()
  })
  const newOwner = () => storedOwner(here.operator)
  const queue = (owner: Owner, notice: OwnerNotice = suspension, by = here) =>
    rightOf(by.notices.enqueue(owner, notice))
  /** Sends until the test ends or `stop`. */
  const sending = async (send: (job: OwnerNoticeJob) => unknown = () => undefined) => {
    const jobs: OwnerNoticeJob[] = []
    const { stop } = await here.notices.work(async (job) => {
      jobs.push(job)
      await send(job)
    })
    stops.push(stop)
    const noticesOf = ({ userId }: Owner) =>
      jobs.filter(({ owner }) => owner.userId === userId).map(({ notice }) => notice)
    return { jobs, noticesOf }
  }
  const rowOf = ({ userId }: Owner) =>
    here
      .knex('owner_notices')
      .where({ user_id: userId })
      .first('attempts', here.knex.raw('extract(epoch from due_at - now())::float8 as pause'))
  /** In seconds until the next attempt; null where there is none. */
  const pauseAfter = async (owner: Owner, attempt: number) => {
    await poll(async () => (await rowOf(owner)).attempts, { interval: 20 }).toBe(attempt)
    const pause = async () => (await rowOf(owner)).pause
    // A claim lasts five minutes, which no pause does.
    await poll(async () => Math.abs(((await pause()) ?? 0) - 300)).toBeGreaterThan(15)
    return pause()
  }

  it('one is sent of those with the same content, also when queued on another instance', async () => {
    const [owner, other, next] = [await newOwner(), await newOwner(), await newOwner()]
    const different = [
      suspension,
      { ...suspension, until: 3 },
      ofToken('t-1', 'k-1'),
      ofToken('t-1', 'app-1'),
      disabling,
      { ...disabling, at: 2 },
    ]
    for (const notice of different) await queue(owner, notice)
    await queue(other)
    await Promise.all([
      queue(owner),
      queue(owner, { ...suspension, since: 2 }, there),
      queue(owner, ofToken('t-2', 'app-1')),
    ])
    const { jobs, noticesOf } = await sending()
    await poll(() => jobs.length).toBe(7)
    // Whoever begins to send deletes those that were sent long ago.
    const another = await sending()
    await setTimeout(500)
    await queue(owner)
    await queue(next)
    await poll(() => [...noticesOf(next), ...another.noticesOf(next)]).toStrictEqual([suspension])
    expect(another.noticesOf(owner)).toStrictEqual([])
    expect(noticesOf(owner)).toHaveLength(different.length)
    expect(noticesOf(owner)).toEqual(expect.arrayContaining(different))
    expect(noticesOf(other)).toStrictEqual([suspension])
    expect(new Set([...jobs, ...another.jobs].map(({ id }) => id)).size).toBe(8)
  })

  it('at most twenty are sent to an owner in a day', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    for (let at = 1; at <= 25; at += 1) await queue(owner, { ...disabling, at })
    await queue(other)
    const { noticesOf } = await sending()
    const allSent = () =>
      poll(() => here.knex('owner_notices').whereNotNull('due_at').pluck('id')).toEqual([])
    await allSent()
    expect([noticesOf(owner).length, noticesOf(other).length]).toEqual([20, 1])
    await queue(owner)
    await allSent()
    expect(noticesOf(owner)).toHaveLength(21)
    await here
      .knex('owner_notices')
      .where({ user_id: owner.userId })
      .update({ created_at: here.knex.raw("now() - interval '1 day'") })
    await queue(owner, { ...disabling, at: 26 })
    await allSent()
    expect(noticesOf(owner)).toHaveLength(22)
  })

  it('those whose process died are sent again, and those of a tenant that hang delay no other tenant', async () => {
    const [hanging, other] = [await newOwner(), await newOwner()]
    const { promise: held, resolve: end } = Promise.withResolvers<void>()
    const dead = await sending(({ owner }) => owner.userId === hanging.userId && held)
    for (const notice of [suspension, ofToken('t-1', 'app-1'), disabling])
      await queue(hanging, notice)
    await poll(() => dead.noticesOf(hanging)).toHaveLength(2)
    await queue(other)
    await poll(() => dead.noticesOf(other)).toHaveLength(1)
    expect(dead.noticesOf(hanging)).toHaveLength(2)
    const stopped = stops.splice(0)[0]?.()
    const next = await sending()
    await here.knex.raw(`update owner_notices set due_at = due_at - interval '5 minutes'`)
    await poll(() => next.noticesOf(hanging)).toHaveLength(3)
    end()
    await stopped
  })

  it('none is sent after stop, which waits for those in progress', async () => {
    const [first, second] = [await newOwner(), await newOwner()]
    const { promise: held, resolve: end } = Promise.withResolvers<void>()
    let ended = 0
    const { jobs } = await sending(() => held.then(() => (ended += 1)))
    await queue(first)
    await poll(() => jobs.length).toBe(1)
    const stopped = stops.splice(0)[0]?.()
    await queue(second)
    end()
    await stopped
    expect([jobs.length, ended]).toStrictEqual([1, 1])
    const { noticesOf } = await sending()
    await poll(() => noticesOf(second)).toHaveLength(1)
  })

  it('they are tried again with the same id after pauses that grow to 15 minutes, for three days, and are then given up unsent', async () => {
    const owner = await newOwner()
    const { jobs } = await sending(() => Promise.reject(new Error('the mail server is down')))
    const repeat = async (attempt: number) => {
      await here.knex('owner_notices').update({ due_at: new Date(0), attempts: attempt - 1 })
      return pauseAfter(owner, attempt)
    }
    await queue(owner)
    // A row that is written during an attempt would have another one, whose claim lasts.
    await pauseAfter(owner, 1)
    for (const [attempt, seconds] of [
      [1, 5],
      [2, 10],
      [8, 640],
      [9, 900],
      [300, 900],
    ] as const) {
      const pause = await repeat(attempt)
      expect(pause).toBeGreaterThan(seconds - 5)
      expect(pause).toBeLessThanOrEqual(seconds)
    }
    expect(here.warnings.map(({ event }) => event)).not.toContain('owner_notice_given_up')
    const sent = jobs.length
    await here
      .knex('owner_notices')
      .update({ created_at: here.knex.raw(`now() - interval '73 hours'`) })
    expect(await repeat(301)).toBeNull()
    expect(jobs).toHaveLength(sent)
    expect(here.warnings).toContainEqual({
      event: 'owner_notice_given_up',
      reason: expect.stringMatching(/^[0-9a-f]{64} was not sent within three days$/),
    })
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(1)
  })

  it('one that this version cannot read is kept, and delays no other', async () => {
    const [odd, plain] = [await newOwner(), await newOwner()]
    await queue(odd)
    await here.knex('owner_notices').update({ notice: { ...suspension, kind: 'newer' } })
    const { noticesOf } = await sending()
    await queue(plain)
    await poll(() => noticesOf(plain)).toHaveLength(1)
    expect(await pauseAfter(odd, 1)).toBeLessThanOrEqual(5)
    expect(here.warnings).toContainEqual({
      event: 'owner_notice_failed',
      reason: expect.stringContaining('does not decode at notice'),
    })
  })

  it('one is not sent again where the database could not be written after it was sent', async () => {
    const owner = await newOwner()
    const { jobs } = await sending(() => here.knex.schema.renameTable('owner_notices', 'away'))
    await queue(owner)
    const failed = { event: 'owner_notice_end', reason: '42P01' }
    await poll(() => here.warnings).toContainEqual(failed)
    await here.knex.schema.renameTable('away', 'owner_notices')
    expect(await pauseAfter(owner, 1)).toBeNull()
    expect(jobs).toHaveLength(1)
  })
})
