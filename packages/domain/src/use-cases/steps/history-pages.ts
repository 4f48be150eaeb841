// The pages of an account's history at the broker, fetched while those before them are written.
import * as E from 'fp-ts/lib/Either.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import { refuse, type AsyncResult, type BrokerReadTag, type Refusal } from '../../errors.ts'
import type { DealsPage, DealsWindow } from '../../journal/broker-deal.ts'
import type { Broker } from '../../ports/index.ts'

export type ReadFailure = Refusal<BrokerReadTag | 'ServiceUnavailable'>

/** Thrown where a read fails or has to stop. */
export class ReadFailed extends Error {
  readonly failure: ReadFailure

  constructor(failure: ReadFailure) {
    super(failure._tag)
    this.failure = failure
  }
}

export const orThrow = async <A>(work: AsyncResult<A, BrokerReadTag>): Promise<A> => {
  const done = await work()
  if (E.isLeft(done)) throw new ReadFailed(done.left)
  return done.right
}

/** How many pages may be fetched while those before them are being written. */
const maxPagesAhead = 4
/**
 * After more consecutive pages than this without a new deal, the provider is repeating itself.
 */
const maxRepeatedPages = 3

/**
 * Yields the pages of a window. Pages that arrive while earlier ones are being written are joined,
 * so that one transaction writes them.
 * @param mayContinue called after each page but the last; if it returns false, the read fails
 * @throws ReadFailed
 */
export async function* historyPages(
  broker: Pick<Broker, 'dealsPage'>,
  account: BrokerAccount,
  window: DealsWindow,
  mayContinue: () => boolean,
): AsyncGenerator<DealsPage> {
  const fetched: DealsPage[] = []
  let isOver = false
  let fetching: Promise<void> | undefined
  const fetchPage = async (offset: number) => {
    const page = await orThrow(broker.dealsPage(account, { ...window, offset }))
    fetched.push(page)
    fetching = undefined
    if (page.nextOffset !== null && fetched.length < maxPagesAhead && !isOver)
      fetchFrom(page.nextOffset)
  }
  const fetchFrom = (offset: number) => {
    fetching = fetchPage(offset)
    // A failure is thrown below, where this is awaited once the pages before it are written.
    fetching.catch(() => undefined)
  }
  fetchFrom(window.offset)
  let nextOffset: number | null
  try {
    do {
      if (fetched.length === 0) await fetching
      const pages = fetched.splice(0)
      nextOffset = pages.at(-1)?.nextOffset ?? null
      if (fetching === undefined && nextOffset !== null) fetchFrom(nextOffset)
      yield { deals: pages.flatMap(({ deals }) => deals), nextOffset }
      if (nextOffset !== null && !mayContinue())
        throw new ReadFailed(refuse('ServiceUnavailable', { reason: 'the service is stopping' }))
    } while (nextOffset !== null)
  } finally {
    isOver = true
  }
}

/**
 * Returns a check to call after each page, with whether the page had a deal that no earlier page
 * had. The check throws ReadFailed when the provider repeats itself.
 */
export const createRepeatCheck = ({ accountId }: BrokerAccount) => {
  let repeatedPages = 0
  return (hasNewDeals: boolean): void => {
    repeatedPages = hasNewDeals ? 0 : repeatedPages + 1
    if (repeatedPages <= maxRepeatedPages) return
    const reason = 'the provider gives the same deals again and again'
    throw new ReadFailed(refuse('BrokerUnavailable', { accountId, reason }))
  }
}
