// The books under any sequence of trades: money and volumes add up, and the same actions at the
// same times give the same state.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createCore, type Core } from '../src/core.ts'
import type { Account } from '../src/books/account.ts'
import { figuresOf } from '../src/books/valuation.ts'
import { exitPriceOf } from '../src/books/position.ts'
import { decimal, sum, toNumber, zero, type Decimal } from '../src/numbers/decimal.ts'
import { createControl } from '../src/control/account-control.ts'
import type { Instrument } from '../src/market/instruments.ts'
import { executeTrade } from '../src/trading/execute.ts'
import { settle } from '../src/trading/settle.ts'
import { readTradeRequest } from '../src/trading/trade-request.ts'
import type { AccountOptions, DealRow } from '../src/index.ts'
import { NOON } from './harness.ts'

type Action =
  | {
      readonly kind: 'open'
      readonly buy: boolean
      readonly symbol: string
      readonly lots: number
      readonly stopPoints: number
      readonly waitMs: number
    }
  | {
      readonly kind: 'close'
      readonly pick: number
      readonly share: number
      readonly waitMs: number
    }

const symbol = fc.constantFrom('EURUSD', 'USDJPY', 'EURGBP', 'XAUUSD', 'US30')
const waitMs = fc.integer({ min: 0, max: 3 * 86_400_000 })
const pick = fc.nat(9)
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('open' as const),
      buy: fc.boolean(),
      symbol,
      lots: fc.integer({ min: 1, max: 60 }),
      stopPoints: fc.integer({ min: 0, max: 2_000 }),
      waitMs,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('close' as const),
      pick,
      share: fc.integer({ min: 1, max: 100 }),
      waitMs,
    }),
  },
)
const actions = fc.array(action, { minLength: 1, maxLength: 40 })
const account: fc.Arbitrary<AccountOptions> = fc
  .record({
    marginMode: fc.constantFrom('hedging' as const, 'netting' as const),
    currency: fc.constantFrom('USD', 'EUR', 'JPY'),
    mt4: fc.boolean(),
  })
  .map(({ mt4, ...rest }) => ({
    id: 'acc',
    startBalance: 200_000,
    ...rest,
    ...(mt4 && rest.marginMode === 'hedging' && { platform: 'mt4' as const }),
  }))

const bodyOf = (
  core: Core,
  acc: Account,
  at: number,
  act: Action,
): Readonly<Record<string, unknown>> => {
  const positionAt = (index: number) => acc.positions[index % Math.max(1, acc.positions.length)]
  switch (act.kind) {
    case 'open': {
      const instrument = core.market.instruments.get(act.symbol)
      const { bid, ask } =
        instrument === undefined ? { bid: 0, ask: 0 } : core.market.prices.quote(instrument, at)
      const distance = act.stopPoints * 10 ** -(instrument?.digits ?? 0)
      const stop =
        act.stopPoints === 0 ? {} : { stopLoss: act.buy ? bid - distance : ask + distance }
      return {
        actionType: act.buy ? 'ORDER_TYPE_BUY' : 'ORDER_TYPE_SELL',
        symbol: act.symbol,
        volume: act.lots / 100,
        ...stop,
      }
    }
    case 'close': {
      const position = positionAt(act.pick)
      const part = position?.volume.times(act.share).div(100).round(2)
      if (part === undefined || part.eq(zero))
        return { actionType: 'POSITION_CLOSE_ID', positionId: position?.id ?? 'none' }
      return { actionType: 'POSITION_PARTIAL', positionId: position?.id, volume: toNumber(part) }
    }
  }
}

const open = (
  seed: number,
  options: AccountOptions,
  clock: { readonly now: number },
): { readonly core: Core; readonly acc: Account } => {
  const core = createCore({ seed, accounts: [options], now: () => clock.now }, NOON)
  const acc = core.accounts.get('acc')
  if (acc === undefined) throw new Error('The account is missing')
  return { core, acc }
}

const play = (
  seed: number,
  options: AccountOptions,
  acts: readonly Action[],
): { readonly core: Core; readonly acc: Account; readonly at: number } => {
  const clock = { now: NOON }
  const { core, acc } = open(seed, options, clock)
  for (const act of acts) {
    const at = (clock.now += act.waitMs)
    const desk = { account: acc, market: core.market, at }
    settle(desk, false)
    const read = readTradeRequest(bodyOf(core, acc, at, act))
    if (read.kind === 'request') executeTrade(desk, read.request)
  }
  return { core, acc, at: clock.now }
}

const rowsOf = (acc: Account): readonly DealRow[] => acc.deals.all().map((entry) => entry.row)

const moneyFields = ['profit', 'commission', 'swap']
/**
 * The exact sum of what the deals of these kinds moved, read from their JSON as a program that is
 * served it would.
 */
const movedBy = (rows: readonly DealRow[], isMeant: (row: DealRow) => boolean): number => {
  const served = JSON.parse(JSON.stringify(rows)) as readonly DealRow[]
  return toNumber(
    sum(
      served
        .filter(isMeant)
        .flatMap((row) => moneyFields.map((field) => decimal(Number(row[field] ?? 0)))),
    ),
  )
}
const isCredit = (row: DealRow): boolean => row['type'] === 'DEAL_TYPE_CREDIT'

/** What happens to an account besides its own trades. */
type Happening =
  | { readonly kind: 'booking'; readonly type: string; readonly cents: number }
  | { readonly kind: 'price'; readonly points: number }
  | { readonly kind: 'terminal'; readonly reason: 'CLIENT' | 'SO'; readonly act: Action }
  | { readonly kind: 'late'; readonly agoMs: number; readonly cents: number }
  | { readonly kind: 'change'; readonly pick: number; readonly cents: number }
  | { readonly kind: 'remove'; readonly pick: number }

const cents = fc.integer({ min: -500_000, max: 500_000 })
const bookings = ['BALANCE', 'CREDIT', 'CHARGE', 'CORRECTION', 'COMMISSION_DAILY', 'INTEREST'].map(
  (type) => `DEAL_TYPE_${type}`,
)
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    kind: fc.constant('booking' as const),
    type: fc.constantFrom(...bookings, 'DEAL_TAX'),
    cents,
  }),
  fc.record({
    kind: fc.constant('price' as const),
    points: fc.integer({ min: -3_000, max: 3_000 }),
  }),
  fc.record({
    kind: fc.constant('terminal' as const),
    reason: fc.constantFrom('CLIENT' as const, 'SO' as const),
    act: action,
  }),
  fc.record({ kind: fc.constant('late' as const), agoMs: waitMs, cents }),
  fc.record({ kind: fc.constant('change' as const), pick: fc.nat(99), cents }),
  fc.record({ kind: fc.constant('remove' as const), pick: fc.nat(99) }),
)

const happen = (core: Core, acc: Account, it: Happening): void => {
  const control = createControl(core, acc)
  const rowAt = (index: number): DealRow | undefined =>
    rowsOf(acc)[index % Math.max(1, rowsOf(acc).length)]
  switch (it.kind) {
    case 'booking':
      return void control.deposit(it.cents / 100, 'booked', it.type)
    case 'price': {
      const { bid } = core.market.prices.quote(
        core.market.instruments.get('EURUSD') as Instrument,
        core.now(),
      )
      const moved = Number((bid + it.points * 1e-5).toFixed(5))
      return core.market.prices.pin('EURUSD', {
        bid: moved,
        ask: Number((moved + 0.0001).toFixed(5)),
      })
    }
    case 'terminal':
      return void control.trade(bodyOf(core, acc, core.now(), it.act), it.reason)
    case 'late':
      return control.addDeals([
        {
          id: `late-${acc.revision}`,
          type: 'DEAL_TYPE_BALANCE',
          time: new Date(core.now() - it.agoMs).toISOString(),
          profit: it.cents / 100,
        },
      ])
    case 'change': {
      const row = rowAt(it.pick)
      return row && control.changeDeals({ id: row.id }, { profit: it.cents / 100 })
    }
    case 'remove': {
      const row = rowAt(it.pick)
      return row && control.removeDeals({ id: row.id })
    }
  }
}

it('balance is the exact sum of all deals but credit after whatever happens, and no two deals have one time, entry and id', () => {
  const steps = fc.array(fc.oneof(action, happening), { minLength: 1, maxLength: 30 })
  const generate = fc.option(
    fc.record({ trades: fc.integer({ min: 1, max: 20 }), openPositions: fc.nat(3) }),
    { nil: undefined, freq: 2 },
  )
  fc.assert(
    fc.property(fc.integer(), account, generate, steps, (seed, options, generated, mixed) => {
      const clock = { now: NOON }
      const { core, acc } = open(
        seed,
        { ...options, ...(generated && { generate: generated }) },
        clock,
      )
      const control = createControl(core, acc)
      for (const step of mixed) {
        if ('waitMs' in step) clock.now += step.waitMs
        if ('waitMs' in step) control.trade(bodyOf(core, acc, clock.now, step))
        else happen(core, acc, step)
        const { balance, credit } = control.information()
        const rows = control.deals()
        expect(balance).toBe(movedBy(rows, (row) => !isCredit(row)))
        expect(credit).toBe(movedBy(rows, isCredit))
        const keys = rows.map(({ time, entryType, id }) => JSON.stringify([time, entryType, id]))
        expect(new Set(keys).size).toBe(rows.length)
      }
    }),
  )
})

it('in − out of each position is its open volume, and positions without open volume are gone', () => {
  fc.assert(
    fc.property(fc.integer(), account, actions, (seed, options, acts) => {
      const { acc } = play(seed, options, acts)
      const open = new Map<string, Decimal>()
      for (const row of rowsOf(acc)) {
        const id = row['positionId']
        if (typeof id !== 'string') continue
        const held = open.get(id) ?? zero
        const volume = decimal(Number(row['volume']))
        if (row['entryType'] === 'DEAL_ENTRY_IN') open.set(id, held.plus(volume))
        // A reversal closes what was held and opens the rest.
        else
          open.set(
            id,
            row['entryType'] === 'DEAL_ENTRY_INOUT' ? volume.minus(held) : held.minus(volume),
          )
      }
      for (const held of open.values()) expect(held.gte(zero)).toBe(true)
      const stillOpen = [...open]
        .filter(([, held]) => held.gt(zero))
        .map(([id, held]) => [id, held.toString()])
      expect(
        Object.fromEntries(
          acc.positions.map((position) => [position.identifier, position.volume.toString()]),
        ),
      ).toEqual(Object.fromEntries(stillOpen))
      const symbols = new Set(acc.positions.map((position) => position.symbol))
      expect(options.marginMode === 'hedging' || symbols.size === acc.positions.length).toBe(true)
    }),
  )
})

it('equity = balance + credit + what open positions would bring, and free margin = equity − margin', () => {
  fc.assert(
    fc.property(fc.integer(), account, actions, (seed, options, acts) => {
      const { core, acc, at } = play(seed, options, acts)
      const { equity, margin, freeMargin } = figuresOf(acc, core.market, at)
      const digits = acc.settings.currencyDigits
      const floating = acc.positions.map((position) => {
        const way = position.side === 'buy' ? 1 : -1
        const price = exitPriceOf(core.market, position, at)
        const rate = core.market.rate(position.instrument.profitCurrency, acc.settings.currency, at)
        return price
          .minus(position.openPrice)
          .times(way)
          .times(position.instrument.contractSize)
          .times(position.volume)
          .times(rate)
          .round(digits)
          .plus(position.swap)
      })
      expect(equity.toString()).toBe(acc.balance.plus(acc.credit).plus(sum(floating)).toString())
      expect(freeMargin.toString()).toBe(equity.minus(margin).toString())
    }),
  )
})

it('what a position realised and still carries is what its deals say', () => {
  fc.assert(
    fc.property(fc.integer(), account, actions, (seed, options, acts) => {
      const { acc } = play(seed, options, acts)
      for (const position of acc.positions) {
        const deals = rowsOf(acc).filter((row) => row['positionId'] === position.identifier)
        const total = (field: string): string =>
          sum(deals.map((row) => decimal(Number(row[field])))).toString()
        expect(position.realizedProfit.toString()).toBe(total('profit'))
        expect(position.realizedSwap.toString()).toBe(total('swap'))
        expect(position.realizedCommission.plus(position.entryCommission).toString()).toBe(
          total('commission'),
        )
      }
    }),
  )
})

it('the same seed and the same actions at the same times give the same state', () => {
  fc.assert(
    fc.property(fc.integer(), account, actions, (seed, options, acts) => {
      const [one, other] = [play(seed, options, acts), play(seed, options, acts)]
      expect(rowsOf(other.acc)).toEqual(rowsOf(one.acc))
      expect(JSON.stringify(other.acc.positions)).toBe(JSON.stringify(one.acc.positions))
    }),
    { numRuns: 30 },
  )
})
