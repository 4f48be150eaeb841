// What is read next of an account's history, and when what was read is fresh.
import { describe, expect, it } from 'vitest'
import { dayMs, minuteMs } from '@tradeport/domain/primitives'
import type { BrokerDeal, JournalState } from '@tradeport/domain/journal'
import {
  isFresh,
  latestOf,
  planRead,
  rereadAfter,
  verdictOn,
  type JournalComparison,
} from '../../src/journal/journal-state.ts'

const now = Date.parse('2026-05-04T12:00:00.000Z')
const second = 1_000

const synchronised: JournalState = {
  firstReadOffset: null,
  syncedAt: now - 2 * second,
  wantedAt: null,
  deals: 12,
  latestDealAt: now - 3 * dayMs,
  check: null,
  rereadAt: null,
  disagreements: 0,
}
const unread: JournalState = { ...synchronised, syncedAt: null, latestDealAt: null, deals: 0 }

describe('what is read next', () => {
  it.each<[what: string, state: JournalState, kind: string, from: number, offset: number]>([
    ['a journal that was never read, from the beginning', unread, 'first', 0, 0],
    [
      'a first read that stopped, from its next page',
      { ...unread, firstReadOffset: 3_000 },
      'first',
      0,
      3_000,
    ],
    [
      'a synchronised journal, from a day before its latest deal',
      synchronised,
      'tail',
      now - 4 * dayMs,
      0,
    ],
    [
      'a journal without deals, from the beginning',
      { ...synchronised, latestDealAt: null },
      'tail',
      0,
      0,
    ],
    [
      'a journal whose full read is due, from the beginning',
      { ...synchronised, rereadAt: now },
      'full',
      0,
      0,
    ],
    [
      'a journal whose full read is not due yet, its tail',
      { ...synchronised, rereadAt: now + 1 },
      'tail',
      now - 4 * dayMs,
      0,
    ],
  ])('%s', (_what, state, kind, from, offset) => {
    expect(planRead(state, now)).toEqual({ kind, window: { from, to: now + dayMs, offset } })
  })
})

describe('whether a journal is fresh', () => {
  const since = now - 5 * second
  it.each<[isIt: boolean, what: string, state: JournalState]>([
    [true, 'read since then', synchronised],
    [false, 'read before', { ...synchronised, syncedAt: since - 1 }],
    [false, 'read at that moment', { ...synchronised, syncedAt: since }],
    [false, 'never read to its end', unread],
    [false, 'read at a time that is still to come', { ...synchronised, syncedAt: now + 1 }],
    [false, 'with a read wanted after the last', { ...synchronised, wantedAt: now - second }],
    [true, 'with a read wanted before the last', { ...synchronised, wantedAt: now - 3 * second }],
    [true, 'with a read wanted later', { ...synchronised, wantedAt: now + second }],
    [false, 'with a full read due', { ...synchronised, rereadAt: now }],
    [true, 'with a full read due later', { ...synchronised, rereadAt: now + 1 }],
  ])('%s: %s', (isIt, _what, state) => {
    expect(isFresh(state, since, now)).toBe(isIt)
  })
})

describe('the pauses before the whole history is read again', () => {
  it('double from a minute to an hour', () => {
    const pauses = [0, 1, 2, 3, 4, 5, 6, 7, 60].map(
      (disagreements) => (rereadAfter(disagreements, now).rereadAt ?? now) - now,
    )
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((minutes) => minutes * minuteMs))
  })
})

const at = (time: number | undefined): BrokerDeal => ({
  id: '1',
  kind: 'balance',
  profit: 1,
  commission: 0,
  swap: 0,
  ...(time !== undefined && { time }),
})

describe('the latest deal', () => {
  it.each<
    [
      what: string,
      times: readonly (number | undefined)[],
      before: number | null,
      latest: number | null,
    ]
  >([
    ['is the greatest time, in whatever order', [3, 7, 5], null, 7],
    ['is never before the one that was known', [3, 7, 5], 9, 9],
    ['is not later than now, since brokers’ clocks can be wrong', [3, now + dayMs], null, now],
    ['ignores times that are absent or cannot be read', [undefined, Number.NaN, 4], null, 4],
    ['is unknown without any', [undefined, Number.NaN], null, null],
  ])('%s', (_what, times, before, latest) => {
    expect(latestOf(times.map(at), before, now)).toBe(latest)
  })
})

describe('the verdict of a read', () => {
  const agreeing: JournalComparison = {
    kind: 'tail',
    isDifferent: false,
    lacksLatest: false,
    difference: 0,
    isInconclusive: false,
  }
  const disagreed = {
    check: { at: now, difference: 5 },
    rereadAt: now + minuteMs,
    disagreements: 1,
  }
  it.each<
    [
      what: string,
      comparison: Partial<JournalComparison>,
      usual: string,
      whereItDisagreedBefore: string,
    ]
  >([
    ['the sums agree', {}, 'undecided', 'agrees'],
    ['the balance cannot be read', { difference: undefined }, 'undecided', 'undecided'],
    ['the sums differ', { difference: 1 }, 'reread', 'undecided'],
    [
      'they differ while deals keep coming',
      { difference: 1, isInconclusive: true },
      'undecided',
      'undecided',
    ],
    ['a deal changed', { isDifferent: true }, 'reread', 'undecided'],
    [
      'a deal changed while deals keep coming',
      { isDifferent: true, difference: 1, isInconclusive: true },
      'reread',
      'undecided',
    ],
    ['a deal vanished', { isDifferent: true, lacksLatest: true }, 'reread', 'undecided'],
    [
      'a deal changed, and the balance cannot be read',
      { isDifferent: true, difference: undefined },
      'reread',
      'undecided',
    ],
    ['a first read agrees', { kind: 'first' }, 'undecided', 'agrees'],
    ['a first read differs', { kind: 'first', difference: 1 }, 'disagrees', 'undecided'],
    ['the whole history agrees', { kind: 'full' }, 'agrees', 'agrees'],
    [
      'it agrees, and a deal changed or old ones are not shown',
      { kind: 'full', isDifferent: true },
      'agrees',
      'agrees',
    ],
    [
      'the whole history agrees, and does not show the latest deals',
      { kind: 'full', isDifferent: true, lacksLatest: true },
      'reread',
      'reread',
    ],
    ['the whole history differs', { kind: 'full', difference: 1 }, 'disagrees', 'disagrees'],
    [
      'it differs while deals keep coming',
      { kind: 'full', difference: 1, isInconclusive: true },
      'reread',
      'reread',
    ],
    [
      'the whole history was read, and the balance cannot be',
      { kind: 'full', difference: undefined },
      'reread',
      'reread',
    ],
  ])('where %s', (_what, comparison, usual, whereItDisagreedBefore) => {
    const compared = { ...agreeing, ...comparison }
    expect(verdictOn(synchronised, compared)).toBe(usual)
    // A reread as a precaution hides nothing.
    expect(verdictOn({ ...synchronised, rereadAt: now + minuteMs }, compared)).toBe(usual)
    expect(verdictOn(disagreed, compared)).toBe(whereItDisagreedBefore)
  })
})
