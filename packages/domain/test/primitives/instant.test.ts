import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createIsoWriter, parseInstant, toIso } from '../../src/primitives/instant.ts'
import type { RangeEdge } from '../../src/primitives/instant.ts'

const read = (text: string, edge: RangeEdge = 'start'): string | null => O.toNullable(O.map(toIso)(parseInstant(text, edge)))

describe('parseInstant (decision 8)', () => {
  it.each([
    ['2026-03-01', 'start', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01', 'end', '2026-03-01T23:59:59.999Z'],
    ['2024-02-29', 'end', '2024-02-29T23:59:59.999Z'],
    ['2026-03-01T10:20', 'end', '2026-03-01T10:20:00.000Z'],
    ['2026-03-01T10:20:30', 'start', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01T10:20:30Z', 'start', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01T10:20:30.5Z', 'start', '2026-03-01T10:20:30.500Z'],
    ['2026-03-01T10:20:30.123456Z', 'start', '2026-03-01T10:20:30.123Z'],
    ['2026-03-01T10:20:30+02:00', 'start', '2026-03-01T08:20:30.000Z'],
    ['2026-03-01T10:20:30-0530', 'start', '2026-03-01T15:50:30.000Z'],
    ['2026-03-01T10:20:30+02', 'start', '2026-03-01T08:20:30.000Z'],
    ['2026-03-01t10:20:30z', 'start', '2026-03-01T10:20:30.000Z'],
  ] as const)('reads %s at the %s of a range as %s', (text, edge, expected) => {
    expect(read(text, edge)).toBe(expected)
  })

  it.each([
    '',
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-1-1',
    '2026-03-01T24:00:00Z',
    '2026-03-01T10:60:00Z',
    '2026-03-01T10:20:60Z',
    '2026-03-01 10:20:30',
    '2026-03-01T10:20:30 02:00',
    '2026-03-01T10:20:30+25:00',
    '1772358000000',
    '+002026-03-01',
  ])('refuses %j', (text) => {
    expect(read(text)).toBeNull()
  })

  it('reads back every instant that it writes', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
        (date) => {
          expect(parseInstant(toIso(date.getTime()), 'end')).toEqual(O.some(date.getTime()))
        },
      ),
    )
  })
})

describe('createIsoWriter', () => {
  it('writes what toIso writes, whatever was written before', () => {
    const instants = fc.array(fc.integer({ min: 0, max: 3 }).map((at) => 1_700_000_000_000 + at))
    fc.assert(
      fc.property(instants, (written) => {
        const write = createIsoWriter()
        expect(written.map(write)).toEqual(written.map(toIso))
      }),
    )
  })
})
