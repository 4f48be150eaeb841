// Steps for changing an open order: find it, lock it, read it at the broker. If the broker does not
// hold it, the request is refused with how it ended.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../../access/credential.ts'
import {
  presentLinkTo,
  requireTradingPurpose,
  type Account,
  type BrokerAccount,
} from '../../accounts/account.ts'
import {
  refuse,
  type AsyncResult,
  type BrokerReadError,
  type BrokerReadTag,
  type Refusal,
  type RefusalTag,
} from '../../errors.ts'
import {
  parseOrderId,
  refusalUnlessOpen,
  type EndedTag,
  type Order,
  type OrderId,
} from '../../orders/order.ts'
import { findBrokerOrder } from '../../orders/order-terms.ts'
import {
  afterLookupOfOpen,
  withTransition,
  type BrokerOrder,
  type LookupAnswer,
  type Transition,
} from '../../orders/placement.ts'
import type { Open } from '../../orders/placement-state.ts'
import type { OrderGone, Ports, StoredOrder } from '../../ports/index.ts'
import type { Owner } from '../../primitives/ids.ts'
import type { Instant } from '../../primitives/instant.ts'
import { changeAtBroker, type BrokerChangeTag, type SendChange } from './broker-change.ts'
import { lookUpOrder, type LookupPorts } from './broker-order.ts'
import { findAccount, requireChangeable, requireFound, type RestrictionTag } from './find.ts'

export type ChangeTag =
  | BrokerReadTag
  | RestrictionTag
  | 'AccountNotFound'
  | 'NotFound'
  | 'OrderInFlight'
  | 'TradeRejected'
  | BrokerChangeTag

export interface OpenOrderStepPorts
  extends
    LookupPorts,
    Pick<Ports, 'liveAccounts' | 'changeLocks' | 'clock' | 'stopwatch' | 'pause'> {}

export interface StoredOpenOrder extends StoredOrder {
  readonly placement: Open
}

/** What a lookup showed, and when it began. */
export interface MadeLookup {
  readonly answer: LookupAnswer
  readonly at: Instant
}

/** How many times a write is tried where other processes write first. */
const writeAttempts = 5

export const createOpenOrderSteps = (ports: OpenOrderStepPorts) => {
  const { orders, trading, clock } = ports

  /**
   * Writes the transition from the stored placement; retries if another process wrote first.
   * @returns the order as it is stored then; unchanged where it is not open
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
        return E.left(
          refuse('ServiceUnavailable', { reason: 'other writes of the order came first' }),
        )
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

  /** Changes the order while nobody else does, if it is open and may be changed. */
  const changeOpenOrder = <Tag extends RefusalTag>(
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

  const lookUp = async (open: StoredOpenOrder): Promise<MadeLookup> => {
    const at = clock.now()
    const hints = { ...open.placement, readFromTerminal: true }
    const found = await lookUpOrder(ports)(open, hints)()
    return { at, answer: E.isLeft(found) ? { kind: 'unreadable' } : found.right }
  }

  const applyLookup = (open: StoredOpenOrder, { answer, at }: MadeLookup) =>
    applyTransition(open, (from) => afterLookupOfOpen(from, answer, at))

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

  /** Refuses with the failure itself or, if the order is gone, with how it ended. */
  const refuseAfterFailure = async <
    Tag extends EndedTag,
    Failure extends { readonly _tag: string },
  >(
    open: StoredOpenOrder,
    endedTag: Tag,
    failure: Failure | OrderGone,
  ) => {
    // An earlier cancellation may have worked; its outcome is unknown.
    const ifCancelledBefore =
      endedTag === 'OrderNotCancellable' && open.placement.cancellation !== null
        ? outcomeUnknown(open)
        : undefined
    if (isGone(failure)) {
      const { accountId } = open.order.request
      const reason = 'the broker does not hold the order, and does not show how it ended'
      const missing = refuse('BrokerUnavailable', { accountId, reason, isOrderMissing: true })
      return refuseGone(open, endedTag, ifCancelledBefore ?? missing)
    }
    if (failure._tag !== 'TradeRejected') return E.left(failure)
    // Some brokers give this same refusal when the order has ended.
    const shown = await readBrokerOrder(open)()
    if (E.isRight(shown)) return E.left(failure)
    return isGone(shown.left)
      ? refuseGone(open, endedTag, ifCancelledBefore ?? failure)
      : E.left(ifCancelledBefore ?? failure)
  }

  return {
    applyTransition,
    changeOpenOrder,
    lookUp,
    applyLookup,
    readBrokerOrder,
    refuseGone,
    refuseAfterFailure,
  }
}

export const outcomeUnknown = ({ order }: StoredOpenOrder): Refusal<'BrokerOutcomeUnknown'> =>
  refuse('BrokerOutcomeUnknown', { accountId: order.request.accountId })

export const isGone = (failure: { readonly _tag: string }): failure is OrderGone =>
  failure._tag === 'OrderGone'

export const requireOpenPlacement =
  <Tag extends EndedTag>(endedTag: Tag) =>
  (found: StoredOrder): E.Either<Refusal<Tag | 'OrderInFlight'>, StoredOpenOrder> => {
    const { order, placement } = found
    return placement.step === 'open'
      ? E.right({ ...found, placement })
      : E.left(refusalUnlessOpen(order, endedTag) ?? refuse('OrderInFlight'))
  }
