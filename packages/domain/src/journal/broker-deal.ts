// A deal as the broker's history has it: what the fold needs, and what events, checks and closes
// need besides.
import type { Instant } from '../primitives/instant.ts'
import type { CashFlowReason } from '../statistics/balance.ts'
import { positionIdOf, type Deal } from '../trades/deal.ts'

/**
 * What a deal is. `buy` and `sell` trade; the others book money, or are trades that the broker
 * cancelled.
 */
const dealKinds = [
  'buy',
  'sell',
  'balance',
  'credit',
  'charge',
  'correction',
  'bonus',
  'commission',
  'interest',
  'dividend',
  'tax',
  'cancelled',
  'other',
] as const
export type DealKind = (typeof dealKinds)[number]

/** Who or what caused a deal. */
export const dealReasons = [
  'stop_loss',
  'take_profit',
  'stop_out',
  'client',
  'expert',
  'mobile',
  'web',
  'other',
] as const
export type DealReason = (typeof dealReasons)[number]

/**
 * Prices in the symbol's quote currency. `side` is the kind of a deal that trades, and absent on
 * all others.
 */
export interface BrokerDeal extends Deal {
  readonly kind: DealKind
  /** Absent where the broker gave none, or reported it as unknown. */
  readonly reason?: DealReason
  /** The broker's number of the order that made the deal. */
  readonly orderId?: string
  /** On an opening deal the levels of its order, where the broker gives them. */
  readonly stopLoss?: number
  readonly takeProfit?: number
}

/**
 * Distinguishes a deal from all others of its account: on MT4 an opening and a closing deal may
 * share their id.
 */
export interface DealKey extends Pick<Deal, 'id'> {
  readonly time?: Instant | undefined
  readonly entry?: Deal['entry'] | undefined
}

export const dealKey = ({ time, id, entry }: DealKey): string =>
  `${time ?? ''} ${entry ?? ''} ${id}`

/**
 * The amounts by which a deal changes the balance. Credit is kept beside the balance, and changes
 * equity alone.
 */
export const balanceAmounts = ({ kind, profit, commission, swap }: BrokerDeal): readonly number[] =>
  kind === 'credit' ? [] : [profit, commission, swap]

/** Kinds of deals that move the balance without being part of a trade. */
export type CashFlowKind = Exclude<DealKind, 'buy' | 'sell' | 'credit'>

/**
 * Charges are what the broker books for its services, interest and taxes, in either direction; a
 * dividend is none of them.
 */
export const cashFlowReason = (kind: CashFlowKind, amount: number): CashFlowReason => {
  switch (kind) {
    case 'balance':
      return amount > 0 ? 'deposit' : 'withdrawal'
    case 'charge':
    case 'commission':
    case 'interest':
    case 'tax':
      return 'charge'
    case 'correction':
      return kind
    case 'bonus':
    case 'dividend':
    case 'cancelled':
    case 'other':
      return 'other'
  }
}

/**
 * A part of an account's history: `from` included, `to` excluded; rows before `offset` are left
 * out.
 */
export interface DealsWindow {
  readonly from: Instant
  readonly to: Instant
  readonly offset: number
}

/** Deals in the provider's order, which may repeat a row. */
export interface DealsPage {
  readonly deals: readonly BrokerDeal[]
  /** Where the next page of the window begins; null after the last. */
  readonly nextOffset: number | null
}

// How the deals that the broker shows differ from those that are kept.

/** Whether a deal says what it did to which position. */
export const isPlaced = (deal: BrokerDeal): boolean =>
  positionIdOf(deal) !== undefined && deal.entry !== undefined

/** A kept deal that the broker now shows with other values, or under another id or time. */
export interface ChangedDeal {
  readonly was: DealKey
  readonly deal: BrokerDeal
}

interface ComparedHistory {
  /**
   * Whether the window is the whole history. In a part of it an undated deal that is not shown may
   * be in another part, so that it has not vanished.
   */
  readonly isFull: boolean
  /** Whether deals with one id and entry are one deal, as on MT5. */
  readonly haveUniqueIds: boolean
}

/**
 * Compares the pages of a window with what is kept.
 * @param kept the kept deals of the window, undated ones among them
 */
export const compareDeals = (
  kept: readonly BrokerDeal[],
  { isFull, haveUniqueIds }: ComparedHistory,
) => {
  const keptByKey = new Map(kept.map((deal) => [dealKey(deal), deal]))
  const shown = new Set<string>()
  let [inserted, changed]: [BrokerDeal[], ChangedDeal[]] = [[], []]
  return {
    /** A deal that was shown before counts as shown once. Returns whether the page has a new one. */
    addPage: (page: readonly BrokerDeal[]): boolean => {
      const shownBefore = shown.size
      for (const deal of page) {
        const key = dealKey(deal)
        if (shown.has(key)) continue
        shown.add(key)
        const was = keptByKey.get(key)
        if (was === undefined) inserted.push(deal)
        else if (!hasSameValues(was, deal)) changed.push({ was, deal })
      }
      return shown.size > shownBefore
    },
    /** How many differences were found and not taken yet. */
    differenceCount: (): number => inserted.length + changed.length,
    /**
     * Takes the differences that were found.
     * @param isLastPage whether all was shown, so that the kept deals that were not have vanished
     */
    takeDifferences: (isLastPage: boolean) => {
      const missing = isLastPage ? kept.filter((deal) => !shown.has(dealKey(deal))) : []
      const renamed = renamedDeals(missing, inserted, haveUniqueIds)
      const replaced = new Set(renamed.values())
      const found = {
        inserted: inserted.filter((deal) => !renamed.has(deal)),
        changed: [...changed, ...[...renamed].map(([deal, was]) => ({ was, deal }))],
        vanished: missing.filter(
          (deal) => !replaced.has(deal) && (isFull || Number.isFinite(deal.time)),
        ),
      }
      ;[inserted, changed] = [[], []]
      return found
    },
  }
}

/**
 * Missing deals that the broker now shows with another id or time, or with the entry that they
 * lacked: the new deal, with the one that it was. They have the same id on MT5, else the same id or
 * time and the same values. Counted as one vanished and one new deal, they would make an event twice.
 */
export const renamedDeals = (
  missing: readonly BrokerDeal[],
  inserted: readonly BrokerDeal[],
  haveUniqueIds: boolean,
): ReadonlyMap<BrokerDeal, BrokerDeal> => {
  const renamed = new Map<BrokerDeal, BrokerDeal>()
  if (missing.length === 0) return renamed
  const byId = Map.groupBy(inserted, ({ id }) => id)
  const byTime = Map.groupBy(inserted, ({ time }) => time)
  for (const was of missing) {
    const deal = [...(byId.get(was.id) ?? []), ...(byTime.get(was.time) ?? [])].find(
      (one) =>
        !renamed.has(one) &&
        ((haveUniqueIds && one.id === was.id) ||
          ((was.entry ?? one.entry) === one.entry && hasSameValues(was, one))),
    )
    if (deal !== undefined) renamed.set(deal, was)
  }
  return renamed
}

// Levels are left out: brokers show the last known ones, which may change while the position is
// open.
const comparedFields = [
  'kind',
  'positionId',
  'symbol',
  'volume',
  'price',
  'profit',
  'commission',
  'swap',
  'reason',
  'orderId',
] as const

const hasSameValues = (one: BrokerDeal, other: BrokerDeal): boolean =>
  comparedFields.every((field) => one[field] === other[field])
