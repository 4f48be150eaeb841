// The trading port over MetaApi's REST: an order goes out by one request, and everything else reads its outcome.
import { roundLots } from '@tradeport/domain'
import type {
  BrokerAccount,
  BrokerOrder,
  Fill,
  Instant,
  LookupAnswer,
  MaySend,
  PlacementAnswer,
  SentOrder,
  Trading,
} from '@tradeport/domain'
import { bounded, read } from '../connection.ts'
import type { Connection } from '../connection.ts'
import { wait, withDeadline } from '../deadline.ts'
import { CallFailure, unusable } from '../failures.ts'
import { AccountInformation, decode, ProvisionedAccount } from '../payloads.ts'
import { requireReadableAccount } from '../trade/trade-once.ts'
import type { TradeVerdict } from '../trade/trade-answer.ts'
import type { SentTrade, TradeOnce } from '../trade/trade-once.ts'
import type { Target } from '../transport.ts'
import { areWhole, fillFindingOf, findingOf, ticketAs } from './order-evidence.ts'
import type { AccountTraits, Finding, LookupContext, Sought } from './order-evidence.ts'
import { createRecordReader } from './record-reader.ts'

type Taken = Extract<TradeVerdict, { kind: 'taken' }>
type NotSent = Extract<PlacementAnswer, { kind: 'not_sent' }>

/** How long to wait before the records are read again for what they did not tell yet. */
const rereadPauseMs = 250

export const tradingOver = (connection: Connection, tradeOnce: TradeOnce): Trading => {
  const { client, clock, deadlines, skew, targetOf, provisioningOf } = connection
  const records = createRecordReader(connection)

  const placeOrder = async (account: BrokerAccount, order: BrokerOrder, maySend: MaySend): Promise<PlacementAnswer> => {
    if (order.volume === 0) return { kind: 'refused', reason: noLots }
    let sent: SentTrade
    try {
      sent = await tradeOnce(account, bodyOf(order), maySend)
    } catch (cause) {
      return notSent(cause, clock.now())
    }
    const { target, sentAt, verdict } = sent
    switch (verdict.kind) {
      case 'taken':
        return outcomeOfTaken(target, account, { order, sentAt, tickets: verdict.tickets }, verdict.as)
      case 'refused':
      case 'gone':
        return { kind: 'refused', reason: verdict.reason }
      case 'not_found':
        return reasonOfNotFound(target, verdict.words)
      case 'limited':
        return { kind: 'not_sent', retryAfterMs: verdict.retryAfterMs }
      case 'not_sent':
        return { kind: 'not_sent', retryAfterMs: verdict.retryAfterMs, cause: verdict.cause }
      case 'unknown':
        return verdict
    }
  }

  const outcomeOfTaken = async (target: Target, account: BrokerAccount, sought: Sought, as: Taken['as']): Promise<PlacementAnswer> => {
    switch (as) {
      case 'done':
        return detailed(target, sought, 'filled')
      case 'done_in_part':
        return detailed(target, sought, 'partially_filled')
      case 'placed':
        return placedOrFilled(target, account, sought)
      // A success where something is changed. Of an order that opens it says neither yes nor no.
      case 'no_changes':
        return { kind: 'unknown' }
    }
  }

  /** A 404 may mean the account or the symbol: where the account can be read, it is the symbol. */
  const reasonOfNotFound = async (target: Target, words: string | undefined): Promise<PlacementAnswer> => {
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
        const [positions, deals] = await Promise.all([
          records.positions(target, false, signal),
          records.deals(target, sought.sentAt, signal),
        ])
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

  const placedOrFilled = async (target: Target, { platform }: BrokerAccount, sought: Sought): Promise<PlacementAnswer> => {
    const { answer } = await findIn(target, sought, { platform, othersTickets: noTickets, refresh: false }, deadlines.fillMs)
    return answer.kind === 'found' && answer.settlement.kind !== 'rejected'
      ? answer.settlement
      : { kind: 'placed', orderId: sought.tickets.orderId ?? null }
  }

  const findOrder = async (
    account: BrokerAccount,
    { order, sentAt, orderId, refresh, othersTickets }: SentOrder,
  ): Promise<LookupAnswer> => {
    const target = await bounded('account-region', deadlines.readMs, () => targetOf(account))
    const tickets = orderId === null ? {} : { orderId }
    const terms = { platform: account.platform, othersTickets: new Set(othersTickets), refresh }
    return (await findIn(target, { order: inLots(order), sentAt, tickets }, terms, deadlines.lookupMs)).answer
  }

  /** The best that was found when it was all there, or the time was over. */
  const findIn = async (target: Target, sought: Sought, { refresh, ...known }: LookupTerms, ms: number): Promise<Finding> => {
    let best: Finding = { answer: { kind: 'unreadable' }, isDetailed: false }
    let traits: AccountTraits | undefined
    const detailsUntil = performance.now() + deadlines.fillMs
    await inTime(ms, async (signal) => {
      for (;;) {
        const evidence = await records.all(target, sought.sentAt, refresh, signal)
        const context: LookupContext = { ...known, now: clock.now(), skewMs: skew.ms() ?? 0, traits: traits ?? {} }
        let finding = findingOf(sought, evidence, context)
        if (finding.answer.kind === 'unreadable' && areWhole(evidence)) {
          traits ??= await readTraits(target, signal)
          finding = findingOf(sought, evidence, { ...context, traits })
        }
        if (best.answer.kind !== 'found' || finding.answer.kind === 'found') best = finding
        if (best.isDetailed || performance.now() >= detailsUntil) return
        await wait(rereadPauseMs, signal)
      }
    })
    return best
  }

  /** What can tell a trade of ours from one that looks like it. Read only where there is one, since each read costs credits. */
  const readTraits = async (target: Target, signal: AbortSignal): Promise<AccountTraits> => {
    const [provisioned, information] = await Promise.allSettled([
      bounded('account-region', deadlines.readMs, (end) => client.provisionedAccount(provisioningOf(target), end), signal),
      bounded('account-information', deadlines.accountInformationMs, (end) => client.accountInformation(target, end), signal),
    ])
    return {
      ...(provisioned.status === 'fulfilled' && magicOf(provisioned.value)),
      ...(information.status === 'fulfilled' && hedgingOf(information.value)),
    }
  }

  return {
    placeOrder: (account, order, maySend) => () =>
      placeOrder(account, inLots(order), maySend).catch((): PlacementAnswer => ({ kind: 'unknown' })),
    findOrder: (account, sent) => () => findOrder(account, sent).catch((): LookupAnswer => ({ kind: 'unreadable' })),
  }
}

/** How the broker's records are read, and what is known beside them. */
type LookupTerms = Pick<LookupContext, 'platform' | 'othersTickets'> & Pick<SentOrder, 'refresh'>

const noTickets: ReadonlySet<string> = new Set()

const noLots = { code: 'INVALID_VOLUME', message: 'The volume must be at least 0.00000001 lots.' }

const magicOf = (bytes: Uint8Array): AccountTraits => {
  const { magic } = read('account-region', decode(ProvisionedAccount)(bytes))
  return typeof magic === 'number' ? { magic } : {}
}

const hedgingOf = (bytes: Uint8Array): AccountTraits => ({
  isHedging: read('account-information', decode(AccountInformation)(bytes)).marginMode === 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
})

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
  const fault = cause instanceof CallFailure ? cause.fault : undefined
  return {
    kind: 'not_sent',
    retryAfterMs: fault?._tag === 'RateLimited' ? Math.max(0, Math.ceil(fault.retryAt - now)) : null,
    cause: fault?._tag === 'Unavailable' ? fault.cause : undefined,
  }
}

/** Does what can be done in time; neither its end nor its failure is an error. */
const inTime = async (ms: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  try {
    await withDeadline(ms, () => unusable('positions', `not read within ${ms} ms`), work)
  } catch {
    // What was found until then is what there is.
  }
}
