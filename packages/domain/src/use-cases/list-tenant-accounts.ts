// GET /operator/v1/tenants/:tenantId/accounts: linked accounts of the tenant's users, by user, with their limits and challenges.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { NotFound } from '../errors.ts'
import type { Listed, ListedAccount, OwnedListRequest } from '../operator/listing.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import { parseAccountId } from '../primitives/ids.ts'
import type { TenantId } from '../primitives/ids.ts'
import { byOwner, readTenantList } from './steps/read-list.ts'
import type { ListRefusal } from './steps/read-list.ts'

const byAccount = byOwner(parseAccountId)

export const listTenantAccounts =
  (ports: { readonly records: Pick<TenantRecords, 'find' | 'accounts'> }) =>
  (tenantId: TenantId, { userId, ...request }: OwnedListRequest): TE.TaskEither<ListRefusal | NotFound, Listed<ListedAccount>> =>
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
