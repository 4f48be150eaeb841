// One trade of an account, from finding its host to what the answer means: the same way for orders
// and for changes of positions.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { MaySend } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import type { Connection } from '../connection.ts'
import { limitedMsOf } from '../failures.ts'
import { AccountInformation, decode } from '../payloads.ts'
import { requests, urlOf } from '../requests.ts'
import type { Target } from '../requests.ts'
import { verdictOf } from './trade-answer.ts'
import type { Delivery, TradeVerdict } from './trade-answer.ts'
import { sendTrade } from './trade-sender.ts'
import type { TradeRequest } from './trade-sender.ts'

export interface SentTrade {
  readonly target: Target
  readonly sentAt: Instant
  readonly verdict: TradeVerdict
}

/** Sends a trade at most once. Rejects only where it was certainly not executed. */
export type TradeOnce = (
  account: BrokerAccount,
  body: TradeRequest['body'],
  maySend: MaySend,
) => Promise<SentTrade>

export const createTradeOnce = ({
  ask,
  clock,
  deadlines,
  gate,
  readPauses,
  tradePauses,
  skew,
  targetOf,
}: Connection): TradeOnce => {
  const send = async (
    target: Target,
    body: TradeRequest['body'],
    maySend: MaySend,
  ): Promise<SentTrade> => {
    const url = urlOf(target, '/trade')
    const admission = tradePauses.begin(target.account)
    // Behind a trade that hangs another would hang as well, and its outcome would be unknown.
    if (admission.kind === 'paused')
      return { target, sentAt: clock.now(), verdict: leftAlone(admission.leftMs) }
    const { attempt } = admission
    try {
      await gate.enter(target, 'trade', AbortSignal.timeout(deadlines.readMs))
      const sentAt = clock.now()
      const delivery = await sendTrade({ url, token: target.token, body }, deadlines, maySend)
        // Whatever goes wrong from here on, it may have been executed.
        .catch((): Delivery => ({ kind: 'unanswered', isLate: false }))
      const now = clock.now()
      if (delivery.kind === 'unanswered' && delivery.isLate) attempt.failed(null)
      if (delivery.kind === 'answered') {
        attempt.succeeded()
        skew.observe(delivery.date, sentAt, now)
        if (delivery.status === 200) {
          gate.answered(target)
          readPauses.end(target.account)
        }
        if (delivery.status === 429) gate.limit(target.token, limitedMsOf(delivery, now))
      }
      return { target, sentAt, verdict: verdictOf(delivery, now) }
    } finally {
      attempt.over()
    }
  }

  return async (account, body, maySend) => {
    const sent = await send(await targetOf(account), body, maySend)
    // A 404 may mean the account or what the trade names; where the account can be read, it is not
    // the account.
    if (sent.verdict.kind === 'not_found')
      await ask(sent.target, requests.accountInformation, decode(AccountInformation))
    return sent
  }
}

const leftAlone = (leftMs: number): TradeVerdict => ({
  kind: 'not_sent',
  retryAfterMs: leftMs > 0 ? Math.ceil(leftMs) : null,
  why: 'nothing was sent, because the last trade of the account was not answered in time',
})
