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
import type { Columns } from '../table.ts'
import { tradeText } from './orders.ts'

export const tenantColumns: Columns<Tenant> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => name,
  'PROVIDER TOKEN': ({ hasProviderToken }) => (hasProviderToken ? 'set' : 'not set'),
}

export const userColumns: Columns<User> = {
  ID: ({ id }) => id,
  TENANT: ({ tenantId }) => tenantId,
  EMAIL: ({ email }) => email,
  PLAN: ({ plan }) => plan,
}

export const accountColumns: Columns<Account> = {
  ID: ({ id }) => id,
  USER: ({ userId }) => userId,
  NAME: ({ name }) => name,
  PLATFORM: ({ brokerType }) => brokerType,
  LOGIN: ({ accountNumber, server }) => `${accountNumber} @ ${server}`,
  PURPOSE: ({ purpose, isDemo }) => `${purpose}, ${isDemo ? 'demo' : 'not demo'}`,
  STATUS: ({ status }) => status,
  'LAST READ': ({ lastReadAt }) => lastReadAt ?? 'never',
}

const standing = ({ enabled, expiresAt }: Credential): string => {
  if (!enabled) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'good'
}

const credentialColumns: Columns<Credential> = {
  STATE: standing,
  EXPIRES: ({ expiresAt }) => expiresAt ?? 'never',
  SCOPES: ({ scopes }) => scopes.join(' ') || 'none',
}

export const keyColumns: Columns<ApiKey> = {
  ID: ({ id }) => id,
  USER: ({ userId }) => userId,
  NAME: ({ name }) => name,
  ...credentialColumns,
  'ALLOWED FROM': ({ ipAllowlist }) => ipAllowlist.join(' ') || 'everywhere',
}

export const tokenColumns: Columns<AccessToken> = {
  ID: ({ id }) => id,
  USER: ({ userId }) => userId,
  APPLICATION: ({ applicationId }) => applicationId,
  ...credentialColumns,
}

const limitText = (limit: number | null): string => (limit === null ? '-' : String(limit))

const sharedLimitColumns: Columns<{ readonly limits: DeskLimits }> = {
  'OPEN LOTS': ({ limits }) => limitText(limits.maxOpenLots),
  'OPEN POSITIONS': ({ limits }) => limitText(limits.maxOpenPositions),
  SYMBOLS: ({ limits: { allowedSymbols } }) =>
    allowedSymbols === null ? 'all' : allowedSymbols.join(' ') || 'none',
}

export const deskColumns: Columns<Desk> = {
  ID: ({ id }) => id,
  TENANT: ({ tenantId }) => tenantId,
  ...sharedLimitColumns,
  ACCOUNTS: ({ accounts }) => accounts.join(' ') || 'none',
}

export const limitColumns: Columns<{ readonly id: string; readonly limits: TraderLimits }> = {
  ACCOUNT: ({ id }) => id,
  'LOTS PER ORDER': ({ limits }) => limitText(limits.maxLotsPerOrder),
  ...sharedLimitColumns,
  'APPROVAL ABOVE': ({ limits }) => limitText(limits.approvalAboveLots),
}

export const challengeColumns: Columns<{
  readonly id: string
  readonly startedAt: string
  readonly status: string
}> = {
  ACCOUNT: ({ id }) => id,
  STARTED: ({ startedAt }) => startedAt,
  STATUS: ({ status }) => status,
}

export const orderColumns: Columns<OrderUnderWay> = {
  ID: ({ id }) => id,
  TENANT: ({ tenantId }) => tenantId,
  USER: ({ userId }) => userId,
  ACCOUNT: ({ accountId }) => accountId,
  DESTINATION: ({ destination }) => destination.providerAccountId,
  TRADE: tradeText,
  CREATED: ({ createdAt }) => createdAt,
  STEP: ({ step }) => step,
  SENT: ({ sentAt }) => sentAt ?? 'no',
  LOOKUPS: ({ lookups }) => String(lookups ?? 0),
  'BROKER ORDER': ({ brokerOrderId }) => brokerOrderId ?? 'unknown',
  'NEXT STEP': ({ dueAt }) => dueAt ?? 'none',
}

const valueText = (value: unknown): string => {
  if (value === null) return 'unset'
  if (Array.isArray(value)) return value.join(' ') || 'empty'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const fieldText = ({ field, from, to }: PlannedChange['fields'][number]): string => {
  if (to === undefined) return `${field} (a secret)`
  return from === undefined
    ? `${field} ${valueText(to)}`
    : `${field} ${valueText(from)} -> ${valueText(to)}`
}

/**
 * `change apiKeys k-1: enabled true -> false`; of a new record what it has, not what it has not.
 */
export const changeText = ({ section, id, action, fields }: PlannedChange): string => {
  const told = fields.filter(({ to }) => action !== 'create' || to !== null).map(fieldText)
  return `${action} ${section} ${id}${told.length === 0 ? '' : `: ${told.join(', ')}`}`
}
