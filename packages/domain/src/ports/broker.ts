// The broker, read through a connectivity provider. Every failure says what is known: a read is never refused, never half true, and
// never turns into an empty list (specification 4.3 rule 3).
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { AccountReading, BrokerAccount } from '../accounts/account.ts'
import type { BrokerReadError, HistoryTooLarge } from '../errors.ts'
import type { PositionsReading, Side } from '../positions/position.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Deal } from '../trades/deal.ts'

/** The most deals of one account that are read (specification 8). */
export const maxHistoryDeals = 20_000

/** What a margin calculation is asked for. Volume in lots. */
export interface MarginQuery {
  readonly symbol: string
  readonly side: Side
  readonly volume: number
  readonly openPrice: number
}

/** Every deal of an account, each once, in the order in which the provider gave them. */
export interface DealsReading {
  readonly deals: readonly Deal[]
  readonly readAt: Instant
}

export interface Broker {
  /** The provider's name for meta.provenance. */
  readonly source: string
  readonly accountInformation: (account: BrokerAccount) => TE.TaskEither<BrokerReadError, AccountReading>
  readonly positions: (account: BrokerAccount) => TE.TaskEither<BrokerReadError, PositionsReading>
  /** From the account's beginning. HistoryTooLarge above `maxHistoryDeals`, counting every deal once, whatever its type. */
  readonly deals: (account: BrokerAccount) => TE.TaskEither<BrokerReadError | HistoryTooLarge, DealsReading>
  /** In the account's currency; none where the provider cannot compute it. */
  readonly requiredMargin: (account: BrokerAccount, query: MarginQuery) => TE.TaskEither<BrokerReadError, O.Option<number>>
}
