// One read of an account's history into its journal. A first read saves each page with the offset of
// the next. A later read saves what it finds, and begins again where it did not come to its end.
import * as E from 'fp-ts/lib/Either.js'
import { chunksOf } from 'fp-ts/lib/ReadonlyArray.js'
import type { AccountReading, BrokerAccount } from '../../accounts/account.ts'
import { refuse, type AsyncResult, type BrokerReadTag, type Refusal } from '../../errors.ts'
import { isAfterLink } from '../../events/journal-events.ts'
import {
  differenceOf,
  hasOtherBalance,
  latestOf,
  planRead,
  precautionaryRereadAt,
  rereadAfter,
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
  type DealsPage,
  type DealsWindow,
} from '../../journal/broker-deal.ts'
import type { JournalChange, JournalClaim, JournalWritten, Ports } from '../../ports/index.ts'
import {
  doubtsOfCloses,
  doubtsOfDeals,
  eitherDoubts,
  hasDoubts,
  noDoubts,
  type Doubts,
} from '../../journal/doubts.ts'
import { sumExactly } from '../../primitives/exact-sum.ts'
import { dayMs, hourMs, type Instant } from '../../primitives/instant.ts'

export type ReadFailure = Refusal<BrokerReadTag | 'ServiceUnavailable'>

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

/**
 * How long it is enough that the deals added up to the balance: a deal that comes to be shown more
 * than a day late is in no read of the history's end, and the balance alone shows that it is
 * missing.
 */
const balanceCheckValidMs = hourMs
/**
 * After more consecutive pages than this without a new deal, the provider is repeating itself.
 */
const maxRepeatedPages = 3
/** Fetched at most while the pages before them are being written. */
const maxPagesAhead = 4
/** Of the kept deals, and of those that differ from them, each: some 5 MB. */
const maxDealsInMemory = 5_000

const emptyChange = {
  inserted: [],
  changed: [],
  vanished: [],
  reading: null,
  firstReadOffset: null,
  completed: null,
}

/**
 * What is remembered of a kept deal that the broker did not show: there may be as many as are kept.
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
interface CompletedRead {
  readonly state: JournalState
  /** The account's figures, where they were read for the events. */
  readonly reading: AccountReading | null
  readonly vanished: readonly VanishedDeal[]
  readonly doubts: Doubts
}

/** Reads what is new, and compares the journal with the account's balance. */
export const readClaimedJournal = async (
  ports: JournalReadPorts,
  claim: JournalClaim,
  mayContinue: () => boolean,
): Promise<'read' | 'too_many_deals'> => {
  const { journal, broker, clock } = ports
  const { account } = claim
  const haveUniqueIds = account.platform === 'mt5'
  const now = (): Instant => Math.max(clock.now(), claim.claimedAt)
  /**
   * The pages of a window, fetched while those before them are being written. Pages that came
   * meanwhile are one, so that they share a transaction.
   */
  async function* pagesOf(window: DealsWindow): AsyncGenerator<DealsPage> {
    const fetched: DealsPage[] = []
    let isOver = false
    let fetching: Promise<void> | undefined
    const fetchPage = async (offset: number) => {
      const page = await orThrow(broker.dealsPage(account, { ...window, offset }))
      fetched.push(page)
      fetching = undefined
      if (page.nextOffset !== null && fetched.length < maxPagesAhead && !isOver)
        fetchFrom(page.nextOffset)
    }
    const fetchFrom = (offset: number) => {
      fetching = fetchPage(offset)
      // It is awaited below, once the pages before it are written.
      fetching.catch(() => undefined)
    }
    fetchFrom(window.offset)
    let nextOffset: number | null
    try {
      do {
        if (fetched.length === 0) await fetching
        const pages = fetched.splice(0)
        nextOffset = pages.at(-1)?.nextOffset ?? null
        if (fetching === undefined && nextOffset !== null) fetchFrom(nextOffset)
        yield { deals: pages.flatMap(({ deals }) => deals), nextOffset }
        if (nextOffset !== null && !mayContinue())
          throw new ReadFailed(refuse('ServiceUnavailable', { reason: 'the service is stopping' }))
      } while (nextOffset !== null)
    } finally {
      isOver = true
    }
  }

  /** Call it after each page, with whether the page had a deal that none before it had. */
  const createRepeatCheck = () => {
    let repeatedPages = 0
    return (hasNewDeals: boolean) => {
      repeatedPages = hasNewDeals ? 0 : repeatedPages + 1
      if (repeatedPages <= maxRepeatedPages) return
      const reason = 'the provider gives the same deals again and again'
      throw new ReadFailed(refuse('BrokerUnavailable', { accountId: account.accountId, reason }))
    }
  }

  /** The account's figures, which events contain; null where a write records none. */
  const readingForEvents = async (mayRecord: boolean) =>
    ports.recordsEvents && mayRecord ? orThrow(broker.accountInformation(account)) : null

  /**
   * Writes a change. If doubts are left, the whole history is to be read again, once a first read has
   * come to its end.
   * @param doubts those before it
   * @param hasOlder whether deals were kept before it: a new close may show that one of them is
   * missing or changed
   * @returns the state and the doubts after it
   */
  const write = async (
    given: Partial<Omit<JournalChange, 'rereadAtFor'>>,
    doubts: Doubts,
    hasOlder = true,
  ) => {
    const change = { ...emptyChange, ...given }
    const deals = [...change.inserted, ...change.changed.map(({ deal }) => deal)]
    const ofDeals = eitherDoubts(doubts, doubtsOfDeals(deals))
    const doubtsAfter = (positionsOfNewCloses: JournalWritten['positionsOfNewCloses']): Doubts =>
      hasOlder ? eitherDoubts(ofDeals, doubtsOfCloses(positionsOfNewCloses, account)) : ofDeals
    const { state, positionsOfNewCloses } = await orThrow(
      journal.write(claim, {
        ...change,
        rereadAtFor: (positions) =>
          change.firstReadOffset === null && hasDoubts(doubtsAfter(positions))
            ? precautionaryRereadAt(now())
            : null,
      }),
    )
    return { state, doubts: doubtsAfter(positionsOfNewCloses) }
  }

  /** Saves each page. Undefined where it stopped because of too many deals. */
  const readFromBeginning = async (window: DealsWindow): Promise<CompletedRead | undefined> => {
    const syncedAt = clock.now()
    const checkRepeat = createRepeatCheck()
    let { state } = claim
    let reading: AccountReading | null = null
    let { latestDealAt } = state
    // The doubts of an interrupted read are not kept, and its pages may have changed since.
    let doubts: Doubts = { ...noDoubts, mayHaveChanged: state.deals > 0 }
    if (state.deals > ports.maxFirstReadDeals) return undefined
    for await (const { deals, nextOffset } of pagesOf(window)) {
      reading = await readingForEvents(deals.some((deal) => isAfterLink(deal, claim.linkedAt)))
      latestDealAt = latestOf(deals, latestDealAt, syncedAt)
      const completed = nextOffset === null ? { syncedAt, latestDealAt } : null
      const { deals: dealsBefore } = state
      ;({ state, doubts } = await write(
        { inserted: deals, reading, firstReadOffset: nextOffset, completed },
        doubts,
        // The history may have changed since the page before.
        dealsBefore > 0,
      ))
      checkRepeat(state.deals > dealsBefore)
      if (state.deals > ports.maxFirstReadDeals) return undefined
    }
    return { state, reading, vanished: [], doubts }
  }

  /**
   * Finds the deals that are new in a range only because their time was corrected: they were kept in
   * the day before it. They have changed, and are not new.
   */
  const findMoved = async (
    { inserted, changed }: Pick<JournalChange, 'inserted' | 'changed'>,
    from: Instant,
  ) => {
    if (inserted.length === 0 || from === 0) return { inserted, changed }
    const kept = await orThrow(journal.dealsFrom(account, from - dayMs, maxDealsInMemory))
    const moved = renamedDeals(
      kept.filter(({ time = from }) => time < from),
      inserted,
      haveUniqueIds,
    )
    return {
      inserted: inserted.filter((deal) => !moved.has(deal)),
      changed: [...changed, ...[...moved].map(([deal, was]) => ({ was, deal }))],
    }
  }

  /**
   * Reads a window to its end, and writes what differs from the journal: range after range of so
   * many kept deals, so that a long history is never in memory as a whole.
   */
  const readWindow = async (before: JournalState, window: DealsWindow): Promise<CompletedRead> => {
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
        { isFull: from === 0 && to === window.to, haveUniqueIds },
      )
      const checkRepeat = createRepeatCheck()
      for await (const { deals, nextOffset } of pagesOf({ from, to, offset: 0 })) {
        checkRepeat(comparison.addPage(deals))
        latestDealAt = latestOf(deals, latestDealAt, syncedAt)
        if (nextOffset !== null && comparison.differenceCount() < maxDealsInMemory) {
          await orThrow(journal.renew(claim))
          continue
        }
        const found = comparison.takeDifferences(nextOffset === null)
        const { inserted, changed } = await findMoved(found, from)
        const replaced = new Set(changed.map(({ was }) => dealKey(was)))
        vanished = [
          ...vanished.filter((deal) => !replaced.has(dealKey(deal))),
          ...found.vanished.map(vanishedDealOf),
        ]
        // Also a deal from before the link may complete a trade that was closed since.
        reading = await readingForEvents(inserted.length + changed.length > 0)
        const completed =
          nextOffset === null && to === window.to ? { syncedAt, latestDealAt } : null
        const isDifferent = doubts.isDifferent || changed.length + found.vanished.length > 0
        ;({ state, doubts } = await write(
          { inserted, changed, reading, completed },
          { ...doubts, isDifferent },
        ))
      }
      from = to
    }
    return { state, reading, vanished, doubts }
  }

  /**
   * Reads what is new first, so that it does not wait for what is old, or is missed where that
   * cannot be read now: the whole history is read again a minute later then.
   */
  const readFull = async (before: JournalState, window: DealsWindow): Promise<CompletedRead> => {
    const { state } = await readWindow(before, tailWindow(before, clock.now()))
    try {
      return await readWindow(state, window)
    } catch (error) {
      const rereadAt = precautionaryRereadAt(now())
      if (error instanceof ReadFailed) await journal.setReread(claim, { ...state, rereadAt })()
      throw error
    }
  }

  /** Balance less the sum of the journal; undefined where the balance cannot be read now. */
  const compareBalance = async (known: AccountReading | null): Promise<number | undefined> => {
    const read = known === null ? await broker.accountInformation(account)() : E.right(known)
    if (E.isLeft(read)) return undefined
    const { accountId, owner, platform } = account
    // Sums of trades need the currency that the broker says, which no other request may have read.
    const link = { id: accountId, brokerType: platform, provider: account }
    await ports.accounts.recordReading(owner, link, read.right)()
    return orThrow(journal.check(claim, read.right.figures.balance, read.right.readAt))
  }

  const planned = planRead(claim.state, now())
  const { kind } = planned
  const isFull = kind === 'full'

  /**
   * Reads the history and the balance once more: a deal can be made between the two. Removes the
   * deals that neither of two full reads showed, only if the rest then adds up to the balance:
   * brokers cut off old deals, which the balance still counts, and what is removed may never be
   * shown again. They are never all removed: a provider that has just connected shows neither deals
   * nor a balance.
   */
  const readAgain = async (read: CompletedRead, firstDifference: number) => {
    const again = await readWindow(
      read.state,
      isFull ? planned.window : tailWindow(read.state, clock.now()),
    )
    const doubts = eitherDoubts(read.doubts, again.doubts)
    const difference = await compareBalance(again.reading)
    const vanishedAgain = new Set(again.vanished.map(dealKey))
    const vanished = read.vanished.filter((deal) => vanishedAgain.has(dealKey(deal)))
    const vanishedSum = sumExactly(vanished.map(({ amount }) => amount))
    const removalExplains =
      difference !== undefined && difference !== 0 && differenceOf(difference, -vanishedSum) === 0
    if (isFull && removalExplains && vanished.length < again.state.deals) {
      let reading: AccountReading | null = null
      for (const part of chunksOf(maxDealsInMemory)(vanished)) {
        reading = await readingForEvents(true)
        await write({ vanished: part, reading }, noDoubts)
      }
      return { doubts, difference: await compareBalance(reading), vanished: [] }
    }
    // While deals keep coming, each comparison lacks those that came since its read.
    const isConclusive =
      again.state.deals === read.state.deals || difference === firstDifference || difference === 0
    return { doubts, difference: isConclusive ? difference : undefined, vanished }
  }

  const read =
    kind === 'first'
      ? await readFromBeginning(planned.window)
      : await (isFull ? readFull : readWindow)(claim.state, planned.window)
  if (read === undefined) return 'too_many_deals'
  const { check } = read.state
  // A known difference is checked after every read, unless the whole history is to be read again.
  const canSkipBalanceCheck =
    check !== null &&
    (check.difference === 0
      ? clock.now() - check.at < balanceCheckValidMs
      : claim.state.rereadAt !== null) &&
    !hasOtherBalance(check, await orThrow(ports.accounts.find(account.owner, account.accountId)))
  if (canSkipBalanceCheck && !hasDoubts(read.doubts) && !isFull) return 'read'
  const firstDifference = await compareBalance(read.reading)
  const { difference, vanished, doubts } =
    firstDifference === undefined || firstDifference === 0
      ? { ...read, difference: firstDifference }
      : await readAgain(read, firstDifference)
  // The provider's history lags behind the balance, so that a tail alone proves no disagreement.
  if (kind !== 'tail' && difference !== undefined && difference !== 0)
    ports.onDisagreement(account, difference)
  const tailStart = tailWindow(read.state, clock.now()).from
  const brokerOmitsLatest = vanished.some(({ time }) => time !== undefined && time >= tailStart)
  const comparison = { ...doubts, kind, brokerOmitsLatest, difference }
  await orThrow(journal.setReread(claim, rereadAfter(claim.state, comparison, now())))
  return 'read'
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

/** Thrown where a read fails or has to stop. */
export class ReadFailed extends Error {
  readonly failure: ReadFailure

  constructor(failure: ReadFailure) {
    super(failure._tag)
    this.failure = failure
  }
}

const orThrow = async <A>(work: AsyncResult<A, BrokerReadTag>): Promise<A> => {
  const done = await work()
  if (E.isLeft(done)) throw new ReadFailed(done.left)
  return done.right
}
