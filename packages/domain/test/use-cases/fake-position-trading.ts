// Positions at a broker in memory. Tests put them in and choose what becomes of each change;
// changes are executed, so that a test can see what was done how often. The journal beside it has
// the deals of its closes once it was synchronised.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { BrokerAccount } from '../../src/accounts/index.ts'
import type { BrokerDeal } from '../../src/journal/index.ts'
import { refuse } from '../../src/errors.ts'
import type {
  Clock,
  ChangeReceipt,
  Journal,
  MaySend,
  PositionChangeError,
  PositionTrading,
  TradeRecords,
} from '../../src/ports/index.ts'
import type { ClosedTrade } from '../../src/trades/index.ts'
import { type Levels, byAge, type BrokerPosition } from '../../src/positions/index.ts'
import {
  roundAmount,
  sumExactly,
  type AccountId,
  type Instant,
  type Ticket,
} from '../../src/primitives/index.ts'
import type { SynchroniseJournal } from '../../src/use-cases/index.ts'
import { createFakeReads, openPosition, unreadJournal, type ReadControls } from '@tradeport/testkit'

/**
 * What becomes of a change. `do_half` closes half of the lots, `do_without_number` answers without
 * the number of the order, `unchanged` says that there was nothing to do, `accept` does it when the
 * test says `execute`; with an error nothing is done, and that is the answer.
 */
type FakeChangeOutcome =
  | 'do'
  | 'do_half'
  | 'do_without_number'
  | 'do_and_lose_the_answer'
  | 'lose_the_request'
  | 'unchanged'
  | 'accept'
  | 'refuse'
  | PositionChangeError

interface FakeChange {
  readonly ticket: Ticket
  readonly levels?: Levels
  /** Lots to close; null for all. */
  readonly volume?: number | null
}

type Read = 'freshPositions' | 'synchroniseJournal'

interface Book {
  positions: readonly BrokerPosition[]
  deals: readonly BrokerDeal[]
  /** The deals that the journal has read. */
  journal: readonly BrokerDeal[]
}

export interface FakePositionTrading extends PositionTrading, ReadControls<Read> {
  /**
   * Puts an account in with these positions, or in place of those that it has. An account that was
   * never put in is not provisioned.
   */
  readonly put: (accountId: AccountId, positions?: readonly BrokerPosition[]) => void
  /** The broker's deals, which the journal has when it is synchronised. */
  readonly putHistory: (accountId: AccountId, deals: readonly BrokerDeal[]) => void
  /** What is truly open, oldest first, whatever reads show. */
  readonly positions: (accountId: AccountId) => readonly BrokerPosition[]
  /** What was truly closed, oldest first, whatever reads show. */
  readonly closed: (accountId: AccountId) => readonly BrokerDeal[]
  readonly synchroniseJournal: SynchroniseJournal
  readonly journal: Pick<Journal, 'wantRead' | 'closingDeals'>
  /**
   * Finds a trade where the journal's deals close the whole position, or one of them has no volume.
   */
  readonly trades: Pick<TradeRecords, 'find'>
  /** After how many milliseconds reads of the journal are wanted, in the order of the calls. */
  readonly wanted: () => readonly number[]
  /**
   * What becomes of the next change after those planned before; all others are done. `meanwhile`
   * runs before its answer, which waits for it.
   */
  readonly next: (outcome: FakeChangeOutcome, meanwhile?: () => unknown) => void
  /** Does what was accepted. */
  readonly execute: () => void
  /**
   * After the next change that is done, so many reads show the positions, or synchronisations the
   * deals, as they were before it.
   */
  readonly lagNext: (lag: { readonly positions?: number; readonly deals?: number }) => void
  /** Every change that was sent, as often as it was. */
  readonly sent: () => readonly FakeChange[]
}

/** @param clock stamps what is read and what is closed */
export const createFakePositionTrading = (clock: Clock): FakePositionTrading => {
  const { books, open, controls, held } = createFakeReads<Read, Book>()
  const planned: { outcome: FakeChangeOutcome; meanwhile: () => unknown }[] = []
  const accepted: (() => unknown)[] = []
  const sent: FakeChange[] = []
  const wanted: number[] = []
  /** After the next change; then what is shown instead for so many reads. */
  let nextLag: Parameters<FakePositionTrading['lagNext']>[0] = {}
  let lag = { positions: 0, deals: 0, before: emptyBook() }
  let lastNumber = 1_000

  const newNumber = () => String((lastNumber += 1))
  const bookOf = (accountId: AccountId): Book => {
    const book = books.get(accountId) ?? emptyBook()
    books.set(accountId, book)
    return book
  }

  /** The rows as a reader is shown them now. */
  const shown = <Rows extends 'positions' | 'deals'>(book: Book, rows: Rows): Book[Rows] =>
    (lag[rows]-- > 0 ? lag.before : book)[rows]

  const execute = (
    { accountId, platform }: BrokerAccount,
    { ticket, levels, volume }: FakeChange,
    orderId: string,
    share = 1,
  ): E.Either<PositionChangeError, void> => {
    const book = books.get(accountId)
    if (book === undefined) return E.left(refuse('NotProvisioned', { accountId }))
    const position = book.positions.find((one) => one.ticket === ticket)
    if (position === undefined) return E.left(refuse('PositionNotFound'))
    const lots = roundAmount(volume ?? position.volume)
    if (lots > position.volume) return E.left(tooManyLots)
    lag = { positions: 0, deals: 0, ...nextLag, before: { ...book } }
    nextLag = {}
    let rest: BrokerPosition | undefined
    if (levels === undefined) {
      const closing = { id: newNumber(), orderId, lots: roundAmount(lots * share), at: clock.now() }
      const deal = closingDeal(position, closing)
      book.deals = [...book.deals, deal]
      // On MT4 what is left of a position goes on under a new ticket.
      if (position.volume > closing.lots)
        rest = {
          ...withoutClosed(position, deal),
          ticket: platform === 'mt4' ? (newNumber() as Ticket) : ticket,
        }
    } else rest = withLevels(position, levels)
    book.positions = book.positions.flatMap((one) => (one === position ? (rest ?? []) : one))
    return E.right(undefined)
  }

  const send = async (
    account: BrokerAccount,
    change: FakeChange,
    maySend: MaySend,
  ): Promise<E.Either<PositionChangeError, ChangeReceipt>> => {
    await held()
    const { accountId } = account
    if (!maySend()) return E.left(refuse('BrokerUnavailable', { accountId, reason: 'too late' }))
    const { outcome, meanwhile } = planned.shift() ?? { outcome: 'do', meanwhile: () => undefined }
    sent.push(change)
    // On MT4 a close has no order of its own.
    const orderId = account.platform === 'mt4' ? change.ticket : newNumber()
    const make = () => execute(account, change, orderId, outcome === 'do_half' ? 0.5 : 1)
    if (outcome === 'accept') accepted.push(make)
    const isMade = typeof outcome === 'string' && outcome.startsWith('do')
    const made = isMade ? make() : E.right(undefined)
    await meanwhile()
    if (typeof outcome === 'object') return E.left(outcome)
    if (outcome === 'refuse') return E.left(marketClosed)
    if (outcome === 'lose_the_request' || outcome === 'do_and_lose_the_answer')
      return E.left(refuse('BrokerOutcomeUnknown', { accountId }))
    const brokerOrderId = outcome === 'do_without_number' ? null : orderId
    return E.map(() => ({ progress: progressAfter[outcome], brokerOrderId }))(made)
  }

  return {
    ...controls,
    freshPositions: (account) =>
      pipe(
        open('freshPositions', account),
        TE.map((book) => ({
          positions: shown(book, 'positions').toSorted(byAge),
          readAt: clock.now(),
        })),
      ),
    setLevels: (account, ticket, levels, maySend) => () =>
      send(account, { ticket, levels }, maySend),
    closePosition: (account, ticket, volume, maySend) => () =>
      send(account, { ticket, volume }, maySend),
    synchroniseJournal: (account) =>
      pipe(
        open('synchroniseJournal', account),
        TE.map((book) => {
          book.journal = shown(book, 'deals')
          return { ...unreadJournal, syncedAt: clock.now(), deals: book.journal.length }
        }),
      ),
    journal: {
      wantRead: (_account, ...delays) => TE.fromIO(() => void wanted.push(...(delays as number[]))),
      closingDeals: ({ accountId }, orderId, from) =>
        TE.fromIO(() =>
          (books.get(accountId)?.journal ?? []).filter(
            (deal) => deal.orderId === orderId && (deal.time ?? from) >= from,
          ),
        ),
    },
    trades: {
      find: (_owner, { accountId, ticket }) => {
        const lots = (books.get(accountId)?.journal ?? []).map(({ positionId, volume }) =>
          positionId === ticket ? volume : 0,
        )
        const volumeEstimated = lots.includes(undefined)
        return TE.right(
          volumeEstimated || sumExactly(lots as number[]) >= openPosition().volume
            ? O.some({ trade: { volumeEstimated } } as ClosedTrade)
            : O.none,
        )
      },
    },
    wanted: () => wanted,
    put: (accountId, positions = []) => {
      bookOf(accountId).positions = positions
    },
    putHistory: (accountId, deals) => {
      bookOf(accountId).deals = deals
    },
    positions: (accountId) => (books.get(accountId)?.positions ?? []).toSorted(byAge),
    closed: (accountId) => books.get(accountId)?.deals ?? [],
    next: (outcome, meanwhile = () => undefined) => void planned.push({ outcome, meanwhile }),
    execute: () => {
      for (const run of accepted.splice(0)) run()
    },
    lagNext: (next) => {
      nextLag = next
    },
    sent: () => sent,
  }
}

const emptyBook = (): Book => ({ positions: [], deals: [], journal: [] })

const progressAfter = {
  do: 'done',
  do_half: 'accepted',
  do_without_number: 'done',
  unchanged: 'unchanged',
  accept: 'accepted',
} as const

const marketClosed = refuse('TradeRejected', {
  code: 'TRADE_RETCODE_MARKET_CLOSED',
  message: 'The market is closed',
})
const tooManyLots = refuse('TradeRejected', {
  code: 'TRADE_RETCODE_INVALID_CLOSE_VOLUME',
  message: 'The volume to close is above that of the position',
})

const withLevels = (position: BrokerPosition, { stopLoss, takeProfit }: Levels): BrokerPosition => {
  const { stopLoss: _stopLoss, takeProfit: _takeProfit, ...rest } = position
  return {
    ...rest,
    ...(stopLoss !== undefined && { stopLoss }),
    ...(takeProfit !== undefined && { takeProfit }),
  }
}

/** The deal that closes lots of a position at its current price, for its share of the profit. */
const closingDeal = (
  { ticket, symbol, side, volume, currentPrice, unrealizedPnl }: BrokerPosition,
  closing: { id: string; orderId: string; lots: number; at: Instant },
) => {
  const { id, orderId, lots, at } = closing
  const opposite = side === 'buy' ? 'sell' : 'buy'
  return {
    id,
    orderId,
    positionId: ticket,
    symbol,
    kind: opposite,
    side: opposite,
    entry: 'out',
    volume: lots,
    price: currentPrice,
    profit: Math.round((unrealizedPnl * lots * 100) / volume) / 100,
    commission: 0,
    swap: 0,
    time: at,
  } as const
}

const withoutClosed = (
  position: BrokerPosition,
  { volume, profit }: { volume: number; profit: number },
): BrokerPosition => ({
  ...position,
  volume: sumExactly([position.volume, -volume]),
  unrealizedPnl: sumExactly([position.unrealizedPnl, -profit]),
  realizedPnl: sumExactly([position.realizedPnl, profit]),
})
