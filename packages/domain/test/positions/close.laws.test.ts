// Laws of closing: how much is sent, and what the broker's book shows of it, against whole
// hundredths of a lot.
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  closeShownBy,
  decideClose,
  isDoneAsSent,
  type CloseOutcome,
  type CloseRequest,
} from '../../src/positions/close.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import type { Ticket } from '../../src/primitives/ids.ts'
import { openPosition } from '@tradeport/testkit'

const cents = fc.integer({ min: 1, max: 10_000 })
const lots = (hundredths: number): number => hundredths / 100

const gone = (closedVolume: number, remainingVolume: number): CloseOutcome => ({
  closedVolume,
  remainingVolume,
})

const decided = (position: BrokerPosition, volume?: number): CloseRequest => {
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
              expected: gone(lots(asked), (open - asked) / 100),
            }),
          )
      }),
    )
  })

  it.each([0.30000001, 4e-9, Number.MIN_VALUE, -0.1, Infinity, Number.NaN])(
    'is never %d of 0.3',
    (asked) => {
      expect(decideClose(openPosition(), asked)).toEqual(
        E.left({ _tag: 'InvalidVolume', volume: asked, openVolume: 0.3 }),
      )
    },
  )
})

it('is not done as sent where less was closed than what is gone', () => {
  expect(isDoneAsSent(gone(0.05, 0.2), decided(openPosition(), 0.1))).toBe(false)
})

describe('what a later read of the positions shows of a close', () => {
  const position = openPosition()
  const other = openPosition({ ticket: '7' as Ticket, entryPrice: 1.2 })
  const alike = openPosition({ ticket: '8' as Ticket })
  const twin = { ...alike, stopLoss: 1.05 }
  const rest = openPosition({ ticket: '43' as Ticket, volume: 0.2 })
  const another = { ...rest, ticket: '44' as Ticket }
  const before = { position, positions: [other, position] }
  const part = decided(position, 0.1)
  const all = decided(position)
  const renumbered = (closedVolume: number, remainingVolume: number) => ({
    ...gone(closedVolume, remainingVolume),
    remainingTicket: rest.ticket,
  })

  type Row = [
    what: string,
    order: CloseRequest,
    after: readonly BrokerPosition[],
    shown?: CloseOutcome | undefined,
    other?: BrokerPosition,
  ]

  it.each<Row>([
    ['all, where the position is gone', all, [other], gone(0.3, 0)],
    [
      'less, where the rest has more lots',
      part,
      [{ ...rest, volume: 0.25 }],
      renumbered(0.05, 0.25),
    ],
    ['no more, where the rest has less', part, [{ ...rest, volume: 0.1 }], renumbered(0.1, 0.1)],
    [
      'the rest of just the lots that are left, where others are like it',
      part,
      [{ ...another, volume: 0.1 }, rest],
      renumbered(0.1, 0.2),
    ],
    [
      'nothing yet, where several could be the rest',
      part,
      [
        { ...rest, volume: 0.1 },
        { ...another, volume: 0.15 },
      ],
    ],
    ['nothing yet, where several could be a rest of all', all, [rest, another]],
    ['nothing yet, where the rest is as large as all was', part, [{ ...rest, volume: 0.3 }]],
    ['nothing yet, where another has another symbol', part, [{ ...rest, symbol: 'GBPUSD' }]],
    ['nothing yet, where another is on the other side', part, [{ ...rest, side: 'sell' }]],
    ['nothing yet, where another has another time', part, [{ ...rest, openedAt: 1_001 }]],
  ])('is, on a platform that gives the rest a new number, %s', (_, order, after, shown) => {
    expect(closeShownBy(before, order, after, true)).toEqual(shown)
  })

  it.each<Row>([
    ['the only rest, where a like twin is open', part, [alike, rest], renumbered(0.1, 0.2), alike],
    ['undecided, where a like twin is gone', part, [rest], undefined, alike],
    ['so also of all', all, [{ ...rest, stopLoss: 1.05 }]],
    [
      'the rest with its own levels',
      part,
      [{ ...another, stopLoss: 1.05 }, rest],
      renumbered(0.1, 0.2),
    ],
    ['the only rest, where the twin is open', part, [twin, rest], renumbered(0.1, 0.2)],
  ])(
    'where a twin was opened at one time and price, is %s',
    (_, order, after, shown, other = twin) => {
      const positions = [position, other]
      expect(closeShownBy({ position, positions }, order, after, true)).toEqual(shown)
    },
  )

  it('is never a rest that was there before', () => {
    expect(
      closeShownBy({ position, positions: [position, rest] }, part, [rest], true),
    ).toBeUndefined()
  })

  it('never shows more closed than was sent, and accounts for every lot that is left', () => {
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
        // That no position is shown proves no close of a part.
        expect(shown === undefined).toBe(left === open || (left === 0 && asked < open))
        if (shown === undefined) return
        expect(shown).toEqual({
          closedVolume: lots(left > open ? asked : Math.min(open - left, asked)),
          remainingVolume: lots(left),
        })
        expect(isDoneAsSent(shown, order)).toBe(left === open - asked)
      }),
    )
  })
})
