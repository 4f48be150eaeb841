// Takes an order on its way to the broker one step further: sends it once, or looks for it where it may have been sent (decision 23). It may be
// called any number of times, by several processes at once and after any crash: what is stored decides, and every write expects the version
// that was read. There is no path from anything but `recorded` to a send, and `sending` is stored before it.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { requireBrokerAccount, requireTradable } from '../accounts/account.ts'
import type { Account, BrokerAccount } from '../accounts/account.ts'
import { accountNotFound } from '../errors.ts'
import type { ServiceUnavailable } from '../errors.ts'
import { secondMs } from '../primitives/instant.ts'
import { brokerClientId } from '../orders/order.ts'
import type { Order } from '../orders/order.ts'
import { afterLookup, afterSend, nextAction, rejectLate, rejectUnusable } from '../orders/placement.ts'
import type { LookingUp, PlacementAnswer, PlacementStep, Sending, UnusableAccount } from '../orders/placement.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Clock, Pauser } from '../ports/clock.ts'
import type { OrderPlacement, OrderStore, PlacementJob } from '../ports/order-store.ts'
import type { BrokerOrder, SentOrder, Trading } from '../ports/trading.ts'

interface Ports extends Pauser {
  readonly orders: Pick<OrderStore, 'placement' | 'advance'>
  readonly accounts: Pick<AccountStore, 'find'>
  readonly trading: Trading
  readonly clock: Clock
}

/** When a send that nobody told the end of is looked for by others; it may still be under way, which a look-up does not disturb. */
const sendingLeaseMs = 10 * secondMs
/** How long an answer is held on to while the database cannot be written; after that the broker's records tell it again. */
const writeAttempts = 60
const writePauseMs = secondMs

type Settling = TE.TaskEither<ServiceUnavailable, void>

const done: Settling = TE.right(undefined)

export const settleOrder =
  (ports: Ports) =>
  (job: PlacementJob): Settling =>
    pipe(
      ports.orders.placement(job.owner, job.orderId),
      // A job that comes late or twice finds that the placement has moved on, and leaves it to the job that goes with where it is now.
      TE.map(O.filter(({ version }) => version === job.version)),
      TE.flatMap(O.match(() => done, takeOn(ports))),
    )

const takeOn =
  (ports: Ports) =>
  (found: OrderPlacement): Settling => {
    const { order, placement } = found
    switch (nextAction(placement, order.createdAt, ports.clock.now())) {
      case 'none':
        return done
      case 'reject_late':
        return write(ports)(found, rejectLate)
      case 'send':
        return withBrokerAccount(ports)(
          order,
          // It may have turned out to be live since the order was accepted.
          requireTradable,
          (account) => send(ports)(found, account),
          (why) => write(ports)(found, rejectUnusable(why)),
        )
      case 'look_up':
        return placement.step === 'sending' || placement.step === 'looking_up' ? lookUp(ports)(found, placement) : done
    }
  }

const withBrokerAccount =
  (ports: Ports) =>
  (
    { owner, request }: Order,
    requireUsable: (account: Account) => E.Either<UnusableAccount, unknown>,
    use: (account: BrokerAccount) => Settling,
    otherwise: (why: UnusableAccount) => Settling,
  ): Settling =>
    pipe(
      ports.accounts.find(owner, request.accountId),
      TE.map(E.fromOption((): UnusableAccount => accountNotFound)),
      TE.map(E.tap(requireUsable)),
      TE.map(E.flatMap(requireBrokerAccount)),
      TE.flatMap(E.match(otherwise, use)),
    )

const send =
  (ports: Ports) =>
  (found: OrderPlacement, account: BrokerAccount): Settling => {
    const sending: Sending = { step: 'sending', sentAt: ports.clock.now() }
    return pipe(
      advance(ports)(found, { placement: sending, continueInMs: sendingLeaseMs }),
      TE.flatMap((isOurs) =>
        isOurs ? sendOnce(ports)({ ...found, placement: sending, version: found.version + 1 }, account, sending) : done,
      ),
    )
  }

const sendOnce =
  (ports: Ports) =>
  (found: OrderPlacement, account: BrokerAccount, sending: Sending): Settling =>
    pipe(
      TE.fromTask<PlacementAnswer, ServiceUnavailable>(ports.trading.placeOrder(account, brokerOrderOf(found.order))),
      TE.flatMap((answer) => writeAnswer(ports)(found, afterSend(sending, answer, found.order.createdAt, ports.clock.now()))),
    )

const lookUp =
  (ports: Ports) =>
  (found: OrderPlacement, placement: Sending | LookingUp): Settling => {
    const unreadable = write(ports)(found, afterLookup(placement, { kind: 'unreadable' }, ports.clock.now()))
    const search = (account: BrokerAccount): Settling =>
      pipe(
        TE.fromTask(ports.trading.findOrder(account, sentOrderOf(found.order, placement))),
        TE.flatMap((answer) => write(ports)(found, afterLookup(placement, answer, ports.clock.now()))),
      )
    // What may have been sent to an account that is no longer linked or provisioned waits until it is linked again.
    return withBrokerAccount(ports)(found.order, E.right, search, () => unreadable)
  }

// What the broker said is held on to while the database is away; and when another settler wrote in between, a settlement still counts.
const writeAnswer =
  (ports: Ports) =>
  (found: OrderPlacement, step: PlacementStep, attempt = 1): Settling =>
    pipe(
      advance(ports)(found, step),
      TE.flatMap((isWritten) => (isWritten || step.placement.step !== 'settled' ? done : writeAnew(ports)(found, step, attempt))),
      TE.orElse((error) => (attempt >= writeAttempts ? TE.left(error) : retryWrite(ports)(found, step, attempt))),
    )

const retryWrite =
  (ports: Ports) =>
  (found: OrderPlacement, step: PlacementStep, attempt: number): Settling =>
    pipe(
      TE.fromTask<void, ServiceUnavailable>(ports.pause(writePauseMs)),
      TE.flatMap(() => writeAnswer(ports)(found, step, attempt + 1)),
    )

const writeAnew =
  (ports: Ports) =>
  ({ order }: OrderPlacement, step: PlacementStep, attempt: number): Settling =>
    pipe(
      ports.orders.placement(order.owner, order.id),
      TE.flatMap(
        O.match(
          () => done,
          (now) => (now.placement.step === 'settled' ? done : writeAnswer(ports)(now, step, attempt + 1)),
        ),
      ),
    )

// A write that comes too late is another settler's gain: what it wrote decides.
const write =
  (ports: Ports) =>
  (found: OrderPlacement, step: PlacementStep): Settling =>
    pipe(
      advance(ports)(found, step),
      TE.map(() => undefined),
    )

const advance =
  (ports: Ports) =>
  ({ order, version }: OrderPlacement, step: PlacementStep): TE.TaskEither<ServiceUnavailable, boolean> =>
    ports.orders.advance(order.owner, order.id, version, step, ports.clock.now())

const sentOrderOf = (order: Order, placement: Sending | LookingUp): SentOrder => ({
  order: brokerOrderOf(order),
  sentAt: placement.sentAt,
  orderId: placement.step === 'looking_up' ? placement.orderId : null,
})

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
