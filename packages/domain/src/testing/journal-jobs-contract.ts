// What the jobs of journals keep, numbered.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '../accounts/account.ts'
import { minuteMs, secondMs } from '../primitives/instant.ts'
import { patience, journalSteps } from './stored-journals.ts'
import type { JournalPorts, OpenJournalPorts } from './stored-journals.ts'
import { rightOf } from './stored-records.ts'

export const journalJobsContract = (title: string, open: OpenJournalPorts): void => {
  describe(`journal jobs, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenJournalPorts>>
    let ports: JournalPorts
    const stops: (() => Promise<void>)[] = []
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop()
    })
    afterAll(() => opened.close())
    const { newBrokerAccount, claimOf, findState, keep } = journalSteps(() => ports)

    it('JJ1 gives out every account of which a read is wanted by now, several at once, and none before', async () => {
      const accounts = [await newBrokerAccount(), await newBrokerAccount()]
      const [first, second] = accounts as [BrokerAccount, BrokerAccount]
      const later = await newBrokerAccount()
      await rightOf(ports.journal.want(first, ports.now()))
      await rightOf(ports.journal.setReread(await claimOf(second), { rereadAt: ports.now(), disagreements: 1 }))
      await rightOf(ports.journal.want(later, ports.now() + 10 * minuteMs))
      const given: BrokerAccount[] = []
      const both = Promise.withResolvers<void>()
      const worker = await ports.jobs.work(async (account) => {
        given.push(account)
        if (accounts.some(({ accountId }) => accountId === account.accountId)) await both.promise
        const claim = await claimOf(account)
        await keep(claim, { completed: { syncedAt: ports.now() + minuteMs, latestDealAt: null } })
        await rightOf(ports.journal.setReread(claim, { rereadAt: null, disagreements: 0 }))
        await rightOf(ports.journal.release(claim))
      })
      stops.push(worker.stop)
      await expect.poll(() => given, patience).toContainEqual(first)
      expect(given).not.toContainEqual(second)
      await ports.elapse(31 * secondMs)
      await expect.poll(() => given, patience).toContainEqual(second)
      both.resolve()
      await expect.poll(async () => (await findState(first))?.wantedAt, patience).toBeNull()
      await expect.poll(async () => (await findState(second))?.rereadAt, patience).toBeNull()
      expect(given).not.toContainEqual(later)
      await ports.elapse(10 * minuteMs)
      await expect.poll(() => given, patience).toContainEqual(later)
      await worker.stop()
      for (const account of accounts) expect(given.filter(({ accountId }) => accountId === account.accountId)).toHaveLength(1)
    })

    it('JJ2 gives an account out again after a failure, once a pause is over', async () => {
      const account = await newBrokerAccount()
      await rightOf(ports.journal.want(account, ports.now()))
      let failures = 0
      const worker = await ports.jobs.work(async ({ accountId }) => {
        if (accountId !== account.accountId) return
        failures += 1
        throw new Error('the broker cannot be read')
      })
      stops.push(worker.stop)
      for (const times of [1, 2, 3]) {
        await expect.poll(() => failures, patience).toBe(times)
        await ports.elapse(minuteMs)
      }
    })
  })
}
