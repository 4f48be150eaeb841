// Changes and cancellations of open orders, which the broker holds. Each is decided on what the
// broker has at that moment; those of one order are made one after another. Each is sent once; a
// cancellation again only where the broker has given the order another number.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { AsyncResult, Refusal } from '../errors.ts'
import {
  isSameTerms,
  refusalUnlessOpen,
  type CancelReason,
  type Order,
  type OrderId,
  type OrderTerms,
} from '../orders/order.ts'
import { changedTerms, hasRequestedTerms, type TermsChange } from '../orders/order-terms.ts'
import { afterFoundHeld, type BrokerOrder, type Transition } from '../orders/placement.ts'
import type { Cancellation, Open } from '../orders/placement-state.ts'
import type { ChangeReceipt, OrderChangeError, StoredOrder } from '../ports/index.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { ById, WithBody, WithQuery } from './input.ts'
import {
  doEach,
  readChanged,
  readUntil,
  type OnAccountChanged,
  type SendChange,
} from './steps/broker-change.ts'
import { findAccount } from './steps/find.ts'
import {
  createOpenOrderSteps,
  isGone,
  outcomeUnknown,
  requireOpenPlacement,
  type ChangeTag,
  type MadeLookup,
  type OpenOrderStepPorts,
  type StoredOpenOrder,
} from './steps/open-order.ts'

interface OpenOrderPorts extends OpenOrderStepPorts {
  readonly onAccountChanged: OnAccountChanged
}

type ModifyTag = ChangeTag | 'OrderNotModifiable' | 'ValidationError' | 'InvalidPrice'
type CancelTag = ChangeTag | 'OrderNotCancellable'

/** One of several cancellations. */
export interface CancelAttempt {
  readonly orderId: OrderId
  readonly result: E.Either<Refusal<CancelTag | 'ServiceUnavailable'>, Order>
}

/** Changes and cancellations of open orders. */
export const createOpenOrders = (ports: OpenOrderPorts) => {
  const { orders, trading, clock } = ports
  const {
    applyTransition,
    changeOpenOrder,
    lookUp,
    applyLookup,
    readBrokerOrder,
    refuseGone,
    refuseAfterFailure,
  } = createOpenOrderSteps(ports)

  // --- changes ---

  const modifyTerms =
    (change: TermsChange) =>
    (stored: StoredOpenOrder, send: SendChange): AsyncResult<Order, ModifyTag> =>
    async () => {
      const { order, destination } = stored
      const startedAt = clock.now()
      const read = await readBrokerOrder(stored)()
      if (E.isLeft(read)) return refuseAfterFailure(stored, 'OrderNotModifiable', read.left)
      const before = read.right
      const open = asHeld(stored, before)
      const terms = changedTerms(order, before, change, clock.now())
      if (E.isLeft(terms)) return terms
      const sent = await send((maySend) =>
        trading.modifyOrder(destination, before.brokerOrderId, terms.right, maySend),
      )()
      if (E.isLeft(sent) && sent.left._tag !== 'BrokerOutcomeUnknown')
        return refuseAfterFailure(open, 'OrderNotModifiable', sent.left)
      ports.onAccountChanged(destination)
      const progress = E.isLeft(sent) ? 'unknown' : sent.right.progress
      const { held, hasGone } = await readTermsAfterChange(open, before, terms.right, progress)
      if (held === undefined)
        return hasGone
          ? refuseGone(open, 'OrderNotModifiable', outcomeUnknown(open))
          : E.left(outcomeUnknown(open))
      const changed = await applyTransition(open, (from) => afterFoundHeld(from, held, startedAt))
      // With its new terms it may have been executed at once.
      const after =
        hasGone && E.isRight(changed) ? await applyLookup(open, await lookUp(open)) : changed
      return E.map((one: StoredOrder) => one.order)(after)
    }

  /**
   * The order after a change of its terms. A confirmed change is trusted, except a new
   * stopLimitPrice; that, and a change that is not confirmed, only when a read shows it.
   * @returns the terms that the broker holds, or held before the order was gone; undefined where
   * they are unknown
   */
  const readTermsAfterChange = async (
    open: StoredOpenOrder,
    before: BrokerOrder,
    requested: OrderTerms,
    answered: ChangeReceipt['progress'] | 'unknown',
  ): Promise<{
    readonly held: (OrderTerms & Pick<BrokerOrder, 'brokerOrderId'>) | undefined
    readonly hasGone: boolean
  }> => {
    const isMade = (shown: OrderTerms) => hasRequestedTerms(shown, requested, before)
    const isOld = (shown: OrderTerms) => isSameTerms(shown, before) && !isMade(shown)
    const read = await readChanged(ports, answered, readBrokerOrder(open), {
      made: isMade,
      old: isOld,
    })
    const shown = read && E.isRight(read) ? read.right : undefined
    const hasGone = read !== undefined && E.isLeft(read) && isGone(read.left)
    if (answered === 'unchanged') return { held: shown ?? before, hasGone }
    // That the provider changes a stopLimitPrice is not documented. An order that has none any more
    // may have been triggered first, so that the change moved its limit instead.
    if (answered === 'done' && (shown ?? before).stopLimitPrice === requested.stopLimitPrice) {
      const { brokerOrderId } = shown ?? before
      // A read that still shows the old terms lags behind.
      const lags = shown === undefined || isOld(shown)
      return { held: lags ? { ...requested, brokerOrderId } : shown, hasGone }
    }
    return { held: shown !== undefined && isMade(shown) ? shown : undefined, hasGone }
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
      /** The new cancellation counts from here on, even if it cannot be stored. */
      const setCancellation = async (cancellation: Cancellation | null) => {
        await storeCancellation(open, cancellation)
        open = asCancelled(open, cancellation)
      }
      const cancelAs = (brokerOrderId: string) =>
        send((maySend) => trading.cancelOrder(open.destination, brokerOrderId, maySend))()
      const storedId = open.placement.brokerOrderId
      let sent: E.Either<OrderChangeError, ChangeReceipt> =
        storedId === null ? E.left({ _tag: 'OrderGone' }) : await cancelAs(storedId)
      if (E.isLeft(sent) && isGone(sent.left)) {
        const shown = await readBrokerOrder(open)()
        if (E.isRight(shown)) {
          open = asHeld(open, shown.right)
          const { brokerOrderId } = shown.right
          // The broker has given it another number.
          if (brokerOrderId !== storedId) sent = await cancelAs(brokerOrderId)
        } else if (storedId === null) sent = shown
      }
      if (E.isLeft(sent) && sent.left._tag !== 'BrokerOutcomeUnknown') {
        // This cancellation was not made: it did not end the order, even if a read then shows it
        // ended.
        await setCancellation(earlier)
        return refuseAfterFailure(open, 'OrderNotCancellable', sent.left)
      }
      ports.onAccountChanged(open.destination)
      if (E.isRight(sent) && sent.right.progress === 'done')
        await setCancellation({ ...asked, isConfirmed: true })
      // A record that shows the order cancelled now shows this cancellation. A later one may show
      // that the broker cancelled it to give it another number, and so may one of a missing order.
      const isConfirmed = asked.isConfirmed || E.isRight(sent) || open.placement.missing === null
      const cancelled = asCancelled(open, { ...asked, isConfirmed })
      let lookup: MadeLookup = { answer: { kind: 'unreadable' }, at: clock.now() }
      const lookUpOnce = async (): Promise<boolean> => {
        lookup = await lookUp(cancelled)
        return lookup.answer.kind === 'found'
      }
      // Once the broker has accepted it, lookups go on until the records show what was executed
      // before; the last one is awaited. Where the outcome is unknown, one lookup decides.
      if (E.isRight(sent)) await readUntil(ports, lookUpOnce)
      else await lookUpOnce()
      const after = await applyLookup(open, lookup)
      if (E.isLeft(after)) return after
      const { order } = after.right
      if (order.status === 'cancelled' || order.status === 'partially_filled') return E.right(order)
      return E.left(refusalUnlessOpen(order, 'OrderNotCancellable') ?? outcomeUnknown(open))
    }

  /** DELETE /orders/:id: cancels an open order, or its unexecuted rest. */
  const cancelOrder = (
    caller: Caller,
    { id }: ById,
    reason: CancelReason = 'user',
  ): AsyncResult<Order, CancelTag> =>
    changeOpenOrder(caller, id, 'OrderNotCancellable', sendCancellation(reason))

  return {
    /** PUT /orders/:id: gives an open order other terms. */
    modifyOrder: (
      caller: Caller,
      { id, body }: ById & WithBody<TermsChange>,
    ): AsyncResult<Order, ModifyTag> =>
      changeOpenOrder(caller, id, 'OrderNotModifiable', modifyTerms(body)),

    cancelOrder,

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
              result: await cancelOrder(caller, { id }, reason)(),
            })),
        ),
      ),
  }
}

const asCancelled = (
  open: StoredOpenOrder,
  cancellation: Cancellation | null,
): StoredOpenOrder => ({ ...open, placement: { ...open.placement, cancellation } })

/** With the number that the broker shows; an earlier absence no longer counts. */
const asHeld = (open: StoredOpenOrder, { brokerOrderId }: BrokerOrder): StoredOpenOrder => ({
  ...open,
  placement: { ...open.placement, brokerOrderId, missing: null },
})

/** Changes only the cancellation. A lookup that is pending is made at once. */
const withCancellation =
  (cancellation: Cancellation | null) =>
  (from: Open): Transition => ({
    placement: { ...from, cancellation },
    continueInMs: from.missing === null && from.brokerOrderId !== null ? null : 0,
  })
