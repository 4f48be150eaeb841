// The money of an account adds up after any sequence of trades, bookings and prices.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createControl } from '../src/control.ts'
import { createCore } from '../src/core.ts'
import type { AccountOptions, DealRow, PositionRow } from '../src/index.ts'
import { decimal, sum, toNumber } from '../src/numbers.ts'
import { readTradeRequest } from '../src/trade-request.ts'
import { executeTrade } from '../src/trading.ts'
import { NOON } from './harness.ts'

const pick = fc.nat(99)
const trade = fc.oneof(
  fc.record({
    kind: fc.constant('open'),
    actionType: fc.constantFrom('ORDER_TYPE_BUY', 'ORDER_TYPE_SELL'),
    symbol: fc.constantFrom('EURUSD', 'USDJPY', 'EURGBP', 'XAUUSD', 'US30'),
    volume: fc.integer({ min: 1, max: 60 }).map((steps) => steps / 100),
  }),
  fc.record({
    kind: fc.constant('place'),
    side: fc.constantFrom('BUY', 'SELL'),
    type: fc.constantFrom('LIMIT', 'STOP', 'STOP_LIMIT'),
    points: fc.integer({ min: 20, max: 900 }),
    volume: fc.integer({ min: 1, max: 60 }).map((steps) => steps / 100),
    fillFraction: fc.constantFrom(undefined, 0.3, 0.5),
  }),
  fc.record({
    kind: fc.constant('cancel'),
    pick,
  }),
  fc.record({
    kind: fc.constant('close'),
    pick,
    percent: fc.integer({ min: 1, max: 100 }),
  }),
  fc.record({
    kind: fc.constant('level'),
    pick,
    points: fc.integer({ min: 1, max: 900 }),
  }),
  fc.record({ kind: fc.constant('wait'), ms: fc.nat({ max: 3 * 86_400_000 }) }),
  fc.record({
    kind: fc.constant('price'),
    points: fc.integer({ min: -3_000, max: 3_000 }),
  }),
)
const amount = fc.integer({ min: -500_000, max: 500_000 }).map((cents) => cents / 100)
const anyStep = fc.oneof(
  trade,
  fc.record({
    kind: fc.constant('booking'),
    type: fc.constantFrom('DEAL_TYPE_BALANCE', 'DEAL_TYPE_CREDIT', 'DEAL_TYPE_CHARGE', 'DEAL_TAX'),
    amount,
  }),
  fc.record({ kind: fc.constant('late'), agoMs: fc.nat({ max: 86_400_000 }), amount }),
)
type Step = typeof anyStep extends fc.Arbitrary<infer A> ? A : never

const options = fc
  .record({
    kind: fc.constantFrom(
      { marginMode: 'hedging' },
      { marginMode: 'netting' },
      { platform: 'mt4' },
    ),
    currency: fc.constantFrom('USD', 'EUR', 'JPY'),
    generate: fc.option(
      fc.record({ trades: fc.integer({ min: 1, max: 20 }), openPositions: fc.nat(3) }),
      { nil: undefined, freq: 2 },
    ),
  })
  .map(({ kind, currency, generate }) => ({
    id: 'acc',
    startBalance: 200_000,
    currency,
    ...kind,
    ...(generate !== undefined && kind.marginMode !== 'netting' && { generate }),
  }))

const open = (seed: number, of: AccountOptions) => {
  const clock = { now: NOON }
  const core = createCore({ seed, accounts: [of], now: () => clock.now }, NOON)
  const account = core.accounts.get('acc')
  if (account === undefined) throw new Error('The account is missing')
  const control = createControl(core, account)
  const quote = () => {
    const instrument = core.market.instruments.get('EURUSD')
    return core.market.prices.quote(instrument as NonNullable<typeof instrument>, clock.now)
  }
  const positionAt = (index: number): PositionRow | undefined => {
    const positions = control.positions()
    return positions[index % Math.max(1, positions.length)]
  }
  const send = (body: Readonly<Record<string, unknown>>) => {
    control.trade(body)
  }
  const run = (step: Step) => {
    switch (step.kind) {
      case 'open':
        return send(step)
      case 'place': {
        const { side, type, points, volume, fillFraction } = step
        const isAbove = (side === 'BUY') !== (type === 'LIMIT')
        const [near, far] = [points, points * 2].map((distance) =>
          Number((quote().ask + (isAbove ? distance : -distance) * 1e-5).toFixed(5)),
        )
        const request = readTradeRequest({
          actionType: `ORDER_TYPE_${side}_${type}`,
          symbol: 'EURUSD',
          volume,
          openPrice: type === 'STOP_LIMIT' ? far : near,
          ...(type === 'STOP_LIMIT' && { stopLimitPrice: near }),
        })
        const moment = { account, at: clock.now }
        return void executeTrade(moment, request, { fillFraction })
      }
      case 'cancel': {
        const orders = control.orders()
        const orderId = orders[step.pick % Math.max(1, orders.length)]?.id ?? 'none'
        return send({ actionType: 'ORDER_CANCEL', orderId })
      }
      case 'close': {
        const { id = 'none', volume = 0 } = positionAt(step.pick) ?? {}
        const part = toNumber(decimal(volume).times(step.percent).div(100).round(2))
        return send({ actionType: 'POSITION_PARTIAL', positionId: id, volume: part })
      }
      case 'level': {
        const { id = 'none', openPrice = 0 } = positionAt(step.pick) ?? {}
        const stopLoss = openPrice * (1 - step.points / 10_000)
        return send({ actionType: 'POSITION_MODIFY', positionId: id, stopLoss })
      }
      case 'wait':
        return void (clock.now += step.ms)
      case 'price': {
        const bid = Number((quote().bid + step.points * 1e-5).toFixed(5))
        return core.market.prices.pin('EURUSD', { bid, ask: Number((bid + 0.0001).toFixed(5)) })
      }
      case 'booking':
        return void control.deposit(step.amount, 'booked', step.type)
      case 'late': {
        const time = new Date(clock.now - step.agoMs).toISOString()
        const id = `late-${account.revision}`
        return control.addDeals([{ id, type: 'DEAL_TYPE_BALANCE', time, profit: step.amount }])
      }
    }
  }
  return { control, run }
}

const totalOf = (rows: readonly DealRow[], ...fields: readonly string[]) =>
  toNumber(sum(rows.flatMap((row) => fields.map((field) => decimal(Number(row[field] ?? 0))))))

it('after any steps the balance is the exact sum of all deals but credit, and no two deals share time, entry and id', () => {
  fc.assert(
    fc.property(
      fc.integer(),
      options,
      fc.array(anyStep, { minLength: 1, maxLength: 30 }),
      (seed, of, steps) => {
        const { control, run } = open(seed, of)
        for (const step of steps) {
          run(step)
          const { balance, credit } = control.information()
          const rows = control.deals()
          const [credits, others] = [true, false].map((isCredit) =>
            rows.filter((row) => (row['type'] === 'DEAL_TYPE_CREDIT') === isCredit),
          )
          expect(balance).toBe(totalOf(others ?? [], 'profit', 'commission', 'swap'))
          expect(credit).toBe(totalOf(credits ?? [], 'profit', 'commission', 'swap'))
          const keys = rows.map(({ time, entryType, id }) => JSON.stringify([time, entryType, id]))
          expect(new Set(keys).size).toBe(rows.length)
        }
      },
    ),
  )
})
