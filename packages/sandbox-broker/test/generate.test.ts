// Made-up histories: exactly as many trades as asked, books that add up, the same for the same
// seed, and quick.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCore } from '../src/core.ts'
import { decimal, sum, zero, type Decimal } from '../src/numbers/decimal.ts'
import type { AccountOptions, DealRow } from '../src/index.ts'
import { NOON } from './harness.ts'

const make = (seed: number, options: Omit<AccountOptions, 'id'>) => {
  const core = createCore({ seed, accounts: [{ id: 'acc', ...options }] }, NOON)
  const account = core.accounts.get('acc')
  if (account === undefined) throw new Error('The account is missing')
  return { account, rows: account.deals.all().map((entry) => entry.row) }
}

const openVolumes = (rows: readonly DealRow[]): Map<string, Decimal> => {
  const volumes = new Map<string, Decimal>()
  for (const row of rows) {
    const id = row['positionId']
    if (typeof id !== 'string') continue
    const volume = decimal(Number(row['volume']))
    const held = volumes.get(id) ?? zero
    volumes.set(id, row['entryType'] === 'DEAL_ENTRY_IN' ? held.plus(volume) : held.minus(volume))
    expect(volumes.get(id)?.gte(zero)).toBe(true)
  }
  return volumes
}

describe.each([
  { marginMode: 'hedging' as const, platform: 'mt5' as const },
  { marginMode: 'netting' as const, platform: 'mt5' as const },
  { marginMode: 'hedging' as const, platform: 'mt4' as const },
])('a made-up history: %o', (kind) => {
  it('adds up: trades as asked, balance the sum of the deals, open volume in − out at every step', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(5),
        (seed, trades, openPositions) => {
          const { account, rows } = make(seed, { ...kind, generate: { trades, openPositions } })
          const volumes = [...openVolumes(rows)]
          expect(volumes.filter(([, volume]) => volume.eq(zero))).toHaveLength(trades)
          const open = volumes
            .filter(([, volume]) => volume.gt(zero))
            .map(([id, volume]) => [id, volume.toString()])
          expect(open).toHaveLength(openPositions)
          expect(
            Object.fromEntries(
              account.positions.map((position) => [position.id, position.volume.toString()]),
            ),
          ).toEqual(Object.fromEntries(open))
          const amounts = rows.map((row) =>
            sum(
              [row['profit'], row['commission'], row['swap']].map((value) =>
                decimal(Number(value)),
              ),
            ),
          )
          expect(account.balance.toString()).toBe(sum(amounts).toString())
          expect(rows.every((row) => Date.parse(text(row['time'])) <= NOON)).toBe(true)
          expect(
            new Set(rows.map((row) => `${text(row['time'])} ${row.id} ${text(row['entryType'])}`))
              .size,
          ).toBe(rows.length)
        },
      ),
      { numRuns: 25 },
    )
  })
})

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

it('is the same for the same seed and account, and another for another', () => {
  const generate = { trades: 40, openPositions: 2 }
  expect(make(5, { generate }).rows).toEqual(make(5, { generate }).rows)
  expect(make(6, { generate }).rows).not.toEqual(make(5, { generate }).rows)
})

const openOn = (day: number) => {
  const generate = { trades: 320, openPositions: 4 }
  const core = createCore({ accounts: [{ id: 'demo-trading', generate }] }, NOON + day * 86_400_000)
  const positions = core.accounts.get('demo-trading')?.positions ?? []
  return positions.map(({ symbol, side, stopLoss }) => ({
    symbol,
    side,
    hasLevels: stopLoss !== undefined,
  }))
}

it('leaves the same positions open on every day, so that what is shown of a demo holds tomorrow', () => {
  const [first, ...others] = Array.from({ length: 12 }, (_, index) => openOn(index * 11))
  expect(first).toHaveLength(4)
  for (const other of others) expect(other).toEqual(first)
})
