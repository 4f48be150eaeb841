// The operator's records as the operator sees them, by the names of the document that makes them. None holds a secret.
import { isDemo, toIso, toIsoOrNull } from '@tradeport/domain'
import type {
  Desk,
  ListedAccessToken,
  ListedAccount,
  ListedApiKey,
  ListedTenant,
  OperatorOrder,
  OperatorPlan,
  Placement,
  PlannedChange,
  TenantView,
  TouchedOrder,
  User,
} from '@tradeport/domain'
import { presentOrder } from '../presenters/order.ts'

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

/** The order as its user sees it, with where it went, how far it is and who ended it. */
export const presentOperatorOrder = ({ order, placement, destination, dueAt, finish }: OperatorOrder): object => ({
  ...presentOrder(order),
  tenantId: order.owner.tenantId,
  destination: {
    providerAccountId: destination.providerAccountId,
    region: destination.region,
    platform: destination.platform,
  },
  step: placement.step,
  sentAt: 'sentAt' in placement ? toIso(placement.sentAt) : null,
  lookups: lookupsOf(placement),
  brokerOrderId: 'orderId' in placement ? placement.orderId : null,
  dueAt: toIsoOrNull(dueAt),
  finished: finish === null ? null : { at: toIso(order.updatedAt), ...finish },
})

const lookupsOf = (placement: Placement): number | null => {
  if (placement.step === 'looking_up') return placement.lookups
  return placement.step === 'rechecking' ? placement.rechecks : null
}

export const presentPlan = ({ plan, orders }: OperatorPlan): object => ({
  changes: plan.map(presentPlannedChange),
  ordersUnderWay: orders.map(presentTouchedOrder),
})

const presentTouchedOrder = ({ order: { order, placement }, effects }: TouchedOrder): object => ({
  id: order.id,
  accountId: order.request.accountId,
  step: placement.step,
  effects,
})

const presentPlannedChange = ({ section, id, action, fields }: PlannedChange): object => ({ section, id, action, fields })
