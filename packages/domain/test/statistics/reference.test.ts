// Intervals and quantiles against a reference computed with 40 digits. The file is in the folder
// that TEST_HISTORIES names; without it the test is shown as skipped.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { meanInterval, wilsonInterval } from '../../src/statistics/intervals.ts'
import { studentTQuantile } from '../../src/statistics/student-t-quantile.ts'
import { expectRelative } from './expect-relative.ts'

const folder = process.env['TEST_HISTORIES'] ?? ''
const file = join(folder, 'statistics-reference.json')

type Bounds = { readonly lower: number; readonly upper: number }
type Reference = {
  readonly wilson: readonly (Bounds & { readonly n: number; readonly wins: number })[]
  readonly studentT975: readonly { readonly df: number; readonly t: number }[]
  readonly meanIntervals: readonly (Bounds & { readonly values?: readonly number[] })[]
}

const reference = (): Reference => JSON.parse(readFileSync(file, 'utf8')) as Reference

describe.skipIf(!existsSync(file))(
  `the reference of 40 digits (skipped where there is no ${existsSync(file) ? 'file' : file})`,
  () => {
    it('gives the Wilson intervals', () => {
      for (const { n, wins, lower, upper } of reference().wilson) {
        const interval = wilsonInterval(wins, n) as Bounds
        expectRelative(interval.lower, lower, 1e-13)
        expectRelative(interval.upper, upper, 1e-13)
      }
    })

    it('gives the quantiles of Student t', () => {
      for (const { df, t } of reference().studentT975)
        expectRelative(studentTQuantile(0.975, df), t, 1e-13)
    })

    it('gives the t intervals of means', () => {
      // One sample is named by a rule and has no values.
      for (const { values, lower, upper } of reference().meanIntervals) {
        const interval = values && (meanInterval(values) as Bounds)
        if (interval === undefined) continue
        expectRelative(interval.lower, lower, 1e-12)
        expectRelative(interval.upper, upper, 1e-12)
      }
    })
  },
)
