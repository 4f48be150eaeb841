// The stores answer what the fakes in memory answer: random commands over a few records run against
// both, on two instances in turn.
import type { Account } from '@tradeport/domain/accounts'
import { dayMs, minuteMs } from '@tradeport/domain/primitives'
import {
  createFakeAccountStore,
  createFakeHalts,
  createFakeIdempotencyStore,
  createFakeLimitStore,
  createFakeOperatorStore,
  createFakeOrderStore,
  createFakeProviderTokens,
  createFakeRecords,
  createFakeRiskThresholds,
  createFakeTenantRecords,
  createFakeUserStore,
  createFakeWebhookStore,
  puts,
  rightOf,
  write,
} from '@tradeport/testkit'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { expect, it } from 'vitest'
import { createFakeCredentialStore } from './fake-credentials.ts'
import { onEachDatabase, readingOf, runsOn, storedAccount } from './harness.ts'
import { inRun, noon, start, subjects, type Command, type StorePorts } from './store-commands.ts'

const createFakeStores = (): StorePorts => {
  const records = createFakeRecords()
  const clock = { now: () => noon }
  return {
    accounts: createFakeAccountStore(records),
    credentials: createFakeCredentialStore(records),
    operator: createFakeOperatorStore(records),
    providerTokens: createFakeProviderTokens(records),
    users: createFakeUserStore(records),
    tenantRecords: createFakeTenantRecords(records),
    riskThresholds: createFakeRiskThresholds(records),
    halts: createFakeHalts(records),
    webhooks: createFakeWebhookStore(records),
    idempotency: createFakeIdempotencyStore(records, clock),
    orderLimits: createFakeLimitStore(records, clock),
    orders: createFakeOrderStore(clock, records),
  }
}

let lastRun = 0

const shown = (answer: E.Either<unknown, unknown>): unknown =>
  E.isLeft(answer)
    ? { refused: { ...(answer.left as object), reason: undefined, outcome: undefined } }
    : { answered: answer.right }

onEachDatabase('the stores', (here, there, kind) => {
  it.each(Object.entries(subjects))(
    'answer what the fakes answer: %s',
    async (subject, { reads, writes }) => {
      const any = fc.record({
        command: fc.oneof(...reads, ...writes),
        passesMs: fc.constantFrom(0, 0, 0, 5 * minuteMs, 20 * minuteMs, dayMs / 2),
      })
      const sequences = fc.array(any, { minLength: 20, maxLength: 50 })
      const together = fc.array(fc.oneof(...reads), { maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(sequences, together, async (sequence, last) => {
          const run = String((lastRun += 1)).padStart(8, '0')
          const model = createFakeStores()
          for (const { operator } of [model, here]) await write(operator, inRun(start, run))
          let now = noon
          const answer = ({ run: ask }: Command, index: number) =>
            ask(index % 2 ? there : here, run, now)()
          const expectSame = async (
            { run: ask, shown: name }: Command,
            given: E.Either<unknown, unknown>,
          ) => expect(shown(given), name).toStrictEqual(shown(await ask(model, run, now)()))
          for (const [index, { command, passesMs }] of sequence.entries()) {
            now += passesMs
            await expectSame(command, await answer(command, index))
          }
          const answers = await Promise.all(last.map(answer))
          for (const [index, given] of answers.entries())
            await expectSame(last[index] as Command, given)
        }),
        runsOn(kind, subject === 'orders' ? 30 : 12),
      )
    },
  )

  it('show no balances of the account at the provider to which an account was linked before', async () => {
    const account = await storedAccount(here.operator)
    const another: Account = {
      ...account,
      provider: { providerAccountId: 'another', region: null },
    }
    const shownAfter = async (linked: Account, readAt: number) => {
      const { owner, id } = linked
      await write(here.operator, { accounts: puts(linked) })
      await rightOf(here.accounts.recordReading(owner, linked, readingOf(linked, readAt)))
      const snapshots = await rightOf(here.accounts.snapshots(owner, id, { limit: 9 }))
      return snapshots.map(({ timestamp }) => timestamp)
    }
    expect(await shownAfter(account, noon)).toStrictEqual([noon])
    expect(await shownAfter(another, noon + 1)).toStrictEqual([noon + 1])
    expect(await shownAfter(account, noon + 2)).toStrictEqual([noon])
  })
})
