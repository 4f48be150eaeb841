// Tenants, users and accounts of an operator's document: who owns what.
import { isSameLink } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import type { Issue } from '../errors.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { AccountEntry, OperatorDocument, TenantEntry, UserEntry } from './document.ts'
import type { EntryReader } from './entry-reader.ts'
import type { Changes, TenantChange, User } from './records.ts'
import { decideSection, removeTenant, removeUser } from './world.ts'
import type { World } from './world.ts'

export const decideTenants = (entries: OperatorDocument['tenants'], world: World, faults: Issue[]): Changes<TenantChange, TenantId> =>
  decideSection({ name: 'tenants', entries, keyOf: ({ id }) => id, removed: (id) => removeTenant(world, id) }, faults, (entry, read) =>
    decideTenant(entry, read, world),
  )

export const decideUsers = (entries: OperatorDocument['users'], world: World, faults: Issue[]): Changes<User, UserId> =>
  decideSection({ name: 'users', entries, keyOf: ({ id }) => id, removed: (id) => removeUser(world, id) }, faults, (entry, read) =>
    decideUser(entry, read, world),
  )

export const decideAccounts = (
  entries: OperatorDocument['accounts'],
  world: World,
  now: Instant,
  faults: Issue[],
): Changes<Account, AccountId> =>
  decideSection({ name: 'accounts', entries, keyOf: ({ id }) => id, removed: (id) => world.accounts.delete(id) }, faults, (entry, read) =>
    decideAccount(entry, read, world, now),
  )

const decideTenant = ({ id, name, providerToken }: TenantEntry, read: EntryReader, world: World): TenantChange | undefined => {
  const tenantName = read.required('name', name, world.tenants.get(id)?.name)
  if (tenantName === undefined) return undefined
  world.tenants.set(id, { id, name: tenantName })
  return { id, name: tenantName, providerToken }
}

const decideUser = (entry: UserEntry, read: EntryReader, world: World): User | undefined => {
  const stored = world.users.get(entry.id)
  const tenantId = read.fixed('tenantId', entry.tenantId, stored?.tenantId)
  const email = read.required('email', entry.email, stored?.email)
  const plan = read.optional(entry.plan, stored?.plan, 'free')
  if (tenantId === undefined || email === undefined) return undefined
  if (!world.tenants.has(tenantId)) return read.fault('tenantId', `there is no tenant ${tenantId}`)
  const user: User = { id: entry.id, tenantId, email, plan }
  world.users.set(user.id, user)
  return user
}

const decideAccount = (entry: AccountEntry, read: EntryReader, world: World, now: Instant): Account | undefined => {
  const stored = world.accounts.get(entry.id)
  const userId = read.fixed('userId', entry.userId, stored?.owner.userId)
  const name = read.required('name', entry.name, stored?.name)
  const brokerType = read.required('brokerType', entry.brokerType, stored?.brokerType)
  const accountNumber = read.required('accountNumber', entry.accountNumber, stored?.accountNumber)
  const server = read.required('server', entry.server, stored?.server)
  const purpose = read.required('purpose', entry.purpose, stored?.purpose)
  const currency = read.required('currency', entry.currency, stored?.currency)
  const owner = userId === undefined ? undefined : ownerOf(userId, read, world)
  if (name === undefined || brokerType === undefined || accountNumber === undefined || server === undefined) return undefined
  if (purpose === undefined || currency === undefined || owner === undefined) return undefined
  const provider = providerOf(entry, stored, read)
  // What a broker said of one account is not known of another: not how much it holds, and least of all that it is a demo account.
  const known = stored !== undefined && isSameLink(stored, { id: entry.id, brokerType, provider }) ? stored : undefined
  const account: Account = {
    id: entry.id,
    owner,
    name,
    broker: read.optional<string | null>(entry.broker, stored?.broker, null),
    brokerType,
    accountNumber,
    server,
    purpose,
    linkedAsDemo: read.optional(entry.isDemo, stored?.linkedAsDemo, false),
    tradeMode: known?.tradeMode ?? null,
    currency,
    figures: {
      balance: read.optional(entry.balance, stored?.figures.balance, 0),
      equity: read.optional(entry.equity, stored?.figures.equity, 0),
      margin: read.optional(entry.margin, stored?.figures.margin, 0),
      freeMargin: known?.figures.freeMargin ?? null,
      marginLevel: known?.figures.marginLevel ?? null,
      leverage: known?.figures.leverage ?? null,
    },
    status: read.optional(entry.status, stored?.status, 'connected'),
    provider,
    lastReadAt: known?.lastReadAt ?? null,
    // An account was linked at some moment: without one in the document, at that of its first apply.
    createdAt: entry.createdAt ?? stored?.createdAt ?? now,
    updatedAt: stored?.updatedAt ?? now,
  }
  world.accounts.set(account.id, account)
  // A document that says what is already so leaves no trace, whatever number of times it is applied.
  if (stored !== undefined && JSON.stringify(stored) === JSON.stringify(account)) return undefined
  return { ...account, updatedAt: now }
}

const ownerOf = (userId: UserId, read: EntryReader, world: World): Account['owner'] | undefined => {
  const user = world.users.get(userId)
  return user === undefined ? read.fault('userId', `there is no user ${userId}`) : { tenantId: user.tenantId, userId }
}

// Without a provider account the region means nothing.
const providerOf = (entry: AccountEntry, stored: Account | undefined, read: EntryReader): Account['provider'] => {
  const providerAccountId = read.optional<string | null>(entry.providerAccountId, stored?.provider?.providerAccountId, null)
  if (providerAccountId === null) return null
  return { providerAccountId, region: read.optional<string | null>(entry.region, stored?.provider?.region, null) }
}
