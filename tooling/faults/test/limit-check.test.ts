import { describe, expect, it } from 'vitest'
import { checkPassed } from '../src/limit-check.ts'

describe('checkPassed', () => {
  it('keeps quiet about what a bucket holds and gets back', () => {
    expect(checkPassed('here', { count: 300, elapsedMs: 0 }, 300, 300)).toEqual([])
    expect(checkPassed('here', { count: 310, elapsedMs: 6_000 }, 300, 300)).toEqual([])
  })

  it('tells a request that was refused too early', () => {
    expect(checkPassed('here', { count: 299, elapsedMs: 6_000 }, 300, 300)).toEqual([expect.stringContaining('refused after 299')])
  })

  it('tells requests that were waved through', () => {
    expect(checkPassed('here', { count: 600, elapsedMs: 6_000 }, 300, 300)).toEqual([expect.stringContaining('no more than 311 may')])
  })
})
