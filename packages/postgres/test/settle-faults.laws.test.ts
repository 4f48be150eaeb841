// Settling over the real store while processes die between any two steps, answers get lost and jobs come twice: nothing is executed twice, and in
// the end every order says what the broker did (decision 23).
import { brokerClientId, settleOrder } from '@tradeport/domain'
import type { Account, Instant, OrderStore, PendingOrder, PlacementJob, Trading } from '@tradeport/domain'
import { createFakeTrading, newOrderOn, rightOf, storedAccount } from '@tradeport/domain/testing'
import type { FakePlacement, FakeTrading, OpenOrderPorts, OrderPorts } from '@tradeport/domain/testing'
import * as fc from 'fast-check'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openOrdersEmbedded } from './order-ports.ts'

/** What one settler meets. */
interface Turn {
  readonly placement: FakePlacement
  /** The process dies at its so-manieth call of a port, before the call takes effect or after it. */
  readonly diesAt: number | null
  readonly diesAfter: boolean
  /** How many settlers have the same job. */
  readonly settlers: number
  readonly isHidden: boolean
  readonly waitMs: number
}

const turn: fc.Arbitrary<Turn> = fc.record({
  placement: fc.constantFrom<FakePlacement>(
    'fill',
    'fill_partly',
    'fill_and_lose_the_answer',
    'lose_the_request',
    'accept',
    'refuse',
    'not_sent',
    { notSentForMs: 20_000 },
  ),
  diesAt: fc.option(fc.integer({ min: 0, max: 5 })),
  diesAfter: fc.boolean(),
  settlers: fc.integer({ min: 1, max: 3 }),
  isHidden: fc.boolean(),
  waitMs: fc.integer({ min: 0, max: 15_000 }),
})

class Death extends Error {
  override readonly name = 'Death'
}

interface World {
  now: Instant
  readonly ports: OrderPorts
  readonly trading: FakeTrading
  readonly order: PendingOrder
}

/** Kills its process at one call. */
const mortal = ({ diesAt, diesAfter }: Pick<Turn, 'diesAt' | 'diesAfter'>) => {
  let calls = 0
  return <A>(task: () => Promise<A>) =>
    async (): Promise<A> => {
      const isLast = calls++ === diesAt
      if (isLast && !diesAfter) throw new Death()
      const result = await task()
      if (isLast) throw new Death()
      return result
    }
}

const settler = (world: World, death: Pick<Turn, 'diesAt' | 'diesAfter'>) => {
  const { ports, trading } = world
  const dying = mortal(death)
  const orders: Pick<OrderStore, 'placement' | 'advance'> = {
    placement: (...query) => dying(ports.orders.placement(...query)),
    advance: (...step) => dying(ports.orders.advance(...step)),
  }
  const mortalTrading: Trading = {
    placeOrder: (...order) => dying(trading.placeOrder(...order)),
    findOrder: (...order) => dying(trading.findOrder(...order)),
  }
  const pause = (ms: number) => async () => {
    world.now += ms
  }
  return settleOrder({ orders, accounts: ports.accounts, trading: mortalTrading, clock: { now: () => world.now }, pause })
}

const currentJob = async ({ ports, order }: World): Promise<PlacementJob | undefined> => {
  const found = await rightOf(ports.orders.placement(order.owner, order.id))
  if (O.isNone(found) || found.value.placement.step === 'settled') return undefined
  return { owner: order.owner, orderId: order.id, version: found.value.version }
}

const meet = async (world: World, { placement, settlers, isHidden, waitMs, ...death }: Turn): Promise<void> => {
  world.now += waitMs
  world.trading.next(placement)
  world.trading.hide(isHidden)
  const job = await currentJob(world)
  if (job === undefined) return
  // One of them is the one that dies.
  const deaths = Array.from({ length: settlers }, (_, index) => (index === 0 ? death : { diesAt: null, diesAfter: false }))
  const ends = await Promise.allSettled(deaths.map((one) => settler(world, one)(job)()))
  for (const end of ends) if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(Death)
}

const calm = async (world: World): Promise<void> => {
  world.trading.hide(false)
  for (let turns = 0; turns < 20; turns++) {
    // Also what was accepted only now, because an earlier turn died before it sent.
    world.trading.execute()
    const job = await currentJob(world)
    if (job === undefined) return
    await rightOf(settler(world, { diesAt: null, diesAfter: false })(job))
    world.now += 61_000
  }
}

describe('settling while processes die', () => {
  let opened: Awaited<ReturnType<OpenOrderPorts>>
  beforeAll(async () => {
    opened = await openOrdersEmbedded()
  })
  afterAll(() => opened.close())

  it('executes no order twice, and says in the end what the broker did', async () => {
    const { ports } = opened
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 8 }), async (turns) => {
        const account: Account = await storedAccount(ports.operator)
        const order = newOrderOn(account, Date.UTC(2026, 10, 21, 12))
        const world: World = { now: order.createdAt, ports, trading: createFakeTrading(), order }
        await rightOf(ports.orders.record(order.owner, order, undefined))
        for (const one of turns) await meet(world, one)
        await calm(world)
        const executions = world.trading.executions(brokerClientId(order.id))
        expect(executions.length).toBeLessThanOrEqual(1)
        const [fill] = executions
        const after = O.toUndefined(await rightOf(ports.orders.find(order.owner, order.id)))
        if (fill === undefined) expect(after).toMatchObject({ status: 'rejected' })
        else expect(after).toMatchObject({ status: fill.volume === order.request.volume ? 'filled' : 'partially_filled', fill })
      }),
      { numRuns: 150 },
    )
  })
})
