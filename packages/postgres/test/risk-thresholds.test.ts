// Checks of risk thresholds: a breach is recorded once, however many instances find it.
import { puts, rightOf, write } from '@tradeport/testkit'
import { expect, it } from 'vitest'
import { readUncheckedThresholds } from '../src/index.ts'
import { answersOf, brokerAccountOf, onEachDatabase, storedAccount } from './harness.ts'

onEachDatabase('checks of risk thresholds', (here, there) =>
  it('records the event of the one check that is stored, and keeps the breach when the operator writes the threshold again, unless that is to halt the account now; a halt cancels orders from the first breach on that says so', async () => {
    const { operator } = here
    const { riskThresholds: store, halts } = answersOf(() => here)
    const account = brokerAccountOf(await storedAccount(operator))
    const { accountId, owner } = account
    const threshold = {
      accountId,
      type: 'equity_below',
      severity: 'warning',
      value: 0.1 + 0.2,
      halt: false,
      cancelOrders: false,
    } as const
    const set = (fields = {}) =>
      write(operator, { riskThresholds: puts({ ...threshold, ...fields }) })
    const unchecked = () => rightOf(readUncheckedThresholds(here.knex, 10_000))
    await set()
    expect(await unchecked()).toContain(accountId)
    const [before] = await store.ofAccount(account)
    if (before === undefined) expect.fail('there is no threshold')
    const after = {
      ...before,
      providerAccountId: 'p-1',
      breachedValue: before.value,
      checkedAt: Date.now() - 60_000,
    }
    const check = (at: number) => ({ before, after, breach: { threshold, current: 0, at } })
    const recorded = await Promise.all(
      [here, there].map((one, at) => rightOf(one.riskThresholds.record(account, [check(at)], []))),
    )
    expect(recorded.flat()).toMatchObject([{ current: 0 }])
    expect(await unchecked()).not.toContain(accountId)
    await here
      .knex('risk_thresholds')
      .where({ account_id: accountId })
      .update({
        checked_at: here.knex.raw(`now() - interval '91 seconds'`),
      })
    expect(await unchecked()).toContain(accountId)
    await here.knex('risk_thresholds').update({ checked_at: new Date(after.checkedAt) })
    await set()
    expect(await store.ofAccount(account)).toEqual([after])
    await set({ halt: true })
    const armed = { ...after, halt: true, breachedValue: null }
    expect(await store.ofAccount(account)).toEqual([armed])
    expect(await here.eventsOf(owner)).toMatchObject([
      {
        type: 'risk.threshold_breached',
        accountId,
        data: { threshold_value: 0.1 + 0.2, affected_positions: [] },
      },
    ])

    const cancels = () => halts.haltCancelsOrders(owner, accountId)
    const found: boolean[] = []
    await set({ halt: true })
    for (const cancelOrders of [false, true, false]) {
      await set({ halt: true, cancelOrders })
      const [now] = await store.ofAccount(account)
      if (now === undefined) expect.fail('there is no threshold')
      if (cancelOrders) expect(now.breachedValue).toBeNull()
      const breach = { threshold: now, current: 0, at: 5 }
      const change = { before: now, after: { ...now, breachedValue: now.value }, breach }
      await store.record(account, [change], [])
      found.push(await cancels())
    }
    expect(found).toEqual([false, true, true])
    // Written again as it is, it halts nothing anew.
    await set({ halt: true })
    expect(await store.ofAccount(account)).toMatchObject([{ breachedValue: after.value }])
  }),
)
