// The broker with its positions kept for 2.5 seconds and its margins for a minute. Account
// information passes through: it is kept together with its recording, by `cachedLiveAccounts`.
// Deals pass through: the journal keeps them.
import type { BrokerReadError } from '@tradeport/domain/errors'
import type { Broker, Clock, PositionDesk } from '@tradeport/domain/ports'
import type { PositionsReading } from '@tradeport/domain/positions'
import type { AccountId, Instant } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { LRUCache } from 'lru-cache'
import { accountKey, accountOfKey } from './account-key.ts'
import type { ForgetsAccounts } from './account-key.ts'
import { createCallGate } from './call-gate.ts'
import { createSingleFlightCache } from './single-flight-cache.ts'
import type { Tallies } from './single-flight-cache.ts'

const positionsTtlMs = 2_500
const marginTtlMs = 60_000
/** For how long after a change positions are read from the terminal. */
const freshMs = 30_000
const maxMarginCalls = 4

const maxAccounts = 10_000
/** Some 2.5 KB each with its margin and its text. */
const maxPositions = 100_000
const maxMargins = 100_000
const maxMarginCallMs = 60_000
/**
 * A margin is a detail of a position, which is told without it rather than late: calls wait for one
 * another, and each may take long.
 */
const maxMarginWaitMs = 4_000

export interface CachedBrokerOptions {
  readonly clock: Clock
  /**
   * Reads what the broker's terminal has now, which asks more of the provider than its own copy
   * does.
   */
  readonly desk: Pick<PositionDesk, 'freshPositions'>
  readonly tallies?: Tallies | undefined
}

/**
 * Failures are not kept. That the provider cannot compute a margin is an answer, and kept like a
 * number.
 *
 * The provider answers reads from a copy of the terminal that follows it with some delay. An
 * account that was forgotten has just been changed: from then on, for half a minute, its positions
 * are read from the terminal, or the next read could show what was before the change.
 */
export const cachedBroker = (
  broker: Broker,
  { clock, desk, tallies }: CachedBrokerOptions,
): Broker & ForgetsAccounts => {
  const positions = createSingleFlightCache<string, BrokerReadError, PositionsReading>({
    clock,
    ttlMs: positionsTtlMs,
    maxEntries: maxAccounts,
    maxWeight: maxPositions,
    weigh: (reading) => 1 + reading.positions.length,
    groupOf: accountOfKey,
    tally: tallies?.('positions'),
  })
  const margins = createSingleFlightCache<string, BrokerReadError, O.Option<number>>({
    clock,
    ttlMs: marginTtlMs,
    maxEntries: maxMargins,
    groupOf: accountOfKey,
    tally: tallies?.('margins'),
  })
  const forgottenAt = new LRUCache<AccountId, Instant>({ max: maxAccounts })
  // Also where the clock was set back meanwhile.
  const isJustChanged = (accountId: AccountId): boolean =>
    clock.now() - (forgottenAt.get(accountId) ?? -Infinity) < freshMs
  const gate = createCallGate({ clock, maxCalls: maxMarginCalls, maxCallMs: maxMarginCallMs })
  return {
    ...broker,
    positions: (account) =>
      positions.read(accountKey(account), () =>
        (isJustChanged(account.accountId)
          ? desk.freshPositions(account)
          : broker.positions(account))(),
      ),
    requiredMargin: (account, query) => {
      const { symbol, side, volume, openPrice } = query
      const call = gate.through(account.accountId, broker.requiredMargin(account, query))
      return inPatience(
        margins.read(accountKey(account, symbol, side, volume, openPrice), call),
        maxMarginWaitMs,
      )
    },
    forget: (accountId) => {
      forgottenAt.set(accountId, clock.now())
      positions.dropGroup(accountId)
      margins.dropGroup(accountId)
    },
  }
}

/**
 * What comes of a read, or nothing where it takes longer; the read goes on, and is there for who
 * asks next.
 */
const inPatience =
  <A>(
    read: TE.TaskEither<BrokerReadError, O.Option<A>>,
    ms: number,
  ): TE.TaskEither<BrokerReadError, O.Option<A>> =>
  () =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(E.right(O.none)), ms)
      read()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer))
    })
