// What a read writes to the journal: the history from its beginning, or what differs from the kept
// deals of a window.
import type { AccountReading, BrokerAccount } from '../../accounts/account.ts'
import { isAfterLink } from '../../events/journal-events.ts'
import {
  latestOf,
  precautionaryRereadAt,
  tailWindow,
  type JournalState,
} from '../../journal/journal-state.ts'
import {
  balanceAmounts,
  compareDeals,
  dealKey,
  renamedDeals,
  type BrokerDeal,
  type DealKey,
  type DealsWindow,
} from '../../journal/broker-deal.ts'
import {
  doubtsOfCloses,
  doubtsOfDeals,
  eitherDoubts,
  hasDoubts,
  noDoubts,
  type Doubts,
} from '../../journal/doubts.ts'
import type { JournalChange, JournalClaim, JournalWritten, Ports } from '../../ports/index.ts'
import { sumExactly } from '../../primitives/exact-sum.ts'
import { dayMs, type Instant } from '../../primitives/instant.ts'
import { createRepeatCheck, historyPages, orThrow, ReadFailed } from './history-pages.ts'

export interface JournalReadPorts extends Pick<Ports, 'accounts' | 'journal' | 'broker' | 'clock'> {
  /** Whether deals are recorded as events, which need the account's figures. */
  readonly recordsEvents: boolean
  /** A first read that finds more deals than this stops there. */
  readonly maxFirstReadDeals: number
  /**
   * Called when the journal disagrees with the broker although both were read twice: at a first
   * read, and at each read of the whole history.
   */
  readonly onDisagreement: (account: BrokerAccount, difference: number) => void
}

/** A read of the journal that this process has claimed. */
export interface JournalRead {
  readonly ports: JournalReadPorts
  readonly claim: JournalClaim
  /** Called after each page but the last; if it returns false, the read fails. */
  readonly mayContinue: () => boolean
}

/** A limit for the kept deals and another for the deals that differ from them: some 5 MB each. */
export const maxDealsInMemory = 5_000

const emptyChange = {
  inserted: [],
  changed: [],
  vanished: [],
  reading: null,
  firstReadOffset: null,
  completed: null,
}

/**
 * What is remembered of a kept deal that the broker did not show. It is little, because every kept
 * deal may be missing.
 */
interface VanishedDeal extends DealKey {
  /** What it moved the balance by. */
  readonly amount: number
}

const vanishedDealOf = (deal: BrokerDeal): VanishedDeal => {
  const { time, id, entry } = deal
  return { time, id, entry, amount: sumExactly(balanceAmounts(deal)) }
}

/** A read that reached the end of its window. */
export interface CompletedRead {
  readonly state: JournalState
  /** The account's figures, where they were read for the events. */
  readonly reading: AccountReading | null
  readonly vanished: readonly VanishedDeal[]
  readonly doubts: Doubts
}

/** The time, never before the claim: the clock may have been set back since. */
export const timeOf = ({ ports, claim }: JournalRead): Instant =>
  Math.max(ports.clock.now(), claim.claimedAt)

/** The account's figures, which events contain; null where a write records none. */
export const readingForEvents = async (
  { ports: { broker, recordsEvents }, claim }: JournalRead,
  mayRecord: boolean,
): Promise<AccountReading | null> =>
  recordsEvents && mayRecord ? orThrow(broker.accountInformation(claim.account)) : null

/**
 * Writes a change. If doubts are left, the whole history is to be read again, once a first read has
 * come to its end.
 * @param doubts those from before this change
 * @returns the state and the doubts after it
 */
export const writeChange = async (
  read: JournalRead,
  given: Partial<Omit<JournalChange, 'rereadAtFor'>>,
  doubts: Doubts,
): Promise<Pick<CompletedRead, 'state' | 'doubts'>> => {
  const { ports, claim } = read
  const change = { ...emptyChange, ...given }
  const deals = [...change.inserted, ...change.changed.map(({ deal }) => deal)]
  const ofDeals = eitherDoubts(doubts, doubtsOfDeals(deals))
  const doubtsAfter = (closed: JournalWritten['positionsOfNewCloses']): Doubts =>
    eitherDoubts(ofDeals, doubtsOfCloses(closed, claim.account))
  const { state, positionsOfNewCloses } = await orThrow(
    ports.journal.write(claim, {
      ...change,
      rereadAtFor: (closed) =>
        change.firstReadOffset === null && hasDoubts(doubtsAfter(closed))
          ? precautionaryRereadAt(timeOf(read))
          : null,
    }),
  )
  return { state, doubts: doubtsAfter(positionsOfNewCloses) }
}

/** Saves each page. Undefined where it stopped because of too many deals. */
export const readFromBeginning = async (
  read: JournalRead,
  window: DealsWindow,
): Promise<CompletedRead | undefined> => {
  const { ports, claim, mayContinue } = read
  const { account, linkedAt } = claim
  const syncedAt = ports.clock.now()
  const checkRepeat = createRepeatCheck(account)
  let { state } = claim
  let reading: AccountReading | null = null
  let { latestDealAt } = state
  // The doubts of an interrupted read are not kept, and its pages may have changed since.
  let doubts: Doubts = { ...noDoubts, mayHaveChanged: state.deals > 0 }
  if (state.deals > ports.maxFirstReadDeals) return undefined
  for await (const page of historyPages(ports.broker, account, window, mayContinue)) {
    const { deals, nextOffset } = page
    reading = await readingForEvents(
      read,
      deals.some((deal) => isAfterLink(deal, linkedAt)),
    )
    latestDealAt = latestOf(deals, latestDealAt, syncedAt)
    const completed = nextOffset === null ? { syncedAt, latestDealAt } : null
    const { deals: dealsBefore } = state
    ;({ state, doubts } = await writeChange(
      read,
      { inserted: deals, reading, firstReadOffset: nextOffset, completed },
      doubts,
    ))
    checkRepeat(state.deals > dealsBefore)
    if (state.deals > ports.maxFirstReadDeals) return undefined
  }
  return { state, reading, vanished: [], doubts }
}

/**
 * Reads a window to its end, and writes what differs from the journal: range after range of so many
 * kept deals, so that a long history is never in memory as a whole.
 */
export const readWindow = async (
  read: JournalRead,
  before: JournalState,
  window: DealsWindow,
): Promise<CompletedRead> => {
  const { ports, claim, mayContinue } = read
  const { journal, broker, clock } = ports
  const { account } = claim
  const syncedAt = clock.now()
  let state = before
  let { latestDealAt } = before
  let reading: AccountReading | null = null
  let doubts = noDoubts
  let vanished: readonly VanishedDeal[] = []
  for (let { from } = window; from < window.to;) {
    const kept = await orThrow(journal.dealsFrom(account, from, maxDealsInMemory))
    const to = endOfRange(kept, from, window.to)
    const comparison = compareDeals(
      to < window.to ? kept.filter(({ time = to }) => time < to) : kept,
      { isFull: from === 0 && to === window.to, haveUniqueIds: haveUniqueIds(account) },
    )
    const checkRepeat = createRepeatCheck(account)
    const range = { from, to, offset: 0 }
    for await (const { deals, nextOffset } of historyPages(broker, account, range, mayContinue)) {
      checkRepeat(comparison.addPage(deals))
      latestDealAt = latestOf(deals, latestDealAt, syncedAt)
      if (nextOffset !== null && comparison.differenceCount() < maxDealsInMemory) {
        await orThrow(journal.renew(claim))
        continue
      }
      const found = comparison.takeDifferences(nextOffset === null)
      const { inserted, changed } = await findMoved(read, found, from)
      const replaced = new Set(changed.map(({ was }) => dealKey(was)))
      vanished = [
        ...vanished.filter((deal) => !replaced.has(dealKey(deal))),
        ...found.vanished.map(vanishedDealOf),
      ]
      // Also a deal from before the link may complete a trade that was closed since.
      reading = await readingForEvents(read, inserted.length + changed.length > 0)
      const completed = nextOffset === null && to === window.to ? { syncedAt, latestDealAt } : null
      const isDifferent = doubts.isDifferent || changed.length + found.vanished.length > 0
      const change = { inserted, changed, reading, completed }
      ;({ state, doubts } = await writeChange(read, change, { ...doubts, isDifferent }))
    }
    from = to
  }
  return { state, reading, vanished, doubts }
}

/**
 * Reads the latest deals first, so that they do not wait for the old ones, and are written even if
 * those cannot be read now. In that case the whole history is read again a minute later.
 */
export const readFull = async (
  read: JournalRead,
  before: JournalState,
  window: DealsWindow,
): Promise<CompletedRead> => {
  const { ports, claim } = read
  const { state } = await readWindow(read, before, tailWindow(before, ports.clock.now()))
  try {
    return await readWindow(read, state, window)
  } catch (error) {
    const rereadAt = precautionaryRereadAt(timeOf(read))
    if (error instanceof ReadFailed) await ports.journal.setReread(claim, { ...state, rereadAt })()
    throw error
  }
}

const haveUniqueIds = ({ platform }: BrokerAccount): boolean => platform === 'mt5'

/**
 * Finds the deals that look new in a range only because their time was corrected: the journal has
 * them in the day before it. Returns them as changed, not as new.
 */
const findMoved = async (
  { ports: { journal }, claim: { account } }: JournalRead,
  { inserted, changed }: Pick<JournalChange, 'inserted' | 'changed'>,
  from: Instant,
): Promise<Pick<JournalChange, 'inserted' | 'changed'>> => {
  if (inserted.length === 0 || from === 0) return { inserted, changed }
  const kept = await orThrow(journal.dealsFrom(account, from - dayMs, maxDealsInMemory))
  const moved = renamedDeals(
    kept.filter(({ time = from }) => time < from),
    inserted,
    haveUniqueIds(account),
  )
  return {
    inserted: inserted.filter((deal) => !moved.has(deal)),
    changed: [...changed, ...[...moved].map(([deal, was]) => ({ was, deal }))],
  }
}

/**
 * The end, excluded, of the range whose kept deals were read. If they are as many as may be read at
 * once, it is the time of the last one, which more may share; otherwise the end of the window.
 */
const endOfRange = (kept: readonly BrokerDeal[], from: Instant, end: Instant): Instant => {
  const last = kept.at(-1)?.time
  return kept.length < maxDealsInMemory || last === undefined || !Number.isFinite(last)
    ? end
    : Math.min(Math.max(last, from + 1), end)
}
