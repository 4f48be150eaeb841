// The broker, read through a connectivity provider. Every failure says what is known: a read is
// never refused, never half true, and never turns into an empty list.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { AccountReading, BrokerAccount } from '../accounts/account.ts'
import type { BrokerReadError } from '../errors.ts'
import type { DealsPage, DealsWindow } from '../journal/broker-deal.ts'
import type { PositionsReading, Side } from '../positions/position.ts'

/** The most deals of one account that are read. */
export const maxHistoryDeals = 20_000

/** What a margin calculation is asked for. Volume in lots. */
export interface MarginQuery {
  readonly symbol: string
  readonly side: Side
  readonly volume: number
  readonly openPrice: number
}

export interface Broker {
  /** The provider's name for meta.provenance. */
  readonly source: string
  readonly accountInformation: (
    account: BrokerAccount,
  ) => TE.TaskEither<BrokerReadError, AccountReading>
  readonly positions: (account: BrokerAccount) => TE.TaskEither<BrokerReadError, PositionsReading>
  /**
   * A page of the account's history. Pages may repeat a deal, and give deals in any order. Fails
   * while the provider is still loading the history.
   */
  readonly dealsPage: (
    account: BrokerAccount,
    window: DealsWindow,
  ) => TE.TaskEither<BrokerReadError, DealsPage>
  /** In the account's currency; none where the provider cannot compute it. */
  readonly requiredMargin: (
    account: BrokerAccount,
    query: MarginQuery,
  ) => TE.TaskEither<BrokerReadError, O.Option<number>>
}
