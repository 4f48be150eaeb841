// The tenants, users and accounts as they will stand when a document has been applied, so that its later parts can refer to its earlier ones.
import type { Account } from '../accounts/account.ts'
import type { Issue } from '../errors.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import { createEntryReader } from './entry-reader.ts'
import type { EntryReader } from './entry-reader.ts'
import type { Changes, OperatorRecords, Tenant, User } from './records.ts'

export interface World {
  readonly tenants: Map<TenantId, Tenant>
  readonly users: Map<UserId, User>
  readonly accounts: Map<AccountId, Account>
}

export const worldOf = ({ tenants, users, accounts }: OperatorRecords): World => ({
  tenants: new Map(tenants.map((tenant) => [tenant.id, tenant])),
  users: new Map(users.map((user) => [user.id, user])),
  accounts: new Map(accounts.map((account) => [account.id, account])),
})

/** Takes a tenant away with everybody in it. */
export const removeTenant = (world: World, id: TenantId): void => {
  world.tenants.delete(id)
  for (const user of world.users.values()) if (user.tenantId === id) removeUser(world, user.id)
}

/** Takes a user away with every account of theirs. */
export const removeUser = (world: World, id: UserId): void => {
  world.users.delete(id)
  for (const account of world.accounts.values()) if (account.owner.userId === id) world.accounts.delete(account.id)
}

interface Section<Entry, Key> {
  readonly name: string
  readonly entries: readonly Entry[]
  readonly keyOf: (entry: Entry) => Key
  readonly removed?: (key: Key) => void
}

/**
 * Decides one part of the document entry by entry. `decide` answers the record to write, or undefined when nothing changes or there is a
 * fault. Two entries for one record are a fault, since the document would contradict itself.
 */
export const decideSection = <Entry extends { readonly removed?: boolean | undefined }, Put, Key>(
  { name, entries, keyOf, removed }: Section<Entry, Key>,
  faults: Issue[],
  decide: (entry: Entry, read: EntryReader) => Put | undefined,
): Changes<Put, Key> => {
  const seen = new Set<string>()
  const put: Put[] = []
  const remove: Key[] = []
  for (const [index, entry] of entries.entries()) {
    const path = `${name}[${index}]`
    const key = keyOf(entry)
    const keyText = JSON.stringify(key)
    if (seen.has(keyText)) faults.push({ path, message: 'this record is named twice; say it once' })
    seen.add(keyText)
    if (entry.removed === true) {
      remove.push(key)
      removed?.(key)
      continue
    }
    const record = decide(entry, createEntryReader(path, faults))
    if (record !== undefined) put.push(record)
  }
  return { put, remove }
}
