// The book of an account: its order, and one position of it.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { byAge, requireOpen } from '../../src/positions/position.ts'
import type { Ticket } from '../../src/primitives/ids.ts'
import { openPosition } from '@tradeport/testkit'

const position = (ticket: string, openedAt: number) =>
  openPosition({ ticket: ticket as Ticket, openedAt })

describe('positions', () => {
  it('stand oldest first, those of one moment by ticket, the shorter first', () => {
    const book = [
      position('100', 5),
      position('31', 5),
      position('30', 5),
      position('7', 9),
      position('200', 2),
    ]
    expect(book.toSorted(byAge).map(({ ticket }) => ticket)).toEqual([
      '200',
      '30',
      '31',
      '100',
      '7',
    ])
    expect(book.toReversed().toSorted(byAge)).toEqual(book.toSorted(byAge))
  })

  it('are found by their ticket while they are open', () => {
    const reading = {
      positions: [position('12', 1), position('2', 2), position('3', 3)],
      readAt: 9,
    }
    expect(requireOpen(reading, '2' as Ticket)).toEqual(E.right(position('2', 2)))
    expect(requireOpen(reading, '4' as Ticket)).toEqual(E.left({ _tag: 'PositionNotFound' }))
    expect(requireOpen({ positions: [], readAt: 9 }, '2' as Ticket)).toEqual(
      E.left({ _tag: 'PositionNotFound' }),
    )
  })
})
