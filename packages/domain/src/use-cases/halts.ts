// Halts of an account: while one lasts no order is placed, and where it cancels orders, every order
// that is or becomes open is cancelled.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireNotHalted } from '../accounts/account.ts'
import type { AsyncResult, Halt, RefusalTag } from '../errors.ts'
import type { Order, OrderId } from '../orders/order.ts'
import { renumberingMs } from '../orders/placement.ts'
import type { Open } from '../orders/placement-state.ts'
import { withoutKey, type IdempotencyGuard, type Ports, type StoredOrder } from '../ports/index.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { ById, WithBody } from './input.ts'
import { findAccount } from './steps/find.ts'
import type { createOpenOrders } from './open-orders.ts'
import type { createPositionChanges } from './position-changes.ts'

type ClosePositions = ReturnType<typeof createPositionChanges>['closePositions']
type OpenOrders = ReturnType<typeof createOpenOrders>

/** What an owner asks for with a halt. */
export interface HaltRequest {
  /** Why, for whoever reads it. */
  readonly reason?: string | undefined
  /** Whether to close every open position once the account is halted. */
  readonly closePositions?: boolean | undefined
  /** Whether to cancel every order that is open while the account is halted. */
  readonly cancelOrders?: boolean | undefined
}

/** Whether an account is halted, and what else the request did. */
export interface HaltView {
  readonly accountId: AccountId
  readonly halt: O.Option<Halt>
  /** Undefined where no orders were to be cancelled. */
  readonly cancellations?: Awaited<ReturnType<ReturnType<OpenOrders['cancelOrders']>>> | undefined
  /** Undefined where no positions were to be closed. */
  readonly closes?: Awaited<ReturnType<ReturnType<ClosePositions>>> | undefined
}

interface HaltPorts extends Pick<Ports, 'accounts' | 'halts' | 'clock'> {
  readonly closePositions: ClosePositions
  readonly cancelOrders: OpenOrders['cancelOrders']
}

/** Halts by the owner of an account. */
export const createHalts = (ports: HaltPorts) => {
  const { halts, clock } = ports

  return {
    /** GET /accounts/:id/halt. */
    getHalt: ({ owner }: Caller, { id }: ById): AsyncResult<HaltView, 'AccountNotFound'> =>
      pipe(
        findAccount(ports)(owner, id),
        TE.flatMap(({ id: accountId }) =>
          pipe(
            halts.find(owner, accountId),
            TE.map((halt) => ({ accountId, halt })),
          ),
        ),
      ),

    /**
     * POST /accounts/:id/halt: halts the account, and then cancels its orders and closes its
     * positions, both at once, where that is wanted. A halt that stands stays as it is.
     */
    haltAccount: (
      caller: Caller,
      { id, body, begin }: ById & WithBody<HaltRequest> & IdempotencyGuard,
    ): AsyncResult<HaltView, 'AccountNotFound' | 'IdempotencyInProgress'> =>
      pipe(
        findAccount(ports)(caller.owner, id),
        TE.tap(() => begin),
        TE.flatMap(({ id: accountId }) =>
          pipe(
            halts.halt(caller.owner, accountId, {
              since: clock.now(),
              reason: body.reason ?? null,
              cancelOrders: body.cancelOrders === true,
            }),
            // That orders could not be cancelled, or positions closed, does not undo the halt.
            TE.flatMapTask((halt) => async () => {
              const [cancellations, closes] = await Promise.all([
                body.cancelOrders === true
                  ? ports.cancelOrders(caller, { query: { accountId } }, 'halt')()
                  : undefined,
                body.closePositions === true
                  ? ports.closePositions(caller, { body: { accountId }, ...withoutKey })()
                  : undefined,
              ])
              return { accountId, halt, cancellations, closes }
            }),
          ),
        ),
      ),

    /** DELETE /accounts/:id/halt: refused while the operator halts the account. */
    liftHalt: (
      { owner }: Caller,
      { id }: ById,
    ): AsyncResult<HaltView, 'AccountNotFound' | 'AccountHalted'> =>
      pipe(
        findAccount(ports)(owner, id),
        TE.flatMap(({ id: accountId }) =>
          pipe(
            halts.lift(owner, accountId),
            TE.flatMapEither((halt) => requireNotHalted(accountId, halt)),
            TE.map(() => ({ accountId, halt: O.none })),
          ),
        ),
      ),
  }
}

interface HaltCancellationPorts extends Pick<Ports, 'halts' | 'clock'> {
  readonly cancelOrder: OpenOrders['cancelOrder']
  /**
   * An order could not be cancelled, or is missing at the broker. A process reports each once of a
   * halt.
   * @param because the tag of the refusal, or `missing`
   */
  readonly onHaltCancellationFailed: (order: Order, because: RefusalTag | 'missing') => void
}

/**
 * Cancels the order if it is open and its account's halt cancels orders. A refused cancellation is
 * no failure: it is passed to `onHaltCancellationFailed`.
 */
export type CancelWhereHalted = (stored: StoredOrder) => AsyncResult<void>

/** Call it after each write of an order; it does nothing where no such halt stands. */
export const createCancelWhereHalted = (ports: HaltCancellationPorts): CancelWhereHalted => {
  /** Orders that the present halt of their account was reported not to have cancelled. */
  const reported = new Set<OrderId>()

  /** Why the order is still there; undefined where it is cancelled, or has ended before. */
  const cancelByHalt = async (
    { owner, id }: Order,
    { missing }: Open,
  ): Promise<RefusalTag | 'missing' | undefined> => {
    if (missing !== null) return 'missing'
    const cancelled = await ports.cancelOrder({ owner }, { id }, 'halt')()
    return E.isLeft(cancelled) && cancelled.left._tag !== 'OrderNotCancellable'
      ? cancelled.left._tag
      : undefined
  }

  return ({ order, placement }) =>
    async () => {
      const { owner, id, request } = order
      if (placement.step !== 'open') {
        reported.delete(id)
        return E.right(undefined)
      }
      const { missing } = placement
      // Until then the broker may be renumbering it, or a lookup may still show how it ended.
      if (missing !== null && ports.clock.now() - missing.since < renumberingMs)
        return E.right(undefined)
      const cancelsOrders = await ports.halts.haltCancelsOrders(owner, request.accountId)()
      if (E.isLeft(cancelsOrders)) return cancelsOrders
      const because = cancelsOrders.right ? await cancelByHalt(order, placement) : undefined
      if (because === undefined) reported.delete(id)
      else if (!reported.has(id)) {
        reported.add(id)
        ports.onHaltCancellationFailed(order, because)
      }
      return E.right(undefined)
    }
}
