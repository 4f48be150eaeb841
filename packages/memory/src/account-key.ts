// What a cached value of an account is kept under: whose it is and where the provider knows it, so
// that a new link shows at once.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { AccountId } from '@tradeport/domain/primitives'

/** The account's id, a space, and the rest, which no two links share. */
export const accountKey = (
  account: BrokerAccount,
  ...more: readonly (string | number)[]
): string => {
  const { accountId, owner, providerAccountId, region, platform } = account
  let key = `${accountId} ${platform}${delimited(owner.tenantId)}${delimited(owner.userId)}${delimited(providerAccountId)}${delimited(region)}`
  for (const one of more) key += delimited(one)
  return key
}

// A text goes with its length, so that no two sequences of parts are written alike.
const delimited = (part: string | number | null): string =>
  typeof part === 'string' ? ` ${part.length}:${part}` : ` ${part}`

/** The account that a key belongs to, for dropping all of its values. */
export const accountOfKey = (key: string): string => key.slice(0, key.indexOf(' '))

export interface ForgetsAccounts {
  /**
   * Drops what is kept of an account, after a change of it; reads that are under way are for those
   * who already wait.
   */
  readonly forget: (accountId: AccountId) => void
}
