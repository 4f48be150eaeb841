// Brings an account's journal up to date with the broker's history: for a caller, or because a read
// is due. One read runs at a time per account: callers in this process share it, and those in other
// processes wait for it.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { BrokerAccount } from '../accounts/account.ts'
import { refuse, type AsyncResult, type BrokerReadTag } from '../errors.ts'
import { isFresh, type JournalState } from '../journal/journal-state.ts'
import type { JournalClaim, JournalReadResult, Ports } from '../ports/index.ts'
import { secondMs, type Instant } from '../primitives/instant.ts'
import { ReadFailed, type ReadFailure } from './steps/history-pages.ts'
import type { JournalReadPorts } from './steps/read-history.ts'
import { readClaimedJournal } from './steps/read-journal.ts'

/**
 * Returns the journal as it is after a read that began after `since`. If it has more than
 * `maxFirstReadDeals` deals, it may be incomplete.
 */
export type SynchroniseJournal = (
  account: BrokerAccount,
  since: Instant,
) => AsyncResult<JournalState, BrokerReadTag>

/** The round of the watch, one of its regular reads of an account, that a read belongs to. */
export interface WatchRound {
  /** Asked after each page. */
  readonly mayContinue: () => boolean
  /** Asked after a failed read: whether the round could read the account's balance and equity. */
  readonly hasReadFigures: () => Promise<boolean>
}

const noRound: WatchRound = { mayContinue: () => true, hasReadFigures: async () => false }

/** After this long a caller gives up. The read continues, in this process or another. */
const callerTimeoutMs = 120 * secondMs
/** Between two checks of whether a caller has waited that long while this process reads. */
const callerCheckMs = secondMs
/** Releases of a claim: a lost connection is mostly replaced at once, or else the claim lapses. */
const releaseAttempts = 10
const releasePauseMs = secondMs
/** Between two checks of whether another process has finished. */
const otherProcessPauseMs = 100

const busy = Symbol('another process reads')

type ReadOutcome = E.Either<ReadFailure, typeof busy | void>

/** The two ways to read a journal: for a caller who waits, and because it is due. */
export const createJournalReads = (
  ports: JournalReadPorts & Pick<Ports, 'stopwatch' | 'pause'>,
) => {
  const { journal, clock, stopwatch, pause, maxFirstReadDeals } = ports
  const readsInProgress = new Map<string, Promise<ReadOutcome>>()

  const readAndRelease = async (claim: JournalClaim, { mayContinue, hasReadFigures } = noRound) => {
    let result: JournalReadResult = 'failed'
    try {
      result = await readClaimedJournal(ports, claim, mayContinue)
      return E.right(undefined)
    } catch (error) {
      if (!(error instanceof ReadFailed)) throw error
      const { failure } = error
      if (failure._tag === 'BrokerRateLimited')
        result = { retryAfterSeconds: failure.retryAfterSeconds }
      else if (await hasReadFigures()) result = 'history_failed'
      return E.left(failure)
    } finally {
      await release(claim, result)
    }
  }

  /** Tries again where the database fails, since nobody else reads until the claim ends or lapses. */
  const release = async (claim: JournalClaim, result: JournalReadResult) => {
    for (let attempt = 1; E.isLeft(await journal.release(claim, result)()); attempt += 1) {
      if (attempt === releaseAttempts) return
      await pause(releasePauseMs)()
    }
  }

  const claimAndRead = async (account: BrokerAccount): Promise<ReadOutcome> => {
    const claimed = await journal.claim(account)()
    if (E.isLeft(claimed)) return claimed
    return claimed.right._tag === 'None' ? E.right(busy) : readAndRelease(claimed.right.value)
  }

  /** Registers a read, so that callers who come while it runs wait for it and begin none. */
  const registerRead = <A extends ReadOutcome>(
    account: BrokerAccount,
    read: Promise<A>,
  ): Promise<A> => {
    const key = keyOf(account)
    const begun = read.finally(() => {
      if (readsInProgress.get(key) === begun) readsInProgress.delete(key)
    })
    readsInProgress.set(key, begun)
    return begun
  }

  /** Reads a journal that is due, and releases its claim. */
  const readDueJournal =
    (claim: JournalClaim, round?: WatchRound): AsyncResult<void, BrokerReadTag> =>
    () =>
      registerRead(claim.account, readAndRelease(claim, round))

  const synchroniseJournal: SynchroniseJournal = (account, since) => async () => {
    const startedMs = stopwatch.elapsedMs()
    let completedReads = 0
    for (;;) {
      const found = await journal.find(account)()
      if (E.isLeft(found)) return found
      const state = O.toUndefined(found.right)
      const isCurrent = state !== undefined && isFresh(state, since, clock.now())
      // What was just written is compared with the balance before its read ends.
      const isBeingCompared = state?.check === null && readsInProgress.has(keyOf(account))
      // The first read may have begun before this call; the second began after it, also where the
      // clocks say otherwise.
      const isEnough = completedReads === 2 || (isCurrent && !isBeingCompared)
      if (state && (isEnough || state.deals > maxFirstReadDeals)) return E.right(state)
      const isInTime = () => stopwatch.elapsedMs() - startedMs < callerTimeoutMs
      let outcome: ReadOutcome | void = undefined
      if (isInTime()) {
        const read =
          readsInProgress.get(keyOf(account)) ?? registerRead(account, claimAndRead(account))
        while (outcome === undefined && isInTime())
          outcome = await Promise.race([read, pause(callerCheckMs)()])
      }
      if (outcome === undefined || E.isLeft(outcome)) {
        // It waited for the comparison alone.
        if (isCurrent) return E.right(state)
        const { accountId } = account
        const reason = 'the history is still being read'
        return outcome ?? E.left(refuse('BrokerUnavailable', { accountId, reason }))
      }
      if (outcome.right === busy) await pause(otherProcessPauseMs)()
      else completedReads += 1
    }
  }

  return { synchroniseJournal, readDueJournal }
}

const keyOf = ({ accountId, providerAccountId }: BrokerAccount): string =>
  `${accountId} ${providerAccountId}`
