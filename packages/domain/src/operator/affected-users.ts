// Whose credentials a document may change, so that only theirs are read anew wherever they are
// kept.
import type { UserId } from '../primitives/ids.ts'
import type { OperatorChanges, OperatorRecords } from './records.ts'

/** `everyone` where they cannot be named one by one. */
export type AffectedUsers = readonly UserId[] | 'everyone'

/**
 * The users that the changes put or remove, and those of every key and token that they put or
 * remove.
 * @param stored the credentials as they were before
 */
export const usersAffectedBy = (
  changes: OperatorChanges,
  stored: Pick<OperatorRecords, 'apiKeys' | 'accessTokens'>,
): AffectedUsers => {
  const { tenants, users, apiKeys, accessTokens } = changes
  // Its users go along, and are named nowhere.
  if (tenants.remove.length > 0) return 'everyone'
  const affected = new Set([...users.put.map(({ id }) => id), ...users.remove])
  for (const { userId } of [...apiKeys.put, ...accessTokens.put]) affected.add(userId)
  for (const [removed, before] of [
    [apiKeys.remove, stored.apiKeys] as const,
    [accessTokens.remove, stored.accessTokens] as const,
  ]) {
    const ownerOf = new Map(before.map(({ id, userId }) => [id, userId]))
    for (const id of removed) {
      const userId = ownerOf.get(id)
      if (userId === undefined) return 'everyone'
      affected.add(userId)
    }
  }
  return [...affected]
}
