// What becomes of the operator's records under a document: a pure decision over the records that it names. All or nothing: one fault anywhere
// and nothing is written.
import * as E from 'fp-ts/lib/Either.js'
import { validationError } from '../errors.ts'
import type { Issue, ValidationError } from '../errors.ts'
import type { Instant } from '../primitives/instant.ts'
import { usersAffectedBy } from './affected-users.ts'
import type { AffectedUsers } from './affected-users.ts'
import { decideChallenges, decideDesks, decideSnapshots, decideTraderLimits } from './decide-account-rules.ts'
import { decideAccessTokens, decideApiKeys } from './decide-credentials.ts'
import type { CredentialSource, IssuedSecret } from './decide-credentials.ts'
import { decideAccounts, decideTenants, decideUsers } from './decide-ownership.ts'
import type { OperatorDocument } from './document.ts'
import type { OperatorChanges, OperatorKeys, OperatorRecords } from './records.ts'
import { worldOf } from './world.ts'

export interface AppliedDocument {
  readonly changes: OperatorChanges
  /** Whose credentials are to be read anew. */
  readonly affectedUsers: AffectedUsers
  /** Keys made or given now, the only time that they are told. */
  readonly apiKeys: readonly IssuedSecret[]
  /** Tokens made or given now, the only time that they are told. */
  readonly accessTokens: readonly IssuedSecret[]
}

/** Every record that the document names or refers to. */
export const keysOf = (document: OperatorDocument, { hash }: Pick<CredentialSource, 'hash'>): OperatorKeys => {
  const { tenants, users, accounts, apiKeys, accessTokens, desks, traderLimits, challenges, balanceSnapshots } = document
  return {
    tenants: present([...tenants.map(({ id }) => id), ...users.map(({ tenantId }) => tenantId), ...desks.map(({ tenantId }) => tenantId)]),
    users: present([...users.map(({ id }) => id), ...[...accounts, ...apiKeys, ...accessTokens].map(({ userId }) => userId)]),
    accounts: present([
      ...accounts.map(({ id }) => id),
      ...desks.flatMap((desk) => desk.accounts ?? []),
      ...[...traderLimits, ...challenges, ...balanceSnapshots].map(({ accountId }) => accountId),
    ]),
    apiKeys: present(apiKeys.map(({ id }) => id)),
    apiKeyHashes: present(apiKeys.map(({ key }) => key)).map(hash),
    accessTokens: present(accessTokens.map(({ id }) => id)),
    accessTokenHashes: present(accessTokens.map(({ token }) => token)).map(hash),
    desks: present(desks.map(({ id }) => id)),
    traderLimits: present(traderLimits.map(({ accountId }) => accountId)),
    challenges: challenges.map(({ accountId, startedAt }) => ({ accountId, startedAt })),
    balanceSnapshots: balanceSnapshots.map(({ accountId, timestamp }) => ({ accountId, timestamp })),
  }
}

/**
 * What to write, or every fault of the document by its path.
 * @param now stands in for createdAt where the document gives none
 */
export const decideApply =
  (document: OperatorDocument, secrets: CredentialSource, now: Instant) =>
  (records: OperatorRecords): E.Either<ValidationError, AppliedDocument> => {
    const faults: Issue[] = []
    const world = worldOf(records)
    const tenants = decideTenants(document.tenants, world, faults)
    const users = decideUsers(document.users, world, faults)
    const accounts = decideAccounts(document.accounts, world, now, faults)
    const apiKeys = decideApiKeys(document.apiKeys, records.apiKeys, world, secrets, faults)
    const accessTokens = decideAccessTokens(document.accessTokens, records.accessTokens, world, secrets, faults)
    const changes: OperatorChanges = {
      tenants,
      users,
      accounts,
      apiKeys: apiKeys.changes,
      accessTokens: accessTokens.changes,
      desks: decideDesks(document.desks, records.desks, world, faults),
      traderLimits: decideTraderLimits(document.traderLimits, records.traderLimits, world, faults),
      challenges: decideChallenges(document.challenges, records.challenges, world, faults),
      balanceSnapshots: decideSnapshots(document.balanceSnapshots, records.balanceSnapshots, world, faults),
    }
    if (faults.length > 0) return E.left(validationError(faults))
    return E.right({
      changes,
      affectedUsers: usersAffectedBy(changes, records),
      apiKeys: apiKeys.issued,
      accessTokens: accessTokens.issued,
    })
  }

const present = <A>(values: readonly (A | null | undefined)[]): readonly A[] => [
  ...new Set(values.filter((value): value is A => value !== null && value !== undefined)),
]
