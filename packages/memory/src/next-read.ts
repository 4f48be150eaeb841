// Reads of an account for callers who each need one that begins after they asked. Many ask at once,
// as orders do whose limits need the positions of 25 accounts: they share the next read.
import type { BrokerAccount } from '@tradeport/domain/accounts'

/** A read that hangs delays the next one by this much at most. */
const longestWaitMs = 1_000

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref())

/**
 * Begins a read at once where none of the account is running. Otherwise one read for all who ask
 * meanwhile begins when the running one ends, or after `longestWaitMs`.
 */
export const coalesceReads = <A>(
  read: (account: BrokerAccount) => () => Promise<A>,
): typeof read => {
  const running = new Map<string, Promise<A>>()
  const nextReads = new Map<string, Promise<A>>()
  return (account) => () => {
    const { owner, accountId, providerAccountId } = account
    const key = [owner.tenantId, accountId, providerAccountId].join(' ')
    const begin = (): Promise<A> => {
      nextReads.delete(key)
      const result = read(account)().finally(() => {
        if (running.get(key) === result) running.delete(key)
      })
      running.set(key, result)
      return result
    }
    const shared = nextReads.get(key)
    if (shared !== undefined) return shared
    const before = running.get(key)
    if (before === undefined) return begin()
    const next = Promise.race([before, pause(longestWaitMs)]).then(begin, begin)
    nextReads.set(key, next)
    return next
  }
}
