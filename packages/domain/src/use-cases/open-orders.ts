// Open orders, which the broker holds: requests change and cancel them, and the watch follows them.
// Each change is decided on what the broker has at that moment, and changes of one order are made
// one after another. Each is sent once; a cancellation a second time only where the broker had
// given the order another number.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import {
  presentLinkTo,
  requireTradingPurpose,
  type Account,
  type BrokerAccount,
} from '../accounts/account.ts'
import {
  refuse,
  type AsyncResult,
  type BrokerReadError,
  type BrokerReadTag,
  type Refusal,
  type RefusalTag,
} from '../errors.ts'
import {
  isSameTerms,
  parseOrderId,
  refusalUnlessOpen,
  type CancelReason,
  type EndedTag,
  type Order,
  type OrderId,
  type OrderTerms,
} from '../orders/order.ts'
import {
  changedTerms,
  findBrokerOrder,
  hasRequestedTerms,
  type TermsChange,
} from '../orders/order-terms.ts'
import {
  afterLookupOfOpen,
  afterFoundMissing,
  renumberingMs,
  unexecutedAtLagMs,
  afterFoundHeld,
  withTransition,
  type Cancellation,
  type LookupAnswer,
  type Transition,
  type Open,
  type BrokerOrder,
} from '../orders/placement.ts'
import type {
  ChangeReceipt,
  OrderChangeError,
  OrderGone,
  StoredOrder,
  Ports,
} from '../ports/index.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { ById, WithBody, WithQuery } from './input.ts'
import { lookUpOrder, type LookupPorts } from './steps/broker-order.ts'
import {
  changeAtBroker,
  doEach,
  readChanged,
  readUntil,
  type BrokerChangeTag,
  type OnAccountChanged,
  type SendChange,
} from './steps/broker-change.ts'
import { findAccount, requireChangeable, requireFound, type RestrictionTag } from './steps/find.ts'

interface OpenOrderPorts
  extends
    LookupPorts,
    Pick<Ports, 'halts' | 'liveAccounts' | 'changeLocks' | 'clock' | 'stopwatch' | 'pause'> {
  readonly onAccountChanged: OnAccountChanged
  /**
   * A halt that cancels orders could not cancel one, or one is missing at the broker. Each is
   * reported once.
   * @param because the tag of the refusal, or `missing`
   */
  readonly onHaltCancellationFailed: (order: Order, because: RefusalTag | 'missing') => void
}

type ChangeTag =
  | BrokerReadTag
  | RestrictionTag
  | 'AccountNotFound'
  | 'NotFound'
  | 'OrderInFlight'
  | 'TradeRejected'
  | BrokerChangeTag
type ModifyTag = ChangeTag | 'OrderNotModifiable' | 'ValidationError' | 'InvalidPrice'
type CancelTag = ChangeTag | 'OrderNotCancellable'

/** One of several cancellations. */
export interface CancelAttempt {
  readonly orderId: OrderId
  readonly result: E.Either<Refusal<CancelTag | 'ServiceUnavailable'>, Order>
}

interface StoredOpenOrder extends StoredOrder {
  readonly placement: Open
}

/** How often a write is tried in all, where other processes write first. */
const writeAttempts = 5

export const createOpenOrders = (ports: OpenOrderPorts) => {
  const { orders, trading, clock } = ports
  /** Orders that the present halt of their account was reported not to have cancelled. */
  const reportedHaltFailures = new Set<OrderId>()

  /**
   * Writes what follows from the stored placement, again where another process wrote meanwhile.
   * @returns the order as it is stored then; unchanged where it has ended
   */
  const applyTransition = async (
    { order: { owner, id }, destination }: StoredOrder,
    transitionOf: (from: Open) => Transition,
  ): Promise<E.Either<Refusal<'NotFound' | 'ServiceUnavailable'>, StoredOrder>> => {
    for (let attempt = 1; ; attempt += 1) {
      const stored = await findStored(owner, id)()
      if (E.isLeft(stored)) return stored
      const from = { ...stored.right, destination }
      if (from.placement.step !== 'open') return E.right(from)
      const transition = transitionOf(from.placement)
      const now = clock.now()
      const written = await orders.advance(owner, from, transition, now)()
      if (E.isLeft(written)) return written
      if (written.right)
        return E.right({
          ...from,
          order: withTransition(from.order, transition, now),
          placement: transition.placement,
          version: from.version + 1,
        })
      if (attempt === writeAttempts)
        return E.left(refuse('ServiceUnavailable', { reason: 'the order is written by others' }))
    }
  }

  const findStored = (owner: Owner, id: OrderId): AsyncResult<StoredOrder, 'NotFound'> =>
    requireFound('order')(orders.findStored(owner, id))

  /**
   * The broker account that holds the order. Where the account has been linked to another since, it
   * is not read again: an order is sent only to a confirmed demo account.
   */
  const requireDestination = (
    { destination }: StoredOpenOrder,
    account: Account,
  ): AsyncResult<BrokerAccount, BrokerReadTag | RestrictionTag> =>
    presentLinkTo(destination, account) === undefined
      ? TE.fromEither(E.map(() => destination)(requireTradingPurpose(account)))
      : requireChangeable(ports)(account)

  /** Changes the order, if it is open and may be changed, while nobody else does. */
  const changeWhileLocked = <Tag extends RefusalTag>(
    { owner }: Caller,
    rawId: string,
    endedTag: EndedTag & Tag,
    make: (open: StoredOpenOrder, send: SendChange) => AsyncResult<Order, ChangeTag | Tag>,
  ): AsyncResult<Order, ChangeTag | Tag> => {
    const findOpen = (id: OrderId): AsyncResult<StoredOpenOrder, ChangeTag | Tag> =>
      pipe(findStored(owner, id), TE.flatMapEither(requireOpenPlacement(endedTag)))
    return pipe(
      requireFound('order')(TE.right(parseOrderId(rawId))),
      TE.flatMap(findOpen),
      TE.map((found) => {
        const { id, request } = found.order
        return {
          accountId: request.accountId,
          subject: id,
          destination: pipe(
            findAccount(ports)(owner, request.accountId),
            TE.flatMap((account) => requireDestination(found, account)),
          ),
          make: (destination: BrokerAccount, send: SendChange) =>
            pipe(
              findOpen(id),
              TE.flatMap((open) => make({ ...open, destination }, send)),
            ),
        }
      }),
      changeAtBroker(ports)<Order, ChangeTag | Tag>,
    )
  }

  const lookUp = (open: StoredOpenOrder): Promise<LookupAnswer> =>
    pipe(
      lookUpOrder(ports)(open, { ...open.placement, readFromTerminal: true }),
      TE.getOrElse(() => T.of<LookupAnswer>({ kind: 'unreadable' })),
    )()

  const applyLookup = (open: StoredOpenOrder, answer: LookupAnswer) =>
    applyTransition(open, (from) => afterLookupOfOpen(from, answer, clock.now()))

  /** The order as the broker holds it. */
  const readBrokerOrder = ({
    order,
    destination,
  }: StoredOpenOrder): TE.TaskEither<BrokerReadError | OrderGone, BrokerOrder> =>
    pipe(
      trading.heldOrders(destination),
      TE.flatMapEither((shown) =>
        E.fromNullable<OrderGone>({ _tag: 'OrderGone' })(findBrokerOrder(order, shown)),
      ),
    )

  /**
   * Refuses a change of an order that the broker does not hold: it has ended, or its end is not
   * known yet.
   */
  const refuseGone = async <Tag extends EndedTag, Unclear>(
    open: StoredOpenOrder,
    endedTag: Tag,
    refusalIfUnclear: Unclear,
  ): Promise<
    E.Either<Refusal<Tag | 'NotFound' | 'OrderInFlight' | 'ServiceUnavailable'> | Unclear, never>
  > => {
    const after = await applyLookup(open, await lookUp(open))
    if (E.isLeft(after)) return after
    return E.left(refusalUnlessOpen(after.right.order, endedTag) ?? refusalIfUnclear)
  }

  /** Passes on why a change was not made; where the order is gone, refuses with how it ended. */
  const refuseAfterFailure = async <
    Tag extends EndedTag,
    Failure extends { readonly _tag: string },
  >(
    open: StoredOpenOrder,
    endedTag: Tag,
    failure: Failure | OrderGone,
  ) => {
    // A cancellation that was sent before may have been made.
    const unknown =
      endedTag === 'OrderNotCancellable' && open.placement.cancellation !== null
        ? outcomeUnknown(open)
        : undefined
    if (isGone(failure)) {
      const { accountId } = open.order.request
      const reason = 'the broker does not hold the order, and does not show how it ended'
      const missing = refuse('BrokerUnavailable', { accountId, reason, isOrderMissing: true })
      return refuseGone(open, endedTag, unknown ?? missing)
    }
    if (failure._tag !== 'TradeRejected') return E.left(failure)
    // Some brokers refuse a change of what has ended as they refuse any other.
    const shown = await readBrokerOrder(open)()
    return E.isLeft(shown) && isGone(shown.left)
      ? refuseGone(open, endedTag, unknown ?? failure)
      : E.left(failure)
  }

  // --- changes ---

  const modifyTerms =
    (change: TermsChange) =>
    (open: StoredOpenOrder, send: SendChange): AsyncResult<Order, ModifyTag> =>
    async () => {
      const { order, destination } = open
      const read = await readBrokerOrder(open)()
      if (E.isLeft(read)) return refuseAfterFailure(open, 'OrderNotModifiable', read.left)
      const before = read.right
      const terms = changedTerms(order, before, change, clock.now())
      if (E.isLeft(terms)) return terms
      const sent = await send((maySend) =>
        trading.modifyOrder(destination, before.brokerOrderId, terms.right, maySend),
      )()
      if (E.isLeft(sent) && sent.left._tag !== 'BrokerOutcomeUnknown')
        return refuseAfterFailure(open, 'OrderNotModifiable', sent.left)
      ports.onAccountChanged(destination)
      const progress = E.isLeft(sent) ? 'unknown' : sent.right.progress
      const shown = await readTermsAfterChange(open, before, terms.right, progress)
      if (shown === 'unknown') return E.left(outcomeUnknown(open))
      if (shown === 'gone') return refuseGone(open, 'OrderNotModifiable', outcomeUnknown(open))
      return pipe(
        await applyTransition(open, (from) => afterFoundHeld(from, shown, clock.now())),
        E.map((after) => after.order),
      )
    }

  /**
   * The order after a change of its terms. A confirmed change is made, unless a read then shows
   * another stopLimitPrice; any other is made when a read shows it.
   */
  const readTermsAfterChange = async (
    open: StoredOpenOrder,
    before: BrokerOrder,
    requested: OrderTerms,
    answered: ChangeReceipt['progress'] | 'unknown',
  ): Promise<(OrderTerms & Pick<BrokerOrder, 'brokerOrderId'>) | 'gone' | 'unknown'> => {
    const isMade = (shown: OrderTerms): boolean => hasRequestedTerms(shown, requested, before)
    const isOld = (shown: OrderTerms): boolean => isSameTerms(shown, before) && !isMade(shown)
    const read = await readChanged(ports, answered, readBrokerOrder(open), {
      made: isMade,
      old: isOld,
    })
    const shown = read !== undefined && E.isRight(read) ? read.right : undefined
    if (answered === 'unchanged') return shown ?? before
    // That the provider changes a stopLimitPrice is not documented; and an order that has none any
    // more may have been triggered before the change, which moved its limit then.
    if (answered === 'done' && (shown ?? before).stopLimitPrice === requested.stopLimitPrice)
      // A read that shows the terms of before lags behind.
      return shown === undefined || isOld(shown)
        ? { ...requested, brokerOrderId: (shown ?? before).brokerOrderId }
        : shown
    if (shown !== undefined) return isMade(shown) ? shown : 'unknown'
    return read !== undefined && E.isLeft(read) && isGone(read.left) ? 'gone' : 'unknown'
  }

  // --- cancellations ---

  const storeCancellation = async (from: StoredOrder, cancellation: Cancellation | null) =>
    E.flatMap(requireOpenPlacement('OrderNotCancellable'))(
      await applyTransition(from, withCancellation(cancellation)),
    )

  const sendCancellation =
    (reason: CancelReason) =>
    (found: StoredOpenOrder, send: SendChange): AsyncResult<Order, CancelTag> =>
    async () => {
      // Stored before it is sent: whoever finds the order cancelled later knows who did it.
      const earlier = found.placement.cancellation
      const asked = earlier ?? { by: reason, isConfirmed: false }
      const marked = await storeCancellation(found, asked)
      if (E.isLeft(marked)) return marked
      let open = marked.right
      /** In what follows it counts, even if it cannot be stored. */
      const setCancellation = async (cancellation: Cancellation | null): Promise<void> => {
        await storeCancellation(open, cancellation)
        open = { ...open, placement: { ...open.placement, cancellation } }
      }
      const sent = await cancelAtBroker(open, send)
      if (E.isLeft(sent) && sent.left._tag !== 'BrokerOutcomeUnknown') {
        // A cancellation that was not made has not ended the order, even if a read then shows its
        // end.
        await setCancellation(earlier)
        return refuseAfterFailure(open, 'OrderNotCancellable', sent.left)
      }
      ports.onAccountChanged(open.destination)
      if (E.isRight(sent) && sent.right.progress === 'done')
        await setCancellation({ ...asked, isConfirmed: true })
      let answer: LookupAnswer = { kind: 'unreadable' }
      const read = async (): Promise<boolean> => {
        answer = await lookUp(open)
        return answer.kind === 'found'
      }
      // A confirmed cancellation proves that nothing more is executed. What was executed before
      // only the records show, so that the last lookup is awaited. Where the outcome is unknown,
      // one read decides.
      if (E.isRight(sent)) await readUntil(ports, read)
      else await read()
      const after = await applyLookup(open, answer)
      if (E.isLeft(after)) return after
      const { order } = after.right
      if (order.status === 'cancelled' || order.status === 'partially_filled') return E.right(order)
      return E.left(refusalUnlessOpen(order, 'OrderNotCancellable') ?? outcomeUnknown(open))
    }

  /** Sends it under the number that is stored, and once more where the broker has given another. */
  const cancelAtBroker = async (
    open: StoredOpenOrder,
    send: SendChange,
  ): Promise<E.Either<OrderChangeError, ChangeReceipt>> => {
    const cancelAs = (brokerOrderId: string) =>
      send((maySend) => trading.cancelOrder(open.destination, brokerOrderId, maySend))()
    const stored = open.placement.brokerOrderId
    const first: E.Either<OrderChangeError, ChangeReceipt> =
      stored === null ? E.left({ _tag: 'OrderGone' }) : await cancelAs(stored)
    if (E.isRight(first) || !isGone(first.left)) return first
    const shown = await readBrokerOrder(open)()
    if (E.isLeft(shown)) return stored === null ? shown : first
    const { brokerOrderId } = shown.right
    return brokerOrderId === stored ? first : cancelAs(brokerOrderId)
  }

  const cancel = (
    caller: Caller,
    id: string,
    reason: CancelReason,
  ): AsyncResult<Order, CancelTag> =>
    changeWhileLocked(caller, id, 'OrderNotCancellable', sendCancellation(reason))

  /** Cancels an open order of an account whose halt cancels orders. */
  const cancelWhereHalted =
    ({ order, placement }: StoredOrder): AsyncResult<void> =>
    async () => {
      const { owner, id, request } = order
      if (placement.step !== 'open') {
        reportedHaltFailures.delete(id)
        return E.right(undefined)
      }
      const isHalted = await ports.halts.haltCancelsOrders(owner, request.accountId)()
      if (E.isLeft(isHalted)) return isHalted
      const because = isHalted.right ? await cancelByHalt(order, placement) : undefined
      if (because === undefined) reportedHaltFailures.delete(id)
      else if (!reportedHaltFailures.has(id)) {
        reportedHaltFailures.add(id)
        ports.onHaltCancellationFailed(order, because)
      }
      return E.right(undefined)
    }

  /** Returns why the order is left; undefined where it is cancelled, or has ended before. */
  const cancelByHalt = async (
    { owner, id }: Order,
    { missing }: Open,
  ): Promise<RefusalTag | 'missing' | undefined> => {
    // For so long the broker may only be renumbering it, or a lookup may still show its end.
    if (missing !== null) return clock.now() - missing.since < renumberingMs ? undefined : 'missing'
    const cancelled = await cancel({ owner }, id, 'halt')()
    return E.isLeft(cancelled) && cancelled.left._tag !== 'OrderNotCancellable'
      ? cancelled.left._tag
      : undefined
  }

  return {
    /** PUT /orders/:id: gives an open order other terms. */
    modifyOrder: (
      caller: Caller,
      { id, body }: ById & WithBody<TermsChange>,
    ): AsyncResult<Order, ModifyTag> =>
      changeWhileLocked(caller, id, 'OrderNotModifiable', modifyTerms(body)),

    /** DELETE /orders/:id: cancels an open order, or what is not executed of it. */
    cancelOrder: (caller: Caller, { id }: ById): AsyncResult<Order, CancelTag> =>
      cancel(caller, id, 'user'),

    /**
     * DELETE /orders: cancels every open order of an account.
     * @returns oldest first; empty where none is open
     */
    cancelOrders: (
      caller: Caller,
      { query: { accountId } }: WithQuery<{ readonly accountId: AccountId }>,
      reason: CancelReason = 'user',
    ): AsyncResult<readonly CancelAttempt[], 'AccountNotFound'> =>
      pipe(
        findAccount(ports)(caller.owner, accountId),
        TE.flatMap(() => orders.openOrders(caller.owner, accountId)),
        TE.flatMapTask(
          (open) => () =>
            doEach(open, async ({ order: { id } }): Promise<CancelAttempt> => ({
              orderId: id,
              result: await cancel(caller, id, reason)(),
            })),
        ),
      ),

    cancelWhereHalted,

    /**
     * A round of the watch: compares the open orders of an account with those that the broker
     * holds. One with other terms or another number is stored so, and one that the broker does not
     * hold any more is due to be looked up.
     * @returns whether an order is due to be looked up now
     */
    followOpenOrders:
      (account: BrokerAccount): AsyncResult<boolean, BrokerReadTag> =>
      async () => {
        const found = await orders.openOrders(account.owner, account.accountId)()
        if (E.isLeft(found)) return found
        const open = found.right.filter(
          ({ destination }) => destination.providerAccountId === account.providerAccountId,
        )
        if (open.length === 0) return E.right(false)
        const shown = await trading.heldOrders(account)()
        if (E.isLeft(shown)) return shown
        let isDue = false
        for (const one of open) {
          const now = clock.now()
          const transition = transitionOfRound(one, findBrokerOrder(one.order, shown.right), now)
          if (transition === undefined) continue
          const written = await orders.advance(account.owner, one, transition, now)()
          if (E.isLeft(written)) return written
          isDue ||= transition.continueInMs === 0
        }
        return E.right(isDue)
      },
  }
}

const outcomeUnknown = ({ order }: StoredOpenOrder): Refusal<'BrokerOutcomeUnknown'> =>
  refuse('BrokerOutcomeUnknown', { accountId: order.request.accountId })

const isGone = (failure: { readonly _tag: string }): failure is OrderGone =>
  failure._tag === 'OrderGone'

const requireOpenPlacement =
  <Tag extends EndedTag>(endedTag: Tag) =>
  (found: StoredOrder): E.Either<Refusal<Tag | 'OrderInFlight'>, StoredOpenOrder> => {
    const { order, placement } = found
    return placement.step === 'open'
      ? E.right({ ...found, placement })
      : E.left(refusalUnlessOpen(order, endedTag) ?? refuse('OrderInFlight'))
  }

/** What a round of the watch changes; nothing where the broker holds the order as it is stored. */
const transitionOfRound = (
  { order, placement }: StoredOrder,
  shown: BrokerOrder | undefined,
  now: Instant,
): Transition | undefined => {
  if (placement.step !== 'open') return undefined
  // One that is missing already falls due by itself.
  if (shown === undefined)
    return placement.missing === null ? afterFoundMissing(placement, now) : undefined
  const transition = afterFoundHeld(placement, shown, now)
  const isUnchanged =
    // A clock may have been set back.
    (Math.abs(now - placement.unexecutedAt) < unexecutedAtLagMs || shown.isUnexecuted !== true) &&
    placement.missing === null &&
    withTransition(order, transition, now) === order
  return isUnchanged ? undefined : transition
}

/** Changes only the cancellation. A lookup that is due stays so: it is made at once. */
const withCancellation =
  (cancellation: Cancellation | null) =>
  (from: Open): Transition => ({
    placement: { ...from, cancellation },
    continueInMs: from.missing === null && from.brokerOrderId !== null ? null : 0,
  })
