// PUT /positions/:id/sl and /tp: both levels are sent, and the reply tells the level that the broker has.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { brokerRateLimited, brokerOutcomeUnknown, brokerUnavailable } from '../../src/errors.ts'
import type { LevelsReceipt } from '../../src/ports/position-desk.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import { secondMs } from '../../src/primitives/instant.ts'
import { moveStopLoss, moveTakeProfit } from '../../src/use-cases/move-levels.ts'
import { openPosition } from '../../src/testing/open-position.ts'
import { createChangeDesk, meanwhile, noon } from './change-desk.ts'
import type { ChangeDesk } from './change-desk.ts'
import { owner, rightOf } from './desk.ts'

const bothLevels = { stopLoss: 1.05, takeProfit: 1.5 }

const moveStop = (desk: ChangeDesk, level: number) => moveStopLoss(desk)({ owner }, desk.id, level)

/** A desk where the broker puts the position into another state right after a change was sent. */
const changedBy = (desk: ChangeDesk, changed: Partial<BrokerPosition>): ChangeDesk =>
  meanwhile(desk, () => desk.positionDesk.put(desk.account.id, [openPosition(changed)]))

/** A desk whose next change is lost on its way. */
const unanswered = (held: Partial<BrokerPosition> = {}): ChangeDesk => {
  const desk = createChangeDesk({}, [openPosition(held)])
  desk.positionDesk.next('lose_the_request')
  return desk
}

/** A desk whose broker does what it does, and then says this of it. */
const saying = (desk: ChangeDesk, progress: LevelsReceipt['progress']): ChangeDesk => {
  const { setLevels } = desk.positionDesk
  return {
    ...desk,
    positionDesk: {
      ...desk.positionDesk,
      setLevels:
        (...change) =>
        async () => (await setLevels(...change)(), E.right({ progress })),
    },
  }
}

const goneBy = (desk: ChangeDesk): ChangeDesk => meanwhile(desk, () => desk.positionDesk.put(desk.account.id, []))

describe('PUT /positions/:id/sl', () => {
  it('sends the held take profit along, and answers the position with margin and provenance', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    desk.wait(5)
    const moved = await rightOf(moveStop(desk, 1.1))
    expect(desk.positionDesk.sent()).toEqual([
      { kind: 'setLevels', accountId: desk.account.id, ticket: '42', levels: { stopLoss: 1.1, takeProfit: 1.5 } },
    ])
    expect(moved).toEqual({
      position: {
        ...openPosition({ stopLoss: 1.1, takeProfit: 1.5 }),
        accountId: desk.account.id,
        userId: owner.userId,
        marginUsed: expect.closeTo(330),
      },
      provenance: { source: desk.broker.source, accounts: [desk.account.id], readAt: noon + 5 },
    })
  })

  it('leaves a position without a take profit without one', async () => {
    const desk = createChangeDesk()
    const { position } = await rightOf(moveStop(desk, 1.05))
    expect(position).not.toHaveProperty('takeProfit')
    expect(desk.held()).toEqual(openPosition({ stopLoss: 1.05 }))
  })

  it.each([1.2, 1.3])('refuses %d on a buy at 1.2, and sends nothing', async (value) => {
    const desk = createChangeDesk()
    const refusal = { _tag: 'InvalidPrice', level: 'stopLoss', side: 'buy', value, currentPrice: 1.2 }
    expect(await moveStop(desk, value)()).toEqual(E.left(refusal))
    expect(desk.positionDesk.sent()).toEqual([])
  })

  it('takes a stop loss above the price of a sell', async () => {
    const desk = createChangeDesk({}, [openPosition({ side: 'sell' })])
    await rightOf(moveStop(desk, 1.3))
    expect(await moveStop(desk, 1.1)()).toMatchObject({ left: { side: 'sell', currentPrice: 1.2 } })
    expect(desk.held()).toMatchObject({ stopLoss: 1.3 })
  })

  it('takes the level that is held already for a change that changes nothing', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    expect((await rightOf(moveStop(desk, 1.05))).position).toMatchObject(bothLevels)
    expect(desk.positionDesk.sent()).toHaveLength(1)
    expect(desk.clock.now()).toBe(noon)
  })
})

describe('PUT /positions/:id/tp', () => {
  it('sends the held stop loss along', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    const { position } = await rightOf(moveTakeProfit(desk)({ owner }, desk.id, 1.6))
    expect(desk.positionDesk.sent()).toMatchObject([{ levels: { stopLoss: 1.05, takeProfit: 1.6 } }])
    expect(position).toMatchObject({ stopLoss: 1.05, takeProfit: 1.6 })
  })

  it.each(['buy', 'sell'] as const)('refuses the current price and what is behind it on a %s', async (side) => {
    const desk = createChangeDesk({}, [openPosition({ side })])
    for (const value of [1.2, side === 'buy' ? 1.1 : 1.3]) {
      const refused = await moveTakeProfit(desk)({ owner }, desk.id, value)()
      expect(refused).toEqual(E.left({ _tag: 'InvalidPrice', level: 'takeProfit', side, value, currentPrice: 1.2 }))
    }
    expect(desk.positionDesk.sent()).toEqual([])
  })
})

describe('a change of a level that the broker confirmed', () => {
  it('is told as the broker has it, at the price of then', async () => {
    const desk = createChangeDesk()
    const rounded = changedBy(desk, { stopLoss: 1.05001, currentPrice: 1.21, unrealizedPnl: 33 })
    const { position } = await rightOf(moveStop(rounded, 1.050_012))
    expect(position).toMatchObject({ stopLoss: 1.05001, currentPrice: 1.21, unrealizedPnl: 33 })
  })

  it('is told with the new level although reads still show the old one, for two seconds at the most', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    desk.positionDesk.lagNext({ positions: 1_000 })
    expect((await rightOf(moveStop(desk, 1.1))).position).toMatchObject({ stopLoss: 1.1, takeProfit: 1.5 })
    expect(desk.clock.now()).toBe(noon + 2 * secondMs)
    expect(desk.positionDesk.sent()).toHaveLength(1)
  })

  it('is told as soon as a read shows it', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.lagNext({ positions: 2 })
    expect((await rightOf(moveStop(desk, 1.1))).provenance.readAt).toBe(noon + 500)
  })

  it('is told from what was read before where the position is gone by then, closed by its stop perhaps', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    const { position, provenance } = await rightOf(moveStop(goneBy(desk), 1.1))
    expect(position).toMatchObject({ ...openPosition(), stopLoss: 1.1, takeProfit: 1.5 })
    expect(provenance.readAt).toBe(noon)
    expect(desk.clock.now()).toBe(noon)
  })

  it('is told from what was read before where the broker cannot be read by then', async () => {
    const desk = createChangeDesk()
    const { account, positionDesk } = desk
    const unreadable = meanwhile(desk, () => positionDesk.fail(account.id, brokerUnavailable(account.id, 'down')))
    expect((await rightOf(moveStop(unreadable, 1.1))).position).toMatchObject({ ...openPosition(), stopLoss: 1.1 })
  })

  it('is read again after a read that failed', async () => {
    const desk = createChangeDesk()
    const { account, positionDesk, pause } = desk
    const unreadable = meanwhile(desk, () => positionDesk.fail(account.id, brokerUnavailable(account.id, 'down')))
    const healing: typeof pause = (ms) => async () => {
      await pause(ms)()
      positionDesk.heal(account.id)
    }
    expect((await rightOf(moveStop({ ...unreadable, pause: healing }, 1.1))).provenance.readAt).toBe(noon + 250)
  })

  it('is told at once where the broker asks not to be read for a while', async () => {
    const desk = createChangeDesk()
    const { account, positionDesk } = desk
    const limited = meanwhile(desk, () => positionDesk.fail(account.id, brokerRateLimited(account.id, noon + secondMs, noon)))
    expect((await rightOf(moveStop(limited, 1.1))).position).toMatchObject({ stopLoss: 1.1 })
    expect([desk.clock.now(), positionDesk.reads()]).toEqual([noon, 2])
  })

  it('is told although the read after it never comes back', async () => {
    const desk = createChangeDesk()
    const hanging = meanwhile(desk, () => void desk.positionDesk.hold())
    expect((await rightOf(moveStop(hanging, 1.1))).position).toMatchObject({ stopLoss: 1.1 })
    expect(desk.clock.now()).toBe(noon + 2 * secondMs)
  })

  it('is told although the margin cannot be had', async () => {
    const desk = createChangeDesk()
    desk.broker.put(desk.account.id, { margin: () => O.none })
    expect((await rightOf(moveStop(desk, 1.1))).position.marginUsed).toBeNull()
  })
})

describe('a change of a level that the broker says changes nothing', () => {
  it('is told as the broker has it, and at once', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    const unchanged = saying(desk, 'unchanged')
    desk.positionDesk.next('lose_the_request')
    expect((await rightOf(moveStop(unchanged, 1.050_000_1))).position).toMatchObject(bothLevels)
    expect(desk.clock.now()).toBe(noon)
  })

  it('is told as it was read before where the broker cannot be read by then', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    const unchanged = saying(
      meanwhile(desk, () => desk.positionDesk.fail(desk.account.id, brokerUnavailable(desk.account.id, 'down'))),
      'unchanged',
    )
    expect((await rightOf(moveStop(unchanged, 1.05))).position).toMatchObject(bothLevels)
  })
})

describe('a change of a level that the broker has only accepted', () => {
  it('is told once a read shows it', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    desk.positionDesk.next('accept')
    const { pause } = desk
    const executing: typeof pause = (ms) => async () => {
      await pause(ms)()
      desk.positionDesk.execute()
    }
    expect((await rightOf(moveStop({ ...desk, pause: executing }, 1.1))).position).toMatchObject({ stopLoss: 1.1, takeProfit: 1.5 })
  })

  it('stays unknown where no read shows it within two seconds', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    desk.positionDesk.next('accept')
    expect(await moveStop(desk, 1.1)()).toEqual(E.left(brokerOutcomeUnknown(desk.account.id)))
    expect([desk.clock.now(), desk.positionDesk.sent().length]).toEqual([noon + 2 * secondMs, 1])
  })

  it('stays unknown where the position is gone', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    desk.positionDesk.next('accept')
    expect(await moveStop(goneBy(desk), 1.1)()).toEqual(E.left(brokerOutcomeUnknown(desk.account.id)))
  })
})

describe('a change of a level of which no answer came', () => {
  it.each<[what: string, isDone: boolean, after: Partial<BrokerPosition>]>([
    ['both levels as asked', true, { stopLoss: 1.1, takeProfit: 1.5 }],
    ['the level as the broker rounded it', true, { stopLoss: 1.100_04, takeProfit: 1.5, currentPrice: 1.20007 }],
    ['the old level', false, bothLevels],
    ['another level', false, { stopLoss: 1.07, takeProfit: 1.5 }],
    ['the level, but the other one gone', false, { stopLoss: 1.1 }],
  ])('is decided by one read: %s: done is %s', async (_, isDone, after) => {
    const desk = unanswered(bothLevels)
    const asked = after.stopLoss === 1.100_04 ? 1.100_042 : 1.1
    const outcome = await moveStop(changedBy(desk, after), asked)()
    if (isDone) expect(outcome).toMatchObject({ right: { position: after } })
    else expect(outcome).toEqual(E.left(brokerOutcomeUnknown(desk.account.id)))
    expect([desk.positionDesk.reads(), desk.positionDesk.sent().length]).toEqual([2, 1])
  })

  it('is done where the level was there before', async () => {
    expect((await rightOf(moveStop(unanswered(bothLevels), 1.05))).position).toMatchObject(bothLevels)
  })

  it('stays unknown where the position is gone: the new level may be what closed it', async () => {
    const desk = unanswered(bothLevels)
    expect(await moveStop(goneBy(desk), 1.1)()).toEqual(E.left(brokerOutcomeUnknown(desk.account.id)))
  })
})
