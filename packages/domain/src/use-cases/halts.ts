// Halts of an account by its owner: while one lasts no order is placed.
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireNotHalted } from '../accounts/account.ts'
import type { AsyncResult, Halt } from '../errors.ts'
import { withoutKey, type IdempotencyGuard, type Ports } from '../ports/index.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { ById, WithBody } from './input.ts'
import { findAccount } from './steps/find.ts'
import type { createOpenOrders } from './open-orders.ts'
import type { createPositionChanges } from './position-changes.ts'

type ClosePositions = ReturnType<typeof createPositionChanges>['closePositions']
type CancelOrders = ReturnType<typeof createOpenOrders>['cancelOrders']

/** What an owner asks for with a halt. */
export interface HaltRequest {
  /** Why, for whoever reads it. */
  readonly reason?: string | undefined
  /** Whether to close every open position once the account is halted. */
  readonly closePositions?: boolean | undefined
  /** Whether to cancel every order that is open while the account is halted. */
  readonly cancelOrders?: boolean | undefined
}

/** Whether an account is halted, and what the request did beside. */
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
