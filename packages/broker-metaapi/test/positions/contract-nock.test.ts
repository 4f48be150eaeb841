// The contract of changes over payloads in the provider's shape: the fake desk is the broker, and this is what a provider makes of its answers.
import * as E from 'fp-ts/lib/Either.js'
import nock from 'nock'
import { brokerOutcomeUnknown } from '@tradeport/domain'
import type { BrokerAccount, BrokerChangeError, BrokerPosition, Levels, Ticket } from '@tradeport/domain'
import { createFakePositionDesk, describePositionDeskContract, openPosition } from '@tradeport/domain/testing'
import type { ChangeTrouble, FakeChangeOutcome, VenuePosition } from '@tradeport/domain/testing'
import { closeNetwork } from '../no-network.ts'
import { account as plainAccount, clientHost, informationRow, now, positionRow } from '../support.ts'
import { always } from '../orders/order-support.ts'
import { deskWith } from './desk-support.ts'

closeNetwork()

type Answer = [status: number, body: object | string]

const unreadable: Answer = [504, { error: 'TimeoutError', message: 'not connected to broker yet', metadata: {} }]
const unknownAccount: Answer = [404, { error: 'NotFoundError', message: 'trading account not found' }]

const codes = {
  mt5: { done: 10_009, noChanges: 10_025, invalidVolume: 10_038 },
  mt4: { done: 0, noChanges: 0, invalidVolume: 131 },
} as const

const names: Readonly<Record<number, string>> = {
  0: 'ERR_NO_ERROR',
  131: 'ERR_INVALID_TRADE_VOLUME',
  4753: 'ERR_TRADE_POSITION_NOT_FOUND',
  10_008: 'TRADE_RETCODE_PLACED',
  10_009: 'TRADE_RETCODE_DONE',
  10_010: 'TRADE_RETCODE_DONE_PARTIAL',
  10_018: 'TRADE_RETCODE_MARKET_CLOSED',
  10_025: 'TRADE_RETCODE_NO_CHANGES',
  10_038: 'TRADE_RETCODE_INVALID_CLOSE_VOLUME',
  [-10]: 'TRADE_RETCODE_DISCONNECTED_BEFORE_TRADE',
}

const codeAnswer = (numericCode: number, orderId?: string): Answer => [
  200,
  { numericCode, stringCode: names[numericCode], message: 'As it says', ...(orderId !== undefined && { orderId }) },
]

/** The broker does nothing; what is said of it is the provider's. */
const notDone = brokerOutcomeUnknown(plainAccount.accountId)

/** What stands in for the answer, and what the broker makes of the change before; it lags or tells codes of its own without any. */
const troubles: Readonly<
  Record<ChangeTrouble, { readonly outcome?: FakeChangeOutcome; readonly answer?: Answer; readonly code?: number }>
> = {
  answer_lost: { answer: unreadable },
  request_lost: {
    outcome: notDone,
    answer: [503, '<html><body>Service unavailable</body></html>'],
  },
  refused: { outcome: 'refuse', answer: codeAnswer(10_018) },
  rate_limited: {
    outcome: notDone,
    answer: [429, { error: 'TooManyRequestsError', metadata: { recommendedRetryTime: '2026-05-01T12:00:03.400Z' } }],
  },
  unavailable: { outcome: notDone, answer: codeAnswer(-10) },
  half_done: { outcome: 'do_half', code: 10_010 },
  held: { outcome: 'accept', code: 10_008 },
  copy_lags: {},
}

interface TradeBody {
  readonly actionType: string
  readonly positionId: Ticket
  readonly stopLoss?: number
  readonly takeProfit?: number
  readonly volume?: number
}

for (const platform of ['mt5', 'mt4'] as const) {
  describePositionDeskContract(`the adapter over nock on ${platform}`, async (positions) => {
    const account: BrokerAccount = { ...plainAccount, platform }
    const { accountId } = account
    const broker = createFakePositionDesk({ now: () => now })
    broker.put(accountId, positions.map(positionOf))
    const copy = broker.positions(accountId)
    let trouble: ChangeTrouble | undefined
    let isReadable = true
    let isKnown = true
    let elapsedMs = 0

    const carryOut = ({
      actionType,
      positionId,
      volume,
      ...levels
    }: TradeBody): Promise<E.Either<BrokerChangeError, { readonly progress: string; readonly orderId?: string | null }>> => {
      if (actionType === 'POSITION_MODIFY') return broker.setLevels(account, positionId, levels, always)()
      return broker.closePosition(account, positionId, actionType === 'POSITION_CLOSE_ID' ? null : (volume ?? 0), always)()
    }

    const answerToTrade = async (body: TradeBody): Promise<Answer> => {
      const { outcome, answer, code } = trouble === undefined ? {} : troubles[trouble]
      trouble = undefined
      if (outcome !== undefined) broker.next(outcome)
      const held = broker.positions(accountId).find((position) => position.ticket === body.positionId)
      const made = await carryOut(body)
      if (answer !== undefined) return answer
      if (E.isLeft(made)) return codeAnswer(made.left._tag === 'PositionNotFound' ? 4_753 : codes[platform].invalidVolume)
      const isSame = body.actionType === 'POSITION_MODIFY' && held !== undefined && hasLevels(held, body)
      return codeAnswer(code ?? codes[platform][isSame ? 'noChanges' : 'done'], made.right?.orderId ?? undefined)
    }

    const answerToRead = ({ pathname, searchParams }: URL): Answer => {
      const [route] = pathname.split('/').slice(5)
      if (route === 'account-information') return [200, informationRow]
      if (!isReadable) return unreadable
      const isFresh = searchParams.get('refreshTerminalState') === 'true'
      return [200, (isFresh ? broker.positions(accountId) : copy).map(rowOf).toReversed()]
    }

    nock(clientHost)
      .persist()
      .get(/.*/)
      .reply(async ({ url }: Request) => (isKnown ? answerToRead(new URL(url)) : unknownAccount))
      .post(/\/trade$/)
      .reply(async (request: Request) => (isKnown ? answerToTrade((await request.json()) as TradeBody) : unknownAccount))
    return {
      desk: deskWith({ stopwatch: { elapsedMs: () => elapsedMs } }),
      account,
      restKeepsTicket: platform === 'mt5',
      held: () => broker.positions(accountId),
      booked: (orderId) => broker.closed(accountId).flatMap((deal) => (deal.orderId === orderId ? [deal.volume ?? 0] : [])),
      sends: () => broker.sent().length,
      troubleNext: async (next) => void (trouble = next),
      release: async () => broker.execute(),
      passTime: async (ms) => void (elapsedMs += ms),
      closeElsewhere: async (ticket) => {
        const left = broker.positions(accountId).filter((position) => position.ticket !== ticket)
        broker.put(accountId, left)
      },
      makeUnreadable: async () => void (isReadable = false),
      forgetAccount: async () => void (isKnown = false),
      close: async () => nock.cleanAll(),
    }
  })
}

const positionOf = (position: VenuePosition, index: number): BrokerPosition =>
  openPosition({ ...position, ticket: String(46_648_037 + index) as Ticket, unrealizedPnl: 40, openedAt: now - 60_000 + index })

const hasLevels = (position: Levels, levels: Levels): boolean =>
  position.stopLoss === levels.stopLoss && position.takeProfit === levels.takeProfit

const rowOf = ({ ticket, side, entryPrice, unrealizedPnl, realizedPnl, openedAt, ...same }: BrokerPosition) => {
  const { stopLoss: _stopLoss, ...row } = positionRow
  return {
    ...row,
    ...same,
    id: ticket,
    type: side === 'buy' ? 'POSITION_TYPE_BUY' : 'POSITION_TYPE_SELL',
    openPrice: entryPrice,
    unrealizedProfit: unrealizedPnl,
    realizedProfit: realizedPnl,
    time: new Date(openedAt).toISOString(),
  }
}
