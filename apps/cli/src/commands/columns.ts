// How records look as rows of a table.
import type {
  AccessToken,
  Account,
  ApiKey,
  Credential,
  Desk,
  DeskLimits,
  OrderUnderWay,
  PlannedChange,
  Tenant,
  TraderLimits,
  User,
} from '../records.ts'
import type { Column } from '../table.ts'
import { tradeText } from './orders.ts'

export const tenantColumns: readonly Column<Tenant>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'PROVIDER TOKEN', of: ({ hasProviderToken }) => (hasProviderToken ? 'set' : 'not set') },
]

export const userColumns: readonly Column<User>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'TENANT', of: ({ tenantId }) => tenantId },
  { title: 'EMAIL', of: ({ email }) => email },
  { title: 'PLAN', of: ({ plan }) => plan },
]

export const accountColumns: readonly Column<Account>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'USER', of: ({ userId }) => userId },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'PLATFORM', of: ({ brokerType }) => brokerType },
  { title: 'LOGIN', of: ({ accountNumber, server }) => `${accountNumber} @ ${server}` },
  { title: 'PURPOSE', of: ({ purpose, isDemo }) => `${purpose}, ${isDemo ? 'demo' : 'not demo'}` },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'LAST READ', of: ({ lastReadAt }) => lastReadAt ?? 'never' },
]

const standing = ({ enabled, expiresAt }: Credential, now: number): string => {
  if (!enabled) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'good'
}

const credentialColumns = (now: number): readonly Column<Credential>[] => [
  { title: 'STATE', of: (credential) => standing(credential, now) },
  { title: 'EXPIRES', of: ({ expiresAt }) => expiresAt ?? 'never' },
  { title: 'SCOPES', of: ({ scopes }) => scopes.join(' ') || 'none' },
]

export const keyColumns = (now: number): readonly Column<ApiKey>[] => [
  { title: 'ID', of: ({ id }) => id },
  { title: 'USER', of: ({ userId }) => userId },
  { title: 'NAME', of: ({ name }) => name },
  ...credentialColumns(now),
  { title: 'ALLOWED FROM', of: ({ ipAllowlist }) => ipAllowlist.join(' ') || 'everywhere' },
]

export const tokenColumns = (now: number): readonly Column<AccessToken>[] => [
  { title: 'ID', of: ({ id }) => id },
  { title: 'USER', of: ({ userId }) => userId },
  { title: 'APPLICATION', of: ({ applicationId }) => applicationId },
  ...credentialColumns(now),
]

const limitText = (limit: number | null): string => (limit === null ? '-' : String(limit))

const sharedLimitColumns: readonly Column<{ readonly limits: DeskLimits }>[] = [
  { title: 'OPEN LOTS', of: ({ limits }) => limitText(limits.maxOpenLots) },
  { title: 'OPEN POSITIONS', of: ({ limits }) => limitText(limits.maxOpenPositions) },
  { title: 'SYMBOLS', of: ({ limits: { allowedSymbols } }) => (allowedSymbols === null ? 'all' : allowedSymbols.join(' ') || 'none') },
]

export const deskColumns: readonly Column<Desk>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'TENANT', of: ({ tenantId }) => tenantId },
  ...sharedLimitColumns,
  { title: 'ACCOUNTS', of: ({ accounts }) => accounts.join(' ') || 'none' },
]

export const limitColumns: readonly Column<{ readonly id: string; readonly limits: TraderLimits }>[] = [
  { title: 'ACCOUNT', of: ({ id }) => id },
  { title: 'LOTS PER ORDER', of: ({ limits }) => limitText(limits.maxLotsPerOrder) },
  ...sharedLimitColumns,
  { title: 'APPROVAL ABOVE', of: ({ limits }) => limitText(limits.approvalAboveLots) },
]

export const challengeColumns: readonly Column<{ readonly id: string; readonly startedAt: string; readonly status: string }>[] = [
  { title: 'ACCOUNT', of: ({ id }) => id },
  { title: 'STARTED', of: ({ startedAt }) => startedAt },
  { title: 'STATUS', of: ({ status }) => status },
]

export const orderColumns: readonly Column<OrderUnderWay>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'TENANT', of: ({ tenantId }) => tenantId },
  { title: 'USER', of: ({ userId }) => userId },
  { title: 'ACCOUNT', of: ({ accountId }) => accountId },
  { title: 'DESTINATION', of: ({ destination }) => destination.providerAccountId },
  { title: 'TRADE', of: tradeText },
  { title: 'CREATED', of: ({ createdAt }) => createdAt },
  { title: 'STEP', of: ({ step }) => step },
  { title: 'SENT', of: ({ sentAt }) => sentAt ?? 'no' },
  { title: 'LOOKUPS', of: ({ lookups }) => String(lookups ?? 0) },
  { title: 'BROKER ORDER', of: ({ brokerOrderId }) => brokerOrderId ?? 'unknown' },
  { title: 'NEXT STEP', of: ({ dueAt }) => dueAt ?? 'none' },
]

const valueText = (value: unknown): string => {
  if (value === null) return 'unset'
  if (Array.isArray(value)) return value.join(' ') || 'empty'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const fieldText = ({ field, from, to }: PlannedChange['fields'][number]): string => {
  if (to === undefined) return `${field} (a secret)`
  return from === undefined ? `${field} ${valueText(to)}` : `${field} ${valueText(from)} -> ${valueText(to)}`
}

/** `change apiKeys k-1: enabled true -> false`; of a new record what it has, not what it has not. */
export const changeText = ({ section, id, action, fields }: PlannedChange): string => {
  const told = fields.filter(({ to }) => action !== 'create' || to !== null).map(fieldText)
  return `${action} ${section} ${id}${told.length === 0 ? '' : `: ${told.join(', ')}`}`
}
