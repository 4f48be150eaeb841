// Risk thresholds: what breaches one, and what arms it again.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { someOwner, newAccount, uncheckedThreshold } from '@tradeport/testkit'
import type { AccountFigures } from '../../src/accounts/account.ts'
import {
  checkThreshold,
  thresholdTypes,
  type CheckedThreshold,
  type ThresholdType,
} from '../../src/accounts/risk-threshold.ts'
import { dayMs, hourMs, minuteMs, secondMs, startOfUtcDay } from '../../src/primitives/instant.ts'

const noon = Date.parse('2026-11-02T12:00:00.000Z')
const { id: accountId, figures } = newAccount(someOwner)
const rest = { tradeMode: 'demo', broker: null, currency: null } as const

const newThreshold = (type: ThresholdType, value: number): CheckedThreshold => ({
  accountId,
  type,
  severity: 'warning',
  value,
  halt: false,
  cancelOrders: false,
  ...uncheckedThreshold,
})

interface Reading extends Partial<AccountFigures> {
  readonly at?: number
  /** As the operator changed it before the reading. */
  readonly value?: number
  readonly providerAccountId?: string
  readonly credit?: number
}

/** What each reading breaches: the figure, or null. */
const breachesOf = (threshold: CheckedThreshold, readings: readonly Reading[]) => {
  let checked = threshold
  let index = 0
  return readings.map(
    ({
      at = noon + index++ * 5 * secondMs,
      value = checked.value,
      providerAccountId = 'p-1',
      credit = 0,
      ...read
    }) => {
      const before = { ...checked, value }
      const reading = { ...rest, figures: { ...figures, ...read }, credit, readAt: at }
      const { after, breach } = checkThreshold(before, providerAccountId, reading)
      checked = after
      if (breach !== undefined)
        expect(breach).toEqual({ threshold: before, current: expect.any(Number), at })
      return breach?.current ?? null
    },
  )
}

const midnight = noon + dayMs / 2

it.each<[string, ThresholdType, number, ...[Reading, number | null][]]>([
  [
    'equity is compared exactly, and armed again from 5 % above in two readings in a row, five seconds apart',
    'equity_below',
    9_000.1,
    [{ equity: 9_000.1 }, null],
    [{ equity: 9_000.09 }, 9_000.09],
    [{ equity: 100 }, null],
    [{ equity: 9_450.1 }, null],
    [{ equity: 9_000 }, null],
    [{ equity: 9_450.105 }, null],
    [{ equity: 9_000 }, null],
    [{ equity: 9_460, at: noon + minuteMs }, null],
    [{ equity: 9_450.105, at: noon + minuteMs + 4_999 }, null],
    [{ equity: 9_000, at: noon + minuteMs + 6_000 }, null],
    [{ equity: 9_460, at: noon + 2 * minuteMs }, null],
    [{ equity: 9_470, at: noon + 2 * minuteMs + 2_000 }, null],
    [{ equity: 9_450.105, at: noon + 2 * minuteMs + 5_000 }, null],
    [{ equity: 9_000, at: noon + 3 * minuteMs }, 9_000],
  ],
  [
    'a margin level is that of the broker, or of equity and margin, and has no bound without margin',
    'margin_level_below',
    150,
    [{ margin: 0, marginLevel: null }, null],
    [{ margin: 0, marginLevel: 0 }, null],
    [{ margin: 100, marginLevel: 149.99 }, 149.99],
    [{ margin: 0, marginLevel: null }, null],
    [{ margin: 0, marginLevel: null }, null],
    [{ margin: 100, equity: 120, marginLevel: null }, 120],
  ],
  [
    "a day's loss begins anew, armed, at midnight UTC, and not by a clock that is behind",
    'daily_loss_above',
    500,
    [{ balance: 10_000, equity: 9_000, at: midnight - 1 }, 1_000],
    [{ balance: 9_000, equity: 8_500, at: midnight }, null],
    [{ balance: 9_000, equity: 8_400, at: midnight - 5 * minuteMs }, 600],
    [{ balance: 9_000, equity: 8_300, at: midnight + 1 }, null],
    [{ balance: 9_000, equity: 8_300, at: midnight + dayMs }, 700],
  ],
  [
    "a day's loss begins anew where a clock was ahead",
    'daily_loss_above',
    500,
    [{ balance: 10_000, equity: 9_000, at: midnight }, 1_000],
    [{ balance: 9_000, equity: 8_000, at: midnight - 5 * minuteMs - 1 }, 1_000],
    [{ balance: 8_000, equity: 8_000, at: midnight - 5 * minuteMs }, null],
  ],
  [
    "a day's loss has no credit in it",
    'daily_loss_above',
    500,
    [{ balance: 10_000, equity: 11_000, credit: 1_000 }, null],
    [{ balance: 10_000, equity: 10_500, credit: 1_000 }, null],
    [{ balance: 10_000, equity: 10_499, credit: 1_000 }, 501],
  ],
  [
    'a drawdown is measured from the highest equity of two readings in a row, on whatever day',
    'drawdown_above',
    0.2,
    [{ equity: 100 }, null],
    [{ equity: 900 }, null],
    [{ equity: 100 }, null],
    [{ equity: 100.3 }, null],
    [{ equity: 100.4 }, null],
    [{ equity: 100.1 }, null],
    [{ equity: 100, at: noon + dayMs }, 0.3],
    [{ equity: 100.11 }, null],
    [{ equity: 100.11 }, null],
    [{ equity: 100, at: noon + 2 * dayMs }, 0.3],
  ],
  [
    'a threshold of 0 is armed again at 0',
    'drawdown_above',
    0,
    [{ equity: 100 }, null],
    [{ equity: 99 }, 1],
    [{ equity: 98 }, null],
    [{ equity: 100 }, null],
    [{ equity: 100 }, null],
    [{ equity: 99 }, 1],
  ],
  [
    'a changed value arms it',
    'equity_below',
    9_000,
    [{ equity: 8_000 }, 8_000],
    [{ equity: 8_000, value: 8_500 }, 8_000],
    [{ equity: 8_000 }, null],
    [{ equity: 8_000, value: 7_000 }, null],
  ],
  [
    'what another account at the provider left does not count',
    'drawdown_above',
    500,
    [{ equity: 100_000 }, null],
    [{ equity: 1_000 }, 99_000],
    [{ equity: 900, providerAccountId: 'p-2' }, null],
    [{ equity: 300, providerAccountId: 'p-2' }, 600],
  ],
])('%s', (_, type, value, ...steps) => {
  expect(
    breachesOf(
      newThreshold(type, value),
      steps.map(([reading]) => reading),
    ),
  ).toEqual(steps.map(([, breach]) => breach))
})

it('leaves the threshold itself where a reading changes nothing within a minute', () => {
  const first = checkThreshold(newThreshold('drawdown_above', 5), 'p-1', {
    ...rest,
    figures,
    readAt: noon,
  })
  expect(first.after).not.toBe(first.before)
  for (const [readAt, isStored] of [
    [noon + 59_999, false],
    [noon - 59_999, false],
    [noon + 60_000, true],
    // The clock that was read before was ahead.
    [noon - 60_000, true],
  ] as const) {
    const { after } = checkThreshold(first.after, 'p-1', { ...rest, figures, readAt })
    if (isStored) expect(after).toEqual({ ...first.after, checkedAt: readAt })
    else expect(after).toBe(first.after)
  }
})

it('reports a breach once: whenever the figure is beyond, and again only after a recovery or at midnight', () => {
  const reading = fc.record({
    balance: fc.integer({ min: 0, max: 300 }),
    equity: fc.integer({ min: -50, max: 300 }),
    hours: fc.nat(6),
  })
  fc.assert(
    fc.property(
      fc.constantFrom(...thresholdTypes),
      fc.integer({ min: 0, max: 250 }),
      fc.array(reading, { maxLength: 30 }),
      (type, value, readings) => {
        let at = noon
        // Whole cents, so that the law needs no decimals.
        const timed = readings.map(({ balance, equity, hours }) => {
          at += hours * hourMs + 5 * secondMs
          return { balance, equity, margin: 100, marginLevel: equity, at }
        })
        const breaches = breachesOf(
          newThreshold(type, value / 100),
          timed.map(({ balance, equity, margin, marginLevel, at: readAt }) => ({
            balance: balance / 100,
            equity: equity / 100,
            margin,
            marginLevel: marginLevel / 100,
            at: readAt,
          })),
        )
        let [isReported, wasBack] = [false, false]
        let day = 0
        let [start, peak, last] = [0, -Infinity, Infinity]
        for (const [index, { balance, equity, at: readAt }] of timed.entries()) {
          peak = Math.max(peak, Math.min(equity, last))
          last = equity
          if (startOfUtcDay(readAt) > day) {
            day = startOfUtcDay(readAt)
            start = balance
            if (type === 'daily_loss_above') [isReported, wasBack] = [false, false]
          }
          const excess = {
            equity_below: value - equity,
            margin_level_below: value - equity,
            daily_loss_above: start - equity - value,
            drawdown_above: peak - equity - value,
          }[type]
          const isBack = isReported && excess * 20 <= -value
          if (isBack && wasBack) isReported = false
          wasBack = isBack
          expect(breaches[index] !== null, `reading ${index}`).toBe(excess > 0 && !isReported)
          isReported ||= excess > 0
        }
      },
    ),
  )
})
