// Changes of open orders and positions, each under its lock: it is sent in time or not at all, and
// its request is answered in time, whatever hangs.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import { refuse, type AsyncResult, type Refusal, type RefusalTag } from '../../errors.ts'
import type { ChangeLocks, ChangeReceipt, MaySend, Pauser, Ports } from '../../ports/index.ts'
import type { AccountId } from '../../primitives/ids.ts'
import { secondMs } from '../../primitives/instant.ts'

/** Milliseconds after the request. */
const deadlinesMs = {
  /** How long the lock is waited for: later no time is left to read what is to be changed. */
  lockBy: 12 * secondMs,
  /** Nothing is sent later. */
  sendBy: 15 * secondMs,
  /** How long the broker's answer is awaited, so that a read can still decide. */
  brokerAnswerBy: 20 * secondMs,
  /**
   * Before callers give up at 25 seconds, and before a close counts as unknown under its
   * idempotency key. The margin of a position whose levels were changed takes two seconds more.
   */
  replyBy: 23 * secondMs,
}

/** The broker may have changed the account: its caches are dropped, and its journal is read. */
export type OnAccountChanged = (account: BrokerAccount) => void

/** Sends what makes the change, and waits for the broker's answer while there is time. */
export type SendChange = <Failure>(
  trade: (maySend: MaySend) => TE.TaskEither<Failure, ChangeReceipt>,
) => TE.TaskEither<Failure | NoAnswerInTime, ChangeReceipt>

/** Nothing was sent, or it is unknown whether the broker made the change. */
type NoAnswerInTime = Refusal<'BrokerUnavailable' | 'BrokerOutcomeUnknown'>

export type BrokerChangeTag = NoAnswerInTime['_tag'] | 'InternalTimeout'

interface BrokerChange<A, Tag extends RefusalTag> {
  readonly accountId: AccountId
  readonly subject: Parameters<ChangeLocks['holding']>[1]
  /** Where the change is to be sent. */
  readonly destination: AsyncResult<BrokerAccount, Tag>
  /** May go on after the request was answered. */
  readonly make: (destination: BrokerAccount, send: SendChange) => AsyncResult<A, Tag>
}

type Answer<A, Tag extends RefusalTag> = E.Either<
  Refusal<Tag | BrokerChangeTag | 'ServiceUnavailable'>,
  A
>

/**
 * Makes the change that was found, under its lock. The deadlines count from the call.
 */
export const changeAtBroker =
  ({
    clock,
    stopwatch,
    pause,
    changeLocks,
  }: Pick<Ports, 'clock' | 'stopwatch' | 'pause' | 'changeLocks'>) =>
  <A, Tag extends RefusalTag>(
    found: AsyncResult<BrokerChange<A, Tag>, Tag>,
  ): AsyncResult<A, Tag | BrokerChangeTag> =>
  async () => {
    const [startedAt, startedAtMs] = [clock.now(), stopwatch.elapsedMs()]
    // The wall clock may be set back, and the stopwatch stands still while the machine sleeps.
    const leftMs = (deadlineMs: number): number =>
      deadlineMs - Math.max(clock.now() - startedAt, stopwatch.elapsedMs() - startedAtMs)
    const pauseUntil = (deadlineMs: number) => pause(Math.max(0, leftMs(deadlineMs)))()

    const change = await found()
    if (E.isLeft(change)) return change
    const { accountId, subject, destination, make } = change.right
    const { promise: result, resolve } = Promise.withResolvers<Answer<A, Tag>>()
    // Set as the last step before the sender connects to the broker.
    let mayHaveBeenSent = false
    // The request was answered, so that nothing more is sent for it.
    let isOver = false
    let lastSend: Promise<unknown> = Promise.resolve()

    const endWithoutAnswer = (): E.Either<NoAnswerInTime, never> => {
      isOver = true
      const reason = 'nothing was sent, because its send deadline had passed'
      return E.left(
        mayHaveBeenSent
          ? refuse('BrokerOutcomeUnknown', { accountId })
          : refuse('BrokerUnavailable', { accountId, reason }),
      )
    }

    const sendWith =
      (isLockHeld: () => boolean): SendChange =>
      (trade) =>
      () => {
        const maySend = () => {
          if (isOver || leftMs(deadlinesMs.sendBy) <= 0 || !isLockHeld()) return false
          mayHaveBeenSent = true
          return true
        }
        const sent = trade(maySend)()
        lastSend = sent
        return Promise.race([sent, pauseUntil(deadlinesMs.brokerAnswerBy).then(endWithoutAnswer)])
      }

    const endInTime = async (): Promise<E.Either<NoAnswerInTime, never>> => {
      await pauseUntil(deadlinesMs.sendBy)
      if (mayHaveBeenSent) await pauseUntil(deadlinesMs.replyBy)
      return endWithoutAnswer()
    }

    const locked = pipe(
      destination,
      TE.flatMap((account) =>
        changeLocks.holding(
          account,
          subject,
          leftMs(deadlinesMs.lockBy),
        )((isLockHeld) => async () => {
          try {
            const made = await make(account, sendWith(isLockHeld))()
            resolve(made)
            return made
          } finally {
            // The lock is held until the answer has come, so that the next change does not overtake
            // it.
            await lastSend
          }
        }),
      ),
    )
    const answer = await Promise.race<Answer<A, Tag>>([result, locked(), endInTime()])
    // Whatever could not be stored or read afterwards, the change may have been made.
    return E.isLeft(answer) && answer.left._tag === 'ServiceUnavailable' && mayHaveBeenSent
      ? endWithoutAnswer()
      : answer
  }

// --- reads that must not take long ---

/** What a read returns; undefined where it fails, or takes longer than that. */
export const readWithin = async <A>(
  { pause }: Pauser,
  patienceMs: number,
  read: TE.TaskEither<unknown, A>,
): Promise<A | undefined> => {
  const found = await Promise.race([read(), pause(patienceMs)()])
  return found === undefined || E.isLeft(found) ? undefined : found.right
}

// --- reads after a change: brokers show it a moment after they have made it ---

/** How long reads are repeated. */
const readsMs = 2 * secondMs
/** Between the end of one read and the next. */
const readPauseMs = 250

/**
 * Reads until a read returns true. No read begins later than two seconds after the first; one that
 * is under way then is awaited.
 */
export const readUntil = async ({ pause }: Pauser, read: () => Promise<boolean>): Promise<void> => {
  const time = { isOver: false }
  void pause(readsMs)().then(() => (time.isOver = true))
  while (!(await read()) && !time.isOver) await pause(readPauseMs)()
}

/** The same, and a read that is under way after two seconds is not awaited. */
export const readUntilInTime = (ports: Pauser, read: () => Promise<boolean>): Promise<void> =>
  Promise.race([readUntil(ports, read), ports.pause(readsMs)()])

/** Whether a read that failed so may succeed within two seconds. */
export const isTransient = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === 'BrokerUnavailable' || _tag === 'ServiceUnavailable'

/**
 * Reads what was to be changed, for at most two seconds: an accepted change until it shows, a
 * confirmed one until the old value is gone, an unchanged one until a read succeeds; once where the
 * answer was lost.
 * @returns the last result other than a failure that may pass; undefined where there is none
 */
export const readChanged = async <Failure extends { readonly _tag: string }, A>(
  ports: Pauser,
  progress: ChangeReceipt['progress'] | 'unknown',
  read: TE.TaskEither<Failure, A>,
  is: { readonly made: (shown: A) => boolean; readonly old: (shown: A) => boolean },
): Promise<E.Either<Failure, A> | undefined> => {
  let latest: E.Either<Failure, A> | undefined
  const isShown = async () => {
    const shown = await read()
    if (E.isLeft(shown) && isTransient(shown.left)) return false
    latest = shown
    if (E.isLeft(shown) || progress === 'unchanged') return true
    return progress === 'accepted' ? is.made(shown.right) : !is.old(shown.right)
  }
  if (progress === 'unknown') await isShown()
  else await readUntilInTime(ports, isShown)
  return latest
}

// --- several changes for one request ---

/** How many of them are under way at once. */
const atOnce = 4

/**
 * Does the work for each, some at a time; one that fails does not keep the others from being done.
 * @returns the results in the order of the items
 */
export const doEach = async <Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  const results: Result[] = []
  // All workers take from one iterator, so that the work is done once for each.
  const queue = items.entries()
  const doRest = async () => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, doRest))
  return results
}
