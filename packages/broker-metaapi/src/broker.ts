// The broker port over MetaApi's REST: an account in, the domain's types out.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import { dayMs, historyTooLarge, maxHistoryDeals } from '@tradeport/domain'
import type { Broker, BrokerAccount, DealsReading, HistoryTooLarge } from '@tradeport/domain'
import { bounded, read, readingOver } from './connection.ts'
import type { Connection } from './connection.ts'
import { pageSize, readHistory, tooManyDeals } from './history.ts'
import { AccountInformation, decode, Margin } from './payloads.ts'
import { accountReadingOf } from './translate/account.ts'
import { positionsIn } from './translate/positions.ts'

/** Nothing is cached but the connection's regions. */
export const brokerOver = (connection: Connection): Broker => {
  const { client, clock, deadlines, targetOf } = connection
  const reading = readingOver(connection)

  const history = async (account: BrokerAccount, signal: AbortSignal): Promise<E.Either<HistoryTooLarge, DealsReading>> => {
    const target = await targetOf(account)
    const readAt = clock.now()
    // Fixed before the first page, so that deals made meanwhile move nothing. The end is not included, and a broker's clock may be ahead.
    const window = { start: 0, end: readAt + dayMs, limit: pageSize }
    const deals = await readHistory((offset) =>
      bounded('history-deals', deadlines.readMs, (page) => client.historyDeals(target, { ...window, offset }, page), signal),
    )
    return deals === tooManyDeals ? E.left(historyTooLarge(account.accountId, maxHistoryDeals)) : E.right({ deals, readAt })
  }

  return {
    source: 'metaapi',

    accountInformation: (account) =>
      reading(account, 'account-information', deadlines.accountInformationMs, async (signal) => {
        const bytes = await client.accountInformation(await targetOf(account), signal)
        return accountReadingOf(read('account-information', decode(AccountInformation)(bytes)), clock.now())
      }),

    positions: (account) =>
      reading(account, 'positions', deadlines.readMs, async (signal) => {
        const bytes = await client.positions(await targetOf(account), false, signal)
        return { positions: read('positions', positionsIn(bytes)), readAt: clock.now() }
      }),

    deals: (account) =>
      pipe(
        reading(account, 'history-deals', deadlines.historyMs, (signal) => history(account, signal)),
        TE.flatMapEither((deals) => deals),
      ),

    requiredMargin: (account, query) =>
      reading(account, 'calculate-margin', deadlines.readMs, async (signal) => {
        const bytes = await client.calculateMargin(await targetOf(account), query, signal)
        return O.fromNullable(read('calculate-margin', decode(Margin)(bytes)).margin)
      }),
  }
}
