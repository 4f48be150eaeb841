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
  requireTradable,
  type Account,
  type BrokerAccount,
} from '../accounts/account.ts'
import { requireNotHalted } from '../accounts/account.ts'
import type { AsyncResult, BrokerReadError, ServiceUnavailable } from '../errors.ts'
import { isCorrection, isPendingOrder } from '../orders/order.ts'
import {
  afterLookup,
  afterNotSent,
  afterRecheck,
  afterSend,
  afterVerification,
  nextAction,
  sendTimeoutMs,
  lateRejection,
  rejectUnusable,
  withStep,
  type LookupAnswer,
  type PlacementStep,
  type Sending,
} from '../orders/placement.ts'
import type { UnusableAccount } from '../orders/unusable-account.ts'
import type {
  AcquireSlot,
  OrderJob,
  OrderStore,
  OrderPlacement,
  OrderRetry,
  Ports,
} from '../ports/index.ts'
import { secondMs } from '../primitives/instant.ts'
import type { createOpenOrders } from './open-orders.ts'
import { orderToSend, lookUpOrder, type Sought } from './steps/broker-order.ts'
import { confirmDemo, findAccount, type AccountReads } from './steps/find.ts'

interface ProcessPorts
  extends
    AccountReads,
    Pick<Ports, 'halts' | 'liveAccounts' | 'trading' | 'slots' | 'clock' | 'stopwatch' | 'pause'> {
  readonly orders: Pick<OrderStore, 'placement' | 'advance' | 'othersTickets'>
  readonly cancelWhereHalted: ReturnType<typeof createOpenOrders>['cancelWhereHalted']
  /** The broker may have changed the account: what caches keep of it is dropped. */
  readonly accountChanged: (account: BrokerAccount) => void
}

export interface ProcessedOrder {
  /**
   * An order that was rejected because the broker's records did not show it was found there after
   * all.
   */
  readonly isCorrected: boolean
  /** The order was certainly not sent and may be tried again. */
  readonly retry: OrderRetry | undefined
}

type Processing = AsyncResult<ProcessedOrder>

/**
 * After how long others look up an order that is being sent; a lookup does not disturb the send.
 */
const sendingLeaseMs = 10 * secondMs
/** How long a lookup waits for a slot; after that the order is due again when its claim lapses. */
const lookupPatienceMs = 10 * secondMs
/**
 * How many times the broker's answer is written at most while the database is unavailable; after that
 * the broker's records have to show it.
 */
const writeAttempts = 60
const writePauseMs = secondMs

const nothingFollows: Processing = TE.right({ isCorrected: false, retry: undefined })

/** An order that this process is sending. */
interface SendingOrder extends OrderPlacement {
  readonly placement: Sending
}

/** What follows from trying to send an order; nothing where another process was quicker. */
interface SendResult {
  readonly step?: PlacementStep
  /** As it was stored before it was sent; undefined where nothing was sent. */
  readonly sent?: SendingOrder
}

type SendObstacle = UnusableAccount | BrokerReadError | ServiceUnavailable

export const processOrder = (ports: ProcessPorts): ((job: OrderJob) => Processing) => {
  const { orders, trading, slots, clock, stopwatch } = ports

  const timeToDeadlineMs = ({ order, sendDeadlineMs }: OrderJob): number =>
    Math.min(order.createdAt + sendTimeoutMs - clock.now(), sendDeadlineMs - stopwatch.elapsedMs())

  // --- sending ---

  // The slot is held for the checks and the send, not for the write of what follows.
  const send = (job: OrderJob): Processing =>
    pipe(
      inSlot(
        slots.forSend,
        job.destination,
        timeToDeadlineMs(job),
        pipe(
          requireDestination(job),
          TE.flatMap(() => sendOnce(job)),
          TE.orElse((obstacle): AsyncResult<SendResult> =>
            obstacle._tag === 'ServiceUnavailable'
              ? TE.left(obstacle)
              : TE.right({ step: afterObstacle(obstacle, timeToDeadlineMs(job)) }),
          ),
        ),
      ),
      TE.flatMap((result) => {
        const { step, sent }: SendResult = result ?? { step: lateRejection }
        if (step === undefined) return nothingFollows
        return sent === undefined ? write(job, step) : writeSendAnswer(job, sent, step)
      }),
    )

  // The account may have been relinked, or turned out to be live, since the order was accepted. One
  // whose broker never confirmed that it is a demo account is read first.
  const requireDestination = ({
    order: { owner, request },
    destination,
  }: OrderJob): TE.TaskEither<SendObstacle, Account> =>
    pipe(
      findAccount(ports)(owner, request.accountId),
      TE.tap((account) => TE.fromEither(requireTradable(account))),
      TE.tap((account) =>
        pipe(
          TE.fromEither(requireBrokerAccount(account)),
          TE.filterOrElseW(
            (linked) => isSameBrokerAccount(linked, destination),
            () => ({ _tag: 'AccountRelinked' as const }),
          ),
        ),
      ),
      TE.tap(confirmDemo(ports)),
    )

  const sendOnce =
    (job: OrderJob): AsyncResult<SendResult> =>
    async () => {
      const { order, destination, version } = job
      const sending: Sending = { step: 'sending', sentAt: clock.now() }
      const stored = await advance(job, { placement: sending, continueInMs: sendingLeaseMs })()
      if (E.isLeft(stored)) return stored
      if (!stored.right) return rejectHalted(job)()
      const answer = await trading.placeOrder(
        destination,
        orderToSend(order),
        () => timeToDeadlineMs(job) > 0,
      )()
      if (answer.kind !== 'refused' && answer.kind !== 'not_sent') ports.accountChanged(destination)
      return E.right({
        step: afterSend(sending, answer, timeToDeadlineMs(job), isPendingOrder(order)),
        // No serverRun check: the broker's answer must be stored even after a database failover.
        sent: { order, placement: sending, destination, version: version + 1 },
      })
    }

  /** The order was not stored as sending: its account is halted, or another process was quicker. */
  const rejectHalted = ({ order: { owner, request } }: OrderJob): AsyncResult<SendResult> =>
    pipe(
      ports.halts.find(owner, request.accountId),
      TE.map((halt) => requireNotHalted(request.accountId, halt)),
      TE.map(
        E.match(
          (halted) => ({ step: rejectUnusable(halted) }),
          () => ({}),
        ),
      ),
    )

  // The process that recorded the order may have sent it, and the database may have lost the record
  // of that.
  const verifyAndSend = (job: OrderJob): Processing =>
    pipe(
      findInSlot(job, {
        sentAt: job.order.createdAt,
        brokerOrderId: null,
        readFromTerminal: true,
      }),
      TE.flatMap((answer) => {
        if (answer === undefined) return nothingFollows
        const step = afterVerification(
          answer,
          timeToDeadlineMs(job),
          job.order.createdAt,
          isPendingOrder(job.order),
        )
        return step === undefined ? send(job) : write(job, step)
      }),
    )

  // --- looking up ---

  const lookUp = (
    job: OrderJob,
    sought: Sought,
    after: (answer: LookupAnswer) => PlacementStep,
  ): Processing =>
    pipe(
      findInSlot(job, sought),
      TE.flatMap((answer) => (answer === undefined ? nothingFollows : write(job, after(answer)))),
    )

  /** Undefined when no slot came free in time. */
  const findInSlot = (job: OrderJob, sought: Sought) =>
    inSlot(
      slots.forLookup,
      job.destination,
      lookupPatienceMs,
      pipe(
        lookUpOrder(ports)(job, sought),
        TE.tapIO(
          ({ kind }) =>
            () =>
              kind === 'found' && ports.accountChanged(job.destination),
        ),
      ),
    )

  // --- writing ---

  const advance = (expected: OrderPlacement, step: PlacementStep): AsyncResult<boolean> =>
    orders.advance(expected.order.owner, expected, step, clock.now())

  /**
   * @param expected the state that the database is expected to hold
   * @param onConflict runs if the stored version changed
   */
  const write = (
    job: OrderJob,
    step: PlacementStep,
    expected: OrderPlacement = job,
    onConflict = nothingFollows,
  ): Processing =>
    pipe(
      advance(expected, step),
      TE.flatMap((isWritten) =>
        isWritten
          ? pipe(
              TE.right<ServiceUnavailable, ProcessedOrder>(processed(job, expected, step)),
              // The account may have been halted after the order was sent.
              TE.tapTask(() => ports.cancelWhereHalted({ ...expected, placement: step.placement })),
            )
          : onConflict,
      ),
    )

  // The broker's answer is held in memory while the database is unavailable.
  const writeSendAnswer = (
    job: OrderJob,
    expected: SendingOrder,
    step: PlacementStep,
    attempt = 1,
  ): Processing =>
    pipe(
      write(job, step, expected, overrideOther(job, expected, step)),
      TE.orElse((error) =>
        attempt >= writeAttempts
          ? TE.left(error)
          : pipe(
              TE.fromTask<void, ServiceUnavailable>(ports.pause(writePauseMs)),
              TE.flatMap(() => writeSendAnswer(job, expected, step, attempt + 1)),
            ),
      ),
    )

  // Another process wrote meanwhile. An execution always overrides the other write; a rejection
  // only if the stored send is this one (same sentAt). An ended placement is never overridden.
  const overrideOther =
    (job: OrderJob, ours: SendingOrder, step: PlacementStep): Processing =>
    async () => {
      if (step.outcome === undefined) return nothingFollows()
      const stored = await orders.placement(ours.order.owner, ours.order.id)()
      if (E.isLeft(stored)) return stored
      if (O.isNone(stored.right) || !mayOverride(stored.right.value, ours, step))
        return nothingFollows()
      return write(job, step, stored.right.value, overrideOther(job, ours, step))()
    }

  return (job) => () => {
    const { mustLookUpFirst, order } = job
    const now = clock.now()
    const action = nextAction(job.placement, {
      mustLookUpFirst,
      timeToDeadlineMs: timeToDeadlineMs(job),
      createdAt: order.createdAt,
      now,
    })
    switch (action.kind) {
      case 'send':
        return send(job)()
      case 'verify_and_send':
        return verifyAndSend(job)()
      case 'look_up': {
        const { from, readFromTerminal } = action
        return lookUp(job, { ...from, readFromTerminal }, (answer) =>
          afterLookup(from, {
            answer,
            at: now,
            readFromTerminal,
            isPending: isPendingOrder(order),
          }),
        )()
      }
      case 'recheck':
        return lookUp(job, { ...action.from, readFromTerminal: true }, (answer) =>
          afterRecheck(action.from, answer, isPendingOrder(order)),
        )()
      case 'reject_late':
        return write(job, lateRejection)()
      case 'none':
        return nothingFollows()
    }
  }
}

const afterObstacle = (
  obstacle: Exclude<SendObstacle, ServiceUnavailable>,
  leftMs: number,
): PlacementStep => {
  switch (obstacle._tag) {
    case 'BrokerUnavailable':
      return afterNotSent(null, leftMs, obstacle.cause)
    case 'BrokerRateLimited':
      return afterNotSent(obstacle.retryAfterSeconds * secondMs, leftMs)
    case 'AccountNotFound':
    case 'AccountPurposeRestricted':
    case 'AccountRelinked':
    case 'LiveAccountRestricted':
    case 'AccountHalted':
    case 'UnsupportedBroker':
    case 'NotProvisioned':
      return rejectUnusable(obstacle)
  }
}

const inSlot =
  <A>(
    acquire: AcquireSlot,
    account: BrokerAccount,
    patienceMs: number,
    work: AsyncResult<A>,
  ): AsyncResult<A | undefined> =>
  async () => {
    const release = await acquire(account, patienceMs)()
    if (release === undefined) return E.right(undefined)
    try {
      return await work()
    } finally {
      release()
    }
  }

const mayOverride = (
  { placement }: OrderPlacement,
  ours: SendingOrder,
  { outcome }: PlacementStep,
): boolean => {
  if (placement.step === 'ended') return false
  return (
    outcome?.kind !== 'rejected' ||
    ('sentAt' in placement && placement.sentAt === ours.placement.sentAt)
  )
}

const processed = (
  job: OrderJob,
  expected: OrderPlacement,
  step: PlacementStep,
): ProcessedOrder => {
  const { placement, continueInMs } = step
  // Where this process has sent the order, and it was `not_sent`, it had recorded it or looked it up
  // before: the retry needs no lookup.
  const retried: OrderJob = {
    ...job,
    placement,
    version: expected.version + 1,
    mustLookUpFirst: job.mustLookUpFirst && expected === job,
  }
  return {
    isCorrected: isCorrection(
      expected.order,
      withStep(expected.order, step, expected.order.updatedAt),
    ),
    retry:
      placement.step === 'recorded' && continueInMs !== null
        ? { job: retried, inMs: continueInMs }
        : undefined,
  }
}
