// Calls to the provider: given on as they are, and told to the meter by kind and by what is known of their end.
import {
  brokerOutcomeUnknown,
  brokerRateLimited,
  brokerUnavailable,
  notProvisioned,
  positionNotFound,
  tradeRejected,
  unsupportedBroker,
} from '@tradeport/domain'
import type { AccountId, Broker, LookupAnswer, PlacementAnswer, PositionDesk, Trading } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { meteredBroker, meteredPositionDesk, meteredTrading } from '../src/index.ts'

const accountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId
const anything = {} as never
const metering = () => {
  const told: string[] = []
  return { told, observe: (call: string, outcome: string, durationMs: number) => void told.push(`${call} ${outcome} ${durationMs >= 0}`) }
}

const failures = [
  [brokerUnavailable(accountId, 'no connection'), 'unavailable'],
  [brokerRateLimited(accountId, 1, 0), 'rate_limited'],
  [notProvisioned(accountId), 'not_provisioned'],
  [unsupportedBroker(accountId), 'not_provisioned'],
] as const

const changeFailures = [
  ...failures,
  [tradeRejected('TRADE_RETCODE_REJECT', 'no'), 'rejected'],
  [brokerOutcomeUnknown(accountId), 'unknown'],
  [positionNotFound, 'not_found'],
] as const

const brokerOf = (result: TE.TaskEither<never, never>): Broker => ({
  source: 'provider',
  accountInformation: () => result,
  positions: () => result,
  dealsPage: () => result,
  requiredMargin: () => result,
})

const calls = (broker: Broker) =>
  [
    ['account_information', broker.accountInformation(anything)],
    ['positions', broker.positions(anything)],
    ['deals', broker.dealsPage(anything, anything)],
    ['required_margin', broker.requiredMargin(anything, anything)],
  ] as const

describe('reads', () => {
  it('that bring something', async () => {
    const { told, observe } = metering()
    const reading = {} as never
    const broker = meteredBroker(brokerOf(TE.right(reading)), observe)
    expect(broker.source).toBe('provider')
    for (const [call, task] of calls(broker)) {
      const result = await task()
      expect(result).toEqual({ _tag: 'Right', right: reading })
      expect(told.splice(0)).toEqual([`${call} ok true`])
    }
  })

  it.each(failures)('that bring %j', async (failure, outcome) => {
    const { told, observe } = metering()
    for (const [call, task] of calls(meteredBroker(brokerOf(TE.left(failure as never)), observe))) {
      expect(await task()).toEqual({ _tag: 'Left', left: failure })
      expect(told.splice(0)).toEqual([`${call} ${outcome} true`])
    }
  })

  it('that are not made are not told', () => {
    const { told, observe } = metering()
    meteredBroker(brokerOf(TE.right(anything)), observe).positions(anything)
    expect(told).toEqual([])
  })
})

const deskOf = (result: TE.TaskEither<never, never>): PositionDesk => ({
  freshPositions: () => result,
  setLevels: () => result,
  closePosition: () => result,
})

describe('changes of positions', () => {
  it.each(changeFailures)('that bring %j', async (failure, outcome) => {
    const { told, observe } = metering()
    const desk = meteredPositionDesk(deskOf(TE.left(failure as never)), observe)
    await desk.freshPositions(anything)()
    await desk.setLevels(anything, anything, anything, anything)()
    expect(await desk.closePosition(anything, anything, null, anything)()).toEqual({ _tag: 'Left', left: failure })
    expect(told).toEqual(['fresh_positions', 'set_levels', 'close_position'].map((call) => `${call} ${outcome} true`))
  })
})

describe('orders', () => {
  const placements: readonly (readonly [PlacementAnswer, string])[] = [
    [{ kind: 'filled', fill: {} }, 'ok'],
    [{ kind: 'partially_filled', fill: {} }, 'ok'],
    [{ kind: 'placed', orderId: null }, 'ok'],
    [{ kind: 'refused', reason: { code: 'X', message: 'no' } }, 'rejected'],
    [{ kind: 'not_sent', retryAfterMs: null }, 'unavailable'],
    [{ kind: 'unknown' }, 'unknown'],
  ]
  it.each(placements)('that are answered %j', async (answer, outcome) => {
    const { told, observe } = metering()
    const trading: Trading = { placeOrder: () => () => Promise.resolve(answer), findOrder: anything }
    expect(await meteredTrading(trading, observe).placeOrder(anything, anything, anything)()).toBe(answer)
    expect(told).toEqual([`place_order ${outcome} true`])
  })

  const lookups: readonly (readonly [LookupAnswer, string])[] = [
    [{ kind: 'found', settlement: { kind: 'filled', fill: {} } }, 'ok'],
    [{ kind: 'working' }, 'ok'],
    [{ kind: 'nothing' }, 'ok'],
    [{ kind: 'unreadable' }, 'unavailable'],
  ]
  it.each(lookups)('that are looked up: %j', async (answer, outcome) => {
    const { told, observe } = metering()
    const trading: Trading = { placeOrder: anything, findOrder: () => () => Promise.resolve(answer) }
    expect(await meteredTrading(trading, observe).findOrder(anything, anything)()).toBe(answer)
    expect(told).toEqual([`find_order ${outcome} true`])
  })
})
