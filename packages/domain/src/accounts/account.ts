// A linked broker account and what a live read makes of it (docs/behaviour.md#accounts).
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { refuse, type Halt, type Refusal } from '../errors.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import { minuteMs, type Instant } from '../primitives/instant.ts'

export const accountPurposes = ['trading', 'introducing_broker', 'trade_copier'] as const

export const accountStatuses = ['connected', 'disconnected', 'syncing', 'error'] as const

/** What the broker reports the account to be; `unconfirmed` where a read did not report it. */
export type TradeMode = 'demo' | 'contest' | 'real' | 'unconfirmed'

/** Platform code of the platform's own practice accounts, which no broker holds. */
const paperPlatform = 'paper'

/** Money in the account's currency; null until a broker read supplied it. */
export interface AccountFigures {
  readonly balance: number
  readonly equity: number
  readonly margin: number
  readonly freeMargin: number | null
  /** Percent. */
  readonly marginLevel: number | null
  readonly leverage: number | null
}

export interface Account {
  readonly id: AccountId
  readonly owner: Owner
  readonly name: string
  readonly broker: string | null
  /** Platform code: mt4 and mt5 are supported. */
  readonly brokerType: string
  readonly accountNumber: string
  readonly server: string
  readonly purpose: (typeof accountPurposes)[number]
  /** As linked; `isDemo` decides. */
  readonly linkedAsDemo: boolean
  /** As the broker reports; null while it was never read. */
  readonly tradeMode: TradeMode | null
  readonly currency: string
  readonly figures: AccountFigures
  readonly status: (typeof accountStatuses)[number]
  /** Where the provider knows it; null while it is not provisioned. */
  readonly provider: ProviderLink | null
  /** The last good live read. */
  readonly lastReadAt: Instant | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

interface ProviderLink {
  readonly providerAccountId: string
  /** The provider's region; null where the link names none. */
  readonly region: string | null
}

/** An account as the broker port accepts it. */
export interface BrokerAccount extends ProviderLink {
  readonly accountId: AccountId
  readonly owner: Owner
  readonly platform: 'mt4' | 'mt5'
}

export type AccountLink = Pick<Account, 'id' | 'brokerType' | 'provider'>

/**
 * Whether both are linked to one account at the broker: a reading of another does not apply to
 * it.
 */
export const isSameLink = (one: AccountLink, other: AccountLink): boolean =>
  one.id === other.id &&
  one.brokerType === other.brokerType &&
  one.provider?.providerAccountId === other.provider?.providerAccountId

/** Whether both are one account at one broker, in whatever region the provider runs it. */
export const isSameBrokerAccount = (one: BrokerAccount, other: BrokerAccount): boolean =>
  one.platform === other.platform && one.providerAccountId === other.providerAccountId

/** Longer than a read takes. */
const longestReadMs = minuteMs

/**
 * Whether a read at `at` began before the last one that is stored. Where it is older by more than a
 * read takes, a clock was set back meanwhile, and which of the two is older is not known: it
 * counts.
 */
export const isOvertaken = ({ lastReadAt }: Pick<Account, 'lastReadAt'>, at: Instant): boolean =>
  lastReadAt !== null && at < lastReadAt && lastReadAt - at < longestReadMs

/** What one live read of an account shows. */
export interface AccountReading {
  readonly tradeMode: TradeMode
  /** null where the broker did not name itself. */
  readonly broker: string | null
  /** null where the broker did not report it. */
  readonly currency: string | null
  readonly figures: AccountFigures
  /** What the broker lends, which is in the equity and not in the balance; absent without any. */
  readonly credit?: number
  /** When the read began: the figures are no older. */
  readonly readAt: Instant
}

/**
 * True only for a confirmed demo account: the broker reports it, or the link does and the broker
 * was never read.
 */
export const isDemo = (account: Account): boolean =>
  account.tradeMode === null ? account.linkedAsDemo : account.tradeMode === 'demo'

export const isPaper = (account: Account): boolean => account.brokerType === paperPlatform

/** Whether a list reads the account live: mt4 or mt5, and neither disconnected nor syncing. */
export const isReadLive = (account: Account): boolean =>
  (account.brokerType === 'mt4' || account.brokerType === 'mt5') &&
  (account.status === 'connected' || account.status === 'error')

/** The account for the broker port, or why there is none. */
export const requireBrokerAccount = (
  account: Account,
): E.Either<Refusal<'UnsupportedBroker' | 'NotProvisioned'>, BrokerAccount> => {
  const { id: accountId, owner, brokerType, provider } = account
  if (brokerType !== 'mt4' && brokerType !== 'mt5')
    return E.left(refuse('UnsupportedBroker', { accountId }))
  if (provider === null) return E.left(refuse('NotProvisioned', { accountId }))
  return E.right({ accountId, owner, platform: brokerType, ...provider })
}

/**
 * The account as a broker account where it is still linked to the given one; undefined where it is
 * linked to another or to none. Its region may be another: the provider moves accounts.
 */
export const presentLinkTo = (
  given: BrokerAccount,
  account: Account,
): BrokerAccount | undefined => {
  const linked = requireBrokerAccount(account)
  return E.isRight(linked) && isSameBrokerAccount(linked.right, given) ? linked.right : undefined
}

export const requireTradingPurpose = (
  account: Account,
): E.Either<Refusal<'AccountPurposeRestricted'>, Account> =>
  account.purpose === 'trading' ? E.right(account) : E.left(refuse('AccountPurposeRestricted'))

export const requireDemo = (
  account: Account,
): E.Either<Refusal<'LiveAccountRestricted'>, Account> =>
  isDemo(account) ? E.right(account) : E.left(refuse('LiveAccountRestricted'))

/**
 * Orders and changes are for demo accounts that are classified for trading: the purpose is checked
 * first.
 */
export const requireTradable = (
  account: Account,
): E.Either<Refusal<'AccountPurposeRestricted' | 'LiveAccountRestricted'>, Account> =>
  E.flatMap(requireTradingPurpose(account), requireDemo)

export interface OperatorHalt extends Omit<Halt, 'by'> {
  readonly accountId: AccountId
  /** Whether it also cancels the open orders of the account. */
  readonly cancelOrders: boolean
}

/**
 * While an account is halted no order is placed; changes and closes of positions stay possible
 * (docs/behaviour.md#halts).
 */
export const requireNotHalted = (
  accountId: AccountId,
  halt: O.Option<Halt>,
): E.Either<Refusal<'AccountHalted'>, void> =>
  O.isSome(halt)
    ? E.left(refuse('AccountHalted', { accountId, halt: halt.value }))
    : E.right(undefined)

/** The account after a good live read: new figures, and an account in error is connected again. */
export const withReading = (account: Account, reading: AccountReading): Account => ({
  ...account,
  broker: reading.broker ?? account.broker,
  currency: reading.currency ?? account.currency,
  // Once the broker has reported real or contest, that holds, whatever a later read or the link is.
  tradeMode:
    account.tradeMode === 'real' || account.tradeMode === 'contest'
      ? account.tradeMode
      : reading.tradeMode,
  figures: reading.figures,
  status: account.status === 'error' ? 'connected' : account.status,
  lastReadAt: reading.readAt,
  updatedAt: reading.readAt,
})

/** The account after a live read that failed: stored figures are kept. */
export const withFailedRead = (account: Account, at: Instant): Account =>
  account.status === 'connected' ? { ...account, status: 'error', updatedAt: at } : account

// Balance snapshots: when one is kept and how many are shown (docs/behaviour.md#accounts).

/** Money in the account's currency. */
export interface BalanceSnapshot {
  readonly timestamp: Instant
  readonly balance: number
  readonly equity: number
  readonly margin: number
  readonly freeMargin: number | null
}

export const historyIntervals = ['1h', '1d', '1w'] as const
export type HistoryInterval = (typeof historyIntervals)[number]

const snapshotSpacingMs = 5 * minuteMs

const capByInterval = { '1h': 168, '1d': 365, '1w': 104 }

/** How many snapshots a reply holds at most: the interval sets that number and nothing else. */
export const snapshotCap = (interval: HistoryInterval = '1d'): number => capByInterval[interval]

/**
 * The snapshot that a live read leaves, when five minutes have passed since the last one or the
 * balance has changed; else null.
 */
export const snapshotOf = (
  last: BalanceSnapshot | null,
  reading: AccountReading,
): BalanceSnapshot | null => {
  const { balance, equity, margin, freeMargin } = reading.figures
  const isDue =
    last === null ||
    last.balance !== balance ||
    reading.readAt - last.timestamp >= snapshotSpacingMs
  return isDue ? { timestamp: reading.readAt, balance, equity, margin, freeMargin } : null
}
