// What a check of an account reads of its broker, and what it records.
import * as TE from 'fp-ts/lib/TaskEither.js'
import {
  createFakeRiskThresholds,
  openPosition,
  thresholdKey,
  uncheckedThreshold,
} from '@tradeport/testkit'
import { describe, expect, it } from 'vitest'
import type { CheckedThreshold } from '../../src/accounts/risk-threshold.ts'
import type { ServiceEvent } from '../../src/events/events.ts'
import type { AccountId, Ticket } from '../../src/primitives/ids.ts'
import type { Broker } from '../../src/ports/index.ts'
import { checkThresholds } from '../../src/use-cases/check-thresholds.ts'
import { brokerAccountOf, createTestDesk, down, realPause, rightOf, tagOf } from './desk.ts'

const noon = Date.parse('2026-11-02T12:00:00.000Z')
const figures = {
  balance: 10_000,
  equity: 8_000,
  margin: 4_000,
  freeMargin: 4_000,
  marginLevel: 200,
  leverage: 100,
}
const information = { tradeMode: 'demo', broker: null, currency: 'USD', figures } as const

const thresholdOf = (
  accountId: AccountId,
  fields: Partial<CheckedThreshold> = {},
): CheckedThreshold => ({
  accountId,
  type: 'equity_below',
  severity: 'warning',
  value: 9_000,
  halt: true,
  cancelOrders: false,
  ...uncheckedThreshold,
  ...fields,
})

/** A desk with an account of these thresholds. */
const withThresholds = (...thresholds: readonly Partial<CheckedThreshold>[]) => {
  const sums = { sum: 10_000, deals: 1, check: null, disagreements: 0 }
  const desk = createTestDesk({ now: () => noon })
  const account = desk.link()
  const events: ServiceEvent[] = []
  const reported: unknown[] = []
  const { tables } = desk.records
  for (const one of thresholds.map((fields) => thresholdOf(account.id, fields)))
    tables.riskThresholds.set(thresholdKey(one), one)
  const riskThresholds = createFakeRiskThresholds(desk.records, (_, more) => events.push(...more))
  desk.broker.put(account.id, {
    information,
    positions: [openPosition({ ticket: '7' as Ticket }), openPosition({ ticket: '8' as Ticket })],
  })
  return {
    ...desk,
    account,
    events,
    reported,
    riskThresholds,
    sums,
    check: checkThresholds({
      ...desk,
      riskThresholds,
      trades: {
        reconciliation: () => TE.right({ ...sums, firstDealAt: noon, lastDealAt: noon }),
      },
      pause: realPause,
      onBreach: ({ accountId }, { threshold: { value }, current }) =>
        reported.push([accountId, value, current]),
    })(brokerAccountOf(account)),
    /** What the broker shows from now on. */
    shows: (
      changed: Partial<typeof figures>,
      positions: ReturnType<typeof openPosition>[] = [],
    ) => {
      const shown = { ...information, figures: { ...figures, ...changed } }
      desk.broker.put(account.id, { information: shown, positions })
    },
    states: () => [...tables.riskThresholds.values()].map(({ breachedValue }) => breachedValue),
  }
}

const dataOf = (accountId: AccountId) => ({
  account_id: accountId,
  threshold_type: 'equity_below',
  threshold_value: 9_000,
  current_value: 8_000,
  severity: 'warning',
  message: 'The equity is 8000, below the threshold of 9000.',
  breached_at: '2026-11-02T12:00:00.000Z',
})

describe('a check', () => {
  it('reads nothing of an account without thresholds', async () => {
    const desk = withThresholds()
    expect(await rightOf(desk.check)).toBe(false)
    expect(desk.broker.calls()).toBe(0)
  })

  it('reads the figures once and no positions while nothing is breached', async () => {
    const desk = withThresholds({ value: 8_000 }, { type: 'margin_level_below', value: 150 })
    expect(await rightOf(desk.check)).toBe(true)
    expect([desk.broker.calls('accountInformation'), desk.broker.calls()]).toEqual([1, 1])
    expect(desk.events).toEqual([])
  })

  it('records each breach once, with the open positions, and reads them once', async () => {
    const desk = withThresholds(
      {},
      { severity: 'critical', value: 8_500 },
      { type: 'drawdown_above', value: 1 },
    )
    await rightOf(desk.check)
    await rightOf(desk.check)
    const [critical, warning, ...others] = desk.events
    expect(warning).toEqual({
      type: 'risk.threshold_breached',
      key: expect.stringContaining(desk.account.id),
      data: {
        ...dataOf(desk.account.id),
        affected_positions: [`${desk.account.id}:7`, `${desk.account.id}:8`],
      },
    })
    expect([critical?.data['severity'], others]).toEqual(['critical', []])
    expect(desk.broker.calls('positions')).toBe(1)
  })

  it.each<[string, Broker['positions']]>([
    ['cannot be read', ({ accountId }) => TE.left(down(accountId))],
    ['are not read within a second', () => () => new Promise(() => undefined)],
  ])('records a breach without positions that %s', async (_, positions) => {
    const desk = withThresholds({})
    Object.assign(desk.broker, { positions })
    await rightOf(desk.check)
    expect(desk.events.map(({ data }) => data)).toEqual([dataOf(desk.account.id)])
  })

  it('changes nothing where the account cannot be read', async () => {
    const desk = withThresholds({})
    desk.broker.fail(desk.account.id, down(desk.account.id))
    expect(await tagOf(desk.check)).toBe('BrokerUnavailable')
    expect([desk.events, desk.states()]).toEqual([[], [null]])
  })

  it('ignores an account without money until it has deals that add up to 0', async () => {
    const desk = withThresholds({}, { type: 'daily_loss_above' })
    desk.shows({ balance: 0, equity: 0, margin: 0 })
    await rightOf(desk.check)
    expect([desk.events, desk.states()]).toEqual([[], [null, null]])
    Object.assign(desk.sums, { sum: 0, deals: 0 })
    await rightOf(desk.check)
    expect(desk.states()).toEqual([null, null])
    desk.sums.deals = 2
    await rightOf(desk.check)
    expect(desk.events.map(({ data }) => data['threshold_type'])).toEqual(['equity_below'])
  })

  it.each([{ balance: 0 }, { equity: 0 }])('believes %j beside other money', async (shown) => {
    const desk = withThresholds({})
    desk.shows(shown)
    await rightOf(desk.check)
    expect(desk.events).toHaveLength(1)
  })

  it('ignores an equity without the open positions', async () => {
    const desk = withThresholds({})
    const positions = [openPosition({ ticket: '7' as Ticket, unrealizedPnl: 2_000 })]
    desk.shows({ balance: 8_000 }, positions)
    await rightOf(desk.check)
    expect([desk.events, desk.states()]).toEqual([[], [null]])
    // Two that cancel each other out.
    positions.push(openPosition({ ticket: '8' as Ticket, unrealizedPnl: -2_000 }))
    await rightOf(desk.check)
    expect(desk.events).toHaveLength(1)
  })

  it('measures the daily loss of a threshold that is set at noon from the balance of the day', async () => {
    const desk = withThresholds({ type: 'daily_loss_above', value: 5_000 })
    await rightOf(desk.check)
    const later = { severity: 'critical', type: 'daily_loss_above', value: 3_000 } as const
    const added = thresholdOf(desk.account.id, later)
    desk.records.tables.riskThresholds.set(thresholdKey(added), added)
    desk.shows({ balance: 8_000, equity: 6_500 })
    await rightOf(desk.check)
    expect(desk.reported).toEqual([[desk.account.id, 3_000, 3_500]])
  })

  it('that another one overtakes records nothing', async () => {
    const desk = withThresholds({})
    const release = desk.broker.hold()
    const both = Promise.all([desk.check(), desk.check()])
    release()
    await both
    expect([desk.events.length, desk.states()]).toEqual([1, [9_000]])
    expect(desk.reported).toEqual([[desk.account.id, 9_000, 8_000]])
  })
})
