// POST /orders/preview: every check of a new order and estimates of what it would cost, without
// recording or sending anything. The checks of placing are those of `placeOrder`.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount, type Account, type BrokerAccount } from '../accounts/account.ts'
import {
  requireNoIssues,
  refuse,
  type AsyncResult,
  type BrokerReadError,
  type Refusal,
  type RefusalTag,
  type ServiceUnavailable,
} from '../errors.ts'
import type { BrokerInstrument, Quote } from '../market/market-data.ts'
import {
  entryPriceOf,
  estimateOrder,
  instrumentChecks,
  type EstimateFacts,
  type InstrumentFinding,
  type OrderEstimate,
} from '../orders/instrument-checks.ts'
import {
  accountChecks,
  countChecks,
  limitChecks,
  requestChecks,
  type OrderCheck,
  type OrderCheckName,
} from '../orders/checks.ts'
import type { OrderRequest } from '../orders/order.ts'
import { issuesOfTerms } from '../orders/order-terms.ts'
import type { Broker, IdempotencyGuard, Ports } from '../ports/index.ts'
import type { WithBody } from './input.ts'
import {
  readAccountFacts,
  readOpenPositions,
  requestOf,
  type CheckPorts,
  type PlaceOrderBody,
} from './orders.ts'

/** The checks that need the broker's terms for the instrument. */
const instrumentCheckNames = ['instrument', ...instrumentChecks.map(({ name }) => name)] as const

/** The checks that only a preview makes: placing leaves them to the broker. */
export const previewCheckNames = [...instrumentCheckNames, 'margin'] as const

/** The result of one check. */
export interface PreviewedCheck {
  readonly name: OrderCheckName | (typeof previewCheckNames)[number]
  /** Null where it cannot be said. */
  readonly passed: boolean | null
  /** Why it did not pass, or why it cannot be said. */
  readonly because?: Refusal | InstrumentFinding
}

/** What would become of an order now. */
export interface OrderPreview {
  /** Whether no check failed. */
  readonly allowed: boolean
  readonly checks: readonly PreviewedCheck[]
  readonly estimate: OrderEstimate
}

type PreviewPorts = CheckPorts & Pick<Ports, 'broker' | 'marketData' | 'liveAccounts'>

/** Previews of orders. */
export const createOrderPreviews = (ports: PreviewPorts) => ({
  /** POST /orders/preview. */
  previewOrder:
    (
      { owner }: Caller,
      { body, begin }: WithBody<PlaceOrderBody> & IdempotencyGuard,
    ): AsyncResult<OrderPreview, 'AccountNotFound' | 'ValidationError' | 'IdempotencyInProgress'> =>
    async () => {
      const order = requestOf(body)
      const begun = await begin()
      if (E.isLeft(begun)) return begun
      const now = ports.clock.now()
      const hasGoodTerms = requireNoIssues(issuesOfTerms(order, now))
      if (E.isLeft(hasGoodTerms)) return hasGoodTerms
      const [facts, counts] = await Promise.all([
        readAccountFacts(ports, owner, order.accountId),
        ports.orders.counts(owner, now)(),
      ])
      if (E.isLeft(facts)) return facts
      if (E.isLeft(counts)) return counts
      const { account, limits } = facts.right
      const [limitFacts, market] = await Promise.all([
        pipe(
          TE.fromEither(limits),
          TE.bindTo('limits'),
          TE.bindW('openPositions', (read) => readOpenPositions(ports, account, read.limits)),
          TE.map(({ openPositions = noPositions, ...read }) => ({ ...read, openPositions })),
        )(),
        readMarket(ports, account, order),
      ])
      const checks = [
        ...[...requestChecks(order), ...accountChecks(order, facts.right)].map(shown),
        checkSymbol(market),
        ...[...limitChecks(order, account, limitFacts), ...countChecks(counts.right, now)].map(
          shown,
        ),
        ...checkInstrument(order, market, now),
        checkMargin(market),
      ]
      return E.right({
        allowed: checks.every(({ passed }) => passed !== false),
        checks,
        estimate: estimateOrder(order, {
          ...market,
          instrument: toUndefined(market.instrument),
        }),
      })
    },
})

/** Where nothing is limited, none are read. */
const noPositions = { readAt: 0, positions: new Map() }

const shown = ([name, result]: OrderCheck<RefusalTag>): PreviewedCheck =>
  E.isRight(result) ? { name, passed: true } : { name, passed: false, because: result.left }

type InstrumentRefusal =
  | BrokerReadError
  | ServiceUnavailable
  | Refusal<'NotFound' | 'SymbolAmbiguous'>

interface Market extends Omit<EstimateFacts, 'instrument'> {
  /** The broker's spelling. */
  readonly symbol: E.Either<InstrumentRefusal, unknown>
  readonly instrument: E.Either<InstrumentRefusal, BrokerInstrument>
}

// All at once, but the margin of a market order, which is asked for at the price of the quote.
const readMarket = async (
  { marketData, broker, liveAccounts, resolveOrderSymbol }: PreviewPorts,
  account: Account,
  requested: OrderRequest,
): Promise<Market> => {
  const nothing = { quote: undefined, margin: undefined, figures: undefined }
  const linked = requireBrokerAccount(account)
  if (E.isLeft(linked)) return { ...nothing, symbol: linked, instrument: linked }
  // Read first, so that the spelling is found in the same list, however late that comes.
  const listed = await marketData.symbols(linked.right)()
  const resolved = await resolveOrderSymbol(linked.right, requested.symbol)()
  if (E.isLeft(resolved)) return { ...nothing, symbol: resolved, instrument: resolved }
  const symbol = resolved.right?.spelling ?? requested.symbol
  if (E.isRight(listed) && !listed.right.includes(symbol))
    return {
      ...nothing,
      symbol: resolved,
      instrument: E.left(refuse('NotFound', { what: 'symbol', name: symbol })),
    }
  const order = { ...requested, symbol }
  const quoteRead = marketData.quote(linked.right, symbol)()
  const [instrument, quote, margin, reading] = await Promise.all([
    marketData.instrument(linked.right, symbol)(),
    quoteRead,
    readMargin(broker, linked.right, order, quoteRead),
    liveAccounts.read(account)(),
  ])
  return {
    symbol: resolved,
    instrument,
    quote: toUndefined(quote),
    margin,
    figures: toUndefined(reading)?.figures,
  }
}

const readMargin = async (
  broker: Broker,
  linked: BrokerAccount,
  order: OrderRequest,
  quote: Promise<E.Either<unknown, Quote>>,
): Promise<number | undefined> => {
  const price = entryPriceOf(order, undefined) ?? entryPriceOf(order, toUndefined(await quote))
  if (price === undefined) return undefined
  // The margin at nearly the same price is known for a minute, however often the price moves.
  const openPrice = Number(price.toPrecision(3))
  const { symbol, side, volume } = order
  const margin = toUndefined(
    await broker.requiredMargin(linked, { symbol, side, volume, openPrice })(),
  )
  return margin && O.toUndefined(margin)
}

const toUndefined = <A>(read: E.Either<unknown, A>): A | undefined =>
  E.isRight(read) ? read.right : undefined

const checkSymbol = ({ symbol }: Market): PreviewedCheck => {
  if (E.isRight(symbol)) return { name: 'symbol', passed: true }
  const isAmbiguous = symbol.left._tag === 'SymbolAmbiguous'
  return { name: 'symbol', passed: isAmbiguous ? false : null, because: symbol.left }
}

const checkInstrument = (
  order: OrderRequest,
  { instrument, quote }: Market,
  now: number,
): readonly PreviewedCheck[] => {
  if (E.isLeft(instrument)) {
    const because = instrument.left
    return instrumentCheckNames.map((name) => ({
      name,
      passed: name === 'instrument' && because._tag === 'NotFound' ? false : null,
      because,
    }))
  }
  const facts = { order, instrument: instrument.right, quote, now }
  return [
    { name: 'instrument', passed: true },
    ...instrumentChecks.map(({ name, check }): PreviewedCheck => {
      const result = check(facts)
      if (result === undefined) return { name, passed: null }
      return result === 'passed' ? { name, passed: true } : { name, passed: false, because: result }
    }),
  ]
}

/**
 * Of an order that reduces or hedges an open position the broker asks for less, or for none. For any
 * other, the margin is that of a price up to 0.5 % away, so that a percent more must be free.
 */
const checkMargin = ({ margin, figures }: Market): PreviewedCheck => {
  const name = 'margin'
  const freeMargin = figures?.freeMargin
  if (margin === undefined || typeof freeMargin !== 'number') return { name, passed: null }
  if (margin <= 0.99 * freeMargin) return { name, passed: true }
  const message = `The order needs a margin of about ${margin}, and ${freeMargin} is free: if that is too little, the broker refuses it, unless it reduces or hedges an open position.`
  const because = { code: 'INSUFFICIENT_MARGIN', message, details: { margin, freeMargin } } as const
  return { name, passed: null, because }
}
