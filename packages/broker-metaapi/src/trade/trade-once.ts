// One trade of an account, from finding its host to what the answer means: the same way for orders and for changes of positions.
import type { BrokerAccount, Instant, MaySend } from '@tradeport/domain'
import type { Attempt } from '../account-pauses.ts'
import { tradeUrl } from '../client.ts'
import { bounded, read } from '../connection.ts'
import type { Connection } from '../connection.ts'
import { limitedMsOf } from '../failures.ts'
import { AccountInformation, decode } from '../payloads.ts'
import type { Target } from '../transport.ts'
import { verdictOf } from './trade-answer.ts'
import type { Delivery, TradeVerdict } from './trade-answer.ts'
import type { SendTrade, TradeRequest } from './trade-sender.ts'

export interface SentTrade {
  readonly target: Target
  readonly sentAt: Instant
  readonly verdict: TradeVerdict
}

/** Sends a trade at most once. Rejects with a CallFailure, and only where nothing was sent. */
export type TradeOnce = (account: BrokerAccount, body: TradeRequest['body'], maySend: MaySend) => Promise<SentTrade>

export const tradeOnceOver = (
  { clock, deadlines, gate, readPauses, tradePauses, skew, targetOf }: Connection,
  send: SendTrade,
): TradeOnce => {
  const learnFrom = (delivery: Delivery, target: Target, sentAt: Instant, account: Attempt<null>): void => {
    if (delivery.kind === 'unanswered' && delivery.isLate) account.failed(null)
    if (delivery.kind !== 'answered') return
    const now = clock.now()
    account.succeeded()
    skew.observe(delivery.date, sentAt, now)
    if (delivery.status === 200) {
      gate.answered(target)
      readPauses.end(target.account)
    }
    if (delivery.status === 429) gate.limit(target.token, limitedMsOf(delivery, now))
  }

  return async (account, body, maySend) => {
    const target = await bounded('account-region', deadlines.readMs, () => targetOf(account))
    const url = tradeUrl(target)
    const admission = tradePauses.begin(target.account)
    // Behind a trade that hangs another would hang as well, and its outcome would be unknown.
    if (admission.kind === 'paused') return { target, sentAt: clock.now(), verdict: leftAlone(admission.leftMs) }
    const { attempt } = admission
    try {
      await gate.enter(target, 'trade', AbortSignal.timeout(deadlines.readMs))
      const sentAt = clock.now()
      const delivery = await send({ url, token: target.token, body }, deadlines, maySend)
        // Whatever goes wrong from here on, it may have been executed.
        .catch((): Delivery => ({ kind: 'unanswered', isLate: false }))
      learnFrom(delivery, target, sentAt, attempt)
      return { target, sentAt, verdict: verdictOf(delivery, clock.now()) }
    } finally {
      attempt.over()
    }
  }
}

const leftAlone = (leftMs: number): TradeVerdict => ({
  kind: 'not_sent',
  retryAfterMs: leftMs > 0 ? Math.ceil(leftMs) : null,
  why: 'nothing was sent, because the last trade of the account was not answered in time',
})

/**
 * A 404 may mean the account or what the trade names; where the account can be read, it is not the account.
 * Rejects with a CallFailure where it cannot.
 */
export const requireReadableAccount = async ({ client, deadlines }: Connection, target: Target): Promise<void> => {
  await bounded('account-information', deadlines.accountInformationMs, async (signal) =>
    read('account-information', decode(AccountInformation)(await client.accountInformation(target, signal))),
  )
}
