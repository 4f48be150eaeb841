// The operator's documents: applied to the records, all or nothing, or planned, which decides the
// same over the same records and writes nothing.
import * as E from 'fp-ts/lib/Either.js'
import { flow, pipe } from 'fp-ts/lib/function.js'
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
import type { Placement } from '../orders/placement.ts'
import type { Ports } from '../ports/index.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import type { WithBody } from './input.ts'

export interface AffectedOrder {
  readonly id: OrderId
  readonly accountId: AccountId
  readonly step: Placement['step']
  readonly effects: readonly OrderEffect[]
}

export interface OperatorPlan {
  readonly changes: readonly PlannedChange[]
  /** Oldest first, at most `maxAffectedOrders`. */
  readonly ordersUnderWay: readonly AffectedOrder[]
}

export interface AppliedDocument extends Omit<DecidedDocument, 'changes'> {
  readonly changes: readonly PlannedChange[]
  /** As in a plan; null where these could not be read, although the document is applied. */
  readonly ordersUnderWay: readonly AffectedOrder[] | null
}

/** A tenant or user that a document removes; `name` is that of its change (`nameOf`). */
interface RemovedOwner {
  readonly name: string
  readonly tenantId: TenantId
  readonly userId?: UserId
}

/** Identifies a change among all of a plan. */
const nameOf = (section: Section, id: string): string => `${section} ${id}`

/** How many orders a plan names at most. */
const maxAffectedOrders = 1_000

export const createOperatorDocuments = (
  ports: Pick<Ports, 'operator' | 'operatorOrders' | 'records' | 'secrets' | 'clock'>,
) => {
  const { operator, operatorOrders, records, secrets, clock } = ports

  const readAffectedOrders = (
    planned: readonly PlannedChange[],
  ): AsyncResult<readonly AffectedOrder[]> => {
    const touching = planned.flatMap((change) => {
      const effect = orderEffectOf(change)
      return effect === undefined ? [] : [{ ...change, effect }]
    })
    if (touching.length === 0) return TE.right([])
    const idsOf = <Id extends string>(section: Section) =>
      touching.filter((change) => change.section === section).map(({ id }) => id as Id)
    const of = {
      tenants: idsOf<TenantId>('tenants'),
      users: idsOf<UserId>('users'),
      accounts: idsOf<AccountId>('accounts'),
    }
    return pipe(
      operatorOrders.underWay({ of }, { after: undefined, limit: maxAffectedOrders }),
      TE.map((orders) =>
        orders.map(({ order, placement }) => {
          const { accountId } = order.request
          const ids: Partial<Record<Section, string>> = {
            tenants: order.owner.tenantId,
            users: order.owner.userId,
            accounts: accountId,
          }
          const ofOrder = touching.filter(({ section, id }) => ids[section] === id)
          const effects = ofOrder.map(({ effect }) => effect)
          return { id: order.id, accountId, step: placement.step, effects }
        }),
      ),
    )
  }

  /** What a document changes in the stored records, and whose records it removes. */
  const decideDocument = (document: OperatorDocument) => {
    const decide = decideApply(document, secrets, clock.now())
    return (stored: OperatorRecords) =>
      pipe(
        decide(stored),
        E.map((decided) => ({
          ...decided,
          planned: planOf(stored, decided.changes),
          removedOwners: [
            ...stored.tenants
              .filter(({ id }) => decided.changes.tenants.remove.includes(id))
              .map(({ id }): RemovedOwner => ({ name: nameOf('tenants', id), tenantId: id })),
            ...stored.users
              .filter(({ id }) => decided.changes.users.remove.includes(id))
              .map(({ id, tenantId }) => ({ name: nameOf('users', id), tenantId, userId: id })),
          ],
        })),
      )
  }

  /** Decides as applying does, and applies an empty change. */
  const dryRun = (document: OperatorDocument) =>
    operator.apply(
      recordKeysOf(document, secrets),
      flow(
        decideDocument(document),
        E.map((decided) => ({ ...decided, changes: noChanges })),
      ),
    )

  /**
   * Counts the records that go with each removed tenant and user, and returns a function that adds
   * the counts to a change.
   */
  const countOwned = ({ removedOwners }: { readonly removedOwners: readonly RemovedOwner[] }) =>
    pipe(
      removedOwners,
      TE.traverseSeqArray(({ name, tenantId, userId }) =>
        pipe(
          records.counts(tenantId, userId),
          TE.map((counts) => [name, counts] as const),
        ),
      ),
      TE.map((counted) => {
        const counts = new Map(counted)
        return (change: PlannedChange): PlannedChange => {
          const alsoRemoved = counts.get(nameOf(change.section, change.id))
          return alsoRemoved === undefined ? change : { ...change, alsoRemoved }
        }
      }),
    )

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
          ? dryRun(document)
          : TE.right({ removedOwners: [] }),
        TE.flatMap(countOwned),
        TE.bindTo('addCounts'),
        TE.bindW('decided', () =>
          operator.apply(recordKeysOf(document, secrets), decideDocument(document)),
        ),
        TE.bindW('ordersUnderWay', ({ decided: { planned } }) =>
          TE.orElseW(() => TE.right(null))(readAffectedOrders(planned)),
        ),
        TE.map(({ decided, addCounts, ordersUnderWay }) => ({
          ...decided,
          changes: decided.planned.map(addCounts),
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
        dryRun(document),
        TE.bindW('addCounts', (decided) => countOwned(decided)),
        TE.bindW('ordersUnderWay', ({ planned }) => readAffectedOrders(planned)),
        TE.map(({ planned, addCounts, ordersUnderWay }) => ({
          changes: planned.map(addCounts),
          ordersUnderWay,
        })),
      ),
  }
}
