// The structure of an operator's document, section by section. A section or a field that is not known is a fault, because a misspelt one
// that is passed over looks like one that was applied.
import { accountPurposes, accountStatuses, challengeStatuses, emptyDocument, plans } from '@tradeport/domain'
import type {
  AccessTokenEntry,
  AccountEntry,
  ApiKeyEntry,
  BalanceSnapshotEntry,
  ChallengeEntry,
  DeskEntry,
  OperatorDocument,
  TenantEntry,
  TraderLimitsEntry,
  UserEntry,
} from '@tradeport/domain'
import { closedObject, listOf, mapped, maybe, present, trueOrFalse } from '../requests/json-codecs.ts'
import type { FieldsOf, JsonCodec } from '../requests/json-codecs.ts'
import {
  accountId,
  allowlistEntry,
  apiKey,
  choice,
  count,
  emailAddress,
  id,
  instant,
  lots,
  money,
  name,
  scope,
  secret,
  setting,
  tenantId,
  tradedSymbol,
  userId,
} from './values.ts'

const removed = maybe(trueOrFalse)

const tenant = closedObject<TenantEntry>('Tenant', {
  id: present(tenantId),
  name: setting(name),
  providerToken: setting(secret),
  removed,
})

const user = closedObject<UserEntry>('User', {
  id: present(userId),
  tenantId: setting(tenantId),
  email: setting(emailAddress),
  plan: setting(choice(plans)),
  removed,
})

const account = closedObject<AccountEntry>('Account', {
  id: present(accountId),
  userId: setting(userId),
  name: setting(name),
  broker: setting(name),
  brokerType: setting(name),
  accountNumber: setting(name),
  server: setting(name),
  purpose: setting(choice(accountPurposes)),
  isDemo: setting(trueOrFalse),
  currency: setting(name),
  status: setting(choice(accountStatuses)),
  balance: setting(money),
  equity: setting(money),
  margin: setting(money),
  providerAccountId: setting(name),
  region: setting(name),
  createdAt: setting(instant),
  removed,
})

const key = closedObject<ApiKeyEntry>('ApiKey', {
  id: present(id),
  userId: setting(userId),
  name: setting(name),
  key: setting(apiKey),
  scopes: setting(listOf(scope)),
  ipAllowlist: setting(listOf(allowlistEntry)),
  expiresAt: setting(instant),
  enabled: setting(trueOrFalse),
  removed,
})

const accessToken = closedObject<AccessTokenEntry>('AccessToken', {
  id: present(id),
  userId: setting(userId),
  applicationId: setting(name),
  token: setting(secret),
  scopes: setting(listOf(scope)),
  expiresAt: setting(instant),
  enabled: setting(trueOrFalse),
  removed,
})

const deskLimits: FieldsOf<NonNullable<DeskEntry['limits']>> = {
  maxOpenLots: setting(lots),
  maxOpenPositions: setting(count),
  allowedSymbols: setting(listOf(tradedSymbol)),
}

const desk = closedObject<DeskEntry>('Desk', {
  id: present(id),
  tenantId: setting(tenantId),
  accounts: setting(listOf(accountId)),
  limits: setting(closedObject('DeskLimits', deskLimits)),
  removed,
})

const traderLimits = closedObject<TraderLimitsEntry>('TraderLimits', {
  accountId: present(accountId),
  limits: setting(
    closedObject<NonNullable<TraderLimitsEntry['limits']>>('Limits', {
      ...deskLimits,
      maxLotsPerOrder: setting(lots),
      approvalAboveLots: setting(lots),
    }),
  ),
  removed,
})

const challenge = closedObject<ChallengeEntry>('Challenge', {
  accountId: present(accountId),
  startedAt: present(instant),
  status: setting(choice(challengeStatuses)),
  removed,
})

const balanceSnapshot = closedObject<BalanceSnapshotEntry>('BalanceSnapshot', {
  accountId: present(accountId),
  timestamp: present(instant),
  balance: setting(money),
  equity: setting(money),
  margin: setting(money),
  freeMargin: setting(money),
  removed,
})

const sections = closedObject<Partial<OperatorDocument>>('Document', {
  tenants: maybe(listOf(tenant)),
  users: maybe(listOf(user)),
  accounts: maybe(listOf(account)),
  apiKeys: maybe(listOf(key)),
  accessTokens: maybe(listOf(accessToken)),
  desks: maybe(listOf(desk)),
  traderLimits: maybe(listOf(traderLimits)),
  challenges: maybe(listOf(challenge)),
  balanceSnapshots: maybe(listOf(balanceSnapshot)),
})

/** A whole document; sections that it leaves out are empty. */
export const operatorDocument: JsonCodec<OperatorDocument> = mapped(sections, (said) => ({ ...emptyDocument, ...said }))
