// The trading port over MetaApi's REST (decision 23): an order goes out by one request, and everything else is reading what became of it.
import { roundLots } from '@tradeport/domain'
import type { BrokerAccount, BrokerOrder, Fill, Instant, LookupAnswer, PlacementAnswer, SentOrder, Trading } from '@tradeport/domain'
import type { Target } from '../client.ts'
import { bounded } from '../connection.ts'
import type { Connection } from '../connection.ts'
import { wait } from '../deadline.ts'
import { CallFailure } from '../failures.ts'
import { requireReadableAccount } from '../trade/trade-once.ts'
import type { TradeVerdict } from '../trade/trade-answer.ts'
import type { SentTrade, TradeOnce } from '../trade/trade-once.ts'
import { fillFindingOf, findingOf, ticketAs } from './order-evidence.ts'
import type { Finding, Sought } from './order-evidence.ts'
import { createRecordReader } from './record-reader.ts'

type Taken = Extract<TradeVerdict, { kind: 'taken' }>
type NotSent = Extract<PlacementAnswer, { kind: 'not_sent' }>

/** How long to wait before the records are read again for what they did not tell yet. */
const rereadPauseMs = 250

export const tradingOver = (connection: Connection, tradeOnce: TradeOnce): Trading => {
  const { clock, deadlines, targetOf } = connection
  const records = createRecordReader(connection)

  const placeOrder = async (account: BrokerAccount, order: BrokerOrder): Promise<PlacementAnswer> => {
    let sent: SentTrade
    try {
      sent = await tradeOnce(account, bodyOf(order))
    } catch (cause) {
      return notSent(cause, clock.now())
    }
    const { target, sentAt, verdict } = sent
    switch (verdict.kind) {
      case 'taken':
        return whatIsTaken(target, { order, sentAt, tickets: verdict.tickets }, verdict.as)
      case 'refused':
      case 'gone':
        return { kind: 'refused', reason: verdict.reason }
      case 'not_found':
        return whatIsNotFound(target, verdict.words)
      case 'limited':
      case 'not_sent':
        return { kind: 'not_sent', retryAfterMs: verdict.retryAfterMs }
      case 'unknown':
        return verdict
    }
  }

  const whatIsTaken = async (target: Target, sought: Sought, as: Taken['as']): Promise<PlacementAnswer> => {
    switch (as) {
      case 'done':
        return detailed(target, sought, 'filled')
      case 'done_in_part':
        return detailed(target, sought, 'partially_filled')
      case 'placed':
        return placedOrFilled(target, sought)
      // A success where something is changed. Of an order that opens it says neither yes nor no.
      case 'no_changes':
        return { kind: 'unknown' }
    }
  }

  /** A 404 may mean the account or the symbol: where the account can be read, it is the symbol. */
  const whatIsNotFound = async (target: Target, words: string | undefined): Promise<PlacementAnswer> => {
    try {
      await requireReadableAccount(connection, target)
      return { kind: 'refused', reason: { code: 'SYMBOL_NOT_FOUND', message: words ?? 'The broker does not trade this symbol.' } }
    } catch (cause) {
      return notSent(cause, clock.now())
    }
  }

  /** Price, volume and position of an order that the broker took, as far as its records tell them in time. What it said stays said. */
  const detailed = async (target: Target, sought: Sought, as: 'filled' | 'partially_filled'): Promise<PlacementAnswer> => {
    let known: Fill = ticketAs(sought.tickets.positionId)
    let likely: number | undefined
    await inTime(deadlines.fillMs, async (signal) => {
      for (;;) {
        const [positions, deals] = await Promise.all([records.positions(target, signal), records.deals(target, sought.sentAt, signal)])
        const { fill, certainty } = fillFindingOf(sought, as, { positions, deals })
        known = { ...known, ...ticketAs(fill.positionId) }
        if (certainty === 'certain' || (certainty === 'likely' && fill.volume === likely)) return void (known = { ...known, ...fill })
        likely = fill.volume
        // What cannot be read now is hardly readable in a moment, and asking costs credits.
        if (!positions.isWhole && !deals.isWhole) return
        await wait(rereadPauseMs, signal)
      }
    })
    return { kind: as, fill: known }
  }

  const placedOrFilled = async (target: Target, sought: Sought): Promise<PlacementAnswer> => {
    const { answer } = await findIn(target, sought, deadlines.fillMs)
    return answer.kind === 'found' && answer.settlement.kind !== 'rejected'
      ? answer.settlement
      : { kind: 'placed', orderId: sought.tickets.orderId ?? null }
  }

  const findOrder = async (account: BrokerAccount, { order, sentAt, orderId }: SentOrder): Promise<LookupAnswer> => {
    const target = await bounded('account-region', deadlines.readMs, () => targetOf(account))
    const tickets = orderId === null ? {} : { orderId }
    return (await findIn(target, { order: inLots(order), sentAt, tickets }, deadlines.lookupMs)).answer
  }

  /** The best that was found when it was all there, or the time was over. */
  const findIn = async (target: Target, sought: Sought, ms: number): Promise<Finding> => {
    let best: Finding = { answer: { kind: 'unreadable' }, isDetailed: false }
    const detailsUntil = performance.now() + deadlines.fillMs
    await inTime(ms, async (signal) => {
      for (;;) {
        const evidence = await records.all(target, sought.sentAt, signal)
        const finding = findingOf(sought, evidence, clock.now())
        if (best.answer.kind !== 'found' || finding.answer.kind === 'found') best = finding
        if (best.isDetailed || performance.now() >= detailsUntil) return
        await wait(rereadPauseMs, signal)
      }
    })
    return best
  }

  return {
    placeOrder: (account, order) => () => placeOrder(account, inLots(order)).catch((): PlacementAnswer => ({ kind: 'unknown' })),
    findOrder: (account, sent) => () => findOrder(account, sent).catch((): LookupAnswer => ({ kind: 'unreadable' })),
  }
}

const inLots = (order: BrokerOrder): BrokerOrder => ({ ...order, volume: roundLots(order.volume) })

/** The caller's comment and reference stay ours; so does the price, which a market order does not take. */
const bodyOf = ({ side, symbol, volume, stopLoss, takeProfit, clientId }: BrokerOrder) => ({
  actionType: side === 'buy' ? 'ORDER_TYPE_BUY' : 'ORDER_TYPE_SELL',
  symbol,
  volume,
  ...(stopLoss !== undefined && { stopLoss }),
  ...(takeProfit !== undefined && { takeProfit }),
  clientId,
})

const notSent = (cause: unknown, now: Instant): NotSent => {
  const isLimited = cause instanceof CallFailure && cause.fault._tag === 'RateLimited'
  return { kind: 'not_sent', retryAfterMs: isLimited ? Math.max(0, Math.ceil(cause.fault.retryAt - now)) : null }
}

/** Does what can be done in time; neither its end nor its failure is an error. */
const inTime = async (ms: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  try {
    await bounded('positions', ms, work)
  } catch {
    // What was found until then is what there is.
  }
}
