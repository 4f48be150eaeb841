// Takes a recorded order to its end: sends it once, and where the answer does not say how it ended,
// reconciles it with the broker's records. `processOrder` may be called any number of times, by
// several processes at once and after any crash: what is stored decides, and every write expects
// the version that was read.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isSameBrokerAccount, requireBrokerAccount, requireTradable } from '../accounts/account.ts'
import type { Account, BrokerAccount } from '../accounts/account.ts'
import type { BrokerReadError, ServiceUnavailable } from '../errors.ts'
import { brokerClientId } from '../orders/order.ts'
import type { Order } from '../orders/order.ts'
import {
  afterLookup,
  afterNotSent,
  afterRecheck,
  afterSend,
  afterVerification,
  nextAction,
  placementWindowMs,
  rejectLate,
  rejectUnusable,
} from '../orders/placement.ts'
import type { LookupAnswer, PlacementStep, Sending, UnusableAccount } from '../orders/placement.ts'
import { isCorrection, settle } from '../orders/transitions.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { OrderJob, OrderPlacement, OrderRetry, OrderStore } from '../ports/order-store.ts'
import type { Ports } from '../ports/ports.ts'
import type { AcquireSlot } from '../ports/trade-slots.ts'
import type { BrokerOrder } from '../ports/trading.ts'
import { secondMs } from '../primitives/instant.ts'
import { confirmDemo, findAccount } from './steps/accounts.ts'

interface ProcessPorts extends Pick<
  Ports,
  'liveAccounts' | 'trading' | 'slots' | 'clock' | 'stopwatch' | 'pause'
> {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly orders: Pick<OrderStore, 'placement' | 'advance' | 'othersTickets'>
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

type Processing = TE.TaskEither<ServiceUnavailable, ProcessedOrder>

/**
 * After how long an order that is being sent is looked up by others; a lookup does not disturb a
 * send under way.
 */
const sendingLeaseMs = 10 * secondMs
/**
 * How long a lookup waits for a slot; after that the order falls due again when its claim lapses.
 */
const lookupPatienceMs = 10 * secondMs
/**
 * How long an answer of the broker is held while the database cannot be written; after that the
 * broker's records have to show it again.
 */
const writeAttempts = 60
const writePauseMs = secondMs

const nothingFollows: Processing = TE.right({ isCorrected: false, retry: undefined })

interface SentPlacement extends OrderPlacement {
  readonly placement: Sending
}

/**
 * `from` is undefined when an obstacle prevented the send, `step` when another process took the
 * order on.
 */
interface SendResult {
  readonly from: SentPlacement | undefined
  readonly step: PlacementStep | undefined
}

type SendObstacle = UnusableAccount | BrokerReadError | ServiceUnavailable

export const processOrder = (ports: ProcessPorts): ((job: OrderJob) => Processing) => {
  const { orders, trading, slots, clock, stopwatch } = ports

  const timeLeftMs = ({ order, sendUntilMs }: OrderJob): number =>
    Math.min(order.createdAt + placementWindowMs - clock.now(), sendUntilMs - stopwatch.elapsedMs())

  // --- sending ---

  // The slot is held for the checks and the send. What the broker answered is written without it.
  const send = (job: OrderJob): Processing =>
    pipe(
      inSlot(slots.forSend, job.destination, timeLeftMs(job), checkAndSend(job)),
      TE.flatMap((sent) => {
        if (sent === undefined) return write(job, rejectLate)
        const { from, step } = sent
        if (step === undefined) return nothingFollows
        // Only an answer to a send of our own outweighs what another process wrote meanwhile.
        return from === undefined ? write(job, step) : writeSendAnswer(job, from, step)
      }),
    )

  const checkAndSend = (job: OrderJob): TE.TaskEither<ServiceUnavailable, SendResult> =>
    pipe(
      requireDestination(job),
      TE.matchE(
        (obstacle): TE.TaskEither<ServiceUnavailable, SendResult> =>
          obstacle._tag === 'ServiceUnavailable'
            ? TE.left(obstacle)
            : TE.right({ from: undefined, step: afterObstacle(obstacle, timeLeftMs(job)) }),
        () => sendOnce(job),
      ),
    )

  // The account may have been relinked, or turned out to be live, since the order was accepted. One
  // whose broker never said that it is a demo account is read first: nothing is sent to a broker on
  // the link's word alone.
  const requireDestination = ({
    order: { owner, request },
    destination,
  }: OrderJob): TE.TaskEither<SendObstacle, Account> =>
    pipe(
      findAccount(ports)(owner, request.accountId),
      TE.tap((account): TE.TaskEither<SendObstacle, unknown> =>
        TE.fromEither(requireTradable(account)),
      ),
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

  const sendOnce = (job: OrderJob): TE.TaskEither<ServiceUnavailable, SendResult> => {
    const { order, destination, version } = job
    const sending: Sending = { step: 'sending', sentAt: clock.now() }
    // In any run of the database server: what the broker answers is true whatever the database
    // knows.
    const from: SentPlacement = {
      order,
      placement: sending,
      destination,
      version: version + 1,
      serverRun: undefined,
    }
    const place: T.Task<PlacementStep> = async () => {
      const answer = await trading.placeOrder(
        destination,
        brokerOrderOf(order),
        () => timeLeftMs(job) > 0,
      )()
      if (answer.kind !== 'refused' && answer.kind !== 'not_sent') ports.accountChanged(destination)
      return afterSend(sending, answer, timeLeftMs(job))
    }
    return pipe(
      advance(job, { placement: sending, continueInMs: sendingLeaseMs }),
      TE.flatMapTask((isOurs): T.Task<PlacementStep | undefined> =>
        isOurs ? place : T.of(undefined),
      ),
      TE.map((step) => ({ from, step })),
    )
  }

  // The process that recorded the order may have sent it, and the database may have lost the record
  // of that.
  const verifyAndSend = (job: OrderJob): Processing =>
    pipe(
      findInSlot(job, job.order.createdAt, null, true),
      TE.flatMap((answer) => {
        if (answer === undefined) return nothingFollows
        const step = afterVerification(answer, timeLeftMs(job), job.order.createdAt)
        return step === undefined ? send(job) : write(job, step)
      }),
    )

  // --- looking up ---

  const lookUp = (
    job: OrderJob,
    { sentAt, orderId }: { readonly sentAt: number; readonly orderId: string | null },
    refresh: boolean,
    after: (answer: LookupAnswer) => PlacementStep,
  ): Processing =>
    pipe(
      findInSlot(job, sentAt, orderId, refresh),
      TE.flatMap((answer) => (answer === undefined ? nothingFollows : write(job, after(answer)))),
    )

  /** Undefined when no slot came free in time. */
  const findInSlot = (job: OrderJob, sentAt: number, orderId: string | null, refresh: boolean) =>
    inSlot(
      slots.forLookup,
      job.destination,
      lookupPatienceMs,
      pipe(
        orders.othersTickets(job.order.owner, job),
        TE.flatMapTask((othersTickets) =>
          trading.findOrder(job.destination, {
            order: brokerOrderOf(job.order),
            sentAt,
            orderId,
            refresh,
            othersTickets,
          }),
        ),
        TE.tapIO(
          ({ kind }) =>
            () =>
              kind === 'found' && ports.accountChanged(job.destination),
        ),
      ),
    )

  // --- writing down what follows ---

  const advance = (
    from: OrderPlacement,
    step: PlacementStep,
  ): TE.TaskEither<ServiceUnavailable, boolean> =>
    orders.advance(from.order.owner, from, step, clock.now())

  /** @param otherwise what follows when another process wrote first */
  const write = (
    job: OrderJob,
    step: PlacementStep,
    from: OrderPlacement = job,
    otherwise = nothingFollows,
  ): Processing =>
    pipe(
      advance(from, step),
      TE.flatMap((isWritten) => (isWritten ? TE.right(processed(job, from, step)) : otherwise)),
    )

  // What the broker answered is held while the database is unavailable.
  const writeSendAnswer = (
    job: OrderJob,
    from: SentPlacement,
    step: PlacementStep,
    attempt = 1,
  ): Processing =>
    pipe(
      write(job, step, from, overrideOther(job, from, step)),
      TE.orElse((error) =>
        attempt >= writeAttempts
          ? TE.left(error)
          : pipe(
              TE.fromTask<void, ServiceUnavailable>(ports.pause(writePauseMs)),
              TE.flatMap(() => writeSendAnswer(job, from, step, attempt + 1)),
            ),
      ),
    )

  // Another process wrote meanwhile. That the order was executed is true whatever it wrote; that it
  // was not is true of this send alone.
  const overrideOther =
    (job: OrderJob, from: SentPlacement, step: PlacementStep): Processing =>
    async () => {
      if (step.outcome === undefined) return nothingFollows()
      const stored = await orders.placement(from.order.owner, from.order.id)()
      if (E.isLeft(stored)) return stored
      if (O.isNone(stored.right) || !mayOverride(stored.right.value, from, step))
        return nothingFollows()
      return write(job, step, stored.right.value, overrideOther(job, from, step))()
    }

  return (job) => () => {
    const { isOwn, order } = job
    const now = clock.now()
    const action = nextAction(job.placement, {
      isOwn,
      timeLeftMs: timeLeftMs(job),
      createdAt: order.createdAt,
      now,
    })
    switch (action.kind) {
      case 'send':
        return send(job)()
      case 'verify_and_send':
        return verifyAndSend(job)()
      case 'look_up': {
        const { from, refresh } = action
        return lookUp(job, from, refresh, (answer) => afterLookup(from, answer, now, refresh))()
      }
      case 'recheck':
        return lookUp(job, action.from, true, (answer) => afterRecheck(action.from, answer))()
      case 'reject_late':
        return write(job, rejectLate)()
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
    work: TE.TaskEither<ServiceUnavailable, A>,
  ): TE.TaskEither<ServiceUnavailable, A | undefined> =>
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
  from: SentPlacement,
  { outcome }: PlacementStep,
): boolean => {
  if (placement.step === 'settled') return false
  return (
    outcome?.kind !== 'rejected' ||
    ('sentAt' in placement && placement.sentAt === from.placement.sentAt)
  )
}

const processed = (
  job: OrderJob,
  from: OrderPlacement,
  { placement, outcome, continueInMs }: PlacementStep,
): ProcessedOrder => {
  // A send from here that certainly did not arrive was preceded by a lookup, or by the record: this
  // process knows the order from then on.
  const retried: OrderJob = {
    ...job,
    placement,
    version: from.version + 1,
    isOwn: job.isOwn || from !== job,
  }
  return {
    isCorrected:
      outcome !== undefined &&
      isCorrection(from.order, settle(from.order, outcome, from.order.updatedAt)),
    retry:
      placement.step === 'recorded' && continueInMs !== null
        ? { job: retried, inMs: continueInMs }
        : undefined,
  }
}

const brokerOrderOf = ({ id, request }: Order): BrokerOrder => {
  const { symbol, side, volume, stopLoss, takeProfit } = request
  return {
    clientId: brokerClientId(id),
    symbol,
    side,
    volume,
    ...(stopLoss === undefined ? {} : { stopLoss }),
    ...(takeProfit === undefined ? {} : { takeProfit }),
  }
}
