// Reports of vitest in every shape that a run can leave behind.
import { describe, expect, it } from 'vitest'
import { packageResult, parseReport } from '../src/package-result.ts'
import type { VitestFile } from '../src/package-result.ts'

const folder = '/repo/packages/orders'
const orders = { name: '@x/orders', folder }

const file = (change: Partial<VitestFile>): VitestFile => ({
  name: `${folder}/test/orders.test.ts`,
  status: 'passed',
  message: '',
  assertionResults: [],
  ...change,
})

const testOf = (title: string, status: string) => ({ ancestorTitles: ['', 'orders'], title, status })

describe('one package’s result', () => {
  it('counts what passed and names what failed and what was skipped', () => {
    const tests = [testOf('fills', 'passed'), testOf('expires', 'passed'), testOf('cancels', 'failed'), testOf('waits', 'skipped')]
    const report = { testResults: [file({ status: 'failed', assertionResults: tests })] }
    expect(packageResult(orders, report, false)).toEqual({
      packageName: '@x/orders',
      passed: 2,
      failures: [{ file: 'test/orders.test.ts', name: 'orders > cancels' }],
      skipped: [{ file: 'test/orders.test.ts', name: 'orders > waits' }],
    })
  })

  it('counts a test marked as to do among the skipped', () => {
    const report = { testResults: [file({ assertionResults: [testOf('splits', 'todo')] })] }
    expect(packageResult(orders, report, false)).toMatchObject({ passed: 0, failures: [], skipped: [{ name: 'orders > splits' }] })
  })

  it('counts a test that was still running when the run ended as failed', () => {
    const report = { testResults: [file({ status: 'failed', assertionResults: [testOf('hangs', 'pending')] })] }
    expect(packageResult(orders, report, false).failures).toEqual([{ file: 'test/orders.test.ts', name: 'orders > hangs' }])
  })

  it('counts a file that did not load as one failure, with the first line of its error', () => {
    const report = { testResults: [file({ status: 'failed', message: 'Cannot find module\n  at x.ts' })] }
    expect(packageResult(orders, report, false).failures).toEqual([{ file: 'test/orders.test.ts', name: 'Cannot find module' }])
  })

  it('counts a file whose hook failed after its tests passed as one failure', () => {
    const report = { testResults: [file({ status: 'failed', message: 'afterAll broke', assertionResults: [testOf('fills', 'passed')] })] }
    expect(packageResult(orders, report, false)).toMatchObject({ passed: 1, failures: [{ name: 'afterAll broke' }] })
  })

  it('counts a run that ended with an error outside its tests as one failure', () => {
    const report = { testResults: [file({ assertionResults: [testOf('fills', 'passed')] })] }
    expect(packageResult(orders, report, true)).toMatchObject({ passed: 1, failures: [{ file: '' }] })
  })

  it('does not count the run’s own error again when a test failed', () => {
    const report = { testResults: [file({ status: 'failed', assertionResults: [testOf('fills', 'failed')] })] }
    expect(packageResult(orders, report, true).failures).toEqual([{ file: 'test/orders.test.ts', name: 'orders > fills' }])
  })

  it('counts a run without a report as one failure', () => {
    expect(packageResult(orders, undefined, true)).toMatchObject({ passed: 0, failures: [{ file: '' }] })
  })

  it('is nothing at all for a package without tests', () => {
    expect(packageResult(orders, { testResults: [] }, false)).toMatchObject({ passed: 0, failures: [], skipped: [] })
  })
})

describe('a report’s text', () => {
  it.each(['', '{"testResults":', '[]', 'null', '{}', '{"testResults":7}'])('is refused when it is %j', (text) => {
    expect(parseReport(text)).toBeUndefined()
  })

  it('is read when it is whole', () => {
    expect(parseReport('{"testResults":[]}')).toEqual({ testResults: [] })
  })
})
