// Calls to the provider are returned unchanged, and observed by kind and outcome.
import { brokerRateLimited, refuse, type BrokerChangeError } from '@tradeport/domain/errors'
import type { LookupAnswer, PlacementAnswer } from '@tradeport/domain/orders'
import type { AccountId } from '@tradeport/domain/primitives'
import type { Trading } from '@tradeport/domain/ports'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import { meteredBroker, meteredPositionTrading, meteredTrading } from '../src/index.ts'

const accountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId
const anything = {} as never
const metering = () => {
  const observed: string[] = []
  return {
    observed,
    observe: (call: string, outcome: string, durationMs: number) =>
      void observed.push(`${call} ${outcome} ${durationMs >= 0}`),
  }
}
const reads = ['account_information', 'positions', 'deals', 'required_margin']
const changes = ['fresh_positions', 'set_levels', 'close_position']

it.each<readonly [failure: BrokerChangeError | undefined, outcome: string]>([
  [undefined, 'ok'],
  [refuse('BrokerUnavailable', { accountId, reason: 'no connection' }), 'unavailable'],
  [brokerRateLimited(accountId, 1, 0), 'rate_limited'],
  [refuse('NotProvisioned', { accountId }), 'not_provisioned'],
  [refuse('UnsupportedBroker', { accountId }), 'not_provisioned'],
  [refuse('TradeRejected', { code: 'TRADE_RETCODE_REJECT', message: 'no' }), 'rejected'],
  [refuse('BrokerOutcomeUnknown', { accountId }), 'unknown'],
  [refuse('PositionNotFound'), 'not_found'],
])(
  'a read or change that ends with %j is returned unchanged and observed as %s when it ends',
  async (failure, outcome) => {
    const { observed, observe } = metering()
    const result: TE.TaskEither<never, never> =
      failure === undefined ? TE.right(anything) : TE.left(failure as never)
    const answer = () => result
    const broker = meteredBroker(
      {
        source: 'provider',
        accountInformation: answer,
        positions: answer,
        dealsPage: answer,
        requiredMargin: answer,
      },
      observe,
    )
    const desk = meteredPositionTrading(
      { freshPositions: answer, setLevels: answer, closePosition: answer },
      observe,
    )
    const tasks = [
      broker.accountInformation(anything),
      broker.positions(anything),
      broker.dealsPage(anything, anything),
      broker.requiredMargin(anything, anything),
      desk.freshPositions(anything),
      desk.setLevels(anything, anything, anything, anything),
      desk.closePosition(anything, anything, null, anything),
    ]
    expect(observed).toEqual([])
    for (const task of tasks) expect(await task()).toEqual(await result())
    expect(observed).toEqual([...reads, ...changes].map((call) => `${call} ${outcome} true`))
  },
)

const noTrading: Trading = {
  placeOrder: anything,
  findOrder: anything,
  workingOrders: anything,
  modifyOrder: anything,
  cancelOrder: anything,
}

it.each<readonly [PlacementAnswer, string]>([
  [{ kind: 'filled', fill: {} }, 'ok'],
  [{ kind: 'placed', brokerOrderId: null }, 'ok'],
  [{ kind: 'refused', reason: { code: 'X', message: 'no' } }, 'rejected'],
  [{ kind: 'not_sent', retryAfterMs: null }, 'unavailable'],
  [{ kind: 'unknown' }, 'unknown'],
])('an order that is answered %j is observed as %s', async (answer, outcome) => {
  const { observed, observe } = metering()
  const trading = meteredTrading({ ...noTrading, placeOrder: () => T.of(answer) }, observe)
  expect(await trading.placeOrder(anything, anything, anything)()).toBe(answer)
  expect(observed).toEqual([`place_order ${outcome} true`])
})

it.each<readonly [LookupAnswer, string]>([
  [{ kind: 'found', outcome: { kind: 'filled', fill: {} } }, 'ok'],
  [{ kind: 'nothing' }, 'ok'],
  [{ kind: 'unreadable' }, 'unavailable'],
])('a lookup that is answered %j is observed as %s', async (answer, outcome) => {
  const { observed, observe } = metering()
  const trading = meteredTrading({ ...noTrading, findOrder: () => T.of(answer) }, observe)
  expect(await trading.findOrder(anything, anything)()).toBe(answer)
  expect(observed).toEqual([`find_order ${outcome} true`])
})
