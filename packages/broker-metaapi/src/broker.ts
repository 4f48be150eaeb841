// The broker port over MetaApi's REST: an account in, the domain's types out.
import * as O from 'fp-ts/lib/Option.js'
import type { Broker } from '@tradeport/domain'
import { read, readingOver } from './connection.ts'
import type { Connection } from './connection.ts'
import { pageSize } from './client.ts'
import { AccountInformation, decode, decodeDealsPage, Margin } from './payloads.ts'
import { accountReadingOf } from './translate/account.ts'
import { dealsOf } from './translate/deals.ts'
import { positionsIn } from './translate/positions.ts'

/** Nothing is cached but the connection's regions. */
export const brokerOver = (connection: Connection): Broker => {
  const { client, clock, deadlines, targetOf } = connection
  const reading = readingOver(connection)

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

    dealsPage: (account, { from, to, offset }) =>
      reading(account, 'history-deals', deadlines.readMs, async (signal) => {
        const target = await targetOf(account)
        const readAt = clock.now()
        const bytes = await client.historyDeals(target, { start: from, end: to, offset, limit: pageSize }, signal)
        const rows = read('history-deals', decodeDealsPage(bytes))
        const deals = read('history-deals', dealsOf(rows))
        return { deals, nextOffset: rows.length < pageSize ? null : offset + pageSize, readAt }
      }),

    requiredMargin: (account, query) =>
      reading(account, 'calculate-margin', deadlines.readMs, async (signal) => {
        const bytes = await client.calculateMargin(await targetOf(account), query, signal)
        return O.fromNullable(read('calculate-margin', decode(Margin)(bytes)).margin)
      }),
  }
}
