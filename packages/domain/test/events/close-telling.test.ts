// What is told of a close that nobody confirmed, where the broker's book and its history, or its clock and ours, do not agree.
import { describe, expect, it } from 'vitest'
import { afterCloseLook, afterTradeLook, historyPatienceMs } from '../../src/events/close-telling.ts'
import type { CloseSent, CloseTold, IntendedClose, TellingClose } from '../../src/events/close-telling.ts'
import { besideOthers } from '../../src/events/other-closes.ts'
import { closingDealKey } from '../../src/positions/closing-deals.ts'
import type { ClosingDeal } from '../../src/positions/closing-deals.ts'
import type { AccountId, CloseId, Ticket } from '../../src/primitives/ids.ts'

const id = { accountId: '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId, ticket: '7' as Ticket }
const close: IntendedClose = {
  id,
  position: { symbol: 'EURUSD', side: 'buy', volume: 1, entryPrice: 1.1 },
  order: { closes: 1, leaves: 0 },
  sentAt: 10_000,
}
const record: Omit<TellingClose, 'progress'> = {
  closeId: 'ab1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as CloseId,
  close,
  toldDeals: new Map(),
  otherOrders: new Set(),
  waitsForOther: false,
  nextSentAt: null,
}
const sent: CloseSent = { step: 'sent', orderId: null, looks: { count: 70, nothingSince: 20_000 } }
const later = 20_000 + historyPatienceMs
/** By a clock that is behind: it closed all of the position, and stands before the second close was sent. */
const deal: ClosingDeal = { id: '33', orderId: '34', volume: 1, price: 1.2, profit: 10, at: 9_000 }
const gone = { kind: 'read', positions: [], renumbers: false } as const

describe('a close that left no deal, of a position that is gone', () => {
  it('is told once the history had its time, where nobody else closed it', () => {
    const { events } = afterCloseLook(record, sent, { ...gone, deals: [] }, later)
    expect(events.map(({ type }) => type)).toEqual(['position.closed'])
  })

  it('is not told where the history shows the close that took the lots', () => {
    const beside = { ...record, toldDeals: new Map([[closingDealKey(deal), 8_500]]) }
    const { events, progress } = afterCloseLook(beside, sent, { ...gone, deals: [deal] }, later)
    expect([events, progress.step]).toEqual([[], 'ended'])
  })
})

describe('the trade of a position that was closed wholly', () => {
  it('is looked for once where the history is longer than is read', () => {
    const told: CloseTold = { step: 'told', orderId: '34', deals: [], looks: { count: 0, nothingSince: null } }
    expect(afterTradeLook(told, { kind: 'too_long' }, later)).toMatchObject({ events: [], progress: { step: 'ended' }, continueInMs: null })
  })
})

describe('an order that the broker named to a close', () => {
  it.each(['told', 'ended'] as const)('is of no other close either once that is %s, with its deals or without', (step) => {
    const looks = { count: 0, nothingSince: null }
    const progress = step === 'told' ? { step, orderId: '34', deals: [], looks } : { step, orderId: '34', deals: [] }
    const other = { close: { id: { ...id, ticket: '8' as Ticket }, sentAt: 9_000 }, progress }
    expect([...besideOthers({ close, progress: sent }, [other]).otherOrders]).toContain('34')
  })
})
