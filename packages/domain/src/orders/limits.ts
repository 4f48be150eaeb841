// How much may be ordered: by a user in lots per order, orders of a UTC day and orders pending or
// open, and on an account what its trader and its desks allow
// (docs/behaviour.md#checks-of-a-new-order).
import { rights } from 'fp-ts/lib/Array.js'
import * as E from 'fp-ts/lib/Either.js'
import { requireBrokerAccount, type Account, type BrokerAccount } from '../accounts/account.ts'
import { refuse, type BreachedLimit, type ExceededRiskLimit, type Refusal } from '../errors.ts'
import type { Instant } from '../primitives/instant.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import type { BrokerPosition } from '../positions/position.ts'
import { brokerClientId, clientIdPrefix, type OrderId } from './order.ts'

export const maxLotsPerOrder = 10
export const maxOrdersPerDay = 100
export const maxOrdersUnderWay = 50

/**
 * Orders of one user: created in the current UTC day whatever their outcome, and pending or open
 * now.
 */
export interface OrderCounts {
  readonly today: number
  readonly underWay: number
}

/** @param standing the limit as it is before the next order */
export const requireRiskLimit = (
  isExceeded: boolean,
  standing: ExceededRiskLimit,
): E.Either<Refusal<'RiskLimitExceeded'>, void> =>
  isExceeded ? E.left(refuse('RiskLimitExceeded', standing)) : E.right(undefined)

// What a head trader allows: a failed challenge blocks new orders, desk and trader limits cap open
// positions and lots, and large orders need an approval. Every order counts as one that opens a
// position: whether it reduces one is known only once the broker has executed it.

export const challengeStatuses = ['active', 'passed', 'failed'] as const

/** A prop firm's challenge on an account: its status, and when it began. The newest counts. */
export interface ChallengeStanding {
  readonly startedAt: Instant
  readonly status: (typeof challengeStatuses)[number]
}

/** A limit that is null does not apply. Lots are compared exactly. */
export interface DeskLimits {
  readonly maxOpenLots: number | null
  readonly maxOpenPositions: number | null
  /** In capitals; null allows every symbol. */
  readonly allowedSymbols: readonly string[] | null
}

export interface TraderLimits extends DeskLimits {
  readonly maxLotsPerOrder: number | null
  /** Orders above it need an approval that the API cannot give. */
  readonly approvalAboveLots: number | null
}

/**
 * An order that counts against the limits even if the positions do not show it: it is pending, or
 * was filled after they were read. Volume in lots.
 */
export interface CountedOrder {
  readonly id: OrderId
  /** The account that it was sent to. */
  readonly providerAccountId: string
  /** The broker's number of the order, which the position that it opens has too. */
  readonly ticket: string | null
  readonly volume: number
  /** Whether the broker holds it, so that more of it may be executed. */
  readonly isOpen: boolean
}

/** What a limit covers: the accounts, and the counted orders on them. */
interface Covered {
  readonly accounts: readonly Account[]
  readonly counted: readonly CountedOrder[]
}

export interface LimitedDesk extends Covered {
  readonly limits: DeskLimits
}

export interface AccountLimits {
  /** Null where no limits are set. They cover the account alone. */
  readonly trader: (Pick<Covered, 'counted'> & { readonly limits: TraderLimits }) | null
  /** The desks that the account is on, by id, with all their accounts, whoever owns them. */
  readonly desks: readonly LimitedDesk[]
  /** When this was read, by the clock of the store. */
  readonly readAt: Instant
  /** Id of the database server process that was read. */
  readonly databaseRun: string
}

/**
 * The open positions of broker accounts, by provider account id, as they were read at the broker
 * after `readAt`.
 */
export interface OpenPositions {
  /** By the clock of the store: orders that were filled later may be missing from the positions. */
  readonly readAt: Instant
  readonly positions: ReadonlyMap<string, readonly BrokerPosition[]>
}

export type LimitTag =
  | 'LimitCheckUnavailable'
  | 'DeskLimitBreached'
  | 'TraderLimitBreached'
  | 'ApprovalRequired'

export interface OrderSize {
  /** In capitals. */
  readonly symbol: string
  readonly volume: number
}

export const requireUnlocked = (
  challenges: readonly ChallengeStanding[],
): E.Either<Refusal<'ChallengeLocked'>, void> => {
  const newest = challenges.toSorted((a, b) => b.startedAt - a.startedAt)[0]
  return newest?.status === 'failed' ? E.left(refuse('ChallengeLocked')) : E.right(undefined)
}

export const requireLimits = <Tag extends 'DeskLimitBreached' | 'TraderLimitBreached'>(
  tag: Tag,
  order: OrderSize,
  { limits, ...covered }: Covered & { readonly limits: DeskLimits & Partial<TraderLimits> },
  openPositions: OpenPositions,
): E.Either<Refusal<Tag | 'LimitCheckUnavailable'>, void> => {
  const open = arePositionsNeeded(limits) ? openVolumesOf(covered, openPositions) : E.right([])
  if (E.isLeft(open)) return open
  const breached = breachedLimit(order, limits, open.right)
  return breached === undefined ? E.right(undefined) : E.left(refuse(tag, breached))
}

export const requireNoApproval = (
  { volume }: OrderSize,
  { approvalAboveLots }: TraderLimits,
): E.Either<Refusal<'ApprovalRequired'>, void> =>
  approvalAboveLots !== null && volume > approvalAboveLots
    ? E.left(refuse('ApprovalRequired', { approvalAboveLots }))
    : E.right(undefined)

const breachedLimit = (
  { symbol, volume }: OrderSize,
  limits: DeskLimits & Partial<TraderLimits>,
  openVolumes: readonly number[],
): BreachedLimit | undefined => {
  const { maxLotsPerOrder = null, allowedSymbols, maxOpenPositions, maxOpenLots } = limits
  if (maxLotsPerOrder !== null && volume > maxLotsPerOrder)
    return { limit: 'maxLotsPerOrder', allowed: maxLotsPerOrder, current: volume }
  if (allowedSymbols !== null && !allowedSymbols.includes(symbol))
    return { limit: 'allowedSymbols', allowed: allowedSymbols, current: symbol }
  if (maxOpenPositions !== null && openVolumes.length + 1 > maxOpenPositions)
    return { limit: 'maxOpenPositions', allowed: maxOpenPositions, current: openVolumes.length }
  if (maxOpenLots === null) return undefined
  const open = sumExactly(openVolumes)
  return sumExactly([...openVolumes, volume]) > maxOpenLots
    ? { limit: 'maxOpenLots', allowed: maxOpenLots, current: open }
    : undefined
}

// --- open positions ---

const arePositionsNeeded = ({ maxOpenLots, maxOpenPositions }: DeskLimits): boolean =>
  maxOpenLots !== null || maxOpenPositions !== null

/** The broker accounts whose positions the limits need. */
export const accountsToRead = (
  account: Account,
  { trader, desks }: AccountLimits,
): readonly BrokerAccount[] =>
  brokerAccountsOf([
    ...desks.filter(({ limits }) => arePositionsNeeded(limits)).flatMap(({ accounts }) => accounts),
    ...(trader !== null && arePositionsNeeded(trader.limits) ? [account] : []),
  ])

/**
 * Each broker account once. Accounts that no broker holds (paper, another platform, not
 * provisioned) have no positions that could count.
 */
const brokerAccountsOf = (accounts: readonly Account[]): readonly BrokerAccount[] => [
  ...new Map(
    rights(accounts.map(requireBrokerAccount)).map((one) => [one.providerAccountId, one]),
  ).values(),
]

/**
 * The volume of each open position and of each counted order, in lots. A position and the order
 * that opened it count once, with the larger of the two volumes. They count apart where the broker
 * still holds the order and the volumes differ: only a part may be executed, and on a netting
 * account the position may contain other orders.
 */
const openVolumesOf = (
  { accounts, counted }: Covered,
  { positions }: OpenPositions,
): E.Either<Refusal<'LimitCheckUnavailable'>, readonly number[]> => {
  // By what a position tells of its order: the client id, or the number where the broker drops it.
  const byName = new Map(
    counted.flatMap((order) =>
      [clientIdPrefix(brokerClientId(order.id)), order.ticket].map(
        (name) => [`${order.providerAccountId} ${name}`, order] as const,
      ),
    ),
  )
  const executed = new Set<CountedOrder>()
  const volumes: number[] = []
  for (const { providerAccountId } of brokerAccountsOf(accounts)) {
    const open = positions.get(providerAccountId)
    // An account that joined the desk, or was linked, after the positions were read.
    if (open === undefined)
      return E.left(
        refuse('LimitCheckUnavailable', {
          reason: 'the accounts that the limits cover changed while the order was checked',
        }),
      )
    for (const { clientId, ticket, volume } of open) {
      const name = clientId === undefined ? ticket : clientIdPrefix(clientId)
      const order = byName.get(`${providerAccountId} ${name}`)
      const isWithOrder = order !== undefined && (!order.isOpen || order.volume === volume)
      if (isWithOrder) executed.add(order)
      volumes.push(isWithOrder ? Math.max(volume, order.volume) : volume)
    }
  }
  return E.right([
    ...volumes,
    ...counted.filter((order) => !executed.has(order)).map(({ volume }) => volume),
  ])
}
