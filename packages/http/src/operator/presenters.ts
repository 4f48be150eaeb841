// The operator's records as the operator sees them, by the names of the document that makes them. None holds a secret.
import { isDemo, toIso, toIsoOrNull } from '@tradeport/domain'
import type { Desk, ListedAccessToken, ListedAccount, ListedApiKey, ListedTenant, PlannedChange, TenantView, User } from '@tradeport/domain'

export const presentTenant = ({ id, name, hasProviderToken }: ListedTenant): object => ({ id, name, hasProviderToken })

export const presentTenantView = ({ tenant, counts }: TenantView): object => ({ ...presentTenant(tenant), counts: { ...counts } })

export const presentUser = ({ id, tenantId, email, plan }: User): object => ({ id, tenantId, email, plan })

export const presentListedAccount = ({ account, limits, challenges }: ListedAccount): object => ({
  id: account.id,
  tenantId: account.owner.tenantId,
  userId: account.owner.userId,
  name: account.name,
  broker: account.broker,
  brokerType: account.brokerType,
  accountNumber: account.accountNumber,
  server: account.server,
  purpose: account.purpose,
  isDemo: isDemo(account),
  currency: account.currency,
  balance: account.figures.balance,
  equity: account.figures.equity,
  margin: account.figures.margin,
  status: account.status,
  providerAccountId: account.provider?.providerAccountId ?? null,
  region: account.provider?.region ?? null,
  lastReadAt: toIsoOrNull(account.lastReadAt),
  createdAt: toIso(account.createdAt),
  updatedAt: toIso(account.updatedAt),
  limits,
  challenges: challenges.map(({ startedAt, status }) => ({ startedAt: toIso(startedAt), status })),
})

export const presentApiKey = ({ id, userId, name, scopes, ipAllowlist, expiresAt, enabled }: ListedApiKey): object => ({
  id,
  userId,
  name,
  scopes,
  ipAllowlist,
  expiresAt: toIsoOrNull(expiresAt),
  enabled,
})

export const presentAccessToken = ({ id, userId, applicationId, scopes, expiresAt, enabled }: ListedAccessToken): object => ({
  id,
  userId,
  applicationId,
  scopes,
  expiresAt: toIsoOrNull(expiresAt),
  enabled,
})

export const presentDesk = ({ id, tenantId, accounts, limits }: Desk): object => ({ id, tenantId, accounts, limits })

export const presentPlannedChange = ({ section, id, action, fields }: PlannedChange): object => ({ section, id, action, fields })
