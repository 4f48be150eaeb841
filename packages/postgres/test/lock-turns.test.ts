// One change of a position at a time, wherever it is made, and nothing sent once the lock is lost.
import { setTimeout as pause } from 'node:timers/promises'
import { internalTimeout, positionNotFound } from '@tradeport/domain/errors'
import { maxChangesPerAccount } from '@tradeport/domain/ports'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { TenantId, Ticket, UserId } from '@tradeport/domain/primitives'
import { newAccountId } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heldWork, lockPortsOn, newBrokerAccount } from './lock-ports.ts'
import type { LockPorts } from './lock-ports.ts'
import { onEachDatabase } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const ticket = '46648037' as Ticket
const done = () => TE.right('done')
const failing = (): TE.TaskEither<never, string> => () =>
  Promise.reject(new Error('the work failed'))

onEachDatabase((open, title) =>
  describe(`position locks, ${title}`, () => {
    let opened: OpenedDatabase
    let ports: LockPorts
    beforeAll(async () => {
      opened = await open()
      ports = lockPortsOn(opened)
    })
    afterAll(() => opened.close())

    it('return what the work returns, right, left or rejected, let it send until then, and are released', async () => {
      const account = newBrokerAccount()
      for (const { holding } of [ports.locks, ports.elsewhere]) {
        expect(await holding(account, ticket)(() => TE.left(positionNotFound))()).toStrictEqual(
          E.left(positionNotFound),
        )
        await expect(holding(account, ticket)(failing)()).rejects.toThrow('the work failed')
        const held = heldWork()
        const running = holding(account, ticket)(held.work)()
        const maySend = await held.begun
        expect(maySend()).toBe(true)
        held.end()
        expect(await running).toStrictEqual(E.right('held'))
        expect(maySend()).toBe(false)
      }
    })

    it('let one of many works run at a time on all instances, at each in the order in which they came', async () => {
      const account = newBrokerAccount()
      const order: number[] = []
      let [atOnce, most] = [0, 0]
      const work = (index: number) => (): TE.TaskEither<never, void> => async () => {
        most = Math.max(most, (atOnce += 1))
        order.push(index)
        await pause(1)
        atOnce -= 1
        return E.right(undefined)
      }
      const works = Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? ports.locks : ports.elsewhere).holding(account, ticket)(work(index)),
      )
      await Promise.all(works.map((run) => run()))
      expect(most).toBe(1)
      for (const rest of [0, 1])
        expect(order.filter((index) => index % 2 === rest)).toStrictEqual(
          Array.from({ length: 10 }, (_, n) => 2 * n + rest),
        )
    })

    it('wait for no other position, provider account or tenant, and for every link to the same account, until their patience ends', async () => {
      for (const holder of [ports.impatient, ports.elsewhere]) {
        const account = newBrokerAccount()
        const held = heldWork()
        const running = holder.holding(account, ticket)(held.work)()
        await held.begun
        const free: readonly (readonly [BrokerAccount, Ticket])[] = [
          [account, '46648038' as Ticket],
          [{ ...account, providerAccountId: `${account.providerAccountId}-2` }, ticket],
          [{ ...account, owner: { ...account.owner, tenantId: 'tenant-2' as TenantId } }, ticket],
        ]
        for (const other of free)
          expect(await ports.locks.holding(...other)(done)()).toStrictEqual(E.right('done'))
        const link = {
          ...account,
          accountId: newAccountId(),
          owner: { ...account.owner, userId: 'user-2' as UserId },
        }
        let begun = 0
        const count = () => TE.fromIO(() => (begun += 1))
        const refused = [account, link].map((one) => ports.impatient.holding(one, ticket)(count)())
        expect(await Promise.all(refused)).toStrictEqual([
          E.left(internalTimeout),
          E.left(internalTimeout),
        ])
        held.end()
        await running
        await ports.locks.holding(account, ticket)(count)()
        expect(begun).toBe(1)
      }
    })

    it('are free once their process has died, which may send nothing by then', async () => {
      const account = newBrokerAccount()
      const held = heldWork()
      void ports.dying.holding(account, ticket)(held.work)()
      const maySend = await held.begun
      const othersMaySend = () => TE.fromIO(() => maySend())
      const waiting = [ports.locks, ports.elsewhere].map(({ holding }) =>
        holding(account, ticket)(othersMaySend)(),
      )
      expect(await Promise.all(waiting)).toStrictEqual([E.right(false), E.right(false)])
      held.end()
    })

    it('refuse more changes of one account than may be under way at once, waiting ones included, and no change of another', async () => {
      const account = newBrokerAccount()
      const { holding } = ports.locks
      const held = heldWork()
      const running = Array.from({ length: maxChangesPerAccount }, (_, index) =>
        holding(account, String(index >> 1) as Ticket)(held.work)(),
      )
      await held.begun
      expect(await holding(account, ticket)(done)()).toMatchObject({
        left: { _tag: 'BrokerUnavailable', accountId: account.accountId },
      })
      expect(await holding(newBrokerAccount(), ticket)(done)()).toStrictEqual(E.right('done'))
      held.end()
      await Promise.all(running)
      expect(await holding(account, ticket)(done)()).toStrictEqual(E.right('done'))
    })
  }),
)
