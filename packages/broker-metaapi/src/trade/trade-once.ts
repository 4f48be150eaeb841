// One trade of an account from its own host to what the answer says (decisions 23, 30): the same way for orders and for changes of positions.
import type { BrokerAccount, Instant } from '@tradeport/domain'
import { tradeUrl } from '../client.ts'
import type { Target } from '../client.ts'
import { bounded, read } from '../connection.ts'
import type { Connection } from '../connection.ts'
import { AccountInformation, decode } from '../payloads.ts'
import { verdictOf } from './trade-answer.ts'
import type { TradeVerdict } from './trade-answer.ts'
import type { SendTrade, TradeRequest } from './trade-sender.ts'

export interface SentTrade {
  readonly target: Target
  readonly sentAt: Instant
  readonly verdict: TradeVerdict
}

/** Sends a trade once. Rejects with a CallFailure, and only where nothing was sent. */
export type TradeOnce = (account: BrokerAccount, body: TradeRequest['body']) => Promise<SentTrade>

export const tradeOnceOver =
  ({ clock, deadlines, targetOf }: Connection, send: SendTrade): TradeOnce =>
  async (account, body) => {
    const target = await bounded('account-region', deadlines.readMs, () => targetOf(account))
    const url = tradeUrl(target)
    const sentAt = clock.now()
    const verdict = await send({ url, token: target.token, body }, deadlines.tradeMs)
      .then((delivery) => verdictOf(delivery, clock.now()))
      // Whatever goes wrong from here on, it may have been executed.
      .catch((): TradeVerdict => ({ kind: 'unknown' }))
    return { target, sentAt, verdict }
  }

/**
 * A 404 may mean the account or what the trade names; where the account can be read, it is not the account.
 * Rejects with a CallFailure where it cannot.
 */
export const requireReadableAccount = async ({ client, deadlines }: Connection, target: Target): Promise<void> => {
  await bounded('account-information', deadlines.accountInformationMs, async (signal) =>
    read('account-information', decode(AccountInformation)(await client.accountInformation(target, signal))),
  )
}
