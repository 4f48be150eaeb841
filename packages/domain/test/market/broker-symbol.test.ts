import { expect, it } from 'vitest'
import { resolveSymbol, selectBySymbol } from '../../src/market/broker-symbol.ts'

it.each([
  ['EURUSD', ['EURUSD.r', 'EURUSD'], 'EURUSD'],
  ['EURUSD', ['eurusd', 'EURUSD.r'], 'eurusd'],
  ['EURUSD', ['EURUSD.r', 'GBPUSD.r'], 'EURUSD.r'],
  ['EURUSD', ['EURUSDm'], 'EURUSDm'],
  ['EURUSD', ['EURUSD#'], 'EURUSD#'],
  ['EURUSD', ['GBPUSD_i', 'EURUSD_i'], 'EURUSD_i'],
  ['EURUSD.R', ['EURUSD.r'], 'EURUSD.r'],
  ['EURUSD', ['EURUSD.r', 'EURUSDm'], ['EURUSD.r', 'EURUSDm']],
  // Another instrument, not another spelling.
  ['US30', ['US300', 'US30Cash2'], undefined],
  ['EUR', ['EURUSD'], undefined],
  ['MET', ['Meta', 'Metals.x'], undefined],
  ['GOLD', ['Gold.x', 'Golden'], 'Gold.x'],
  ['EURU', ['eurusd'], undefined],
  ['SSX', ['ßX'], undefined],
  ['EURUSD', ['GBPUSD.r'], undefined],
  ['EURUSD', [], undefined],
])('%s among %j is %j', (wanted, symbols, found) => {
  const resolved = resolveSymbol(wanted, symbols)
  if (found === undefined) expect(resolved).toEqual({ kind: 'unknown' })
  else if (typeof found === 'string') expect(resolved).toEqual({ kind: 'found', symbol: found })
  else expect(resolved).toEqual({ kind: 'ambiguous', candidates: found })
})

it.each([
  [['GOLDm', 'GOLDM'], 'GOLDM', 'GOLDM', ['GOLDM']],
  [['GOLDm'], 'GOLDM', 'GOLDM', []],
  // The list is unread, or does not have all of them yet.
  [['GOLDm', 'GoldM'], 'GOLDM', undefined, []],
  [['EURUSD', 'EURUSD.r'], 'EURUSD', 'EURUSD.r', ['EURUSD']],
])('of %j, %s that is listed as %s means %j', (held, wanted, resolved, selected) => {
  const all = held.map((symbol) => ({ symbol }))
  const listed = resolved === undefined ? undefined : { spelling: resolved, isListed: true }
  expect(selectBySymbol(all, wanted, listed).map(({ symbol }) => symbol)).toEqual(selected)
})
