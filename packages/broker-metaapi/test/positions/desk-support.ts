// What the tests of changes share: a desk over whatever host or answer the test plays, and the three writes.
import type * as E from 'fp-ts/lib/Either.js'
import type { BrokerChangeError, CloseReceipt, LevelsReceipt, MaySend, PositionDesk, Ticket } from '@tradeport/domain'
import { createConnection } from '../../src/connection.ts'
import { createMetaApi } from '../../src/index.ts'
import type { MetaApiConfig } from '../../src/index.ts'
import { positionDeskOver } from '../../src/positions/position-desk.ts'
import type { Delivery } from '../../src/trade/trade-answer.ts'
import { tradeOnceOver } from '../../src/trade/trade-once.ts'
import type { SendTrade, TradeRequest } from '../../src/trade/trade-sender.ts'
import { always, configOf } from '../orders/order-support.ts'
import { account, accountPath } from '../support.ts'

export const ticket = '46648037' as Ticket
export const tradePath = `${accountPath}/trade`

export const deskWith = (config: Partial<MetaApiConfig> = {}): PositionDesk => createMetaApi(configOf(config)).positionDesk

/** A desk whose trades are answered by the test; everything that is sent is kept. */
export const deskAnswered = (answer: Delivery | (() => Promise<Delivery>), config: Partial<MetaApiConfig> = {}) => {
  const sent: TradeRequest[] = []
  const send: SendTrade = async (request) => {
    sent.push(request)
    return typeof answer === 'function' ? answer() : answer
  }
  const connection = createConnection(configOf(config))
  return { desk: positionDeskOver(connection, tradeOnceOver(connection, send)), sent }
}

export const answered = (status: number, body: unknown, retryAfter: string | null = null): Delivery => ({
  kind: 'answered',
  status,
  retryAfter,
  date: null,
  body,
})

export type Answer = E.Either<BrokerChangeError, CloseReceipt | LevelsReceipt>

type Write = (desk: PositionDesk, of?: typeof account, maySend?: MaySend) => Promise<Answer>

export const move: Write = (desk, of = account, maySend = always) =>
  desk.setLevels(of, ticket, { stopLoss: 1.055, takeProfit: 1.2 }, maySend)()
export const close: Write = (desk, of = account, maySend = always) => desk.closePosition(of, ticket, null, maySend)()
export const closePart: Write = (desk, of = account, maySend = always) => desk.closePosition(of, ticket, 0.04, maySend)()

export const writes: readonly { readonly what: string; readonly make: Write }[] = [
  { what: 'a change of levels', make: move },
  { what: 'a close', make: close },
  { what: 'a close of a part', make: closePart },
]
