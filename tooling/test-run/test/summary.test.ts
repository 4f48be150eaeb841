// The last words of a run: programs read the last line, people read what stands above it.
import { describe, expect, it } from 'vitest'
import type { PackageResult } from '../src/package-result.ts'
import { summarise } from '../src/summary.ts'
import type { Want } from '../src/summary.ts'

const result = (change: Partial<PackageResult>): PackageResult => ({
  packageName: '@x/orders',
  passed: 0,
  failures: [],
  skipped: [],
  ...change,
})

const database: Want = { variable: 'TEST_DATABASE_URL', what: 'a PostgreSQL server', isThere: false }
const redis: Want = { variable: 'TEST_REDIS_URL', what: 'a Redis server', isThere: false }

const summaryOf = (results: readonly PackageResult[], { wants = [] as readonly Want[], runnerFailed = false, source = '' } = {}) =>
  summarise(results, wants, runnerFailed, () => source)

describe('the last line', () => {
  it('is the count alone, over all packages', () => {
    const failures = [{ file: 'test/a.test.ts', name: 'breaks' }]
    expect(summaryOf([result({ passed: 2, failures }), result({ passed: 40 })]).lines.at(-1)).toBe('42 passed, 1 failed')
  })

  it('counts a run in which nothing was run as failed', () => {
    expect(summaryOf([result({})])).toMatchObject({ passed: 0, failed: 1 })
  })

  it('counts a run in which everything was skipped as failed', () => {
    expect(summaryOf([result({ skipped: [{ file: 'test/a.test.ts', name: 'waits' }] })]).failed).toBe(1)
  })

  it('counts a runner that failed outside every test as failed', () => {
    expect(summaryOf([result({ passed: 9 })], { runnerFailed: true })).toMatchObject({ passed: 9, failed: 1 })
  })

  it('does not count the runner’s failure again when tests failed', () => {
    const failures = [{ file: 'test/a.test.ts', name: 'breaks' }]
    expect(summaryOf([result({ passed: 9, failures })], { runnerFailed: true }).failed).toBe(1)
  })
})

describe('the lines above it', () => {
  it('say how each package did', () => {
    const skipped = [{ file: 'test/a.test.ts', name: 'waits' }]
    const { lines } = summaryOf([result({ passed: 2, skipped }), result({ packageName: '@x/empty' })])
    expect(lines.slice(0, 2)).toEqual(['@x/orders: 2 passed, 0 failed, 1 not run', '@x/empty: no tests'])
  })

  it('name what failed', () => {
    const { lines } = summaryOf([result({ failures: [{ file: 'test/a.test.ts', name: 'orders > breaks' }] })])
    expect(lines).toContain('  @x/orders  test/a.test.ts  orders > breaks')
  })

  it('put a skipped test down to the variable that its name mentions', () => {
    const skipped = [{ file: 'test/a.test.ts', name: 'on a server (TEST_REDIS_URL) > counts' }]
    const { lines } = summaryOf([result({ passed: 1, skipped })], { wants: [database, redis], source: 'TEST_DATABASE_URL' })
    const title = lines.indexOf('Not run for want of a Redis server (TEST_REDIS_URL is not set): 1')
    expect(lines[title + 1]).toContain('on a server (TEST_REDIS_URL) > counts')
  })

  it('put a skipped test down to the variable that its file mentions where its name mentions none', () => {
    const skipped = [{ file: 'test/a.test.ts', name: 'keeps an account' }]
    const { lines } = summaryOf([result({ passed: 1, skipped })], { wants: [database], source: "env['TEST_DATABASE_URL']" })
    expect(lines).toContain('Not run for want of a PostgreSQL server (TEST_DATABASE_URL is not set): 1')
  })

  it('name a test skipped for no want of the machine under its own heading', () => {
    const skipped = [{ file: 'test/a.test.ts', name: 'keeps an account' }]
    const { lines } = summaryOf([result({ passed: 1, skipped })], { wants: [{ ...database, isThere: true }], source: 'TEST_DATABASE_URL' })
    expect(lines).toEqual(expect.arrayContaining(['Skipped in the test itself:', '  @x/orders  test/a.test.ts  keeps an account']))
    expect(lines.join('\n')).not.toContain('Not run for want')
  })

  it('say that a server is missing also when no test was skipped for it', () => {
    expect(summaryOf([result({ passed: 1 })], { wants: [redis] }).lines).toContain(
      'Not run for want of a Redis server (TEST_REDIS_URL is not set): 0',
    )
  })
})
