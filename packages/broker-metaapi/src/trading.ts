// The trading port: an order, a change and a cancellation are each sent by one request, and reads
// show the outcome.
import { setTimeout as delay } from 'node:timers/promises'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { Fill, LookupAnswer, PlacementAnswer } from '@tradeport/domain/orders'
import type { OrderToSend, MaySend, OrderGone, SentOrder, Trading } from '@tradeport/domain/ports'
import { minuteMs } from '@tradeport/domain/primitives'
import { createChange } from './changes.ts'
import type { Connection } from './connection.ts'
import { withDeadline } from './deadline.ts'
import { CallFailure, unavailable } from './failures.ts'
import {
  areWhole,
  answerFrom,
  executedLots,
  positionIdField,
  type Evidence,
} from './order-evidence.ts'
import { createRecordReader, type RecordList, type RecordQuery } from './order-records.ts'
import type { AccountTraits, LookupContext, OrderToFind } from './order-to-find.ts'
import { decode, isNumber, ProvisionedAccount } from './payloads.ts'
import { orderTypeOf, requests, type Target } from './requests.ts'
import { termsBody, brokerOrdersIn } from './broker-orders.ts'

/** A market order that was sent longer ago is executed no more, unless a list still has it open. */
const longestExecutionMs = minuteMs
/** Between two reads of the records, which may not show everything yet. */
const rereadPauseMs = 250
/** An order that was refused in doubt and executed all the same is shown after so long. */
const doubtedOrderShownMs = 2_000

export const createTrading = (connection: Connection): Trading => {
  const { fetchFrom, readInformation, clock, deadlines, asPortRead, skew, targetOf, trade } =
    connection
  const read = createRecordReader(connection)
  const change = createChange<OrderGone>(connection, () => ({ _tag: 'OrderGone' }))

  const placeOrder = async (
    account: BrokerAccount,
    order: OrderToSend,
    maySend: MaySend,
  ): Promise<PlacementAnswer> => {
    const sentAt = clock.now()
    let target
    let answer
    try {
      target = await targetOf(account)
      answer = await trade(target, bodyOf(order), maySend)
    } catch (failure) {
      return failure instanceof CallFailure ? notSentAnswer(failure) : { kind: 'unknown' }
    }
    // `no_changes` is a success for a modification only; of a new order the outcome is unknown.
    if (answer.kind === 'unknown' || answer.kind === 'no_changes') return { kind: 'unknown' }
    const tickets = 'tickets' in answer ? answer.tickets : {}
    const orderToFind = { order, sentAt, sentAtLatest: sentAt, tickets }
    const options: LookupOptions = {
      platform: account.platform,
      ticketsOfOtherOrders: new Set(),
      since: sentAt,
      executedAtLatest: sentAt + longestExecutionMs,
      isCancelledByUs: false,
      readFromTerminal: answer.kind === 'doubted',
    }
    if (answer.kind === 'doubted') {
      await delay(doubtedOrderShownMs)
      const shown = await lookUp(target, orderToFind, options, deadlines.readMs)
      if (shown.kind !== 'nothing') return { kind: 'unknown' }
    }
    if ('reason' in answer) return { kind: 'refused', reason: answer.reason }
    if (order.limitOrStop !== undefined)
      return { kind: 'open', brokerOrderId: tickets.orderId ?? null }
    if (answer.kind === 'done') return readFillDetails(target, orderToFind, options)
    // Of an order that is done in part the records show which part, and whether the rest waits.
    const shown = await lookUp(target, orderToFind, options, deadlines.fillMs)
    if (shown.kind === 'found' && 'fill' in shown.outcome) return shown.outcome
    return accepted(orderToFind, answer.kind === 'done_partial')
  }

  const notSentAnswer = ({ fault: { retryAt, cause } }: CallFailure): PlacementAnswer => ({
    kind: 'not_sent',
    retryAfterMs: retryAt === undefined ? null : Math.max(0, Math.ceil(retryAt - clock.now())),
    cause,
  })

  /** Adds price, volume and position of a filled order, as far as the records show in time. */
  const readFillDetails = async (
    target: Target,
    orderToFind: OrderToFind,
    options: LookupOptions,
  ): Promise<PlacementAnswer> => {
    let fill: Fill = positionIdField(orderToFind.tickets.positionId)
    let isPart = false
    await repeat(deadlines.fillMs, async (signal) => {
      const query = { target, ...options, signal }
      const [positions, deals] = await Promise.all([read('positions', query), read('deals', query)])
      const evidence = { positions, deals, orders: notRead, historyOrders: notRead }
      // As its answer says that all is done, its position is read for the price alone.
      const context = contextOf(options, { isHedging: true })
      const answer = answerFrom(orderToFind, evidence, context)
      const lots = executedLots(orderToFind, evidence, context)
      // What was shown once counts, though a later read fails.
      if (lots !== undefined) isPart = lots < orderToFind.order.volume
      const isFound = answer.kind === 'found' && 'fill' in answer.outcome
      if (isFound) {
        const { positionId = fill.positionId } = answer.outcome.fill
        fill = { ...answer.outcome.fill, positionId }
      }
      // Lists that cannot be read now will hardly be readable in a moment, and reads cost credits.
      return isFound || (!positions.isWhole && !deals.isWhole)
    })
    // Where the deals show a part alone, the broker may have cancelled the rest of what it called done.
    return isPart ? accepted(orderToFind, true) : { kind: 'filled', fill }
  }

  const findOrder = async (
    account: BrokerAccount,
    {
      order,
      sentAt,
      sentAtLatest = sentAt,
      unexecutedAt = sentAt,
      missing,
      cancellation,
      brokerOrderId,
      readFromTerminal,
      ticketsOfOtherOrders,
    }: SentOrder,
  ): Promise<LookupAnswer> => {
    const target = await targetOf(account)
    const orderToFind = {
      order,
      sentAt,
      sentAtLatest,
      tickets: { orderId: brokerOrderId ?? undefined },
    }
    const options = {
      platform: account.platform,
      ticketsOfOtherOrders: new Set(ticketsOfOtherOrders),
      since: unexecutedAt,
      executedAtLatest:
        order.limitOrStop === undefined
          ? sentAtLatest + longestExecutionMs
          : (missing?.since ?? clock.now()),
      isCancelledByUs: cancellation?.isConfirmed === true,
      // A broker may give a pending order another number: its history then has an order that ended.
      // The provider's copy of the open orders may be older, and not have the new one yet.
      readFromTerminal: readFromTerminal || order.limitOrStop !== undefined,
    }
    return lookUp(target, orderToFind, options, deadlines.lookupMs)
  }

  /** Reads the records again until what was executed has its price, or time is up. */
  const lookUp = async (
    target: Target,
    orderToFind: OrderToFind,
    options: LookupOptions,
    ms: number,
  ): Promise<LookupAnswer> => {
    let best: LookupAnswer = { kind: 'unreadable' }
    let traits: AccountTraits | undefined
    let traitsRead: Promise<unknown> | undefined
    const detailsUntil = performance.now() + deadlines.fillMs
    await repeat(ms, async (signal) => {
      const evidence = await readAll({ target, ...options, signal })
      const decide = (): LookupAnswer => {
        const answer = answerFrom(orderToFind, evidence, contextOf(options, traits))
        if (executedShare(answer) >= executedShare(best)) best = answer
        return answer
      }
      const answer = decide()
      if (mayNeedTraits(answer, evidence)) {
        traitsRead ??= readTraits(target, signal).then((read) => (traits = read))
        // The next read of the lists may show the price first.
        const other = lacksPrice(answer) ? [delay(rereadPauseMs)] : []
        await Promise.race([traitsRead, ...other])
        decide()
      }
      return !lacksPrice(best) || performance.now() >= detailsUntil
    })
    return best
  }

  const contextOf = (options: LookupOptions, traits: AccountTraits = {}): LookupContext => ({
    ...options,
    now: clock.now(),
    skewMs: skew.ms() ?? 0,
    traits,
  })

  const readAll = async (query: RecordQuery): Promise<Evidence> => {
    const [positions, orders, historyOrders, deals] = await Promise.all([
      read('positions', query),
      read('orders', query),
      read('historyOrders', query),
      read('deals', query),
    ])
    return { positions, orders, historyOrders, deals }
  }

  /** Settings that tell our trades from others'. Read only where that matters: reads cost credits. */
  const readTraits = async (target: Target, signal: AbortSignal): Promise<AccountTraits> => {
    const [provisioned, information] = await Promise.all([
      fetchFrom(target, requests.provisionedAccount, decode(ProvisionedAccount), signal).catch(
        () => undefined,
      ),
      readInformation(target, false, signal).catch(() => undefined),
    ])
    return {
      magic: isNumber(provisioned?.magic) ? provisioned.magic : undefined,
      isHedging: information?.marginMode === 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
    }
  }

  return {
    placeOrder: (account, order, maySend) => () =>
      placeOrder(account, order, maySend).catch((): PlacementAnswer => ({
        kind: 'unknown',
      })),
    findOrder: (account, sent) => () =>
      findOrder(account, sent).catch((): LookupAnswer => ({ kind: 'unreadable' })),
    heldOrders: (account) =>
      asPortRead(account, () =>
        fetchFrom(account, requests.current('orders', true), brokerOrdersIn),
      ),
    modifyOrder: (account, orderId, terms, maySend) =>
      change(account, { actionType: 'ORDER_MODIFY', orderId, ...termsBody(terms) }, maySend),
    cancelOrder: (account, orderId, maySend) =>
      change(account, { actionType: 'ORDER_CANCEL', orderId }, maySend),
  }
}

type LookupOptions = Pick<
  LookupContext,
  'platform' | 'ticketsOfOtherOrders' | 'executedAtLatest' | 'isCancelledByUs'
> &
  Pick<RecordQuery, 'since' | 'readFromTerminal'>

/** Whether the traits of the account may decide what the lists do not. */
const mayNeedTraits = (answer: LookupAnswer, evidence: Evidence): boolean =>
  lacksPrice(answer) ||
  answer.kind === 'unfinished' ||
  (answer.kind === 'open' && answer.order === undefined) ||
  (answer.kind === 'unreadable' && areWhole(evidence))

const accepted = ({ tickets }: OrderToFind, isPartlyExecuted: boolean): PlacementAnswer => ({
  kind: 'accepted',
  brokerOrderId: tickets.orderId ?? null,
  ...(isPartlyExecuted && { isPartlyExecuted }),
})

/**
 * How much was executed, as far as the answer shows it: what one read showed counts, though a later
 * one shows less.
 */
const executedShare = (answer: LookupAnswer): number => {
  if (!('outcome' in answer)) return 0
  if (answer.outcome.kind === 'filled') return 1
  return answer.outcome.kind === 'partially_filled' ? 0.5 : 0
}

const lacksPrice = (answer: LookupAnswer): boolean =>
  answer.kind === 'found' && 'fill' in answer.outcome && answer.outcome.fill.price === undefined

const notRead: RecordList = { rows: [], isWhole: false }

/** Without the caller's own comment and reference. */
const bodyOf = (order: OrderToSend) => {
  const { side, symbol, volume, stopLoss, takeProfit, clientId, limitOrStop } = order
  const levels = { stopLoss, takeProfit }
  return {
    actionType: orderTypeOf(side, limitOrStop?.type),
    symbol,
    volume,
    ...(limitOrStop === undefined ? levels : termsBody({ ...limitOrStop, ...levels })),
    clientId,
  }
}

/** Repeats the work until it returns true, fails or is out of time; none of these is an error. */
const repeat = async (
  ms: number,
  work: (signal: AbortSignal) => Promise<boolean>,
): Promise<void> => {
  try {
    await withDeadline(
      ms,
      () => unavailable(`not read within ${ms} ms`),
      async (signal) => {
        while (!(await work(signal))) await delay(rereadPauseMs, undefined, { signal })
      },
    )
  } catch {
    // What was found until then counts.
  }
}
