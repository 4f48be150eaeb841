// Laws of leaving an account alone: however it is asked, a dead one gets one call after each pause,
// and one that works is never left alone.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccountPauses } from '../src/account-pauses.ts'
import type { Attempt } from '../src/account-pauses.ts'

const steps = fc.array(
  fc.record({
    waitMs: fc.nat({ max: 3_000 }),
    what: fc.constantFrom('ask' as const, 'fail' as const, 'succeed' as const, 'leave' as const),
  }),
  { maxLength: 80 },
)

/**
 * Runs the steps; calls are begun and ended in any order, and `succeed` counts only where the
 * account works.
 */
const run = (
  plan: readonly { readonly waitMs: number; readonly what: 'ask' | 'fail' | 'succeed' | 'leave' }[],
  works: boolean,
) => {
  let now = 0
  const pauses = createAccountPauses<string>(
    { firstMs: 1_000, longestMs: 8_000 },
    { elapsedMs: () => now },
  )
  const open: Attempt<string>[] = []
  const log: {
    readonly at: number
    readonly kind: 'go' | 'paused'
    readonly openBefore: number
  }[] = []
  const failures: number[] = []
  for (const { waitMs, what } of plan) {
    now += waitMs
    if (what === 'ask') {
      const admission = pauses.begin('own')
      log.push({ at: now, kind: admission.kind, openBefore: open.length })
      if (admission.kind === 'go') open.push(admission.attempt)
      else expect(admission.failure).toBe('dead')
    } else {
      const attempt = open.shift()
      if (attempt === undefined) continue
      if (what !== 'leave' && works) attempt.succeeded()
      if (what === 'fail' && !works) {
        attempt.failed('dead')
        failures.push(now)
      }
      attempt.over()
    }
    expect(pauses.begin('another')).toMatchObject({ kind: 'go' })
  }
  return { log, failures }
}

describe('an account', () => {
  it('that works is never left alone', () => {
    fc.assert(
      fc.property(steps, (plan) => {
        expect(run(plan, true).log.filter(({ kind }) => kind === 'paused')).toEqual([])
      }),
    )
  })

  it('that is dead is not called within the first pause after a failure', () => {
    fc.assert(
      fc.property(steps, (plan) => {
        const { log, failures } = run(plan, false)
        const first = failures[0] ?? Number.POSITIVE_INFINITY
        expect(
          log.filter(({ at, kind }) => kind === 'go' && at > first && at < first + 1_000),
        ).toEqual([])
      }),
    )
  })

  it('that is dead is called by one at a time after its first pause', () => {
    fc.assert(
      fc.property(steps, (plan) => {
        const { log, failures } = run(plan, false)
        const [first] = failures
        if (first === undefined) return
        const trials = log.filter(({ at, kind }) => kind === 'go' && at > first)
        // Calls that were begun before the first failure may still be open; no trial is begun
        // beside another.
        const early = log.filter(({ at, kind }) => kind === 'go' && at <= first).length
        for (const { openBefore } of trials)
          expect(openBefore).toBeLessThanOrEqual(Math.max(0, early - 1))
      }),
    )
  })

  it('that answered one call is not left alone for another that was begun before', () => {
    const pauses = createAccountPauses<string>(
      { firstMs: 1_000, longestMs: 8_000 },
      { elapsedMs: () => 0 },
    )
    const [slow, quick] = [pauses.begin('own'), pauses.begin('own')]
    if (slow.kind !== 'go' || quick.kind !== 'go') throw new Error('Expected both to go')
    quick.attempt.succeeded()
    slow.attempt.failed('slow')
    expect(pauses.begin('own').kind).toBe('go')
  })

  it.each([1, 5])(
    'whose trial says nothing is tried again, by one of %d that wait',
    async (waiting) => {
      let now = 0
      const pauses = createAccountPauses<string>(
        { firstMs: 1_000, longestMs: 8_000 },
        { elapsedMs: () => now },
      )
      const first = pauses.begin('own')
      if (first.kind === 'go') first.attempt.failed('dead')
      now += 1_000
      const trial = pauses.begin('own')
      const others = Array.from({ length: waiting }, () => pauses.begin('own'))
      expect([trial.kind, ...others.map(({ kind }) => kind)]).toEqual([
        'go',
        ...others.map(() => 'paused'),
      ])
      if (trial.kind === 'go') trial.attempt.over()
      for (const other of others) if (other.kind === 'paused') await other.trial
      expect([pauses.begin('own').kind, pauses.begin('own').kind]).toEqual(['go', 'paused'])
    },
  )
})
