// The operator's documents: applied to the records, all or nothing, or planned, which decides the
// same over the same records and writes nothing.
import * as E from 'fp-ts/lib/Either.js'
import { flow, pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { AsyncResult } from '../errors.ts'
import { decideApply, recordKeysOf, type DecidedDocument } from '../operator/apply.ts'
import {
  orderEffectsOf,
  planOf,
  type OrderEffect,
  type OrderEffects,
  type PlannedChange,
} from '../operator/plan.ts'
import {
  noChanges,
  type OperatorDocument,
  type OperatorRecords,
  type User,
} from '../operator/records.ts'
import type { OrderId } from '../orders/order.ts'
import type { Placement } from '../orders/placement.ts'
import type { RecordCounts } from '../operator/listing.ts'
import type { Ports } from '../ports/index.ts'
import type { AccountId, TenantId } from '../primitives/ids.ts'
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

interface RemovedOwners {
  readonly removedTenants: readonly TenantId[]
  readonly removedUsers: readonly User[]
}
const noOwners: RemovedOwners = { removedTenants: [], removedUsers: [] }

const removesOwners = ({ tenants, users }: OperatorDocument): boolean =>
  [...tenants, ...users].some(({ removed }) => removed === true)

/** How many orders a plan names at most. */
export const maxAffectedOrders = 1_000

export const createOperatorDocuments = (
  ports: Pick<Ports, 'operator' | 'operatorOrders' | 'records' | 'secrets' | 'clock'>,
) => {
  const { operator, operatorOrders, records, secrets, clock } = ports

  const readAffectedOrders = ({
    tenants,
    users,
    accounts,
  }: OrderEffects): AsyncResult<readonly AffectedOrder[]> => {
    if (tenants.size + users.size + accounts.size === 0) return TE.right([])
    const of = {
      tenants: [...tenants.keys()],
      users: [...users.keys()],
      accounts: [...accounts.keys()],
    }
    return pipe(
      operatorOrders.underWay({ of }, { after: undefined, limit: maxAffectedOrders }),
      TE.map((orders) =>
        orders.map(({ order: { id, owner, request }, placement }) => {
          const effects = [
            tenants.get(owner.tenantId),
            users.get(owner.userId),
            accounts.get(request.accountId),
          ]
          return {
            id,
            accountId: request.accountId,
            step: placement.step,
            effects: effects.filter((effect) => effect !== undefined),
          }
        }),
      ),
    )
  }

  /** What a document changes in the stored records, and which orders under way that may touch. */
  const decideDocument = (document: OperatorDocument) => {
    const decide = decideApply(document, secrets, clock.now())
    return (stored: OperatorRecords) =>
      pipe(
        decide(stored),
        E.map((decided) => ({
          ...decided,
          planned: planOf(stored, decided.changes),
          effects: orderEffectsOf(stored, decided.changes),
          removedTenants: stored.tenants
            .map(({ id }) => id)
            .filter((id) => decided.changes.tenants.remove.includes(id)),
          removedUsers: stored.users.filter(({ id }) => decided.changes.users.remove.includes(id)),
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
  const countOwned = ({ removedTenants, removedUsers }: RemovedOwners) =>
    pipe(
      [
        ...removedTenants.map((id) => ({ key: `tenants ${id}`, tenantId: id, userId: undefined })),
        ...removedUsers.map(({ id, tenantId }) => ({ key: `users ${id}`, tenantId, userId: id })),
      ],
      TE.traverseSeqArray(({ key, tenantId, userId }) =>
        pipe(
          records.counts(tenantId, userId),
          TE.map((counts): readonly [string, RecordCounts] => [key, counts]),
        ),
      ),
      TE.map((counted) => {
        const counts = new Map(counted)
        return (change: PlannedChange): PlannedChange => {
          const alsoRemoved = counts.get(`${change.section} ${change.id}`)
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
        removesOwners(document) ? dryRun(document) : TE.right(noOwners),
        TE.flatMap(countOwned),
        TE.bindTo('addCounts'),
        TE.bindW('decided', () =>
          operator.apply(recordKeysOf(document, secrets), decideDocument(document)),
        ),
        TE.bindW('ordersUnderWay', ({ decided: { effects } }) =>
          pipe(
            readAffectedOrders(effects),
            TE.orElseW(() => TE.right(null)),
          ),
        ),
        TE.map(({ decided, addCounts, ordersUnderWay }) => ({
          changes: decided.planned.map(addCounts),
          ordersUnderWay,
          affectedUsers: decided.affectedUsers,
          apiKeys: decided.apiKeys,
          accessTokens: decided.accessTokens,
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
        TE.bindW('ordersUnderWay', ({ effects }) => readAffectedOrders(effects)),
        TE.map(({ planned, addCounts, ordersUnderWay }) => ({
          changes: planned.map(addCounts),
          ordersUnderWay,
        })),
      ),
  }
}
