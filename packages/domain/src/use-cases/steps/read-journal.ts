// One read of an account's history into its journal, compared with the balance at its end. A first
// read saves each page with the offset of the next. A later read saves what it finds, and begins
// again where it did not come to its end.
import * as E from 'fp-ts/lib/Either.js'
import { chunksOf } from 'fp-ts/lib/ReadonlyArray.js'
import type { AccountReading } from '../../accounts/account.ts'
import {
  differenceOf,
  hasOtherBalance,
  planRead,
  rereadAfter,
  tailWindow,
  type JournalComparison,
  type PlannedRead,
} from '../../journal/journal-state.ts'
import { dealKey } from '../../journal/broker-deal.ts'
import { eitherDoubts, hasDoubts, noDoubts } from '../../journal/doubts.ts'
import type { JournalClaim } from '../../ports/index.ts'
import { sumExactly } from '../../primitives/exact-sum.ts'
import { hourMs } from '../../primitives/instant.ts'
import { orThrow } from './history-pages.ts'
import {
  maxDealsInMemory,
  readFromBeginning,
  readFull,
  readingForEvents,
  readWindow,
  timeOf,
  writeChange,
  type CompletedRead,
  type JournalRead,
  type JournalReadPorts,
} from './read-history.ts'

/**
 * How long the deals need not be compared with the balance again after they added up to it. A deal
 * that the broker shows more than a day late is in no read of the history's tail, so that only the
 * balance shows that it is missing.
 */
const balanceCheckValidMs = hourMs

/**
 * Reads what is new, and compares the journal with the account's balance.
 * @throws ReadFailed
 */
export const readClaimedJournal = async (
  ports: JournalReadPorts,
  claim: JournalClaim,
  mayContinue: () => boolean,
): Promise<'read' | 'too_many_deals'> => {
  const read: JournalRead = { ports, claim, mayContinue }
  const planned = planRead(claim.state, timeOf(read))
  const completed = await readPlanned(read, planned)
  if (completed === undefined) return 'too_many_deals'
  if (await canSkipComparison(read, planned, completed)) return 'read'
  const firstDifference = await compareBalance(read, completed.reading)
  const { difference, vanished, doubts } =
    firstDifference === undefined || firstDifference === 0
      ? { ...completed, difference: firstDifference }
      : await readAgain(read, planned, completed, firstDifference)
  const { kind } = planned
  // The provider's history lags behind the balance, so that a tail alone proves no disagreement.
  if (kind !== 'tail' && difference !== undefined && difference !== 0)
    ports.onDisagreement(claim.account, difference)
  const tailStart = tailWindow(completed.state, ports.clock.now()).from
  const brokerOmitsLatest = vanished.some(({ time }) => time !== undefined && time >= tailStart)
  const comparison = { ...doubts, kind, brokerOmitsLatest, difference }
  const reread = rereadAfter(claim.state, comparison, timeOf(read))
  await orThrow(ports.journal.setReread(claim, reread))
  return 'read'
}

/** Undefined where a first read stopped because of too many deals. */
const readPlanned = (
  read: JournalRead,
  { kind, window }: PlannedRead,
): Promise<CompletedRead | undefined> => {
  if (kind === 'first') return readFromBeginning(read, window)
  return (kind === 'full' ? readFull : readWindow)(read, read.claim.state, window)
}

/**
 * Whether the deals added up to the balance lately, and this read gave no reason to compare them
 * again. A known difference is compared after every read, unless the whole history is to be read
 * again.
 */
const canSkipComparison = async (
  { ports, claim }: JournalRead,
  { kind }: PlannedRead,
  { state: { check }, doubts }: CompletedRead,
): Promise<boolean> => {
  if (check === null || kind === 'full' || hasDoubts(doubts)) return false
  const isValid =
    check.difference === 0
      ? ports.clock.now() - check.at < balanceCheckValidMs
      : claim.state.rereadAt !== null
  const { owner, accountId } = claim.account
  return isValid && !hasOtherBalance(check, await orThrow(ports.accounts.find(owner, accountId)))
}

/**
 * Balance less the sum of the journal; undefined where the balance cannot be read now.
 * @param known the account's figures, where they were read just now
 */
const compareBalance = async (
  { ports: { accounts, broker, journal }, claim }: JournalRead,
  known: AccountReading | null,
): Promise<number | undefined> => {
  const { account } = claim
  const found = known === null ? await broker.accountInformation(account)() : E.right(known)
  if (E.isLeft(found)) return undefined
  const { accountId, owner, platform } = account
  // Sums of trades need the currency that the broker says, which no other request may have read.
  const link = { id: accountId, brokerType: platform, provider: account }
  await accounts.recordReading(owner, link, found.right)()
  return orThrow(journal.check(claim, found.right.figures.balance, found.right.readAt))
}

/**
 * Reads the history and the balance once more: a deal can be made between the two. Removes the deals
 * that neither of two full reads showed, only if the rest then adds up to the balance: brokers cut
 * off old deals, which the balance still counts, and what is removed may never be shown again. They
 * are never all removed: a provider that has just connected shows neither deals nor a balance.
 */
const readAgain = async (
  read: JournalRead,
  { kind, window }: PlannedRead,
  first: CompletedRead,
  firstDifference: number,
): Promise<Pick<CompletedRead, 'doubts' | 'vanished'> & Pick<JournalComparison, 'difference'>> => {
  const isFull = kind === 'full'
  const again = await readWindow(
    read,
    first.state,
    isFull ? window : tailWindow(first.state, read.ports.clock.now()),
  )
  const doubts = eitherDoubts(first.doubts, again.doubts)
  const difference = await compareBalance(read, again.reading)
  const vanishedAgain = new Set(again.vanished.map(dealKey))
  const vanished = first.vanished.filter((deal) => vanishedAgain.has(dealKey(deal)))
  const vanishedSum = sumExactly(vanished.map(({ amount }) => amount))
  const removalExplains =
    difference !== undefined && difference !== 0 && differenceOf(difference, -vanishedSum) === 0
  if (isFull && removalExplains && vanished.length < again.state.deals) {
    let reading: AccountReading | null = null
    for (const part of chunksOf(maxDealsInMemory)(vanished)) {
      reading = await readingForEvents(read, true)
      await writeChange(read, { vanished: part, reading }, noDoubts)
    }
    return { doubts, difference: await compareBalance(read, reading), vanished: [] }
  }
  // While deals keep coming, each comparison lacks those that came since its read.
  const isConclusive =
    again.state.deals === first.state.deals || difference === firstDifference || difference === 0
  return { doubts, difference: isConclusive ? difference : undefined, vanished }
}
