// Halts of an account by its owner: while one lasts no order is placed.
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireNotHalted } from '../accounts/account.ts'
import type { AsyncResult, Halt } from '../errors.ts'
import { withoutKey, type IdempotencyGuard, type Ports } from '../ports/index.ts'
import type { AccountId } from '../primitives/ids.ts'
import { findAccount } from './steps/find.ts'
import type { createOpenOrders } from './open-orders.ts'
import type { createPositionChanges } from './position-changes.ts'

type ClosePositions = ReturnType<typeof createPositionChanges>['closePositions']
type CancelOrders = ReturnType<typeof createOpenOrders>['cancelOrders']

export interface HaltRequest {
  /** Why, for whoever reads it. */
  readonly reason?: string | undefined
  /** Whether to close every open position once the account is halted. */
  readonly closePositions?: boolean | undefined
  /** Whether to cancel every order that is open while the account is halted. */
  readonly cancelOrders?: boolean | undefined
}

export interface HaltView {
  readonly accountId: AccountId
  readonly halt: O.Option<Halt>
  /** Undefined where no orders were to be cancelled. */
  readonly cancellations?: Awaited<ReturnType<ReturnType<CancelOrders>>> | undefined
  /** Undefined where no positions were to be closed. */
  readonly closes?: Awaited<ReturnType<ReturnType<ClosePositions>>> | undefined
}

interface HaltPorts extends Pick<Ports, 'accounts' | 'halts' | 'clock'> {
  readonly closePositions: ClosePositions
  readonly cancelOrders: CancelOrders
}

export const createHalts = (ports: HaltPorts) => {
  const { halts, clock } = ports

  return {
    /** GET /accounts/:id/halt. */
    getHalt: ({ owner }: Caller, id: AccountId): AsyncResult<HaltView, 'AccountNotFound'> =>
      pipe(
        findAccount(ports)(owner, id),
        TE.flatMap(() => halts.find(owner, id)),
        TE.map((halt) => ({ accountId: id, halt })),
      ),

    /**
     * POST /accounts/:id/halt: halts the account, and then cancels its orders and closes its
     * positions where that is wanted. A halt that stands stays as it is.
     */
    haltAccount: (
      caller: Caller,
      id: AccountId,
      { reason, cancelOrders = false, closePositions = false }: HaltRequest,
      { begin }: IdempotencyGuard,
    ): AsyncResult<HaltView, 'AccountNotFound' | 'IdempotencyInProgress'> =>
      pipe(
        findAccount(ports)(caller.owner, id),
        TE.tap(() => begin),
        TE.tap(() =>
          halts.halt(caller.owner, id, {
            since: clock.now(),
            reason: reason ?? null,
            cancelsOrders: cancelOrders,
          }),
        ),
        TE.flatMap(() => halts.find(caller.owner, id)),
        TE.bindTo('halt'),
        // That orders could not be cancelled, or positions closed, does not undo the halt.
        TE.bind('cancellations', () =>
          cancelOrders ? TE.fromTask(ports.cancelOrders(caller, id, 'halt')) : TE.right(undefined),
        ),
        TE.bind('closes', () =>
          closePositions
            ? TE.fromTask(ports.closePositions(caller, { accountId: id }, withoutKey))
            : TE.right(undefined),
        ),
        TE.map((done) => ({ accountId: id, ...done })),
      ),

    /** DELETE /accounts/:id/halt: refused while the operator halts the account. */
    liftHalt: (
      { owner }: Caller,
      id: AccountId,
    ): AsyncResult<HaltView, 'AccountNotFound' | 'AccountHalted'> =>
      pipe(
        findAccount(ports)(owner, id),
        TE.flatMap(() => halts.find(owner, id)),
        TE.map(O.filter(({ by }) => by === 'operator')),
        TE.flatMapEither((halt) => requireNotHalted(id, halt)),
        TE.flatMap(() => halts.lift(owner, id)),
        TE.map(() => ({ accountId: id, halt: O.none })),
      ),
  }
}
