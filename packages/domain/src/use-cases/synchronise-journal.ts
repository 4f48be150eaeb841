// Brings an account's journal up to date with the broker's history. One read runs at a time per
// account: callers in this process share it, and those in other processes wait for it. A first read
// saves each page with the offset of the next; a later read is saved whole or not at all.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { AccountReading, BrokerAccount } from '../accounts/account.ts'
import { brokerUnavailable, serviceUnavailable } from '../errors.ts'
import type { BrokerReadError, ServiceUnavailable } from '../errors.ts'
import { dealKey } from '../journal/broker-deal.ts'
import type { BrokerDeal, DealsPage, DealsWindow } from '../journal/broker-deal.ts'
import { diffDeals } from '../journal/diff-deals.ts'
import type { JournalState } from '../journal/journal-state.ts'
import {
  agreed,
  isFresh,
  latestOf,
  planRead,
  rereadAfter,
  tailWindow,
} from '../journal/reading-plan.ts'
import type { Broker } from '../ports/broker.ts'
import type { Clock, Pauser, Stopwatch } from '../ports/clock.ts'
import type { Journal, JournalClaim, JournalLost } from '../ports/journal.ts'
import { secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'

type ReadFailure = BrokerReadError | ServiceUnavailable

interface Ports extends Pauser {
  readonly journal: Journal
  readonly broker: Pick<Broker, 'dealsPage' | 'accountInformation'>
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  /** Whether deals are recorded as events, which need the account's figures. */
  readonly recordsEvents: boolean
  /** A first read that finds more deals than this stops there. */
  readonly stopsAboveDeals: number
  /** Called when the journal disagrees with the broker although both were read twice. */
  readonly onDisagreement: (account: BrokerAccount, difference: number) => void
}

/**
 * The journal after a read that began after `since`. If it has more than `stopsAboveDeals` deals,
 * it may be incomplete.
 */
export type SynchroniseJournal = (
  account: BrokerAccount,
  since: Instant,
) => TE.TaskEither<ReadFailure, JournalState>

/** After this long a caller gives up, whoever is reading. The read goes on. */
const patienceMs = 120 * secondMs
/** Between two checks of whether another process has finished. */
const checkPauseMs = 100
/**
 * After more consecutive pages than this without a new deal, the provider gives the same ones for
 * ever.
 */
const maxRepeatedPages = 3

const busy = Symbol('another process reads')

type Outcome = E.Either<ReadFailure, typeof busy | undefined>

export const synchroniseJournal = (ports: Ports): SynchroniseJournal => {
  const { journal, clock, stopwatch, pause, stopsAboveDeals } = ports
  const underWay = new Map<string, Promise<Outcome>>()

  const shared = (account: BrokerAccount): Promise<Outcome> => {
    const key = `${account.accountId} ${account.providerAccountId}`
    const running = underWay.get(key)
    if (running !== undefined) return running
    const begun = readOnce(ports)(account).finally(() => underWay.delete(key))
    underWay.set(key, begun)
    return begun
  }

  return (account, since) => async () => {
    const startedMs = stopwatch.elapsedMs()
    let completedReads = 0
    for (;;) {
      const found = await journal.find(account)()
      if (E.isLeft(found)) return found
      if (found.right._tag === 'Some') {
        const state = found.right.value
        if (isFresh(state, since, clock.now()) || state.deals > stopsAboveDeals)
          return E.right(state)
        // The first may have begun before this call; the second began after it, whatever the clocks
        // say.
        if (completedReads === 2) return E.right(state)
      }
      if (stopwatch.elapsedMs() - startedMs >= patienceMs)
        return E.left(brokerUnavailable(account.accountId, 'the history is still being read'))
      const outcome = await shared(account)
      if (E.isLeft(outcome)) return outcome
      if (outcome.right === busy) await pause(checkPauseMs)()
      else completedReads += 1
    }
  }
}

const readOnce =
  (ports: Ports) =>
  async (account: BrokerAccount): Promise<Outcome> => {
    const claimed = await ports.journal.claim(account)()
    if (E.isLeft(claimed)) return claimed
    if (claimed.right._tag === 'None') return E.right(busy)
    const claim = claimed.right.value
    try {
      await readClaimed(ports, claim)
      return E.right(undefined)
    } catch (error) {
      if (error instanceof Stopped) return E.left(error.failure)
      throw error
    } finally {
      await ports.journal.release(claim)()
    }
  }

/** Ends a read from within. */
class Stopped extends Error {
  readonly failure: ReadFailure

  constructor(failure: ReadFailure | JournalLost) {
    super(failure._tag)
    this.failure =
      failure._tag === 'JournalLost'
        ? serviceUnavailable('the journal is written by another process')
        : failure
  }
}

const orStop = async <A>(work: TE.TaskEither<ReadFailure | JournalLost, A>): Promise<A> => {
  const done = await work()
  if (E.isLeft(done)) throw new Stopped(done.left)
  return done.right
}

/** A read that reached the end of its window. */
interface CompletedRead {
  readonly state: JournalState
  /** The account's figures, where they were read for the events. */
  readonly reading: AccountReading | null
  /** Deals that are kept and that the broker did not show. */
  readonly vanished: readonly BrokerDeal[]
  /** Whether a deal changed or vanished since it was first read. */
  readonly isDifferent: boolean
}

const readClaimed = async (ports: Ports, claim: JournalClaim): Promise<void> => {
  const { journal, clock } = ports
  const planned = planRead(claim.state, clock.now())
  const isFull = planned.kind === 'full'
  const read =
    planned.kind === 'first'
      ? await readFirst(ports, claim, planned.window)
      : await readAgain(ports, claim, claim.state, planned.window)
  if (read === undefined) return
  const isAlreadyChecked = read.state.check !== null && !read.isDifferent
  if (isAlreadyChecked && !isFull) return

  const { disagreements, rereadAt } = read.state
  const rereadLater = () =>
    orStop(journal.setReread(claim, rereadAfter(disagreements, clock.now())))
  let difference = await compareBalance(ports, claim, read.reading)
  if (difference === undefined) return isFull ? rereadLater() : undefined
  let { vanished } = read
  if (difference !== 0) {
    // The history and the balance are two reads, between which a deal can be made: both are read
    // once more.
    const window = isFull ? planned.window : tailWindow(read.state, clock.now())
    const again = await readAgain(ports, claim, read.state, window)
    difference = (await compareBalance(ports, claim, again.reading)) ?? difference
    const goneAgain = new Set(again.vanished.map(dealKey))
    vanished = vanished.filter((deal) => goneAgain.has(dealKey(deal)))
    if (isFull && difference !== 0 && vanished.length > 0) {
      // Deals that two full reads did not show are removed only while the balance does not count
      // them: brokers archive old deals.
      await orStop(journal.write(claim, { ...emptyChange, vanished, now: clock.now() }))
      difference = (await compareBalance(ports, claim, null)) ?? difference
      vanished = []
    }
  }
  const isInAgreement = difference === 0 && vanished.length === 0 && (isFull || !read.isDifferent)
  if (isInAgreement) return isFull ? orStop(journal.setReread(claim, agreed)) : undefined
  if (rereadAt !== null && !isFull) return
  ports.onDisagreement(claim.account, difference)
  await rereadLater()
}

const emptyChange = {
  inserted: [],
  changed: [],
  vanished: [],
  reading: null,
  firstReadOffset: null,
  completed: null,
} as const

/**
 * Balance less the sum of the journal; undefined where the balance cannot be read, so that the next
 * read compares.
 */
const compareBalance = async (
  ports: Ports,
  claim: JournalClaim,
  known: AccountReading | null,
): Promise<number | undefined> => {
  const read =
    known === null ? await ports.broker.accountInformation(claim.account)() : E.right(known)
  if (E.isLeft(read)) return undefined
  return orStop(ports.journal.check(claim, read.right.figures.balance, read.right.readAt))
}

/**
 * While a page is written, the next is being fetched. Undefined where it stopped because of too
 * many deals.
 */
const readFirst = async (
  ports: Ports,
  claim: JournalClaim,
  window: DealsWindow,
): Promise<CompletedRead | undefined> => {
  const syncedAt = ports.clock.now()
  let { state } = claim
  let reading: AccountReading | null = null
  let latestDealAt = state.latestDealAt
  let repeatedPages = 0
  let next: Promise<E.Either<BrokerReadError, DealsPage>> | undefined = ports.broker.dealsPage(
    claim.account,
    window,
  )()
  while (next !== undefined) {
    const page: E.Either<BrokerReadError, DealsPage> = await next
    if (E.isLeft(page)) throw new Stopped(page.left)
    const { deals, nextOffset }: DealsPage = page.right
    next =
      nextOffset === null
        ? undefined
        : ports.broker.dealsPage(claim.account, { ...window, offset: nextOffset })()
    reading = await readingFor(ports, claim, deals)
    latestDealAt = latestOf(deals, latestDealAt, syncedAt)
    const before = state.deals
    state = await orStop(
      ports.journal.write(claim, {
        ...emptyChange,
        inserted: deals,
        reading,
        now: ports.clock.now(),
        firstReadOffset: nextOffset,
        completed: nextOffset === null ? { syncedAt, latestDealAt } : null,
      }),
    )
    repeatedPages = state.deals > before ? 0 : repeatedPages + 1
    if (repeatedPages > maxRepeatedPages) throw repeatsItself(claim)
    if (state.deals > ports.stopsAboveDeals) return undefined
  }
  return { state, reading, vanished: [], isDifferent: false }
}

/** Reads a window to its end, and writes what differs from the journal. */
const readAgain = async (
  ports: Ports,
  claim: JournalClaim,
  before: JournalState,
  window: DealsWindow,
): Promise<CompletedRead> => {
  const { journal, clock } = ports
  const syncedAt = clock.now()
  const read = await readWindow(ports, claim, window)
  const held = await orStop(journal.dealsFrom(claim.account, window.from))
  const { inserted, changed, vanished } = diffDeals(held, read, window.from)
  const reading = await readingFor(ports, claim, inserted)
  const completed = { syncedAt, latestDealAt: latestOf(read, before.latestDealAt, syncedAt) }
  const state = await orStop(
    journal.write(claim, {
      ...emptyChange,
      inserted,
      changed,
      reading,
      now: clock.now(),
      completed,
    }),
  )
  return { state, reading, vanished, isDifferent: changed.length > 0 || vanished.length > 0 }
}

const readWindow = async (
  ports: Ports,
  claim: JournalClaim,
  window: DealsWindow,
): Promise<readonly BrokerDeal[]> => {
  const deals = new Map<string, BrokerDeal>()
  let repeatedPages = 0
  let offset: number | null = window.offset
  while (offset !== null) {
    const page: DealsPage = await readPage(ports, claim, { ...window, offset })
    const before = deals.size
    for (const deal of page.deals) deals.set(dealKey(deal), deal)
    repeatedPages = deals.size > before ? 0 : repeatedPages + 1
    if (repeatedPages > maxRepeatedPages) throw repeatsItself(claim)
    offset = page.nextOffset
    if (offset !== null) await orStop(ports.journal.renew(claim))
  }
  return [...deals.values()]
}

const readPage = (
  ports: Ports,
  { account }: JournalClaim,
  window: DealsWindow,
): Promise<DealsPage> => orStop(ports.broker.dealsPage(account, window))

const repeatsItself = ({ account }: JournalClaim): Stopped =>
  new Stopped(
    brokerUnavailable(account.accountId, 'the provider gives the same deals again and again'),
  )

/**
 * The account's figures, only where some deal will be recorded as an event, which contains them.
 */
const readingFor = async (
  ports: Ports,
  { account, linkedAt }: JournalClaim,
  deals: readonly BrokerDeal[],
): Promise<AccountReading | null> => {
  const isEvent = ({ time }: BrokerDeal): boolean => time !== undefined && time >= linkedAt
  return ports.recordsEvents && deals.some(isEvent)
    ? orStop(ports.broker.accountInformation(account))
    : null
}
