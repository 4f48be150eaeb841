// The operator's documents: applied to the records, all or nothing, or planned, which decides the
// same over the same records and writes nothing.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as RA from 'fp-ts/lib/ReadonlyArray.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { AsyncResult } from '../errors.ts'
import { decideApply, recordKeysOf, type DecidedDocument } from '../operator/apply.ts'
import { orderEffectOf, planOf, type OrderEffect, type PlannedChange } from '../operator/plan.ts'
import {
  noChanges,
  type OperatorDocument,
  type OperatorRecords,
  type Section,
} from '../operator/records.ts'
import type { OrderId } from '../orders/order.ts'
import type { Placement } from '../orders/placement-state.ts'
import type { Ports } from '../ports/index.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import type { WithBody } from './input.ts'

/** An order under way that a document touches, and how. */
export interface AffectedOrder {
  readonly id: OrderId
  readonly accountId: AccountId
  readonly step: Placement['step']
  readonly effects: readonly OrderEffect[]
}

/** What applying a document would change. */
export interface OperatorPlan {
  readonly changes: readonly PlannedChange[]
  /** Oldest first, at most `maxAffectedOrders`. */
  readonly ordersUnderWay: readonly AffectedOrder[]
}

/** What applying a document changed, and the credentials that it made. */
export interface AppliedDocument extends Omit<DecidedDocument, 'changes'> {
  readonly changes: readonly PlannedChange[]
  /** As in a plan; null where these could not be read, although the document is applied. */
  readonly ordersUnderWay: readonly AffectedOrder[] | null
}

/** How many orders a plan names at most. */
const maxAffectedOrders = 1_000

/** Documents of the operator. */
export const createOperatorDocuments = (
  ports: Pick<Ports, 'operator' | 'operatorOrders' | 'records' | 'secrets' | 'clock'>,
) => {
  const { operator, operatorOrders, records, secrets, clock } = ports

  const readAffectedOrders = (
    planned: readonly PlannedChange[],
  ): AsyncResult<readonly AffectedOrder[]> => {
    const affecting = planned.flatMap((change) => {
      const effect = orderEffectOf(change)
      return effect === undefined ? [] : [{ ...change, effect }]
    })
    if (affecting.length === 0) return TE.right([])
    const idsOf = <Id extends string>(section: Section) =>
      affecting.filter((change) => change.section === section).map(({ id }) => id as Id)
    const owners = {
      tenants: idsOf<TenantId>('tenants'),
      users: idsOf<UserId>('users'),
      accounts: idsOf<AccountId>('accounts'),
    }
    return pipe(
      operatorOrders.underWay({ of: owners }, { after: undefined, limit: maxAffectedOrders }),
      TE.map((orders) =>
        orders.map(({ order, placement }) => {
          const { accountId } = order.request
          const ids: Partial<Record<Section, string>> = {
            tenants: order.owner.tenantId,
            users: order.owner.userId,
            accounts: accountId,
          }
          const ofOrder = affecting.filter(({ section, id }) => ids[section] === id)
          const effects = ofOrder.map(({ effect }) => effect)
          return { id: order.id, accountId, step: placement.step, effects }
        }),
      ),
    )
  }

  /** What a document changes in the stored records. */
  const decideDocument = (document: OperatorDocument) => {
    const decide = decideApply(document, secrets, clock.now())
    return (stored: OperatorRecords) =>
      pipe(
        decide(stored),
        E.map((decided) => ({ ...decided, planned: planOf(stored, decided.changes) })),
      )
  }

  /** Adds to the removal of a tenant or a user how many records go with it. */
  const addCounts =
    ({ users }: OperatorRecords) =>
    (change: PlannedChange): AsyncResult<PlannedChange> => {
      const { section, id, action } = change
      const user = section === 'users' ? users.find((one) => one.id === id) : undefined
      const tenantId = section === 'tenants' ? (id as TenantId) : user?.tenantId
      return action !== 'remove' || tenantId === undefined
        ? TE.right(change)
        : pipe(
            records.counts(tenantId, user?.id),
            TE.map((alsoRemoved) => ({ ...change, alsoRemoved })),
          )
    }

  /** Decides as applying does, and applies an empty change. */
  const planChanges = (document: OperatorDocument) => {
    const decide = decideDocument(document)
    return pipe(
      operator.apply(recordKeysOf(document, secrets), (stored) =>
        pipe(
          decide(stored),
          E.map(({ planned }) => ({ planned, stored, changes: noChanges })),
        ),
      ),
      TE.flatMap(({ planned, stored }) => TE.traverseSeqArray(addCounts(stored))(planned)),
    )
  }

  return {
    /**
     * POST /operator/v1/apply: returns what it changed, and the credentials that it made or that
     * the document gave.
     */
    applyDocument: (
      _: unknown,
      { body: document }: WithBody<OperatorDocument>,
    ): AsyncResult<AppliedDocument, 'ValidationError'> =>
      pipe(
        // What they own is counted now: it is gone after the apply.
        [...document.tenants, ...document.users].some(({ removed }) => removed === true)
          ? planChanges(document)
          : TE.right([]),
        TE.map(RA.filter(({ alsoRemoved }) => alsoRemoved !== undefined)),
        TE.bindTo('counted'),
        TE.bindW('decided', () =>
          operator.apply(recordKeysOf(document, secrets), decideDocument(document)),
        ),
        TE.bindW('ordersUnderWay', ({ decided: { planned } }) =>
          TE.orElseW(() => TE.right(null))(readAffectedOrders(planned)),
        ),
        TE.map(({ decided, counted, ordersUnderWay }) => ({
          ...decided,
          changes: decided.planned.map((change) => ({
            ...counted.find(({ section, id }) => section === change.section && id === change.id),
            ...change,
          })),
          ordersUnderWay,
        })),
      ),

    /**
     * POST /operator/v1/plan: what applying the document would change now, and the orders under way
     * that it touches.
     */
    planDocument: (
      _: unknown,
      { body: document }: WithBody<OperatorDocument>,
    ): AsyncResult<OperatorPlan, 'ValidationError'> =>
      pipe(
        planChanges(document),
        TE.bindTo('changes'),
        TE.bindW('ordersUnderWay', ({ changes }) => readAffectedOrders(changes)),
      ),
  }
}
