// The order of an account's positions.
import { expect, it } from 'vitest'
import { byAge } from '../../src/positions/position.ts'
import type { Ticket } from '../../src/primitives/ids.ts'
import { openPosition } from '@tradeport/testkit'

const position = (ticket: string, openedAt: number) =>
  openPosition({ ticket: ticket as Ticket, openedAt })

it('positions stand oldest first, those of one moment by ticket, the shorter first', () => {
  const book = [
    position('100', 5),
    position('31', 5),
    position('30', 5),
    position('7', 9),
    position('200', 2),
  ]
  expect(book.toSorted(byAge).map(({ ticket }) => ticket)).toEqual(['200', '30', '31', '100', '7'])
  expect(book.toReversed().toSorted(byAge)).toEqual(book.toSorted(byAge))
})
