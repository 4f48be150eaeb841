// Laws of closing: how much is sent, and what the broker's book shows of it, against whole
// hundredths of a lot.
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  closeShownBy,
  decideClose,
  isDoneAsSent,
  outcomeAsSent,
} from '../../src/positions/close.ts'
import type { CloseOrder, CloseOutcome } from '../../src/positions/close.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import type { Ticket } from '../../src/primitives/ids.ts'
import { openPosition } from '../../src/testing/open-position.ts'

const cents = fc.integer({ min: 1, max: 10_000 })
const lots = (hundredths: number): number => hundredths / 100

const decided = (position: BrokerPosition, volume?: number): CloseOrder => {
  const order = decideClose(position, volume)
  return E.isRight(order) ? order.right : expect.fail('was refused')
}

describe('how much is closed', () => {
  it('and what is left are together what was open, exactly; more than that is refused', () => {
    fc.assert(
      fc.property(cents, cents, (open, asked) => {
        const order = decideClose(openPosition({ volume: lots(open) }), lots(asked))
        if (asked > open)
          expect(order).toEqual(
            E.left({ _tag: 'InvalidVolume', volume: lots(asked), openVolume: lots(open) }),
          )
        else
          expect(order).toEqual(
            E.right({
              volume: asked === open ? null : lots(asked),
              closes: lots(asked),
              leaves: (open - asked) / 100,
            }),
          )
      }),
    )
  })

  it.each<[asked: number | undefined, order: CloseOrder]>([
    [undefined, { volume: null, closes: 0.3, leaves: 0 }],
    [0.3, { volume: null, closes: 0.3, leaves: 0 }],
    // What 0.1 + 0.2 is to a program is all of 0.3, and not more than it.
    [0.1 + 0.2, { volume: null, closes: 0.3, leaves: 0 }],
    [0.1, { volume: 0.1, closes: 0.1, leaves: 0.2 }],
    [0.29, { volume: 0.29, closes: 0.29, leaves: 0.01 }],
  ])('of 0.3 lots when %d are asked for', (asked, order) => {
    expect(decided(openPosition(), asked)).toEqual(order)
  })

  it.each([0.30000001, 0.31, 1e9, Number.MAX_VALUE, 4e-9, Number.MIN_VALUE])(
    'is never %d of 0.3',
    (asked) => {
      expect(decideClose(openPosition(), asked)).toEqual(
        E.left({ _tag: 'InvalidVolume', volume: asked, openVolume: 0.3 }),
      )
    },
  )
})

describe('a close is done as it was sent', () => {
  const order = decided(openPosition(), 0.1)
  it.each<[CloseOutcome, boolean]>([
    [{ closedVolume: 0.1, remainingVolume: 0.2 }, true],
    [{ closedVolume: 0.05, remainingVolume: 0.2 }, false],
    [{ closedVolume: 0.1, remainingVolume: 0.1 }, false],
    [{ closedVolume: 0.1, remainingVolume: 0 }, false],
  ])('by its lots and by those that are left: %o is %s', (outcome, isDone) => {
    expect(isDoneAsSent(outcome, order)).toBe(isDone)
  })
})

describe('what a later book shows of a close', () => {
  const position = openPosition()
  const other = openPosition({ ticket: '7' as Ticket, volume: 0.2 })
  const rest = openPosition({ ticket: '43' as Ticket, volume: 0.2 })
  const before = { position, positions: [other, position] }
  const part = decided(position, 0.1)
  const all = decided(position)

  it.each<
    [
      what: string,
      order: CloseOrder,
      after: readonly BrokerPosition[],
      renumbers: boolean,
      shown: CloseOutcome | undefined,
    ]
  >([
    [
      'all, where the position is gone',
      all,
      [other],
      false,
      { closedVolume: 0.3, remainingVolume: 0 },
    ],
    [
      'all, also where the rest of a part would get a new number',
      all,
      [other],
      true,
      { closedVolume: 0.3, remainingVolume: 0 },
    ],
    [
      'the part, where the position is smaller by it',
      part,
      [{ ...position, volume: 0.2 }],
      false,
      outcomeAsSent(part),
    ],
    [
      'less than was sent, where the broker did less',
      part,
      [{ ...position, volume: 0.25 }],
      false,
      { closedVolume: 0.05, remainingVolume: 0.25 },
    ],
    [
      'a part, where all was sent and the broker did less',
      all,
      [{ ...position, volume: 0.1 }],
      false,
      { closedVolume: 0.2, remainingVolume: 0.1 },
    ],
    [
      'no more than was sent, where another closed the rest',
      part,
      [other],
      false,
      { closedVolume: 0.1, remainingVolume: 0 },
    ],
    [
      'no more than was sent, where another closed more',
      part,
      [{ ...position, volume: 0.05 }],
      false,
      { closedVolume: 0.1, remainingVolume: 0.05 },
    ],
    ['nothing yet, where the position is as it was', part, [position], false, undefined],
    [
      'nothing yet, where the position has grown',
      part,
      [{ ...position, volume: 0.5 }],
      false,
      undefined,
    ],
    [
      'the rest under its new number',
      part,
      [other, rest],
      true,
      { closedVolume: 0.1, remainingVolume: 0.2, remainingTicket: rest.ticket },
    ],
    [
      'the rest under a new number that nobody told of',
      part,
      [rest],
      false,
      { closedVolume: 0.1, remainingVolume: 0.2, remainingTicket: rest.ticket },
    ],
    ['nothing yet, while the rest is not found', part, [other], true, undefined],
    [
      'less than was sent, where the rest under its new number has more lots',
      part,
      [{ ...rest, volume: 0.25 }],
      true,
      { closedVolume: 0.05, remainingVolume: 0.25, remainingTicket: rest.ticket },
    ],
    [
      'a part, where all was sent and there is a rest under a new number',
      all,
      [other, { ...rest, volume: 0.1 }],
      true,
      { closedVolume: 0.2, remainingVolume: 0.1, remainingTicket: rest.ticket },
    ],
    [
      'no more than was sent, where the rest under its new number has less',
      part,
      [{ ...rest, volume: 0.1 }],
      true,
      { closedVolume: 0.1, remainingVolume: 0.1, remainingTicket: rest.ticket },
    ],
    [
      'the rest of just the lots that are left, where others look like it',
      part,
      [{ ...rest, ticket: '44' as Ticket, volume: 0.1 }, rest],
      true,
      { closedVolume: 0.1, remainingVolume: 0.2, remainingTicket: rest.ticket },
    ],
    [
      'nothing yet, where several look like the rest',
      part,
      [
        { ...rest, volume: 0.1 },
        { ...rest, ticket: '44' as Ticket, volume: 0.15 },
      ],
      true,
      undefined,
    ],
    [
      'nothing yet, where several look like a rest of all',
      all,
      [rest, { ...rest, ticket: '44' as Ticket, volume: 0.15 }],
      true,
      undefined,
    ],
    [
      'nothing yet, where what looks like the rest is as large as all was',
      part,
      [{ ...rest, volume: 0.3 }],
      true,
      undefined,
    ],
    [
      'all, where what is like it has another number, as no rest of it has',
      all,
      [{ ...rest, volume: 0.1 }],
      false,
      { closedVolume: 0.3, remainingVolume: 0 },
    ],
    [
      'nothing yet, where another has another symbol',
      part,
      [{ ...rest, symbol: 'GBPUSD' }],
      true,
      undefined,
    ],
    [
      'nothing yet, where another is on the other side',
      part,
      [{ ...rest, side: 'sell' }],
      true,
      undefined,
    ],
    [
      'nothing yet, where another was opened at another price',
      part,
      [{ ...rest, entryPrice: 1.10001 }],
      true,
      undefined,
    ],
    [
      'nothing yet, where another was opened at another time',
      part,
      [{ ...rest, openedAt: 1_001 }],
      true,
      undefined,
    ],
  ])('is %s', (_, order, after, renumbers, shown) => {
    expect(closeShownBy(before, order, after, renumbers)).toEqual(shown)
  })

  it('never takes a position that was there before for the rest', () => {
    expect(
      closeShownBy({ position, positions: [position, rest] }, part, [rest], true),
    ).toBeUndefined()
  })

  it('never says that more was closed than was sent, and accounts for every lot that it says is left', () => {
    fc.assert(
      fc.property(cents, cents, fc.nat(10_000), (open, asked, left) => {
        fc.pre(asked <= open)
        const held = openPosition({ volume: lots(open) })
        const order = decided(held, lots(asked))
        const shown = closeShownBy(
          { position: held, positions: [held] },
          order,
          left === 0 ? [] : [{ ...held, volume: lots(left) }],
          false,
        )
        expect(shown === undefined).toBe(left >= open)
        if (shown === undefined) return
        expect(shown).toEqual({
          closedVolume: lots(Math.min(open - left, asked)),
          remainingVolume: lots(left),
        })
        expect(isDoneAsSent(shown, order)).toBe(left === open - asked)
      }),
    )
  })
})
