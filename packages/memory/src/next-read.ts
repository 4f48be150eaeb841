// Reads of an account that have to begin after they are asked for, and of which many are asked for
// at once: twenty orders on a desk of 25 accounts would read 500 times.
import type { BrokerAccount } from '@tradeport/domain/accounts'

/** A read that hangs delays the next one by this much at most. */
const longestWaitMs = 1_000

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref())

/**
 * Begins a read at once where none of the account is in progress; otherwise when that one ends.
 * Whoever asks until then shares it.
 */
export const sharingNextRead = <A>(
  read: (account: BrokerAccount) => () => Promise<A>,
): typeof read => {
  const latest = new Map<string, Promise<A>>()
  const waiting = new Map<string, Promise<A>>()
  return (account) => () => {
    const { owner, accountId, providerAccountId } = account
    const key = [owner.tenantId, accountId, providerAccountId].join(' ')
    const begin = (): Promise<A> => {
      waiting.delete(key)
      const result = read(account)().finally(() => {
        if (latest.get(key) === result) latest.delete(key)
      })
      latest.set(key, result)
      return result
    }
    const inProgress = latest.get(key)
    if (inProgress === undefined) return begin()
    const next =
      waiting.get(key) ?? Promise.race([inProgress, pause(longestWaitMs)]).then(begin, begin)
    waiting.set(key, next)
    return next
  }
}
