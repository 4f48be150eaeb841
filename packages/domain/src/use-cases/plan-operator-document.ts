// POST /operator/v1/plan: what applying the document would change now, and the orders under way that it touches. It is decided as `apply` decides, over the
// same records in the same transaction, and nothing is written.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable, ValidationError } from '../errors.ts'
import { decideApply, keysOf } from '../operator/apply.ts'
import type { OperatorDocument } from '../operator/document.ts'
import { orderEffectsOf, planOf } from '../operator/plan.ts'
import type { OrderEffect, OrderEffects, PlannedChange } from '../operator/plan.ts'
import { noChanges } from '../operator/records.ts'
import type { OperatorRecords } from '../operator/records.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperatorOrder, OperatorOrders } from '../ports/operator-orders.ts'
import type { OperatorStore } from '../ports/operator-store.ts'
import type { Secrets } from '../ports/secrets.ts'

interface Ports {
  readonly operator: OperatorStore
  readonly operatorOrders: Pick<OperatorOrders, 'underWay'>
  readonly secrets: Secrets
  readonly clock: Clock
}

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

export const planOperatorDocument =
  (ports: Ports) =>
  (document: OperatorDocument): TE.TaskEither<ServiceUnavailable | ValidationError, OperatorPlan> =>
    pipe(
      ports.operator.apply(keysOf(document, ports.secrets), decidePlan(ports, document)),
      TE.flatMap(({ plan, effects }) =>
        pipe(
          readTouched(ports, effects),
          TE.map((orders) => ({ plan, orders })),
        ),
      ),
    )

const decidePlan = ({ secrets, clock }: Ports, document: OperatorDocument) => {
  const decide = decideApply(document, secrets, clock.now())
  return (records: OperatorRecords) =>
    pipe(
      decide(records),
      E.map(({ changes }) => ({ changes: noChanges, plan: planOf(records, changes), effects: orderEffectsOf(records, changes) })),
    )
}

const readTouched = ({ operatorOrders }: Ports, effects: OrderEffects): TE.TaskEither<ServiceUnavailable, readonly TouchedOrder[]> => {
  const [tenants, users, accounts] = [[...effects.tenants.keys()], [...effects.users.keys()], [...effects.accounts.keys()]]
  if (tenants.length + users.length + accounts.length === 0) return TE.right([])
  return pipe(
    operatorOrders.underWay({ of: { tenants, users, accounts } }, { after: undefined, limit: maxTouchedOrders }),
    TE.map((orders) => touchedOrders(orders, effects)),
  )
}

/** @param orders of the tenants, users and accounts that the effects name */
export const touchedOrders = (orders: readonly OperatorOrder[], { tenants, users, accounts }: OrderEffects): readonly TouchedOrder[] =>
  orders.map((one) => {
    const { owner, request } = one.order
    const effects = [tenants.get(owner.tenantId), users.get(owner.userId), accounts.get(request.accountId)]
    return { order: one, effects: effects.filter((effect) => effect !== undefined) }
  })
