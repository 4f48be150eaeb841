// Generated histories: the requested numbers of trades and positions, and the same for the same seed.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createCore } from '../src/core.ts'
import type { AccountOptions } from '../src/index.ts'
import { NOON } from './harness.ts'

const make = (seed: number, options: Omit<AccountOptions, 'id'>, anchor = NOON) => {
  const core = createCore({ seed, accounts: [{ id: 'acc', ...options }] }, anchor)
  const { deals, positions } = core.accounts.get('acc') ?? {}
  return { rows: deals?.all().map((entry) => entry.row) ?? [], positions: positions ?? [] }
}

it.each<Omit<AccountOptions, 'id'>>([{}, { marginMode: 'netting' }, { platform: 'mt4' }])(
  'a history of %o has the requested closed trades and open positions, none in the future',
  (kind) => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(5),
        (seed, trades, open) => {
          const { rows, positions } = make(seed, {
            ...kind,
            generate: { trades, openPositions: open },
          })
          const ids = new Set(rows.flatMap(({ positionId }) => positionId ?? []))
          expect([ids.size, positions.length]).toEqual([trades + open, open])
          expect(rows.every(({ time }) => Date.parse(time as string) <= NOON)).toBe(true)
        },
      ),
      { numRuns: 25 },
    )
  },
)

it('a history is the same for the same seed, and leaves the same positions open on every day', () => {
  const generate = { trades: 40, openPositions: 4 }
  expect(make(5, { generate }).rows).toEqual(make(5, { generate }).rows)
  expect(make(6, { generate }).rows).not.toEqual(make(5, { generate }).rows)
  const openOn = (day: number) =>
    make(1, { generate }, NOON + day * 86_400_000).positions.map(({ symbol, side, stopLoss }) => [
      symbol,
      side,
      stopLoss !== undefined,
    ])
  for (const day of [11, 22, 33, 44, 55]) expect(openOn(day)).toEqual(openOn(0))
})
