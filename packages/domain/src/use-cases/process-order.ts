// Processes a recorded order until its outcome is known: sends it once, and where the answer does
// not say how it ended, reconciles it with the broker's records. `processOrder` may be called any
// number of times, by several processes at once and after any crash: what is stored decides, and
// every write expects the version that was read.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import {
  isSameBrokerAccount,
  requireBrokerAccount,
  requireNotHalted,
  requireTradable,
  type BrokerAccount,
} from '../accounts/account.ts'
import {
  refuse,
  type AsyncResult,
  type BrokerReadError,
  type Halt,
  type Refusal,
  type ServiceUnavailable,
} from '../errors.ts'
import { requireUnlocked } from '../orders/limits.ts'
import { isCorrection, type UnusableAccount } from '../orders/order.ts'
import {
  afterLookup,
  retryOrReject,
  afterSendAnswer,
  afterVerification,
  nextAction,
  maxSendAgeMs,
  lateRejection,
  rejectUnusable,
  withTransition,
  type LookupAnswer,
  type PlacementAnswer,
  type Transition,
} from '../orders/placement.ts'
import type { Placement, Sending } from '../orders/placement-state.ts'
import type { AcquireSlot, OrderJob, StoredOrder, OrderRetry, Ports } from '../ports/index.ts'
import { secondMs, type Instant } from '../primitives/instant.ts'
import type { CancelWhereHalted } from './halts.ts'
import {
  orderToSend,
  lookUpOrder,
  type LookupHints,
  type LookupPorts,
} from './steps/broker-order.ts'
import type { OnAccountChanged } from './steps/broker-change.ts'
import { confirmDemo, findAccount } from './steps/find.ts'

interface ProcessPorts
  extends
    LookupPorts,
    Pick<
      Ports,
      'halts' | 'orderLimits' | 'liveAccounts' | 'slots' | 'clock' | 'stopwatch' | 'pause'
    > {
  readonly cancelWhereHalted: CancelWhereHalted
  readonly onAccountChanged: OnAccountChanged
}

/** What one step of processing an order leaves to its worker. */
export interface ProcessedOrder {
  /**
   * `order_corrected`: the broker's records show an order that was rejected as not found there, or
   * one placed again that had ended as cancelled; `order_unverified`: they did not show for a week
   * of the former, or for ten minutes of the latter, how it ended.
   * `answer_discarded`: the broker accepted or executed an order whose record had ended, or was
   * gone.
   */
  readonly warning?: 'order_corrected' | 'order_unverified' | 'answer_discarded' | undefined
  /** The order was certainly not sent and may be tried again. */
  readonly retry?: OrderRetry | undefined
}

type OrUnavailable<A> = E.Either<ServiceUnavailable, A>
type Processed = Promise<OrUnavailable<ProcessedOrder>>

/**
 * After how long any process may look up an order that is being sent, even while it still is.
 */
const sendingLeaseMs = 10 * secondMs
/** How long a lookup waits for a slot; after that the order is due again when its claim lapses. */
const lookupPatienceMs = 10 * secondMs
/**
 * After so many failures to store the broker's answer this process gives up, and a later lookup
 * finds the outcome in the broker's records.
 */
const maxWriteFailures = 60
const writePauseMs = secondMs

const nothingFollows: OrUnavailable<ProcessedOrder> = E.right({})

/** An order that this process is sending. */
interface SendingOrder extends StoredOrder {
  readonly placement: Sending
}

/** What follows from trying to send an order. */
interface SendResult {
  readonly transition: Transition
  /** As it was stored before it was sent; undefined where nothing was sent. */
  readonly sent?: SendingOrder
}

/** Undefined where another process was quicker. */
type SendAttempt = Promise<OrUnavailable<SendResult | undefined>>

type SendObstacle = UnusableAccount | BrokerReadError | ServiceUnavailable

/**
 * Takes the next step of an order. It fails only where the database does; the order is then due
 * again.
 */
export const processOrder = (
  ports: ProcessPorts,
): ((job: OrderJob) => AsyncResult<ProcessedOrder>) => {
  const { orders, trading, slots, clock, stopwatch } = ports

  const timeToDeadlineMs = ({ order, sendDeadlineMs }: OrderJob): number =>
    Math.min(order.createdAt + maxSendAgeMs - clock.now(), sendDeadlineMs - stopwatch.elapsedMs())

  // --- sending ---

  // The slot is held for the checks and the send, not for the write of what follows.
  const send = async (job: OrderJob): Processed => {
    const attempt = await withSlot(slots.forSend, job.destination, timeToDeadlineMs(job), () =>
      checkAndSend(job),
    )
    if (attempt === undefined) return write(job, lateRejection('no_slot'))
    if (E.isLeft(attempt)) return attempt
    if (attempt.right === undefined) return nothingFollows
    const { transition, sent } = attempt.right
    return sent === undefined ? write(job, transition) : writeAnswer(job, transition, sent)
  }

  const checkAndSend = async (job: OrderJob): SendAttempt => {
    const destination = await requireDestination(job)()
    if (E.isRight(destination)) return sendOnce({ ...job, destination: destination.right })
    const obstacle = destination.left
    return obstacle._tag === 'ServiceUnavailable'
      ? E.left(obstacle)
      : E.right({ transition: afterObstacle(obstacle, timeToDeadlineMs(job)) })
  }

  // The account may have been relinked, turned out to be live, or failed its challenge, since the
  // order was accepted.
  const requireDestination = ({
    order: { owner, request },
    destination,
  }: OrderJob): TE.TaskEither<SendObstacle, BrokerAccount> =>
    pipe(
      findAccount(ports)(owner, request.accountId),
      TE.flatMapEither(requireTradable),
      TE.bindTo('account'),
      TE.bindW('linked', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
      TE.filterOrElseW(
        ({ linked }) => isSameBrokerAccount(linked, destination),
        () => ({ _tag: 'AccountRelinked' as const }),
      ),
      TE.tap(({ account }) =>
        pipe(ports.orderLimits.challenges(owner, account.id), TE.flatMapEither(requireUnlocked)),
      ),
      TE.tap(({ account }) => pipe(confirmDemo(ports)(account), TE.mapLeft(unknownMayPass))),
      TE.map(({ linked }) => linked),
    )

  const sendOnce = async (job: OrderJob): SendAttempt => {
    const { order, destination, version } = job
    const sending: Sending = { step: 'sending', sentAt: clock.now() }
    const stored = await advance(job, { placement: sending, continueInMs: sendingLeaseMs })
    if (E.isLeft(stored)) return stored
    if (!stored.right) return rejectIfHalted(job)
    const answer = await trading.placeOrder(
      destination,
      orderToSend(order),
      () => timeToDeadlineMs(job) > 0,
    )()
    if (!isNotExecuted(answer)) ports.onAccountChanged(destination)
    return E.right({
      transition: afterSendAnswer(sending, answer, timeToDeadlineMs(job)),
      // `databaseRun` is left out on purpose: after a failover the answer must still be stored.
      sent: { order, placement: sending, destination, version: version + 1 },
    })
  }

  /** The order was not stored as sending: its account is halted, or another process was quicker. */
  const rejectIfHalted = async ({ order: { owner, request } }: OrderJob): SendAttempt =>
    E.map((halt: O.Option<Halt>) => {
      const halted = requireNotHalted(request.accountId, halt)
      return E.isLeft(halted) ? { transition: rejectUnusable(halted.left) } : undefined
    })(await ports.halts.find(owner, request.accountId)())

  // --- looking up ---

  /**
   * The earliest and the latest time at which the order may have been sent. The sender's clock and
   * the order's age in the database each give one; either clock may be wrong, or set since.
   */
  const possibleSendTimes = (
    { sendDeadlineMs }: OrderJob,
    now: Instant,
    { sentAt }: LookupHints,
  ): Pick<LookupHints, 'sentAt' | 'sentAtLatest'> => {
    const deadline = now + sendDeadlineMs - stopwatch.elapsedMs()
    return {
      sentAt: Math.min(sentAt, deadline - maxSendAgeMs),
      sentAtLatest: Math.max(sentAt, deadline),
    }
  }

  /** @param after what follows from the answer; undefined where the order may be sent */
  const lookUp = async (
    job: OrderJob,
    now: Instant,
    hints: LookupHints,
    after: (answer: LookupAnswer) => Transition | undefined,
  ): Processed => {
    const { destination } = job
    const answer = await withSlot(
      slots.forLookup,
      destination,
      lookupPatienceMs,
      lookUpOrder(ports)(job, { ...hints, ...possibleSendTimes(job, now, hints) }),
    )
    if (answer === undefined) return nothingFollows
    if (E.isLeft(answer)) return answer
    if (answer.right.kind === 'found') ports.onAccountChanged(destination)
    const transition = after(answer.right)
    return transition === undefined ? send(job) : write(job, transition)
  }

  // --- writing ---

  const advance = (
    replaces: StoredOrder,
    transition: Transition,
  ): Promise<OrUnavailable<boolean>> =>
    orders.advance(replaces.order.owner, replaces, transition, clock.now())()

  const write = async (job: OrderJob, transition: Transition): Processed => {
    const written = await advance(job, transition)
    if (E.isLeft(written)) return written
    return written.right ? afterWrite(job, job, transition) : nothingFollows
  }

  /**
   * Writes what follows from the broker's answer to a send. The answer is held in memory while the
   * database is unavailable, and may override what another process wrote meanwhile.
   */
  const writeAnswer = async (
    job: OrderJob,
    transition: Transition,
    sent: SendingOrder,
  ): Processed => {
    const { owner, id } = sent.order
    let replaces: StoredOrder = sent
    for (let failures = 0; ;) {
      const written = await advance(replaces, transition)
      // 'no', because an order is tried again only where the broker certainly did not get it.
      if (E.isRight(written) && written.right)
        return afterWrite({ ...job, sentBefore: 'no' }, replaces, transition)
      const stored = E.isLeft(written) ? written : await orders.findStored(owner, id)()
      if (E.isLeft(stored)) {
        failures += 1
        if (failures === maxWriteFailures) return stored
        await ports.pause(writePauseMs)()
        continue
      }
      const other = O.toUndefined(stored.right)
      if (other === undefined || !mayOverride(other.placement, sent.placement, transition))
        return isDiscarded(other, transition)
          ? E.right({ warning: 'answer_discarded' })
          : nothingFollows
      replaces = other
    }
  }

  const afterWrite = async (
    job: OrderJob,
    replaced: StoredOrder,
    transition: Transition,
  ): Processed => {
    // The account may have been halted after the order was sent.
    await ports.cancelWhereHalted({ ...replaced, placement: transition.placement })()
    return E.right(resultOf(job, replaced, transition))
  }

  return (job) => async () => {
    const { order, sentBefore } = job
    const { createdAt } = order
    const now = clock.now()
    const action = nextAction(job.placement, {
      sentBefore,
      timeToDeadlineMs: timeToDeadlineMs(job),
      createdAt,
      now,
    })
    switch (action.kind) {
      case 'send':
        return send(job)
      case 'verify_and_send':
        return lookUp(
          job,
          now,
          { sentAt: createdAt, brokerOrderId: null, readFromTerminal: true },
          (answer) => afterVerification(answer, timeToDeadlineMs(job), createdAt),
        )
      case 'look_up': {
        const { from, readFromTerminal } = action
        return lookUp(job, now, { ...from, readFromTerminal }, (answer) =>
          afterLookup(from, answer, now, readFromTerminal),
        )
      }
      case 'reject_late':
        return write(job, lateRejection('overdue'))
      case 'none':
        return nothingFollows
    }
  }
}

const isNotExecuted = ({ kind }: PlacementAnswer): boolean =>
  kind === 'refused' || kind === 'not_sent'

/** A provider that does not know an account may know it again in a moment. */
const unknownMayPass = (
  error: BrokerReadError | ServiceUnavailable | Refusal<'LiveAccountRestricted'>,
): Exclude<typeof error, Refusal<'NotProvisioned'>> =>
  error._tag === 'NotProvisioned'
    ? refuse('BrokerUnavailable', { accountId: error.accountId, reason: 'unknown to the provider' })
    : error

const afterObstacle = (
  obstacle: Exclude<SendObstacle, ServiceUnavailable>,
  timeToDeadlineMs: number,
): Transition => {
  if (obstacle._tag === 'BrokerUnavailable')
    return retryOrReject(null, timeToDeadlineMs, obstacle.cause)
  return obstacle._tag === 'BrokerRateLimited'
    ? retryOrReject(obstacle.retryAfterSeconds * secondMs, timeToDeadlineMs)
    : rejectUnusable(obstacle)
}

/** Undefined where no slot came free. */
const withSlot = async <A>(
  acquire: AcquireSlot,
  account: BrokerAccount,
  patienceMs: number,
  work: () => Promise<A>,
): Promise<A | undefined> => {
  const release = await acquire(account, patienceMs)()
  if (release === undefined) return undefined
  try {
    return await work()
  } finally {
    release()
  }
}

/**
 * Whether the broker's answer to a send overrides what another process stored meanwhile. An order
 * that has ended is never overridden. Otherwise an execution always overrides. A refusal, an order
 * that the broker holds, and a number of the broker's that is not stored yet override only lookups
 * of this same send: any other step may come from the broker's records, which prove that the order
 * was placed.
 */
const mayOverride = (
  stored: Placement,
  { sentAt }: Sending,
  { placement, outcome }: Transition,
): boolean => {
  if (stored.step === 'ended') return false
  if ('isPartlyExecuted' in placement) return true
  if (outcome !== undefined && outcome.kind !== 'rejected') return true
  if (stored.step !== 'looking_up' || stored.sentAt !== sentAt) return false
  const hasNewNumber = 'brokerOrderId' in placement && placement.brokerOrderId !== null
  return (
    outcome !== undefined ||
    placement.step === 'open' ||
    (hasNewNumber && stored.brokerOrderId === null)
  )
}

/** Whether the broker placed an order of which the record says that it was not, or is gone. */
const isDiscarded = (
  stored: StoredOrder | undefined,
  { placement, outcome }: Transition,
): boolean => {
  if (stored !== undefined && stored.order.status !== 'rejected') return false
  if (outcome !== undefined) return outcome.kind !== 'rejected'
  const hasNumber = 'brokerOrderId' in placement && placement.brokerOrderId !== null
  return hasNumber || placement.step === 'open' || 'isPartlyExecuted' in placement
}

const resultOf = (job: OrderJob, replaced: StoredOrder, transition: Transition): ProcessedOrder => {
  const { placement, continueInMs, isUnverified } = transition
  const after = withTransition(replaced.order, transition, replaced.order.updatedAt)
  const ifUnverified = isUnverified && 'order_unverified'
  const retried: OrderJob = { ...job, placement, version: replaced.version + 1 }
  return {
    warning: isCorrection(replaced.order, after) ? 'order_corrected' : ifUnverified,
    retry:
      placement.step === 'recorded' && continueInMs !== null
        ? { job: retried, inMs: continueInMs }
        : undefined,
  }
}
