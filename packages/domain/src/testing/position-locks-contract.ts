// What every PositionLocks does, numbered: one change of a position at a time, wherever it is made, and none that waits for the dead (4.3; decision 30).
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { internalTimeout, positionNotFound } from '../errors.ts'
import type { PositionLocks } from '../ports/position-locks.ts'
import type { Owner, PositionId, TenantId, Ticket, UserId } from '../primitives/ids.ts'
import { newAccountId } from './stored-records.ts'

export interface LockPorts {
  readonly locks: PositionLocks
  /** The same locks as another instance of the service sees them. */
  readonly elsewhere: PositionLocks
  /** The same, of a process that dies at its work: it neither goes on with what it holds nor lets go of it. */
  readonly dying: PositionLocks
  /** The same, for those who give up soon. */
  readonly impatient: PositionLocks
  /** Lets so much time pass for those who wait. */
  readonly elapse: (ms: number) => Promise<void>
}

/** Opens the locks once per suite; `close` ends them. */
export type OpenLockPorts = () => Promise<{ readonly ports: LockPorts; readonly close: () => Promise<void> }>

const owner: Owner = { tenantId: 'tenant-1' as TenantId, userId: 'user-1' as UserId }
const newPosition = (): PositionId => ({ accountId: newAccountId(), ticket: '46648037' as Ticket })
const done = TE.right('done')
const broken: TE.TaskEither<never, string> = () => Promise.reject(new Error('the work broke'))

/** Work that ends when it is told to, and says when it was begun. */
const heldWork = () => {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const work: TE.TaskEither<never, string> = async () => {
    begun.resolve()
    await ended.promise
    return E.right('held')
  }
  return { work, begun: begun.promise, end: ended.resolve }
}

const turnMs = 50

export const positionLocksContract = (title: string, open: OpenLockPorts): void => {
  describe(`position locks, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenLockPorts>>
    let ports: LockPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    /** Runs a task, with time passing until it has settled. */
    const settle = async <A>(task: () => Promise<A>): Promise<A> => {
      const progress = { isOver: false }
      const end = (): void => {
        progress.isOver = true
      }
      const running = task()
      void running.then(end, end)
      while (!progress.isOver) await ports.elapse(turnMs)
      return running
    }

    it('L1 does the work, gives what it brings, right, left or rejected, and lets the position go', async () => {
      const id = newPosition()
      for (const { holding } of [ports.locks, ports.elsewhere]) {
        expect(await settle(holding(owner, id)(done))).toStrictEqual(E.right('done'))
        expect(await settle(holding(owner, id)(TE.left(positionNotFound)))).toStrictEqual(E.left(positionNotFound))
        await expect(settle(holding(owner, id)(broken))).rejects.toThrow('the work broke')
      }
      expect(await settle(ports.locks.holding(owner, id)(done))).toStrictEqual(E.right('done'))
    })

    it('L2 does one work at a time of many, at every instance, and all of them', async () => {
      const id = newPosition()
      let atOnce = 0
      let most = 0
      const work: TE.TaskEither<never, string> = async () => {
        atOnce += 1
        most = Math.max(most, atOnce)
        await ports.elapse(1)
        atOnce -= 1
        return E.right('done')
      }
      const works = Array.from({ length: 30 }, (_, index) => (index % 2 ? ports.locks : ports.elsewhere).holding(owner, id)(work))
      const results = await settle(() => Promise.all(works.map((run) => run())))
      expect(results).toStrictEqual(works.map(() => E.right('done')))
      expect(most).toBe(1)
    })

    it('L3 lets those who wait at one instance in as they came', async () => {
      const id = newPosition()
      const order: number[] = []
      const note = (index: number) => TE.fromIO(() => order.push(index))
      const works = Array.from({ length: 10 }, (_, index) => ports.locks.holding(owner, id)(note(index)))
      await settle(() => Promise.all(works.map((run) => run())))
      expect(order).toStrictEqual(works.map((_, index) => index))
    })

    it('L4 lets nobody wait for another position, another account or another owner', async () => {
      const id = newPosition()
      const held = heldWork()
      const holding = ports.locks.holding(owner, id)(held.work)()
      await held.begun
      const others: readonly (readonly [Owner, PositionId])[] = [
        [owner, { ...id, ticket: '46648038' as Ticket }],
        [owner, { ...id, accountId: newAccountId() }],
        [{ ...owner, userId: 'user-2' as UserId }, id],
        [{ ...owner, tenantId: 'tenant-2' as TenantId }, id],
      ]
      for (const { holding: hold } of [ports.locks, ports.elsewhere]) {
        for (const other of others) expect(await settle(hold(...other)(done))).toStrictEqual(E.right('done'))
      }
      held.end()
      expect(await settle(() => holding)).toStrictEqual(E.right('held'))
    })

    it('L5 gives up after a while without having begun, and keeps nobody else out by it', async () => {
      for (const holder of [ports.impatient, ports.elsewhere]) {
        const id = newPosition()
        const held = heldWork()
        const holding = holder.holding(owner, id)(held.work)()
        await held.begun
        let works = 0
        const count = TE.fromIO(() => {
          works += 1
        })
        const waiting = [count, count].map((work) => ports.impatient.holding(owner, id)(work))
        expect(await settle(() => Promise.all(waiting.map((run) => run())))).toStrictEqual([
          E.left(internalTimeout),
          E.left(internalTimeout),
        ])
        held.end()
        await settle(() => holding)
        expect(await settle(ports.locks.holding(owner, id)(count))).toStrictEqual(E.right(undefined))
        expect(works).toBe(1)
      }
    })

    it('L6 frees in time what a process held that died', async () => {
      const id = newPosition()
      const held = heldWork()
      void ports.dying.holding(owner, id)(held.work)()
      await held.begun
      const waiting = [ports.locks, ports.elsewhere].map(({ holding }) => holding(owner, id)(done))
      expect(await settle(() => Promise.all(waiting.map((run) => run())))).toStrictEqual([E.right('done'), E.right('done')])
      held.end()
    })

    it('L7 lets one instance in beside another that is never without work', async () => {
      const id = newPosition()
      const visitor = { isIn: false }
      const work: TE.TaskEither<never, string> = async () => {
        await ports.elapse(turnMs)
        return E.right('done')
      }
      const keepBusy = async (): Promise<void> => {
        while (!visitor.isIn) expect(await ports.locks.holding(owner, id)(work)()).toStrictEqual(E.right('done'))
      }
      const busy = [keepBusy(), keepBusy(), keepBusy()]
      await ports.elapse(turnMs)
      expect(await settle(ports.elsewhere.holding(owner, id)(done))).toStrictEqual(E.right('done'))
      visitor.isIn = true
      await settle(() => Promise.all(busy))
    })
  })
}
