// GET /operator/v1/tenants/:tenantId/accounts: linked accounts of the tenant's users, by user, with their limits and challenges.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { NotFound } from '../errors.ts'
import type { Listed, ListedAccount, ListRequest } from '../operator/listing.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import { parseAccountId } from '../primitives/ids.ts'
import type { TenantId, UserId } from '../primitives/ids.ts'
import { byOwner, readTenantList } from './steps/read-list.ts'
import type { ListRefusal } from './steps/read-list.ts'

const byAccount = byOwner(parseAccountId)

/** @param userId whose alone; undefined for all of the tenant's */
export const listTenantAccounts =
  (ports: { readonly records: Pick<TenantRecords, 'find' | 'accounts'> }) =>
  (tenantId: TenantId, userId: UserId | undefined, request: ListRequest): TE.TaskEither<ListRefusal | NotFound, Listed<ListedAccount>> =>
    readTenantList(ports)(
      tenantId,
      {
        name: ['accounts', userId ?? ''],
        parsePlace: byAccount.parsePlace,
        placeOf: ({ account: { id, owner } }) => byAccount.placeOf({ id, userId: owner.userId }),
        read: (slice) => ports.records.accounts(tenantId, { ...slice, userId }),
      },
      request,
    )
