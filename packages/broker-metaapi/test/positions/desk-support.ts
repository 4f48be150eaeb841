// What the tests of changes share: a desk over whatever host the test plays, the four writes, and what may be said of one.
import type * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount, BrokerChangeError, CloseReceipt, PositionDesk, Ticket } from '@tradeport/domain'
import { createMetaApi } from '../../src/index.ts'
import type { MetaApiConfig } from '../../src/index.ts'
import { account, accountPath, now, provisioningHost, token } from '../support.ts'

export const ticket = '46648037' as Ticket
export const tradePath = `${accountPath}/trade`
export const dealsPath = `${accountPath}/history-deals/position/${ticket}`

export const deskWith = (config: Partial<MetaApiConfig> = {}): PositionDesk =>
  createMetaApi({
    provisioningUrl: provisioningHost,
    clientUrl: 'https://client.{region}.example',
    providerToken: () => TE.right(O.some(token)),
    clock: { now: () => now },
    ...config,
  }).positionDesk

export type Answer = E.Either<BrokerChangeError, CloseReceipt | void>

export const move = (desk = deskWith(), of: BrokerAccount = account): Promise<Answer> =>
  desk.setLevels(of, ticket, { stopLoss: 1.055, takeProfit: 1.2 })()
export const close = (desk = deskWith(), of: BrokerAccount = account): Promise<Answer> => desk.closePosition(of, ticket, null)()
export const closePart = (desk = deskWith(), of: BrokerAccount = account): Promise<Answer> => desk.closePosition(of, ticket, 0.04)()

export const writes = [
  ['a change of levels', move],
  ['a close', close],
  ['a close of a part', closePart],
] as const
