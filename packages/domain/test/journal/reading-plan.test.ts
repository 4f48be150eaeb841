// What is read next of an account's history, and when what was read is fresh.
import { describe, expect, it } from 'vitest'
import { dayMs, minuteMs } from '@tradeport/domain/primitives'
import type { BrokerDeal, Reread } from '@tradeport/domain/journal'
import {
  isFresh,
  latestOf,
  planRead,
  rereadAfter,
  type JournalComparison,
} from '../../src/journal/journal-state.ts'

const now = Date.parse('2026-05-04T12:00:00.000Z')
const second = 1_000

const synchronised = {
  firstReadOffset: null,
  syncedAt: now - 2 * second,
  wantedAt: null,
  deals: 12,
  latestDealAt: now - 3 * dayMs,
  check: null,
  rereadAt: null,
  disagreements: 0,
  isDueToBalanceAlone: false,
}
const unread = { ...synchronised, syncedAt: null, latestDealAt: null, deals: 0 }

it.each([
  ['a journal that was never read, from the beginning', unread, 'first', 0, 0],
  [
    'a synchronised journal, from a day before its latest deal',
    synchronised,
    'tail',
    now - 4 * dayMs,
    0,
  ],
  [
    'a journal whose full read is due, from the beginning',
    { ...synchronised, rereadAt: now },
    'full',
    0,
    0,
  ],
])('what is read next: %s', (_what, state, kind, from, offset) => {
  expect(planRead(state, now)).toEqual({ kind, window: { from, to: now + dayMs, offset } })
})

describe('whether a journal is fresh', () => {
  const since = now - 5 * second
  it.each([
    [false, 'read at that moment', { ...synchronised, syncedAt: since }],
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

const at = (time: number | undefined): BrokerDeal => ({
  id: '1',
  kind: 'balance',
  profit: 1,
  commission: 0,
  swap: 0,
  ...(time !== undefined && { time }),
})

it.each([
  ['is the greatest time, in whatever order', [3, 7, 5], null, 7],
  ['is not later than now, since brokers’ clocks can be wrong', [3, now + dayMs], null, now],
  ['ignores times that are absent or cannot be read', [undefined, Number.NaN, 4], null, 4],
  ['is unknown without any', [undefined, Number.NaN], null, null],
])('the latest deal %s', (_what, times, before, latest) => {
  expect(latestOf(times.map(at), before, now)).toBe(latest)
})

describe('when the whole history is read again', () => {
  const agreeing: JournalComparison = {
    kind: 'tail',
    isDifferent: false,
    lacksOpening: false,
    mayHaveChanged: false,
    hasIncompleteDeals: false,
    brokerOmitsLatest: false,
    difference: 0,
  }
  const none = { rereadAt: null, disagreements: 0, isDueToBalanceAlone: false }
  const precaution = { ...none, rereadAt: now + minuteMs }
  const pending = { ...none, rereadAt: now + 40 * second }
  const first = { rereadAt: now + minuteMs, disagreements: 1, isDueToBalanceAlone: false }
  const firstForBalance = { ...first, isDueToBalanceAlone: true }
  const again = { rereadAt: now + 2 * minuteMs, disagreements: 2, isDueToBalanceAlone: false }
  const againForBalance = { ...again, isDueToBalanceAlone: true }
  const disagreed = { ...first, rereadAt: now + 30 * second }
  const balanceDisagreed = { ...disagreed, isDueToBalanceAlone: true }
  const firstOrDisagreed = [first, first, disagreed, disagreed] as const
  // After nothing, after an earlier precaution, after a deal that changed, and after a balance alone
  // that disagreed.
  it.each<[string, Partial<JournalComparison>, Reread, Reread, Reread, Reread]>([
    ['the sums agree', {}, none, pending, disagreed, none],
    [
      'an old deal may have changed',
      { mayHaveChanged: true },
      precaution,
      pending,
      disagreed,
      disagreed,
    ],
    [
      'the balance is unknown',
      { difference: undefined },
      none,
      pending,
      disagreed,
      balanceDisagreed,
    ],
    ['the sums differ', { difference: 1 }, firstForBalance, first, disagreed, balanceDisagreed],
    ['a deal changed', { isDifferent: true }, ...firstOrDisagreed],
    ['an opening is missing', { lacksOpening: true }, ...firstOrDisagreed],
    [
      'the sums differ, and a deal may be split',
      { difference: 1, mayHaveChanged: true },
      ...firstOrDisagreed,
    ],
    [
      'a first read lacks an opening',
      { kind: 'first', lacksOpening: true },
      precaution,
      pending,
      disagreed,
      disagreed,
    ],
    [
      'a first read differs',
      { kind: 'first', difference: 1 },
      firstForBalance,
      first,
      disagreed,
      balanceDisagreed,
    ],
    [
      'a first read has incomplete deals',
      { kind: 'first', hasIncompleteDeals: true },
      ...firstOrDisagreed,
    ],
    ['the whole history agrees', { kind: 'full' }, none, none, none, none],
    [
      'it agrees, and what was new is incomplete',
      { kind: 'full', hasIncompleteDeals: true },
      first,
      first,
      again,
      again,
    ],
    ...['lacksOpening', 'mayHaveChanged'].map(
      (doubt): [string, object, Reread, Reread, Reread, Reread] => [
        `it agrees, and what was new ${doubt}`,
        { kind: 'full', [doubt]: true },
        precaution,
        precaution,
        precaution,
        precaution,
      ],
    ),
    [
      'it agrees, and does not show the latest deals',
      { kind: 'full', isDifferent: true, brokerOmitsLatest: true },
      first,
      first,
      again,
      again,
    ],
    [
      'the whole history differs',
      { kind: 'full', difference: 1 },
      firstForBalance,
      firstForBalance,
      againForBalance,
      againForBalance,
    ],
    [
      'the whole history differs, and what was new lacks an opening',
      { kind: 'full', difference: 1, lacksOpening: true },
      first,
      first,
      again,
      again,
    ],
    [
      'the whole history was read, and the balance is unknown',
      { kind: 'full', difference: undefined },
      none,
      none,
      again,
      again,
    ],
  ])('where %s', (_what, comparison, usual, ...others) => {
    const compared = { ...agreeing, ...comparison }
    const befores = [synchronised, pending, disagreed, balanceDisagreed]
    expect(befores.map((before) => rereadAfter(before, compared, now))).toEqual([usual, ...others])
  })

  it('waits twice as long each time, from a minute to an hour', () => {
    const differing = { ...agreeing, kind: 'full', difference: 1 } as const
    const pauses = [0, 1, 2, 3, 4, 5, 6, 7, 60].map((disagreements) => {
      const { rereadAt } = rereadAfter({ ...disagreed, disagreements }, differing, now)
      return (rereadAt ?? now) - now
    })
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((minutes) => minutes * minuteMs))
  })
})
