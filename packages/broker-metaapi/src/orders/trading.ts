// The trading port over MetaApi's REST: an order goes out by one request, and everything else reads
// its outcome.
import { setTimeout as pause } from 'node:timers/promises'
import { roundLots } from '@tradeport/domain/primitives'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { Fill, LookupAnswer, PlacementAnswer } from '@tradeport/domain/orders'
import type { BrokerOrder, MaySend, SentOrder, Trading } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import type { Connection } from '../connection.ts'
import { withDeadline } from '../deadline.ts'
import { CallFailure, unavailable } from '../failures.ts'
import { AccountInformation, decode, isNumber, ProvisionedAccount } from '../payloads.ts'
import { requests } from '../requests.ts'
import type { Target } from '../requests.ts'
import type { SentTrade, TradeOnce } from '../trade/trade-once.ts'
import { areWhole, fillFindingOf, findingOf, ticketAs } from './order-evidence.ts'
import type { AccountTraits, Evidence, Finding, LookupContext, Sought } from './order-evidence.ts'
import { createRecordReader } from './order-records.ts'

/** How long to wait before the records are read again for what they did not tell yet. */
const rereadPauseMs = 250

export const tradingOver = (connection: Connection, tradeOnce: TradeOnce): Trading => {
  const { ask, clock, deadlines, skew, targetOf, provisioningOf } = connection
  const records = createRecordReader(connection)

  const placeOrder = async (
    account: BrokerAccount,
    order: BrokerOrder,
    maySend: MaySend,
  ): Promise<PlacementAnswer> => {
    if (order.volume === 0) return { kind: 'refused', reason: noLots }
    let sent: SentTrade
    try {
      sent = await tradeOnce(account, bodyOf(order), maySend)
    } catch (cause) {
      return notSent(cause)
    }
    const { target, sentAt, verdict } = sent
    switch (verdict.kind) {
      case 'done':
        return detailed(target, { order, sentAt, tickets: verdict.tickets }, 'filled')
      case 'done_in_part':
        return detailed(target, { order, sentAt, tickets: verdict.tickets }, 'partially_filled')
      case 'placed':
        return placedOrFilled(target, account, { order, sentAt, tickets: verdict.tickets })
      case 'refused':
      case 'gone':
        return { kind: 'refused', reason: verdict.reason }
      case 'not_found':
        return {
          kind: 'refused',
          reason: {
            code: 'SYMBOL_NOT_FOUND',
            message: verdict.words ?? 'The broker does not trade this symbol.',
          },
        }
      case 'limited':
        return { kind: 'not_sent', retryAfterMs: verdict.retryAfterMs }
      case 'not_sent':
        return { kind: 'not_sent', retryAfterMs: verdict.retryAfterMs, cause: verdict.cause }
      // A success where something is changed. Of an order that opens it says neither yes nor no.
      case 'no_changes':
      case 'unknown':
        return { kind: 'unknown' }
    }
  }

  const notSent = (cause: unknown): PlacementAnswer => {
    const fault = cause instanceof CallFailure ? cause.fault : undefined
    if (fault?._tag === 'RateLimited')
      return { kind: 'not_sent', retryAfterMs: Math.max(0, Math.ceil(fault.retryAt - clock.now())) }
    return {
      kind: 'not_sent',
      retryAfterMs: null,
      cause: fault?._tag === 'Unavailable' ? fault.cause : undefined,
    }
  }

  /**
   * Price, volume and position of an order that the broker took, as far as its records tell them in
   * time. What it said stays said.
   */
  const detailed = async (
    target: Target,
    sought: Sought,
    as: 'filled' | 'partially_filled',
  ): Promise<PlacementAnswer> => {
    let known: Fill = ticketAs(sought.tickets.positionId)
    let likely: number | undefined
    await inTime(deadlines.fillMs, async (signal) => {
      for (;;) {
        const [positions, deals] = await Promise.all([
          records.live('positions', target, false, signal),
          records.history('deals', target, sought.sentAt, signal),
        ])
        const { fill, certainty } = fillFindingOf(sought, as, { positions, deals })
        known = { ...known, ...ticketAs(fill.positionId) }
        if (certainty === 'certain' || (certainty === 'likely' && fill.volume === likely))
          return void (known = { ...known, ...fill })
        likely = fill.volume
        // What cannot be read now is hardly readable in a moment, and asking costs credits.
        if (!positions.isWhole && !deals.isWhole) return
        await pause(rereadPauseMs, undefined, { signal })
      }
    })
    return { kind: as, fill: known }
  }

  const placedOrFilled = async (
    target: Target,
    { platform }: BrokerAccount,
    sought: Sought,
  ): Promise<PlacementAnswer> => {
    const { answer } = await findIn(
      target,
      sought,
      { platform, othersTickets: new Set(), refresh: false },
      deadlines.fillMs,
    )
    return answer.kind === 'found' && answer.settlement.kind !== 'rejected'
      ? answer.settlement
      : { kind: 'placed', orderId: sought.tickets.orderId ?? null }
  }

  const findOrder = async (
    account: BrokerAccount,
    { order, sentAt, orderId, refresh, othersTickets }: SentOrder,
  ): Promise<LookupAnswer> => {
    const target = await targetOf(account)
    const tickets = orderId === null ? {} : { orderId }
    const terms = { platform: account.platform, othersTickets: new Set(othersTickets), refresh }
    return (
      await findIn(target, { order: inLots(order), sentAt, tickets }, terms, deadlines.lookupMs)
    ).answer
  }

  /** The best that was found when it was all there, or the time was over. */
  const findIn = async (
    target: Target,
    sought: Sought,
    { refresh, ...known }: LookupTerms,
    ms: number,
  ): Promise<Finding> => {
    let best: Finding = { answer: { kind: 'unreadable' }, isDetailed: false }
    let traits: AccountTraits | undefined
    const detailsUntil = performance.now() + deadlines.fillMs
    await inTime(ms, async (signal) => {
      for (;;) {
        const evidence = await readAll(target, sought.sentAt, refresh, signal)
        const context: LookupContext = {
          ...known,
          now: clock.now(),
          skewMs: skew.ms() ?? 0,
          traits: traits ?? {},
        }
        let finding = findingOf(sought, evidence, context)
        if (finding.answer.kind === 'unreadable' && areWhole(evidence)) {
          traits ??= await readTraits(target, signal)
          finding = findingOf(sought, evidence, { ...context, traits })
        }
        if (best.answer.kind !== 'found' || finding.answer.kind === 'found') best = finding
        if (best.isDetailed || performance.now() >= detailsUntil) return
        await pause(rereadPauseMs, undefined, { signal })
      }
    })
    return best
  }

  const readAll = async (
    target: Target,
    sentAt: Instant,
    refresh: boolean,
    signal: AbortSignal,
  ): Promise<Evidence> => {
    const [positions, orders, historyOrders, deals] = await Promise.all([
      records.live('positions', target, refresh, signal),
      records.live('orders', target, refresh, signal),
      records.history('historyOrders', target, sentAt, signal),
      records.history('deals', target, sentAt, signal),
    ])
    return { positions, orders, historyOrders, deals }
  }

  /**
   * What can tell a trade of ours from one that looks like it. Read only where there is one, since
   * each read costs credits.
   */
  const readTraits = async (target: Target, signal: AbortSignal): Promise<AccountTraits> => {
    const [provisioned, information] = await Promise.all([
      ask(
        provisioningOf(target),
        requests.provisionedAccount,
        decode(ProvisionedAccount),
        signal,
      ).catch(() => undefined),
      ask(target, requests.accountInformation, decode(AccountInformation), signal).catch(
        () => undefined,
      ),
    ])
    return {
      magic: isNumber(provisioned?.magic) ? provisioned.magic : undefined,
      isHedging: information && information.marginMode === 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
    }
  }

  return {
    placeOrder: (account, order, maySend) => () =>
      placeOrder(account, inLots(order), maySend).catch((): PlacementAnswer => ({
        kind: 'unknown',
      })),
    findOrder: (account, sent) => () =>
      findOrder(account, sent).catch((): LookupAnswer => ({ kind: 'unreadable' })),
  }
}

/** How the broker's records are read, and what is known beside them. */
type LookupTerms = Pick<LookupContext, 'platform' | 'othersTickets'> & Pick<SentOrder, 'refresh'>

const noLots = { code: 'INVALID_VOLUME', message: 'The volume must be at least 0.00000001 lots.' }

const inLots = (order: BrokerOrder): BrokerOrder => ({ ...order, volume: roundLots(order.volume) })

/**
 * The caller's comment and reference stay ours; so does the price, which a market order does not
 * take.
 */
const bodyOf = ({ side, symbol, volume, stopLoss, takeProfit, clientId }: BrokerOrder) => ({
  actionType: side === 'buy' ? 'ORDER_TYPE_BUY' : 'ORDER_TYPE_SELL',
  symbol,
  volume,
  stopLoss,
  takeProfit,
  clientId,
})

/** Does what can be done in time; neither its end nor its failure is an error. */
const inTime = async (ms: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  try {
    await withDeadline(ms, () => unavailable(`not read within ${ms} ms`), work)
  } catch {
    // What was found until then is what there is.
  }
}
