// The figures of section 8.1, and who shares what.
import { describe, expect, it } from 'vitest'
import { plans } from '../../src/access/credential.ts'
import { endpointBucket, minuteBucket, rateSubjectKey, tiers } from '../../src/access/rate-limits.ts'
import { newRateSubject } from '../../src/testing/rate-arbitraries.ts'

describe('the tiers (8.1)', () => {
  it('are these three', () => {
    expect(tiers).toEqual({
      free: { requestsPerMinute: 100, burst: 200, requestsPerDay: 10_000 },
      pro: { requestsPerMinute: 1_000, burst: 2_000, requestsPerDay: 100_000 },
      enterprise: { requestsPerMinute: 10_000, burst: 20_000, requestsPerDay: 1_000_000 },
    })
  })

  it('hold the burst on top of a minute, and give back one request after another', () => {
    expect(plans.map(minuteBucket)).toEqual([
      { size: 300, intervalMs: 600 },
      { size: 3_000, intervalMs: 60 },
      { size: 30_000, intervalMs: 6 },
    ])
  })
})

describe('the bucket of an endpoint (8.1 rule 3; decision 13)', () => {
  it.each([
    [
      { requests: 10, periodSeconds: 3_600 },
      { size: 10, intervalMs: 360_000 },
    ],
    [
      { requests: 200, periodSeconds: 60 },
      { size: 200, intervalMs: 300 },
    ],
    // Never more than the figure in a period, also where it does not divide it.
    [
      { requests: 7, periodSeconds: 60 },
      { size: 7, intervalMs: 8_572 },
    ],
  ])('of %j is %j', (limit, bucket) => {
    expect(endpointBucket({ route: 'GET /things', ...limit })).toEqual(bucket)
  })
})

describe('a subject (8.1 rule 1)', () => {
  const token = { ...newRateSubject(), kind: 'access_token', applicationId: 'app' } as const
  const { owner } = token

  it('is each key by itself, and all tokens of one application for one user', () => {
    expect(rateSubjectKey({ ...token, id: 'one' })).toBe(rateSubjectKey({ ...token, id: 'other' }))
    expect(rateSubjectKey({ ...token, kind: 'api_key', id: 'one' })).not.toBe(rateSubjectKey({ ...token, kind: 'api_key', id: 'other' }))
  })

  it('never takes one for another, whatever they are called', () => {
    const named = (tenantId: string, userId: string, applicationId: string) =>
      rateSubjectKey({ ...token, owner: { tenantId, userId } as typeof owner, applicationId })
    const keys = [
      named('a', 'b', 'c'),
      named('a', 'b', 'c d'),
      named('a', 'c', 'b'),
      named('b', 'a', 'c'),
      rateSubjectKey({ ...token, kind: 'api_key', id: 'a' }),
      rateSubjectKey({ ...token, kind: 'api_key', id: 'app' }),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })
})
