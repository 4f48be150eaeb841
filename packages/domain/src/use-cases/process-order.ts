// Takes a recorded order to its end: sends it once, and where the answer does not say how it ended, reconciles it with the broker's records. `processOrder` may
// be called any number of times, by several processes at once and after any crash: what is stored decides, and every write expects the version that was read.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isSameBrokerAccount, requireBrokerAccount, requireTradable } from '../accounts/account.ts'
import type { Account, BrokerAccount } from '../accounts/account.ts'
import { accountNotFound } from '../errors.ts'
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
import type { LookupAnswer, PlacementAnswer, PlacementContext, PlacementStep, Sending, UnusableAccount } from '../orders/placement.ts'
import { isCorrection, settle } from '../orders/transitions.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Clock, Pauser, Stopwatch } from '../ports/clock.ts'
import type { LiveAccounts } from '../ports/live-accounts.ts'
import type { OrderJob, OrderPlacement, OrderRetry, OrderStore } from '../ports/order-store.ts'
import type { AcquireSlot, TradeSlots } from '../ports/trade-slots.ts'
import type { BrokerOrder, Trading } from '../ports/trading.ts'
import { secondMs } from '../primitives/instant.ts'
import { confirmDemo } from './steps/confirm-demo.ts'

interface ProcessPorts extends Pauser {
  readonly orders: Pick<OrderStore, 'placement' | 'advance' | 'othersTickets'>
  readonly accounts: Pick<AccountStore, 'find'>
  readonly liveAccounts: LiveAccounts
  readonly trading: Trading
  readonly slots: TradeSlots
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  /** The broker may have changed the account: what caches keep of it is dropped. */
  readonly accountChanged: (account: BrokerAccount) => void
}

export interface ProcessedOrder {
  /** An order that was rejected because the broker's records did not show it was found there after all. */
  readonly isCorrected: boolean
  /** The order was certainly not sent and may be tried again. */
  readonly retry: OrderRetry | undefined
}

type Processing = TE.TaskEither<ServiceUnavailable, ProcessedOrder>

/** After how long an order that is being sent is looked up by others; a lookup does not disturb a send under way. */
const sendingLeaseMs = 10 * secondMs
/** How long a lookup waits for a slot; after that the order falls due again when its claim lapses. */
const lookupPatienceMs = 10 * secondMs
/** How long an answer of the broker is held while the database cannot be written; after that the broker's records have to show it again. */
const writeAttempts = 60
const writePauseMs = secondMs

const nothingFollows: Processing = TE.right({ isCorrected: false, retry: undefined })

export const processOrder =
  (ports: ProcessPorts) =>
  (job: OrderJob): Processing =>
  () => {
    const action = nextAction(job.placement, contextOf(ports, job))
    switch (action.kind) {
      case 'send':
        return send(ports)(job)()
      case 'verify_and_send':
        return verifyAndSend(ports)(job)()
      case 'look_up': {
        const { from, refresh } = action
        const now = ports.clock.now()
        return lookUp(ports)(job, from, refresh, (answer) => afterLookup(from, answer, now, refresh))()
      }
      case 'recheck':
        return lookUp(ports)(job, action.from, true, (answer) => afterRecheck(action.from, answer))()
      case 'reject_late':
        return write(ports)(job, rejectLate)()
      case 'none':
        return nothingFollows()
    }
  }

const timeLeftMs = ({ clock, stopwatch }: ProcessPorts, { order, sendUntilMs }: OrderJob): number =>
  Math.min(order.createdAt + placementWindowMs - clock.now(), sendUntilMs - stopwatch.elapsedMs())

const contextOf = (ports: ProcessPorts, job: OrderJob): PlacementContext => ({
  isOwn: job.isOwn,
  timeLeftMs: timeLeftMs(ports, job),
  createdAt: job.order.createdAt,
  now: ports.clock.now(),
})

// The slot is held for the checks and the send. What the broker answered is written without it.
const send =
  (ports: ProcessPorts) =>
  (job: OrderJob): Processing =>
    pipe(
      inSlot(ports.slots.forSend, job.destination, timeLeftMs(ports, job), checkAndSend(ports)(job)),
      TE.flatMap((sent) => {
        if (sent === undefined) return write(ports)(job, rejectLate)
        const { from, step } = sent
        if (step === undefined) return nothingFollows
        // Only an answer to a send of our own outweighs what another process wrote meanwhile.
        return from === undefined ? write(ports)(job, step) : writeSendAnswer(ports)(job, from, step)
      }),
    )

interface SentPlacement extends OrderPlacement {
  readonly placement: Sending
}

/** `from` is undefined when an obstacle prevented the send, `step` when another process took the order on. */
interface SendResult {
  readonly from: SentPlacement | undefined
  readonly step: PlacementStep | undefined
}

const checkAndSend =
  (ports: ProcessPorts) =>
  (job: OrderJob): TE.TaskEither<ServiceUnavailable, SendResult> =>
    pipe(
      requireDestination(ports)(job),
      TE.matchE(
        (obstacle): TE.TaskEither<ServiceUnavailable, SendResult> =>
          obstacle._tag === 'ServiceUnavailable'
            ? TE.left(obstacle)
            : TE.right({ from: undefined, step: afterObstacle(obstacle, timeLeftMs(ports, job)) }),
        () => sendOnce(ports)(job),
      ),
    )

type SendObstacle = UnusableAccount | BrokerReadError | ServiceUnavailable

// The account may have been relinked, or turned out to be live, since the order was accepted. One whose broker never said that it is a demo account is
// read first: nothing is sent to a broker on the link's word alone.
const requireDestination =
  (ports: ProcessPorts) =>
  ({ order: { owner, request }, destination }: OrderJob): TE.TaskEither<SendObstacle, Account> =>
    pipe(
      ports.accounts.find(owner, request.accountId),
      TE.flatMapEither(E.fromOption((): SendObstacle => accountNotFound)),
      TE.tap((account) => TE.fromEither(requireTradable(account))),
      TE.tap((account) => TE.fromEither(requireLinkedTo(account, destination))),
      TE.tap((account) => confirmDemo(ports)(account)),
    )

const requireLinkedTo = (account: Account, destination: BrokerAccount): E.Either<SendObstacle, void> =>
  pipe(
    requireBrokerAccount(account),
    E.flatMap((linked): E.Either<SendObstacle, void> =>
      isSameBrokerAccount(linked, destination) ? E.right(undefined) : E.left({ _tag: 'AccountRelinked' }),
    ),
  )

const afterObstacle = (obstacle: Exclude<SendObstacle, ServiceUnavailable>, leftMs: number): PlacementStep => {
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

const sendOnce =
  (ports: ProcessPorts) =>
  (job: OrderJob): TE.TaskEither<ServiceUnavailable, SendResult> => {
    const { order, destination, version } = job
    const sending: Sending = { step: 'sending', sentAt: ports.clock.now() }
    // In any run of the database server: what the broker answers is true whatever the database knows.
    const from: SentPlacement = { order, placement: sending, destination, version: version + 1, serverRun: undefined }
    return pipe(
      advance(ports)(job, { placement: sending, continueInMs: sendingLeaseMs }),
      TE.flatMapTask((isOurs): T.Task<PlacementStep | undefined> =>
        isOurs
          ? pipe(
              ports.trading.placeOrder(destination, brokerOrderOf(order), () => timeLeftMs(ports, job) > 0),
              T.tapIO((answer) => () => mayHaveExecuted(answer) && ports.accountChanged(destination)),
              T.map((answer) => afterSend(sending, answer, timeLeftMs(ports, job))),
            )
          : T.of(undefined),
      ),
      TE.map((step) => ({ from, step })),
    )
  }

const mayHaveExecuted = ({ kind }: PlacementAnswer): boolean => kind !== 'refused' && kind !== 'not_sent'

// The process that recorded the order may have sent it, and the database may have lost the record of that.
const verifyAndSend =
  (ports: ProcessPorts) =>
  (job: OrderJob): Processing =>
    pipe(
      findInSlot(ports)(job, job.order.createdAt, null, true),
      TE.flatMap((answer) => {
        if (answer === undefined) return nothingFollows
        const step = afterVerification(answer, timeLeftMs(ports, job), job.order.createdAt)
        return step === undefined ? send(ports)(job) : write(ports)(job, step)
      }),
    )

const lookUp =
  (ports: ProcessPorts) =>
  (
    job: OrderJob,
    { sentAt, orderId }: { readonly sentAt: number; readonly orderId: string | null },
    refresh: boolean,
    after: (answer: LookupAnswer) => PlacementStep,
  ): Processing =>
    pipe(
      findInSlot(ports)(job, sentAt, orderId, refresh),
      TE.flatMap((answer) => (answer === undefined ? nothingFollows : write(ports)(job, after(answer)))),
    )

/** Undefined when no slot came free in time. */
const findInSlot =
  (ports: ProcessPorts) =>
  (job: OrderJob, sentAt: number, orderId: string | null, refresh: boolean): TE.TaskEither<ServiceUnavailable, LookupAnswer | undefined> =>
    inSlot(
      ports.slots.forLookup,
      job.destination,
      lookupPatienceMs,
      pipe(
        ports.orders.othersTickets(job.order.owner, job),
        TE.flatMapTask((othersTickets) =>
          ports.trading.findOrder(job.destination, { order: brokerOrderOf(job.order), sentAt, orderId, refresh, othersTickets }),
        ),
        TE.tapIO(
          ({ kind }) =>
            () =>
              kind === 'found' && ports.accountChanged(job.destination),
        ),
      ),
    )

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

// --- writing down what follows ---

// What the broker answered is held while the database is unavailable.
const writeSendAnswer =
  (ports: ProcessPorts) =>
  (job: OrderJob, from: SentPlacement, step: PlacementStep, attempt = 1): Processing =>
    pipe(
      advance(ports)(from, step),
      TE.flatMap((isWritten) => (isWritten ? TE.right(processed(job, from, step)) : overrideOther(ports)(job, from, step))),
      TE.orElse((error) =>
        attempt >= writeAttempts
          ? TE.left(error)
          : pipe(
              TE.fromTask<void, ServiceUnavailable>(ports.pause(writePauseMs)),
              TE.flatMap(() => writeSendAnswer(ports)(job, from, step, attempt + 1)),
            ),
      ),
    )

// Another process wrote meanwhile. That the order was executed is true whatever it wrote; that it was not is true of this send alone.
const overrideOther =
  (ports: ProcessPorts) =>
  (job: OrderJob, from: SentPlacement, step: PlacementStep): Processing =>
    pipe(
      step.outcome === undefined ? TE.right(O.none) : ports.orders.placement(from.order.owner, from.order.id),
      TE.map(O.filter((stored) => mayOverride(stored, from, step))),
      TE.flatMap(
        O.match(
          () => nothingFollows,
          (stored) =>
            pipe(
              advance(ports)(stored, step),
              TE.flatMap((isWritten) => (isWritten ? TE.right(processed(job, stored, step)) : overrideOther(ports)(job, from, step))),
            ),
        ),
      ),
    )

const mayOverride = ({ placement }: OrderPlacement, from: SentPlacement, { outcome }: PlacementStep): boolean => {
  if (placement.step === 'settled') return false
  return outcome?.kind !== 'rejected' || ('sentAt' in placement && placement.sentAt === from.placement.sentAt)
}

// When another process wrote first, what it wrote decides.
const write =
  (ports: ProcessPorts) =>
  (job: OrderJob, step: PlacementStep): Processing =>
    pipe(
      advance(ports)(job, step),
      TE.flatMap((isWritten) => (isWritten ? TE.right(processed(job, job, step)) : nothingFollows)),
    )

const processed = (job: OrderJob, from: OrderPlacement, { placement, outcome, continueInMs }: PlacementStep): ProcessedOrder => {
  // A send from here that certainly did not arrive was preceded by a lookup, or by the record: this process knows the order from then on.
  const retried: OrderJob = { ...job, placement, version: from.version + 1, isOwn: job.isOwn || from !== job }
  return {
    isCorrected: outcome !== undefined && isCorrection(from.order, settle(from.order, outcome, from.order.updatedAt)),
    retry: placement.step === 'recorded' && continueInMs !== null ? { job: retried, inMs: continueInMs } : undefined,
  }
}

const advance =
  ({ orders, clock }: Pick<ProcessPorts, 'orders' | 'clock'>) =>
  (from: OrderPlacement, step: PlacementStep): TE.TaskEither<ServiceUnavailable, boolean> =>
    orders.advance(from.order.owner, from, step, clock.now())

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
