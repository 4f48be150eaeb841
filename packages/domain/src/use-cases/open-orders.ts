// Open orders, which the broker holds: requests change and cancel them, and the watch follows them.
// A change is decided on what the broker has at that moment, one is made at a time, and each is sent
// once; a cancellation once more only where the broker had given the order another number.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { BrokerAccount } from '../accounts/account.ts'
import {
  refuse,
  type AsyncResult,
  type BrokerReadTag,
  type Refusal,
  type RefusalTag,
} from '../errors.ts'
import {
  parseOrderId,
  requireCancellable,
  requireModifiable,
  type CancelReason,
  type OpenOrder,
  type Order,
  type OrderId,
  type PendingTerms,
} from '../orders/order.ts'
import {
  changedTerms,
  findWorking,
  hasRequestedTerms,
  isSameTerms,
  type TermsChange,
} from '../orders/pending-terms.ts'
import {
  afterLookup,
  goneMissing,
  holding,
  withStep,
  type LookupAnswer,
  type PlacementStep,
  type Working,
  type WorkingOrder,
} from '../orders/placement.ts'
import type {
  AccountStore,
  Halts,
  MaySend,
  OrderChangeError,
  OrderReceipt,
  OrderPlacement,
  OrderStore,
  Pauser,
  Ports,
} from '../ports/index.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { brokerOrderOf } from './steps/broker-order.ts'
import { findAccount, requireChangeable, type RestrictionTag } from './steps/find.ts'
import { repeatUntil } from './steps/repeat-until.ts'

interface OpenOrderPorts
  extends Pick<Ports, 'trading' | 'liveAccounts' | 'positionLocks' | 'clock'>, Pauser {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly halts: Pick<Halts, 'cancelsOrders'>
  readonly orders: Pick<OrderStore, 'placement' | 'advance' | 'othersTickets' | 'openOrders'>
  /** The broker may have changed the account: what caches keep of it is dropped. */
  readonly accountChanged: (account: BrokerAccount) => void
}

type ChangeTag =
  | BrokerReadTag
  | RestrictionTag
  | 'AccountNotFound'
  | 'NotFound'
  | 'OrderInFlight'
  | 'TradeRejected'
  | 'BrokerOutcomeUnknown'
  | 'InternalTimeout'
type ModifyTag = ChangeTag | 'OrderNotModifiable' | 'ValidationError' | 'InvalidPrice'
type CancelTag = ChangeTag | 'OrderNotCancellable'

/** One of several cancellations. */
export interface CancelAttempt {
  readonly orderId: OrderId
  readonly result: E.Either<Refusal<CancelTag | 'ServiceUnavailable'>, Order>
}

/** What a round of the watch found. */
export interface FollowedOrders {
  /** Whether an order is due to be looked up now, which the broker does not hold any more. */
  readonly areDue: boolean
}

interface HeldOrder extends OrderPlacement {
  readonly order: OpenOrder
  readonly placement: Working
}

/** How many of several cancellations are under way at once. */
const cancellationsAtOnce = 4
/** How often a write is tried in all, where other processes write first. */
const writeAttempts = 5

export const createOpenOrders = (ports: OpenOrderPorts) => {
  const { orders, trading, clock } = ports

  /**
   * Writes what follows for the order, whoever wrote meanwhile.
   * @returns the order as it is stored then; unchanged where it is no longer at the broker
   */
  const store = async (
    { order: { owner, id } }: OrderPlacement,
    stepOf: (from: Working) => PlacementStep,
  ): Promise<E.Either<Refusal<'NotFound' | 'ServiceUnavailable'>, OrderPlacement>> => {
    for (let attempt = 1; ; attempt += 1) {
      const stored = await findPlacement(owner, id)()
      if (E.isLeft(stored)) return stored
      const from = stored.right
      if (from.placement.step !== 'working') return stored
      const step = stepOf(from.placement)
      const now = clock.now()
      const written = await orders.advance(owner, from, step, now)()
      if (E.isLeft(written)) return written
      if (written.right)
        return E.right({
          ...from,
          order: withStep(from.order, step, now),
          placement: step.placement,
          version: from.version + 1,
        })
      if (attempt === writeAttempts)
        return E.left(refuse('ServiceUnavailable', { reason: 'the order is written by others' }))
    }
  }

  const findPlacement = (owner: Owner, id: OrderId): AsyncResult<OrderPlacement, 'NotFound'> =>
    pipe(
      orders.placement(owner, id),
      TE.flatMap(TE.fromOption(() => refuse('NotFound', { what: 'order' }))),
    )

  /** Changes the order, if it is open and may be changed, while nobody else does. */
  const change = <A, Tag extends RefusalTag>(
    { owner }: Caller,
    id: string,
    requireOpen: (order: Order) => E.Either<Refusal<Tag>, OpenOrder>,
    make: (held: HeldOrder, maySend: MaySend) => AsyncResult<A, ChangeTag | Tag>,
  ): AsyncResult<A, ChangeTag | Tag> => {
    const findHeld = (
      orderId: OrderId,
    ): AsyncResult<HeldOrder, 'NotFound' | 'OrderInFlight' | Tag> =>
      pipe(
        findPlacement(owner, orderId),
        TE.flatMapEither((found): E.Either<Refusal<'OrderInFlight' | Tag>, HeldOrder> => {
          const { placement } = found
          const open = requireOpen(found.order)
          if (E.isLeft(open)) return open
          return placement.step === 'working'
            ? E.right({ ...found, order: open.right, placement })
            : E.left(refuse('OrderInFlight'))
        }),
      )
    return pipe(
      TE.fromOption(() => refuse('NotFound', { what: 'order' }))(parseOrderId(id)),
      TE.flatMap((orderId): AsyncResult<HeldOrder, ChangeTag | Tag> => findHeld(orderId)),
      TE.tap(({ order }): AsyncResult<unknown, ChangeTag | Tag> =>
        pipe(
          findAccount(ports)(owner, order.request.accountId),
          TE.flatMap((account): AsyncResult<unknown, ChangeTag | Tag> =>
            requireChangeable(ports)(account),
          ),
        ),
      ),
      TE.flatMap(({ order, destination }) =>
        ports.positionLocks.holding(
          destination,
          order.id,
        )((maySend) =>
          pipe(
            findHeld(order.id),
            TE.flatMap(
              (held): AsyncResult<A, ChangeTag | Tag> =>
                () =>
                  make(held, maySend)(),
            ),
          ),
        ),
      ),
    )
  }

  const lookUp = async (held: HeldOrder): Promise<LookupAnswer> => {
    const { order, placement } = held
    const others = await orders.othersTickets(order.owner, held)()
    if (E.isLeft(others)) return { kind: 'unreadable' }
    const { sentAt, brokerOrderId } = placement
    return trading.findOrder(held.destination, {
      order: brokerOrderOf(order),
      sentAt,
      brokerOrderId,
      readFromTerminal: true,
      othersTickets: others.right,
    })()
  }

  const storeLookup = (held: HeldOrder, answer: LookupAnswer) =>
    store(held, (from) => afterLookup(from, answer, clock.now(), true, true))

  /** The order among those that the broker holds; none where it is not. */
  const readHeld = async ({
    order,
    destination,
  }: HeldOrder): Promise<E.Either<Refusal<BrokerReadTag>, O.Option<WorkingOrder>>> =>
    pipe(
      await trading.workingOrders(destination)(),
      E.map((working) => O.fromNullable(findWorking(order, working))),
    )

  /**
   * Why an order cannot be changed that the broker does not hold under its number: it has ended, or
   * its end is not known yet. Nothing was changed.
   */
  const gone = async <Tag extends RefusalTag>(
    held: HeldOrder,
    requireOpen: (order: Order) => E.Either<Refusal<Tag>, OpenOrder>,
  ): Promise<
    E.Either<Refusal<Tag | 'BrokerUnavailable' | 'NotFound' | 'ServiceUnavailable'>, never>
  > => {
    const after = await storeLookup(held, await lookUp(held))
    if (E.isLeft(after)) return after
    const open = requireOpen(after.right.order)
    if (E.isLeft(open)) return open
    const { accountId } = open.right.request
    const reason = 'the broker does not hold the order, and does not show how it ended'
    return E.left(refuse('BrokerUnavailable', { accountId, reason }))
  }

  // --- changes ---

  const sendTerms =
    (change: TermsChange) =>
    (held: HeldOrder, maySend: MaySend): AsyncResult<Order, ModifyTag> =>
    async () => {
      const { order, destination } = held
      const read = await readHeld(held)
      if (E.isLeft(read)) return read
      if (O.isNone(read.right)) return gone(held, requireModifiable)
      const before = read.right.value
      const terms = changedTerms(order, before, change, clock.now())
      if (E.isLeft(terms)) return terms
      const sent = await trading.modifyOrder(
        destination,
        before.brokerOrderId,
        terms.right,
        maySend,
      )()
      const failure = E.isLeft(sent) ? sent.left : undefined
      if (failure?._tag === 'OrderGone') return gone(held, requireModifiable)
      if (failure !== undefined && failure._tag !== 'BrokerOutcomeUnknown') return E.left(failure)
      ports.accountChanged(destination)
      const shown = await shownTerms(
        held,
        before,
        terms.right,
        E.isLeft(sent) ? 'unknown' : sent.right.progress,
      )
      if (shown === 'unknown') return unknown(held)
      if (shown === 'gone') {
        const after = await storeLookup(held, await lookUp(held))
        if (E.isLeft(after)) return after
        const open = requireModifiable(after.right.order)
        return E.isLeft(open) ? open : unknown(held)
      }
      return pipe(
        await store(held, (from) => holding(from, shown)),
        E.map((after) => after.order),
      )
    }

  /**
   * The order after a change of its terms. A confirmed change is made, whatever is read afterwards;
   * an accepted one is made when a read shows it; and where the outcome is unknown, one read
   * decides.
   */
  const shownTerms = async (
    held: HeldOrder,
    before: WorkingOrder,
    requested: PendingTerms,
    progress: 'done' | 'accepted' | 'unknown',
  ): Promise<(PendingTerms & Pick<WorkingOrder, 'brokerOrderId'>) | 'gone' | 'unknown'> => {
    let latest: O.Option<WorkingOrder> | undefined
    const read = async (): Promise<boolean> => {
      const now = await readHeld(held)
      if (E.isRight(now)) latest = now.right
      return (
        E.isRight(now) &&
        O.isSome(now.right) &&
        hasRequestedTerms(now.right.value, requested, before)
      )
    }
    if (progress === 'accepted') await repeatUntil(ports, read)
    else await read()
    const shown = latest === undefined ? undefined : O.toUndefined(latest)
    if (progress === 'done')
      // A read that shows the terms of before lags behind.
      return shown === undefined || isSameTerms(shown, before)
        ? { ...requested, brokerOrderId: shown?.brokerOrderId ?? before.brokerOrderId }
        : shown
    if (latest === undefined) return 'unknown'
    if (shown === undefined) return 'gone'
    return hasRequestedTerms(shown, requested, before) ? shown : 'unknown'
  }

  // --- cancellations ---

  const sendCancellation =
    (reason: CancelReason) =>
    (found: HeldOrder, maySend: MaySend): AsyncResult<Order, CancelTag> =>
    async () => {
      // Stored before it is sent: whoever finds the order cancelled later knows who did it.
      const earlier = found.placement.cancelledBy
      const marked = await store(found, markCancelled(earlier ?? reason))
      if (E.isLeft(marked)) return marked
      const open = requireCancellable(marked.right.order)
      if (E.isLeft(open)) return open
      if (marked.right.placement.step !== 'working') return E.left(refuse('OrderInFlight'))
      const held: HeldOrder = {
        ...marked.right,
        order: open.right,
        placement: marked.right.placement,
      }
      const { destination } = held
      // What was not sent has not ended the order, also where a read then shows its end.
      const unmark = () => store(held, markCancelled(earlier))
      const number = await brokerNumberOf(held)
      if (E.isLeft(number)) {
        await unmark()
        return number
      }
      if (O.isNone(number.right)) {
        await unmark()
        return gone(held, requireCancellable)
      }
      const sent = await cancelAtBroker(held, number.right.value, maySend)
      if (E.isLeft(sent) && sent.left._tag !== 'BrokerOutcomeUnknown') {
        await unmark()
        return sent.left._tag === 'OrderGone' ? gone(held, requireCancellable) : E.left(sent.left)
      }
      ports.accountChanged(destination)
      let answer: LookupAnswer = { kind: 'unreadable' }
      const read = async (): Promise<boolean> => {
        answer = await lookUp(held)
        return answer.kind === 'found'
      }
      // A confirmed cancellation is made, but what was executed before is known only from the
      // records. Where the outcome is unknown, one read decides.
      if (E.isRight(sent)) await repeatUntil(ports, read)
      else await read()
      const after = await storeLookup(held, answer)
      if (E.isLeft(after)) return after
      const { order } = after.right
      switch (order.status) {
        case 'cancelled':
        case 'partially_filled':
          return E.right(order)
        case 'open':
        case 'pending':
          return unknown(held)
        case 'filled':
        case 'expired':
        case 'rejected':
          return E.left(refuse('OrderNotCancellable', { status: order.status }))
      }
    }

  /** Sends it once more under the new number where the broker has given the order one. */
  const cancelAtBroker = async (
    held: HeldOrder,
    brokerOrderId: string,
    maySend: MaySend,
  ): Promise<E.Either<OrderChangeError, OrderReceipt>> => {
    const sent = await trading.cancelOrder(held.destination, brokerOrderId, maySend)()
    if (E.isRight(sent) || sent.left._tag !== 'OrderGone') return sent
    const shown = E.getOrElse((): O.Option<WorkingOrder> => O.none)(await readHeld(held))
    return O.isSome(shown) && shown.value.brokerOrderId !== brokerOrderId
      ? trading.cancelOrder(held.destination, shown.value.brokerOrderId, maySend)()
      : sent
  }

  const brokerNumberOf = async (
    held: HeldOrder,
  ): Promise<E.Either<Refusal<BrokerReadTag>, O.Option<string>>> =>
    held.placement.brokerOrderId === null
      ? pipe(await readHeld(held), E.map(O.map(({ brokerOrderId }) => brokerOrderId)))
      : E.right(O.some(held.placement.brokerOrderId))

  const cancel = (
    caller: Caller,
    id: string,
    reason: CancelReason,
  ): AsyncResult<Order, CancelTag> =>
    change(caller, id, requireCancellable, sendCancellation(reason))

  /** A cancellation that fails does not keep the others from being made. */
  const cancelEach =
    (caller: Caller, open: readonly OrderPlacement[], reason: CancelReason) =>
    async (): Promise<readonly CancelAttempt[]> => {
      const attempts: CancelAttempt[] = []
      // All workers take from one iterator, so that each order is taken once.
      const queue = open.entries()
      const cancelRest = async (): Promise<void> => {
        for (const [place, { order }] of queue)
          attempts[place] = {
            orderId: order.id,
            result: await cancel(caller, order.id, reason)(),
          }
      }
      await Promise.all(Array.from({ length: cancellationsAtOnce }, cancelRest))
      return attempts
    }

  return {
    /** PUT /orders/:id: gives an open order other terms. */
    modifyOrder: (caller: Caller, id: string, terms: TermsChange): AsyncResult<Order, ModifyTag> =>
      change(caller, id, requireModifiable, sendTerms(terms)),

    /** DELETE /orders/:id: cancels an open order, or what is not executed of it. */
    cancelOrder: (caller: Caller, id: string): AsyncResult<Order, CancelTag> =>
      cancel(caller, id, 'user'),

    /**
     * DELETE /orders: cancels every open order of an account.
     * @returns oldest first; empty where none is open
     */
    cancelOrders: (
      caller: Caller,
      accountId: AccountId,
      reason: CancelReason = 'user',
    ): AsyncResult<readonly CancelAttempt[], 'AccountNotFound'> =>
      pipe(
        findAccount(ports)(caller.owner, accountId),
        TE.flatMap(() => orders.openOrders(caller.owner, accountId)),
        TE.flatMapTask((open) => cancelEach(caller, open, reason)),
      ),

    /** Cancels an open order of an account that is halted with its orders to be cancelled. */
    cancelWhereHalted: ({ owner, id, request }: Order): AsyncResult<unknown, CancelTag> =>
      pipe(
        ports.halts.cancelsOrders(owner, request.accountId),
        TE.flatMap((isWanted): AsyncResult<unknown, CancelTag> =>
          isWanted ? cancel({ owner }, id, 'halt') : TE.right(undefined),
        ),
      ),

    /**
     * A round of the watch: compares the open orders of an account with those that the broker
     * holds. One with other terms or another number is stored so, and one that the broker does not
     * hold any more is due to be looked up.
     */
    followOpenOrders: (account: BrokerAccount): AsyncResult<FollowedOrders, BrokerReadTag> =>
      pipe(
        orders.openOrders(account.owner, account.accountId),
        TE.map((open) =>
          open.filter(
            ({ destination }) => destination.providerAccountId === account.providerAccountId,
          ),
        ),
        TE.flatMap((open): AsyncResult<FollowedOrders, BrokerReadTag> =>
          open.length === 0
            ? TE.right({ areDue: false })
            : pipe(
                trading.workingOrders(account),
                TE.flatMap((working): AsyncResult<FollowedOrders, BrokerReadTag> =>
                  pipe(
                    open,
                    TE.traverseArray((one) => follow(one, findWorking(one.order, working))),
                    TE.map((steps) => ({ areDue: steps.some((step) => step?.continueInMs === 0) })),
                  ),
                ),
              ),
        ),
      ),
  }

  /** Returns the step that was made; undefined where there was nothing to store. */
  function follow(
    one: OrderPlacement,
    shown: WorkingOrder | undefined,
  ): AsyncResult<PlacementStep | undefined> {
    const { order, placement } = one
    if (placement.step !== 'working') return TE.right(undefined)
    const now = clock.now()
    const step = stepOfRound(order, placement, shown, now)
    return step === undefined
      ? TE.right(undefined)
      : pipe(
          orders.advance(order.owner, one, step, now),
          TE.map(() => step),
        )
  }
}

const unknown = ({ order }: HeldOrder): E.Either<Refusal<'BrokerOutcomeUnknown'>, never> =>
  E.left(refuse('BrokerOutcomeUnknown', { accountId: order.request.accountId }))

/** What a round of the watch changes; nothing where the broker holds the order as it is stored. */
const stepOfRound = (
  order: Order,
  placement: Working,
  shown: WorkingOrder | undefined,
  now: Instant,
): PlacementStep | undefined => {
  // One that is missing already falls due by itself.
  if (shown === undefined)
    return placement.missing === null ? goneMissing(placement, now) : undefined
  const step = holding(placement, shown)
  const isUnchanged =
    placement.missing === null &&
    placement.brokerOrderId === shown.brokerOrderId &&
    withStep(order, step, now) === order
  return isUnchanged ? undefined : step
}

/** Changes only who cancelled the order: a lookup that is due stays due. */
const markCancelled =
  (cancelledBy: CancelReason | null) =>
  (from: Working): PlacementStep => ({
    placement: { ...from, cancelledBy },
    continueInMs: from.missing === null && from.brokerOrderId !== null ? null : 0,
  })
