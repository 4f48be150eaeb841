// Halts of accounts in memory.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Halt } from '@tradeport/domain/errors'
import type { Halts } from '@tradeport/domain/ports'
import type { AccountId, Owner } from '@tradeport/domain/primitives'
import type { FakeRecords } from './fake-records.ts'

export const createFakeHalts = (records: FakeRecords): Halts => {
  const isOfOwner = ({ tenantId, userId }: Owner, id: AccountId): boolean => {
    const owner = records.tables.accounts.get(id)?.owner
    return owner?.tenantId === tenantId && owner.userId === userId
  }
  const find = (owner: Owner, id: AccountId): O.Option<Halt> => {
    const { halts, ownHalts } = records.tables
    const operators = halts.get(id)
    const owners = ownHalts.get(id)
    if (!isOfOwner(owner, id)) return O.none
    if (operators !== undefined)
      return O.some({ by: 'operator', since: operators.since, reason: operators.reason })
    return O.fromNullable(owners && { by: 'owner', since: owners.since, reason: owners.reason })
  }
  return {
    find: (owner, id) => TE.fromIO(() => find(owner, id)),
    cancelsOrders: (owner, id) =>
      TE.fromIO(
        () => isOfOwner(owner, id) && records.tables.ownHalts.get(id)?.cancelsOrders === true,
      ),
    halt: (owner, id, { since, reason, cancelsOrders }) =>
      TE.fromIO(() => {
        const { ownHalts } = records.tables
        const standing = ownHalts.get(id) ?? { since, reason, cancelsOrders: false }
        if (isOfOwner(owner, id))
          ownHalts.set(id, { ...standing, cancelsOrders: standing.cancelsOrders || cancelsOrders })
      }),
    lift: (owner, id) =>
      TE.fromIO(() => {
        if (isOfOwner(owner, id)) records.tables.ownHalts.delete(id)
      }),
  }
}
