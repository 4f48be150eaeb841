// Positions at a broker in memory that tests put in, and tell what becomes of each change; it
// executes changes, so that a test can see what was done how often. It keeps the contract of the
// real one. The journal beside it has the deals of its closes once it was synchronised.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerDeal } from '@tradeport/domain/journal'
import { refuse, type BrokerChangeError, type BrokerReadError } from '@tradeport/domain/errors'
import type {
  Clock,
  MaySend,
  Journal,
  CloseReceipt,
  PositionTrading,
} from '@tradeport/domain/ports'
import { type Levels, byAge, type BrokerPosition } from '@tradeport/domain/positions'
import {
  type AccountId,
  type Ticket,
  compareLots,
  roundLots,
  type Instant,
} from '@tradeport/domain/primitives'
import type { SynchroniseJournal } from '@tradeport/domain/use-cases'
import {
  changeWithLag,
  closeLots,
  closingDealsOf,
  emptyPositionBook,
  readDeals,
  readPositions,
  type PositionBook,
  type PositionLag,
} from './fake-position-book.ts'

/**
 * What becomes of a change. `do_half` closes half of the lots that were asked for, `accept` does it
 * when the test says `execute`; with an error nothing is done, and that is what is said.
 */
export type FakeChangeOutcome =
  | 'do'
  | 'do_half'
  | 'do_and_lose_the_answer'
  | 'lose_the_request'
  | 'accept'
  | 'refuse'
  | BrokerChangeError

export type FakeChange =
  | {
      readonly kind: 'setLevels'
      readonly accountId: AccountId
      readonly ticket: Ticket
      readonly levels: Levels
    }
  | {
      readonly kind: 'closePosition'
      readonly accountId: AccountId
      readonly ticket: Ticket
      readonly volume: number | null
    }

export type PositionTradingRead = 'freshPositions' | 'synchroniseJournal'

export interface FakePositionTrading extends PositionTrading {
  /**
   * Puts an account in with these positions, or in place of those that it has. An account that was
   * never put in is not provisioned.
   */
  readonly put: (accountId: AccountId, positions?: readonly BrokerPosition[]) => void
  /** What is truly open, oldest first, whatever reads show. */
  readonly positions: (accountId: AccountId) => readonly BrokerPosition[]
  /** What was truly closed, oldest first, whatever reads show. */
  readonly closed: (accountId: AccountId) => readonly BrokerDeal[]
  readonly synchroniseJournal: SynchroniseJournal
  readonly journal: Pick<Journal, 'want' | 'closingDeals'>
  /** When reads of the journal are wanted, in the order in which they were asked for. */
  readonly wanted: () => readonly Instant[]
  /** What becomes of the next changes, one after the other; all others are done. */
  readonly next: (...outcomes: readonly FakeChangeOutcome[]) => void
  /** Does what was accepted. */
  readonly execute: () => void
  /**
   * After the next change that is done, so many reads show the positions, or synchronisations the
   * deals, as they were before it.
   */
  readonly lagNext: (lag: PositionLag) => void
  /**
   * Makes an account's reads fail with `error` until `heal`; all of them unless `reads` names some.
   * Changes are not touched by it.
   */
  readonly fail: (
    accountId: AccountId,
    error: BrokerReadError,
    reads?: readonly PositionTradingRead[],
  ) => void
  readonly heal: (accountId: AccountId) => void
  /** Lets every call wait until the function that it returns is called. */
  readonly hold: () => () => void
  /** Every change that was sent, as often as it was. */
  readonly sent: () => readonly FakeChange[]
  /** How many reads reached the broker, of one kind or of all. */
  readonly reads: (read?: PositionTradingRead) => number
}

export const fakeChangeRefusal = {
  code: 'TRADE_RETCODE_MARKET_CLOSED',
  message: 'The market is closed',
}

/** @param clock stamps what is read and what is closed */
export const createFakePositionTrading = (clock: Clock): FakePositionTrading => {
  const books = new Map<AccountId, PositionBook>()
  const failures = new Map<
    AccountId,
    { readonly error: BrokerReadError; readonly reads: readonly PositionTradingRead[] | undefined }
  >()
  const planned: FakeChangeOutcome[] = []
  const accepted: (() => unknown)[] = []
  const sent: FakeChange[] = []
  const log: PositionTradingRead[] = []
  const wanted: Instant[] = []
  let lag: PositionLag = {}
  let lastNumber = 1_000
  let held: Promise<void> = Promise.resolve()

  const newNumber = (): string => String((lastNumber += 1))

  const read =
    (
      kind: PositionTradingRead,
      { accountId }: BrokerAccount,
    ): TE.TaskEither<BrokerReadError, PositionBook> =>
    async () => {
      log.push(kind)
      await held
      const failure = failures.get(accountId)
      if (failure && (failure.reads?.includes(kind) ?? true)) return E.left(failure.error)
      return E.fromNullable(refuse('NotProvisioned', { accountId }))(books.get(accountId))
    }

  const execute = (
    account: BrokerAccount,
    change: FakeChange,
    orderId: string,
    share: 1 | 0.5 = 1,
  ): E.Either<BrokerChangeError, void> => {
    const book = books.get(account.accountId)
    if (book === undefined)
      return E.left(refuse('NotProvisioned', { accountId: account.accountId }))
    const position = book.positions.find(({ ticket }) => ticket === change.ticket)
    if (position === undefined) return E.left(refuse('PositionNotFound'))
    if (change.kind === 'setLevels') {
      changeWithLag(book, lag, () => {
        book.positions = book.positions.map((other) =>
          other === position ? withLevels(position, change.levels) : other,
        )
      })
    } else {
      const lots = roundLots(change.volume ?? position.volume)
      if (compareLots(lots, position.volume) > 0) return E.left(tooManyLots)
      // On the fourth generation what is left of a position goes on under a new ticket.
      const restTicket = account.platform === 'mt4' ? (newNumber() as Ticket) : position.ticket
      const closing = {
        lots: roundLots(lots * share),
        orderId,
        dealId: newNumber(),
        restTicket,
        at: clock.now(),
      }
      changeWithLag(book, lag, () => closeLots(book, position, closing))
    }
    lag = {}
    return E.right(undefined)
  }

  const holds = ({
    accountId,
    ticket,
    levels,
  }: Extract<FakeChange, { kind: 'setLevels' }>): boolean =>
    books
      .get(accountId)
      ?.positions.some(
        (one) =>
          one.ticket === ticket &&
          one.stopLoss === levels.stopLoss &&
          one.takeProfit === levels.takeProfit,
      ) === true

  const send = async (
    account: BrokerAccount,
    change: FakeChange,
    maySend: MaySend,
  ): Promise<E.Either<BrokerChangeError, CloseReceipt>> => {
    await held
    const { accountId } = account
    if (!maySend())
      return E.left(
        refuse('BrokerUnavailable', { accountId, reason: 'the time to send the change is over' }),
      )
    const outcome = planned.shift() ?? 'do'
    sent.push(change)
    if (typeof outcome === 'object') return E.left(outcome)
    // A close of the fourth generation has no order of its own.
    const orderId = account.platform === 'mt4' ? change.ticket : newNumber()
    const told = (progress: CloseReceipt['progress']) =>
      E.map((): CloseReceipt => ({ progress, brokerOrderId: orderId }))
    switch (outcome) {
      case 'do':
        return told('done')(execute(account, change, orderId))
      case 'do_half':
        return told('accepted')(execute(account, change, orderId, 0.5))
      case 'do_and_lose_the_answer':
        execute(account, change, orderId)
        return E.left(refuse('BrokerOutcomeUnknown', { accountId }))
      case 'lose_the_request':
        return E.left(refuse('BrokerOutcomeUnknown', { accountId }))
      case 'accept':
        accepted.push(() => execute(account, change, orderId))
        return E.right({ progress: 'accepted', brokerOrderId: orderId })
      case 'refuse':
        return E.left(
          refuse('TradeRejected', {
            code: fakeChangeRefusal.code,
            message: fakeChangeRefusal.message,
          }),
        )
    }
  }

  return {
    freshPositions: (account) =>
      pipe(
        read('freshPositions', account),
        TE.map((book) => ({ positions: readPositions(book), readAt: clock.now() })),
      ),
    setLevels: (account, ticket, levels, maySend) => async () => {
      const change = { kind: 'setLevels', accountId: account.accountId, ticket, levels } as const
      const isUnchanged = holds(change)
      return pipe(
        await send(account, change, maySend),
        E.map(({ progress }) => ({
          progress: isUnchanged && progress === 'done' ? 'unchanged' : progress,
        })),
      )
    },
    closePosition: (account, ticket, volume, maySend) => () =>
      send(
        account,
        { kind: 'closePosition', accountId: account.accountId, ticket, volume },
        maySend,
      ),
    synchroniseJournal: (account) =>
      pipe(
        read('synchroniseJournal', account),
        TE.map((book) => {
          readDeals(book)
          return { ...readJournal, syncedAt: clock.now(), deals: book.journal.length }
        }),
      ),
    journal: {
      want: (_account, at) => TE.fromIO(() => void wanted.push(at)),
      closingDeals: ({ accountId }, orderId, from) =>
        TE.fromIO(() => closingDealsOf(books.get(accountId)?.journal ?? [], orderId, from)),
    },
    wanted: () => wanted,
    put: (accountId, positions = []) => {
      const book = books.get(accountId) ?? emptyPositionBook()
      book.positions = positions
      books.set(accountId, book)
    },
    positions: (accountId) => (books.get(accountId)?.positions ?? []).toSorted(byAge),
    closed: (accountId) => books.get(accountId)?.deals ?? [],
    next: (...outcomes) => void planned.push(...outcomes),
    execute: () => {
      for (const run of accepted.splice(0)) run()
    },
    lagNext: (next) => {
      lag = next
    },
    fail: (accountId, error, reads) => void failures.set(accountId, { error, reads }),
    heal: (accountId) => void failures.delete(accountId),
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    sent: () => sent,
    reads: (kind) => log.filter((one) => kind === undefined || one === kind).length,
  }
}

const readJournal = {
  firstReadOffset: null,
  wantedAt: null,
  latestDealAt: null,
  check: null,
  rereadAt: null,
  disagreements: 0,
} as const

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
