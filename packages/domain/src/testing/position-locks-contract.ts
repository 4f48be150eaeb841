// What every PositionLocks does, numbered: one change of a position at a time, wherever it is made, and nothing sent once the lock is lost.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '../accounts/account.ts'
import { internalTimeout, positionNotFound } from '../errors.ts'
import type { MaySend } from '../ports/clock.ts'
import { maxChangesPerAccount } from '../ports/position-locks.ts'
import type { PositionLocks } from '../ports/position-locks.ts'
import type { TenantId, Ticket, UserId } from '../primitives/ids.ts'
import { newAccountId } from './stored-records.ts'

export interface LockPorts {
  readonly locks: PositionLocks
  /** The same locks on another instance of the service. */
  readonly elsewhere: PositionLocks
  /** The same for a process that dies at its work: it neither renews nor releases its locks. */
  readonly dying: PositionLocks
  /** The same for callers that give up soon. */
  readonly impatient: PositionLocks
  /** Lets so much time pass for callers that wait. */
  readonly elapse: (ms: number) => Promise<void>
}

/** Opens the locks once per suite; `close` ends them. */
export type OpenLockPorts = () => Promise<{ readonly ports: LockPorts; readonly close: () => Promise<void> }>

/** A new account at the provider, and a link to it. */
export const newBrokerAccount = (): BrokerAccount => {
  const accountId = newAccountId()
  const owner = { tenantId: 'tenant-1' as TenantId, userId: 'user-1' as UserId }
  return { accountId, owner, platform: 'mt5', providerAccountId: `provider-${accountId}`, region: null }
}

const ticket = '46648037' as Ticket
const done = () => TE.right('done')
const failing = (): TE.TaskEither<never, string> => () => Promise.reject(new Error('the work failed'))

/** Work that runs until `end` is called. */
export const heldWork = () => {
  const begun = Promise.withResolvers<MaySend>()
  const ended = Promise.withResolvers<void>()
  const work =
    (maySend: MaySend): TE.TaskEither<never, string> =>
    async () => {
      begun.resolve(maySend)
      await ended.promise
      return E.right('held')
    }
  return { work, begun: begun.promise, end: () => ended.resolve() }
}

const stepMs = 50

export const positionLocksContract = (title: string, open: OpenLockPorts): void => {
  describe(`position locks, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenLockPorts>>
    let ports: LockPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    /** Runs a task, with time passing until it has ended. */
    const finish = async <A>(task: () => Promise<A>): Promise<A> => {
      const progress = { isOver: false }
      const end = (): void => {
        progress.isOver = true
      }
      const running = task()
      void running.then(end, end)
      while (!progress.isOver) await ports.elapse(stepMs)
      return running
    }

    it('L1 returns what the work returns, right, left or rejected, and releases the position', async () => {
      const account = newBrokerAccount()
      for (const { holding } of [ports.locks, ports.elsewhere]) {
        expect(await finish(holding(account, ticket)(done))).toStrictEqual(E.right('done'))
        expect(await finish(holding(account, ticket)(() => TE.left(positionNotFound)))).toStrictEqual(E.left(positionNotFound))
        await expect(finish(holding(account, ticket)(failing))).rejects.toThrow('the work failed')
      }
      expect(await finish(ports.locks.holding(account, ticket)(done))).toStrictEqual(E.right('done'))
    })

    it('L2 runs one of many works at a time, on all instances, and all of them', async () => {
      const account = newBrokerAccount()
      let atOnce = 0
      let most = 0
      const work = (): TE.TaskEither<never, string> => async () => {
        atOnce += 1
        most = Math.max(most, atOnce)
        await ports.elapse(1)
        atOnce -= 1
        return E.right('done')
      }
      const works = Array.from({ length: 30 }, (_, index) => (index % 2 ? ports.locks : ports.elsewhere).holding(account, ticket)(work))
      const results = await finish(() => Promise.all(works.map((run) => run())))
      expect(results).toStrictEqual(works.map(() => E.right('done')))
      expect(most).toBe(1)
    })

    it('L3 runs the works that wait at one instance in the order in which they came', async () => {
      const account = newBrokerAccount()
      const order: number[] = []
      const note = (index: number) => () => TE.fromIO(() => order.push(index))
      const works = Array.from({ length: 10 }, (_, index) => ports.locks.holding(account, ticket)(note(index)))
      await finish(() => Promise.all(works.map((run) => run())))
      expect(order).toStrictEqual(works.map((_, index) => index))
    })

    it('L4 waits for no other position, provider account or tenant', async () => {
      const account = newBrokerAccount()
      const held = heldWork()
      const holding = ports.locks.holding(account, ticket)(held.work)()
      await held.begun
      const others: readonly (readonly [BrokerAccount, Ticket])[] = [
        [account, '46648038' as Ticket],
        [{ ...account, providerAccountId: `${account.providerAccountId}-2` }, ticket],
        [{ ...account, owner: { ...account.owner, tenantId: 'tenant-2' as TenantId } }, ticket],
      ]
      for (const { holding: hold } of [ports.locks, ports.elsewhere]) {
        for (const other of others) expect(await finish(hold(...other)(done))).toStrictEqual(E.right('done'))
      }
      held.end()
      expect(await finish(() => holding)).toStrictEqual(E.right('held'))
    })

    it('L5 gives up after a while without having begun, and blocks nobody afterwards', async () => {
      for (const holder of [ports.impatient, ports.elsewhere]) {
        const account = newBrokerAccount()
        const held = heldWork()
        const holding = holder.holding(account, ticket)(held.work)()
        await held.begun
        let works = 0
        const count = () =>
          TE.fromIO(() => {
            works += 1
          })
        const waiting = [count, count].map((work) => ports.impatient.holding(account, ticket)(work))
        expect(await finish(() => Promise.all(waiting.map((run) => run())))).toStrictEqual([
          E.left(internalTimeout),
          E.left(internalTimeout),
        ])
        held.end()
        await finish(() => holding)
        expect(await finish(ports.locks.holding(account, ticket)(count))).toStrictEqual(E.right(undefined))
        expect(works).toBe(1)
      }
    })

    it('L6 frees the lock of a process that died, and lets it send nothing by then', async () => {
      const account = newBrokerAccount()
      const held = heldWork()
      void ports.dying.holding(account, ticket)(held.work)()
      const maySend = await held.begun
      const othersMaySend = () => TE.fromIO(() => maySend())
      const waiting = [ports.locks, ports.elsewhere].map(({ holding }) => holding(account, ticket)(othersMaySend))
      expect(await finish(() => Promise.all(waiting.map((run) => run())))).toStrictEqual([E.right(false), E.right(false)])
      held.end()
    })

    it('L7 may send while it holds the lock, and not afterwards', async () => {
      for (const { holding } of [ports.locks, ports.elsewhere]) {
        const held = heldWork()
        const running = holding(newBrokerAccount(), ticket)(held.work)()
        const maySend = await held.begun
        expect(maySend()).toBe(true)
        held.end()
        await finish(() => running)
        expect(maySend()).toBe(false)
      }
    })

    it('L8 gives one lock to all links to one account at the provider, also of two users', async () => {
      for (const holder of [ports.impatient, ports.elsewhere]) {
        const account = newBrokerAccount()
        const held = heldWork()
        const holding = holder.holding(account, ticket)(held.work)()
        await held.begun
        const links: readonly BrokerAccount[] = [
          { ...account, accountId: newAccountId() },
          { ...account, accountId: newAccountId(), owner: { ...account.owner, userId: 'user-2' as UserId } },
        ]
        const waiting = links.map((link) => ports.impatient.holding(link, ticket)(done))
        expect(await finish(() => Promise.all(waiting.map((run) => run())))).toStrictEqual(links.map(() => E.left(internalTimeout)))
        held.end()
        await finish(() => holding)
      }
    })

    it('L9 refuses more changes of one account than may be under way at once, waiting ones included, and no change of another', async () => {
      const account = newBrokerAccount()
      const { holding } = ports.locks
      const held = heldWork()
      const tickets = Array.from({ length: maxChangesPerAccount }, (_, index) => String(index >> 1) as Ticket)
      const running = tickets.map((one) => holding(account, one)(held.work)())
      await finish(() => held.begun)
      const [refused, other] = await finish(() =>
        Promise.all([holding(account, ticket)(done)(), holding(newBrokerAccount(), ticket)(done)()]),
      )
      expect(refused).toMatchObject({ left: { _tag: 'BrokerUnavailable', accountId: account.accountId } })
      expect(other).toStrictEqual(E.right('done'))
      held.end()
      await finish(() => Promise.all(running))
      expect(await finish(holding(account, ticket)(done))).toStrictEqual(E.right('done'))
    })
  })
}
