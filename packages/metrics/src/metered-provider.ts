// The ports that are filled by the broker's provider, with every call measured.
import type { BrokerChangeError } from '@tradeport/domain/errors'
import type { LookupAnswer, PlacementAnswer } from '@tradeport/domain/orders'
import type { Broker, PositionDesk, Trading } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import type * as T from 'fp-ts/lib/Task.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { outcomeOfFailure } from './provider-calls.ts'
import type { ObserveProviderCall, ProviderCallKind, ProviderOutcome } from './provider-calls.ts'

export const meteredBroker = (broker: Broker, observe: ObserveProviderCall): Broker => ({
  source: broker.source,
  accountInformation: (account) =>
    metered(observe, 'account_information', broker.accountInformation(account)),
  positions: (account) => metered(observe, 'positions', broker.positions(account)),
  dealsPage: (account, window) => metered(observe, 'deals', broker.dealsPage(account, window)),
  requiredMargin: (account, query) =>
    metered(observe, 'required_margin', broker.requiredMargin(account, query)),
})

export const meteredTrading = (trading: Trading, observe: ObserveProviderCall): Trading => ({
  placeOrder: (account, order, maySend) =>
    timed(observe, 'place_order', placementOutcome, trading.placeOrder(account, order, maySend)),
  findOrder: (account, sent) =>
    timed(observe, 'find_order', lookupOutcome, trading.findOrder(account, sent)),
})

export const meteredPositionDesk = (
  desk: PositionDesk,
  observe: ObserveProviderCall,
): PositionDesk => ({
  freshPositions: (account) => metered(observe, 'fresh_positions', desk.freshPositions(account)),
  setLevels: (account, ticket, levels, maySend) =>
    metered(observe, 'set_levels', desk.setLevels(account, ticket, levels, maySend)),
  closePosition: (account, ticket, volume, maySend) =>
    metered(observe, 'close_position', desk.closePosition(account, ticket, volume, maySend)),
})

const placementOutcome = ({ kind }: PlacementAnswer): ProviderOutcome => {
  switch (kind) {
    case 'filled':
    case 'partially_filled':
    case 'placed':
      return 'ok'
    case 'refused':
      return 'rejected'
    case 'not_sent':
      return 'unavailable'
    case 'unknown':
      return 'unknown'
  }
}

const lookupOutcome = ({ kind }: LookupAnswer): ProviderOutcome =>
  kind === 'unreadable' ? 'unavailable' : 'ok'

const metered = <F extends BrokerChangeError, A>(
  observe: ObserveProviderCall,
  call: ProviderCallKind,
  task: TE.TaskEither<F, A>,
): TE.TaskEither<F, A> =>
  timed(
    observe,
    call,
    (result) => (E.isLeft(result) ? outcomeOfFailure[result.left._tag] : 'ok'),
    task,
  )

const timed =
  <A>(
    observe: ObserveProviderCall,
    call: ProviderCallKind,
    outcomeOf: (result: A) => ProviderOutcome,
    task: T.Task<A>,
  ): T.Task<A> =>
  async () => {
    const startedAt = performance.now()
    const result = await task()
    observe(call, outcomeOf(result), performance.now() - startedAt)
    return result
  }
