// Halts of an account by its owner and by the operator, and the closes that go with one.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import { openPosition } from '@tradeport/testkit'
import { refuse } from '../../src/errors.ts'
import { withoutKey } from '../../src/ports/index.ts'
import { createHalts, createPositionChanges } from '../../src/use-cases/index.ts'
import {
  createChangeDesk,
  down,
  noon,
  owner,
  rightOf,
  stranger,
  tagOf,
  unavailable,
} from './desk.ts'

type HaltPorts = Parameters<typeof createHalts>[0]

const open = ({
  halts,
  ...other
}: Partial<Omit<HaltPorts, 'halts'>> & { readonly halts?: Partial<HaltPorts['halts']> } = {}) => {
  const desk = createChangeDesk({}, [openPosition()])
  const { closePositions } = createPositionChanges(desk)
  const cancelled: unknown[] = []
  const { haltAccount, liftHalt } = createHalts({
    ...desk,
    closePositions,
    halts: { ...desk.halts, ...halts },
    cancelOrders: (_, _id, reason) => TE.fromIO(() => (cancelled.push(reason), [])),
    ...other,
  })
  const { id } = desk.account
  return {
    desk,
    id,
    cancelled,
    halt: (request = {}, by = owner, guard = withoutKey) =>
      haltAccount({ owner: by }, { id, body: request, ...guard }),
    lift: (by = owner) => liftHalt({ owner: by }, { id }),
    haltByOperator: () =>
      void desk.records.tables.halts.set(id, {
        accountId: id,
        since: noon,
        reason: 'review',
        cancelOrders: false,
      }),
  }
}

it('stands until its owner lifts it, with the time and the reason of the first request', async () => {
  const { desk, id, halt, lift } = open()
  const standing = { by: 'owner', since: noon, reason: 'news' }
  expect(await rightOf(halt({ reason: 'news' }))).toEqual({ accountId: id, halt: O.some(standing) })
  desk.wait(5)
  expect((await rightOf(halt({ reason: 'later' }))).halt).toEqual(O.some(standing))
  expect(desk.positionTrading.sent()).toEqual([])
  for (const _ of [1, 2]) expect((await rightOf(lift())).halt).toEqual(O.none)
})

it('of the operator comes first, and its owner cannot lift it', async () => {
  const { desk, id, halt, lift, haltByOperator } = open()
  await rightOf(halt())
  haltByOperator()
  expect((await rightOf(halt())).halt).toEqual(
    O.some({ by: 'operator', since: noon, reason: 'review' }),
  )
  expect(await tagOf(lift())).toBe('AccountHalted')
  desk.records.tables.halts.delete(id)
  expect(await rightOf(desk.halts.find(owner, id))).toMatchObject(O.some({ by: 'owner' }))
})

it('closes every position where that is wanted, and stands where they cannot be closed', async () => {
  const { desk, halt } = open()
  desk.positionTrading.fail(desk.account.id, down(desk.account.id))
  expect(await rightOf(halt({ closePositions: true }))).toMatchObject({
    halt: O.some({ by: 'owner' }),
    closes: E.left({ _tag: 'BrokerUnavailable' }),
  })
  desk.positionTrading.heal(desk.account.id)
  expect((await rightOf(halt({ closePositions: true }))).closes).toMatchObject(
    E.right([{ ticket: '42', result: E.right({ remainingVolume: 0 }) }]),
  )
})

it('closes every position also where nothing can be read of the halt once it stands', async () => {
  const { desk, halt } = open({ halts: { find: unavailable } })
  expect((await rightOf(halt({ closePositions: true }))).halt).toMatchObject(
    O.some({ by: 'owner' }),
  )
  expect(desk.positionTrading.sent()).toMatchObject([{ ticket: '42' }])
})

it('closes positions also where orders are still being cancelled', async () => {
  const { desk, halt } = open({ cancelOrders: () => () => new Promise(() => undefined) })
  void halt({ closePositions: true, cancelOrders: true })()
  await expect.poll(() => desk.positionTrading.sent()).toMatchObject([{ ticket: '42' }])
})

it('is neither made nor lifted by a stranger, nor made with a key that is taken', async () => {
  const { desk, id, halt, lift } = open()
  const taken = { begin: TE.left(refuse('IdempotencyInProgress')) }
  expect(await tagOf(halt({}, owner, taken))).toBe('IdempotencyInProgress')
  expect(await tagOf(halt({}, stranger))).toBe('AccountNotFound')
  expect(await tagOf(lift(stranger))).toBe('AccountNotFound')
  expect(await rightOf(desk.halts.find(owner, id))).toEqual(O.none)
})
