// What `pnpm bench` prints: every ratio in one table, missed targets among them, and what was left out.
import { describe, expect, it } from 'vitest'
import { needsServer } from '../src/bench.ts'
import { detailsOf, tableOf } from '../src/table.ts'

const results = [
  { bench: 'fold', outcome: [{ name: 'a fold', ratio: 0.5, target: 1, oursMs: 12.34, referenceMs: 24.68, reference: 'DuckDB' }] },
  {
    bench: 'memory',
    outcome: [{ name: 'idle', ratio: 2.5, target: 2.4, oursMegabytes: 125, referenceMegabytes: 50, reference: 'a bare process' }],
  },
  { bench: 'http', outcome: [{ name: 'a list', ratio: 1.3, oursMs: 13, referenceMs: 10, reference: 'a framework' }] },
  { bench: 'orders', outcome: needsServer },
]

describe('the table', () => {
  it('has a row for each ratio and for each bench that was left out', () => {
    expect(tableOf(results)).toBe(
      [
        'bench   what             ours  reference  ratio   target',
        '------  -----------  --------  ---------  -----  -------  -------',
        'fold    a fold        12.3 ms    24.7 ms  0.500  <= 1.00      met',
        'memory  idle         125.0 MB    50.0 MB  2.500  <= 2.40   MISSED',
        'http    a list        13.0 ms    10.0 ms  1.300     none',
        'orders  (see below)                                       not run',
      ].join('\n'),
    )
  })

  it('is followed by what each was measured against, or why it was not', () => {
    expect(detailsOf(results).split('\n')).toEqual([
      'fold: a fold',
      '  against DuckDB',
      'memory: idle',
      '  against a bare process',
      'http: a list',
      '  against a framework',
      expect.stringMatching(/^orders: DATABASE_URL names no PostgreSQL server/),
    ])
  })
})
