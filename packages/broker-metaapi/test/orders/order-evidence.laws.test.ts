// Laws of looking for an order: whatever the broker's lists hold, in whatever order and however often, an order that was executed is never
// taken for lost, and one that was not is never taken for executed.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findingOf } from '../../src/orders/order-evidence.ts'
import type { Evidence } from '../../src/orders/order-evidence.ts'
import { dealTraceOf, orderTraceOf, positionTraceOf, rowsPageOf } from '../../src/orders/order-records.ts'
import type { DealTrace, OrderTrace, PositionTrace } from '../../src/orders/order-records.ts'
import { clientId, contextAt, order } from './order-support.ts'

const sentAt = 1_000_000_000_000

const foreignIds = fc.constantFrom('TP_9999999999_abcdefghij', 'TE_EURUSD_a', 'TP_0123456788_abcdefghij')
const names = fc.oneof(foreignIds, fc.constant(undefined))
const trace = (name: fc.Arbitrary<string | undefined>) =>
  fc.record(
    {
      id: fc.integer({ min: 1, max: 9 }).map(String),
      clientId: name as fc.Arbitrary<string>,
      side: fc.constantFrom('buy' as const, 'sell' as const),
      symbol: fc.constantFrom('EURUSD', 'GBPUSD'),
      volume: fc.constantFrom(0.01, 0.05, 0.1, 0.2),
      at: fc.integer({ min: sentAt - 100_000, max: sentAt + 400_000 }),
      reason: fc.constantFrom('EXPERT', 'CLIENT', 'WEB', 'SL'),
      orderId: fc.integer({ min: 1, max: 9 }).map(String),
      positionId: fc.integer({ min: 1, max: 9 }).map(String),
      price: fc.constantFrom(1.1, 1.2),
      entry: fc.constantFrom('in' as const, 'out' as const, 'inout' as const, 'out_by' as const),
    },
    { requiredKeys: ['id', 'clientId'] },
  )
const states = fc.constantFrom('FILLED', 'PLACED', 'REJECTED', 'CANCELED', 'PARTIAL', 'STARTED')
const orderTrace = (name: fc.Arbitrary<string | undefined>) =>
  fc.tuple(trace(name), states).map(([row, state]): OrderTrace => ({ ...row, state }))

const records = <A>(row: fc.Arbitrary<A>) => fc.record({ rows: fc.array(row, { maxLength: 5 }), isWhole: fc.boolean() })
const evidence = (name: fc.Arbitrary<string | undefined>): fc.Arbitrary<Evidence> =>
  fc.record({
    positions: records(trace(name) as fc.Arbitrary<PositionTrace>),
    orders: records(orderTrace(name)),
    historyOrders: records(orderTrace(name)),
    deals: records(trace(name) as fc.Arbitrary<DealTrace>),
  })
const nows = fc.integer({ min: sentAt, max: sentAt + 600_000 })
const sought = { order, sentAt, tickets: {} }

describe('looking for an order', () => {
  it('never finds it in what others did, named or not', () => {
    fc.assert(
      fc.property(evidence(names), nows, (lists, now) => {
        expect(['nothing', 'unreadable']).toContain(findingOf(sought, lists, contextAt(now)).answer.kind)
      }),
    )
  })

  it('never says nothing unless four lists are whole', () => {
    fc.assert(
      fc.property(evidence(names), nows, (lists, now) => {
        const isWhole = Object.values(lists).every((list: { readonly isWhole: boolean }) => list.isWhole)
        if (findingOf(sought, lists, contextAt(now)).answer.kind === 'nothing') expect(isWhole).toBe(true)
      }),
    )
  })

  it('never says nothing while any list shows its name, whole or not', () => {
    const own = fc.constantFrom(clientId, 'TP_0123456789_77')
    fc.assert(
      fc.property(
        evidence(fc.oneof(names, own)),
        trace(own),
        fc.constantFrom('positions' as const, 'deals' as const, 'orders' as const, 'historyOrders' as const),
        nows,
        (lists, row, list, now) => {
          const shown = { ...lists, [list]: { ...lists[list], rows: [...lists[list].rows, { ...row, state: 'FILLED' }] } }
          expect(['nothing', 'unreadable']).not.toContain(findingOf(sought, shown, contextAt(now)).answer.kind)
        },
      ),
    )
  })

  it('tells a fill exactly, in parts and closed since, in any order and however often pages repeat it', () => {
    const part = fc.record({ cents: fc.integer({ min: 1, max: 5 }), points: fc.integer({ min: 109_000, max: 111_000 }) })
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        evidence(foreignIds),
        fc.integer(),
        (parts, isClosed, lists, seed) => {
          const cents = parts.reduce((sum, one) => sum + one.cents, 0)
          const openings = parts.map((one, index): DealTrace => ({
            id: `own-${index}`,
            clientId,
            side: 'buy',
            entry: 'in',
            orderId: 'own',
            positionId: 'own',
            volume: one.cents / 100,
            price: one.points / 100_000,
            at: sentAt + index,
          }))
          const closing: DealTrace = {
            id: 'close',
            side: 'sell',
            entry: 'out',
            positionId: 'own',
            orderId: 'own-2',
            volume: cents / 100,
            price: 2,
            at: sentAt + 99,
          }
          const rows = [...openings, ...openings.slice(0, 2), ...(isClosed ? [closing] : []), ...lists.deals.rows]
          const shuffled = rows.map((row, index) => ({ row, key: (index * 7_919 + seed) % 101 })).toSorted((a, b) => a.key - b.key)
          const { answer } = findingOf(
            { ...sought, order: { ...order, volume: cents / 100 } },
            { ...lists, deals: { rows: shuffled.map(({ row }) => row), isWhole: lists.deals.isWhole } },
            contextAt(sentAt + 1_000),
          )
          const worth = parts.reduce((sum, one) => sum + one.cents * one.points, 0)
          const price = worth / (cents * 100_000)
          expect(answer).toMatchObject({
            kind: 'found',
            settlement: { kind: 'filled', fill: { volume: cents / 100, at: sentAt + parts.length - 1, positionId: 'own' } },
          })
          const fill = answer.kind === 'found' && 'fill' in answer.settlement ? answer.settlement.fill : {}
          expect(fill.price).toBeCloseTo(price, 12)
        },
      ),
    )
  })
})

describe('rows', () => {
  it('of any shape are read or left out, and never thrown at', () => {
    const wrappers = fc.constantFrom('positions' as const, 'orders' as const, 'historyOrders' as const, 'deals' as const)
    fc.assert(
      fc.property(fc.jsonValue(), fc.uint8Array(), wrappers, (value, bytes, wrapper) => {
        for (const traceOf of [positionTraceOf, orderTraceOf, dealTraceOf]) expect(() => traceOf(value)).not.toThrow()
        expect(() => rowsPageOf(bytes, wrapper)).not.toThrow()
        const page = rowsPageOf(Buffer.from(JSON.stringify(value)), wrapper)
        if (Array.isArray(value)) expect(page?.rows.length).toBe(value.length)
        else if (typeof value !== 'object' || value === null) expect(page).toBeUndefined()
      }),
    )
  })

  it('of a history that is still being loaded are not whole', () => {
    const bytes = Buffer.from(JSON.stringify({ deals: [], synchronizing: true }))
    expect(rowsPageOf(bytes, 'deals')).toEqual({ rows: [], isLoading: true })
    expect(rowsPageOf(Buffer.from('{"deals":[],"synchronizing":false}'), 'deals')).toEqual({ rows: [], isLoading: false })
    expect(rowsPageOf(Buffer.from('{"historyOrders":[]}'), 'deals')).toBeUndefined()
  })
})
