// The operator's documents: applied to the records, all or nothing, or planned, which decides the
// same over the same records and writes nothing.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable, ValidationError } from '../errors.ts'
import { decideApply, keysOf } from '../operator/apply.ts'
import type { AppliedDocument } from '../operator/apply.ts'
import { orderEffectsOf, planOf } from '../operator/plan.ts'
import type { OrderEffect, OrderEffects, PlannedChange } from '../operator/plan.ts'
import { noChanges } from '../operator/records.ts'
import type { OperatorDocument } from '../operator/records.ts'
import type { OperatorOrder } from '../ports/operator-orders.ts'
import type { Ports } from '../ports/ports.ts'

export interface TouchedOrder {
  readonly order: OperatorOrder
  readonly effects: readonly OrderEffect[]
}

export interface OperatorPlan {
  readonly plan: readonly PlannedChange[]
  /** Oldest first, at most `maxTouchedOrders`. */
  readonly orders: readonly TouchedOrder[]
}

/** How many orders a plan names at most. */
export const maxTouchedOrders = 1_000

type DocumentRefusal = ServiceUnavailable | ValidationError

export const createOperatorDocuments = (
  ports: Pick<Ports, 'operator' | 'operatorOrders' | 'secrets' | 'clock'>,
) => {
  const { operator, operatorOrders, secrets, clock } = ports

  const readTouched = (
    effects: OrderEffects,
  ): TE.TaskEither<ServiceUnavailable, readonly TouchedOrder[]> => {
    const [tenants, users, accounts] = [
      [...effects.tenants.keys()],
      [...effects.users.keys()],
      [...effects.accounts.keys()],
    ]
    if (tenants.length + users.length + accounts.length === 0) return TE.right([])
    return pipe(
      operatorOrders.underWay(
        { of: { tenants, users, accounts } },
        { after: undefined, limit: maxTouchedOrders },
      ),
      TE.map((orders) => touchedOrders(orders, effects)),
    )
  }

  return {
    /** POST /operator/v1/apply: returns the credentials that it made or was given. */
    applyOperatorDocument: (
      document: OperatorDocument,
    ): TE.TaskEither<DocumentRefusal, AppliedDocument> =>
      operator.apply(keysOf(document, secrets), decideApply(document, secrets, clock.now())),

    /**
     * POST /operator/v1/plan: what applying the document would change now, and the orders under way
     * that it touches.
     */
    planOperatorDocument: (
      document: OperatorDocument,
    ): TE.TaskEither<DocumentRefusal, OperatorPlan> => {
      const decide = decideApply(document, secrets, clock.now())
      return pipe(
        operator.apply(keysOf(document, secrets), (records) =>
          pipe(
            decide(records),
            E.map(({ changes }) => ({
              changes: noChanges,
              plan: planOf(records, changes),
              effects: orderEffectsOf(records, changes),
            })),
          ),
        ),
        TE.bindW('orders', ({ effects }) => readTouched(effects)),
        TE.map(({ plan, orders }) => ({ plan, orders })),
      )
    },
  }
}

/** @param orders of the tenants, users and accounts that the effects name */
export const touchedOrders = (
  orders: readonly OperatorOrder[],
  { tenants, users, accounts }: OrderEffects,
): readonly TouchedOrder[] =>
  orders.map((one) => {
    const { owner, request } = one.order
    const effects = [
      tenants.get(owner.tenantId),
      users.get(owner.userId),
      accounts.get(request.accountId),
    ]
    return { order: one, effects: effects.filter((effect) => effect !== undefined) }
  })
