// Whoever reads positions after a change was answered sees that change or a later one, even if
// reads are in progress, cached or from the copy that lags. Reads and changes begin, execute and
// end in any order.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { PositionTrading } from '@tradeport/domain/ports'
import type { PositionsReading } from '@tradeport/domain/positions'
import type { Ticket } from '@tradeport/domain/primitives'
import { someOwner, createFakeBroker, newAccountId } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cachedBroker } from '../src/index.ts'
import { createMovableClock, ended } from './clock.ts'

const account: BrokerAccount = {
  accountId: newAccountId(),
  owner: someOwner,
  platform: 'mt5',
  providerAccountId: 'provider-1',
  region: null,
}
const ticket = '46648037' as Ticket
/** The longest lag of the copy, less than the time for which it is not used after a change. */
const maxLagMs = 25_000

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('read', 'deliver', 'change', 'execute', 'answer') }),
    fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: 0, max: 10_000 }) }),
  ),
  { minLength: 10, maxLength: 40, size: 'max' },
)

/** A broker whose stop loss is the number of the last executed change, and a copy that lags. */
const createVenue = (lagMs: number) => {
  const clock = createMovableClock()
  const executed: { readonly level: number; readonly at: number }[] = []
  const reads: (() => void)[] = []
  const levelAt = (at: number) => executed.findLast((one) => one.at <= at)?.level ?? 0
  // The result of a read is decided when it begins and delivered later.
  const read = (level: number): Promise<E.Either<never, PositionsReading>> =>
    new Promise((resolve) => {
      reads.push(() =>
        resolve(
          E.right({ positions: [{ ticket, stopLoss: level } as never], readAt: clock.now() }),
        ),
      )
    })
  const broker = {
    ...createFakeBroker(clock),
    positions: () => () => read(levelAt(clock.now() - lagMs)),
  }
  const pending: { readonly level: number; isExecuted: boolean; readonly answer: () => void }[] = []
  const positionTrading: PositionTrading = {
    freshPositions: () => () => read(levelAt(clock.now())),
    closePosition: () => expect.fail('nothing is closed'),
    setLevels:
      (_, __, { stopLoss: level = 0 }) =>
      () =>
        new Promise((resolve) => {
          pending.push({
            level,
            isExecuted: false,
            answer: () => resolve(E.right({ progress: 'done', brokerOrderId: null })),
          })
        }),
  }
  const executeNext = () => {
    const next = pending.find(({ isExecuted }) => !isExecuted)
    if (next === undefined) return
    next.isExecuted = true
    executed.push({ level: next.level, at: clock.now() })
  }
  const answerFirst = () => {
    const [first] = pending
    if (first?.isExecuted === true) pending.shift()?.answer()
  }
  return {
    clock,
    broker,
    positionTrading,
    executeNext,
    answerFirst,
    deliver: () => reads.shift()?.(),
  }
}

it('positions show every change that was answered before they were read', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 0, max: maxLagMs }), async (run, lagMs) => {
      const { clock, broker, positionTrading, executeNext, answerFirst, deliver } =
        createVenue(lagMs)
      const cached = cachedBroker(broker, { clock, positionTrading })
      const checks = []
      let level = 0
      let answered = 0
      const check = async () => {
        const wanted = answered
        const result = await cached.positions(account)()
        if (E.isRight(result))
          expect(result.right.positions[0]?.stopLoss).toBeGreaterThanOrEqual(wanted)
      }
      const change = async (stopLoss: number) => {
        await positionTrading.setLevels(account, ticket, { stopLoss }, () => true)()
        cached.invalidate(account.accountId)
        answered = stopLoss
      }
      for (const step of run) {
        if (step.kind === 'read') checks.push(check())
        if (step.kind === 'change') void change((level += 1))
        if (step.kind === 'deliver') deliver()
        if (step.kind === 'execute') executeNext()
        if (step.kind === 'answer') answerFirst()
        if (step.kind === 'wait') clock.advance(step.ms)
        await ended()
      }
      for (let left = checks.length; left > 0; left -= 1) {
        deliver()
        await ended()
      }
      await Promise.all(checks)
    }),
    { numRuns: 100 },
  )
})
