// What a cached value of an account is kept under: whose it is and where the provider knows it, so that a new link shows at once.
import type { AccountId, BrokerAccount } from '@tradeport/domain'

/** The account's id, a space, and the rest, which no two links share. */
export const accountKey = (account: BrokerAccount, ...more: readonly (string | number)[]): string => {
  const { accountId, owner, providerAccountId, region, platform } = account
  return `${accountId} ${JSON.stringify([owner.tenantId, owner.userId, providerAccountId, region, platform, ...more])}`
}

/** The account that a key belongs to, for dropping all of its values. */
export const accountOfKey = (key: string): string => key.slice(0, key.indexOf(' '))

export interface ForgetsAccounts {
  /** Drops what is kept of an account, after a change of it; reads that are under way are for those who already wait. */
  readonly forget: (accountId: AccountId) => void
}
