import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { formatPositionId, parseAccountId, parsePositionId, parseUserId } from '../../src/primitives/ids.ts'
import { isSymbolMatch, parseSymbolFilter } from '../../src/primitives/symbol-filter.ts'
import type { SymbolFilter } from '../../src/primitives/symbol-filter.ts'

const account = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c'

describe('ids', () => {
  it('reads a position id and writes it unchanged (2.4)', () => {
    const id = parsePositionId(`${account}:46648037`)
    expect(O.isSome(id) && formatPositionId(id.value.accountId, id.value.ticket)).toBe(`${account}:46648037`)
  })

  it('keeps every character of a ticket, a colon and leading zeros too', () => {
    expect(O.toNullable(parsePositionId(`${account}:005:1`))?.ticket).toBe('005:1')
  })

  it.each(['', account, `${account}:`, ':1', `${account}:1 2`, `${account}:${'9'.repeat(65)}`, 'u:1', `${account}:1\n`])(
    'refuses the position id %j (decision 28)',
    (text) => {
      expect(parsePositionId(text)).toEqual(O.none)
    },
  )

  it('reads a UUID in capitals as the same account', () => {
    expect(parseAccountId(account.toUpperCase())).toEqual(O.some(account))
  })

  it('refuses an id of an operator with white space or control characters', () => {
    expect(['u 1', '', 'u\u0000', 'u'.repeat(129)].map(parseUserId)).toEqual([O.none, O.none, O.none, O.none])
  })
})

describe('symbol filter', () => {
  it.each(['EURUSD', 'US30', 'EURUSD.R', 'AUDUSD_I', 'BTC/USD', '#AAPL', 'EURUSD+'])('takes %s', (text) => {
    expect(parseSymbolFilter(text)).toEqual(O.some(text))
  })

  it.each(['', 'eurusd', 'EURUSD.r', 'EUR USD', 'ÉUR', 'A'.repeat(33)])('refuses %j', (text) => {
    expect(parseSymbolFilter(text)).toEqual(O.none)
  })

  it('finds a broker symbol that is spelt with small letters', () => {
    expect(isSymbolMatch('GBPCHF_I' as SymbolFilter, 'GBPCHF_i')).toBe(true)
    expect(isSymbolMatch('GBPCHF' as SymbolFilter, 'GBPCHF_i')).toBe(false)
    expect(isSymbolMatch(undefined, 'GBPCHF_i')).toBe(true)
  })
})
