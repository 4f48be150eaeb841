// The journal is read and written by index, however many deals and trades others have.
import { rightOf, storedAccount } from '@tradeport/domain/testing'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { JournalClaim } from '@tradeport/domain/ports'
import type { Ticket } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createJournalHealth, openJournal } from '../src/index.ts'
import type { OpenedJournal } from '../src/index.ts'
import { openEmbedded, openServer, serverTitle, serverUrl, storesOn } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const noon = Date.parse('2026-11-02T12:00:00.000Z')

const crowd = `
  insert into tenants (id, name) values ('crowd', 'Crowd');
  insert into users (id, tenant_id, email, plan) select 'crowd-' || n, 'crowd', 'e', 'free' from generate_series(1, 2000) n;
  insert into accounts (id, tenant_id, user_id, name, broker_type, account_number, server, purpose, linked_as_demo, currency, balance, equity,
      margin, status, provider_account_id, created_at, updated_at)
    select gen_random_uuid(), 'crowd', 'crowd-' || n, '', 'mt5', '', '', 'trading', true, 'USD', 1, 1, 1, 'connected', 'p-' || n, now(), now()
    from generate_series(1, 2000) n;
  insert into journals (tenant_id, account_id, provider_account_id, linked_at, synced_at, wanted_at)
    select tenant_id, id, provider_account_id, now(), now(), now() + interval '1 hour' from accounts;
  insert into deals (tenant_id, account_id, time_ms, id, entry, kind, position_id, profit, commission, swap)
    select 'crowd', id, n, n, 'in', 'buy', n, 0, 0, 0 from accounts, generate_series(1, 20) n where tenant_id = 'crowd';
  insert into trades (tenant_id, account_id, position_id, status, symbol, side, volume, entry_price, exit_price, profit, commission, swap,
      net_profit, opened_at, closed_at, holding_time, closing_deal_id)
    select 'crowd', id, n, 'closed', 'EURUSD', 'buy', 1, 1, 1, 1, 0, 0, 1, n, n, 1, n from accounts, generate_series(1, 20) n where tenant_id = 'crowd'`

/** The tables of which a plan reads every row. */
const readThrough = (plans: string): readonly string[] =>
  [...plans.matchAll(/"Node Type":"Seq Scan"[^{}]*?"Relation Name":"(\w+)"/g)].map(
    ([, table]) => table ?? '',
  )

const plansOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(title, () => {
    let opened: OpenedDatabase
    let stores: OpenedJournal
    let account: BrokerAccount
    let claim: JournalClaim
    let statements: Knex.Sql[] = []
    beforeAll(async () => {
      opened = await open()
      const { knex } = opened.database
      stores = openJournal({ knex, log: { warn: () => undefined } })
      for (const statement of crowd.split(';\n')) await knex.raw(statement)
      const { id, owner } = await storedAccount(storesOn(opened.database).operator)
      account = {
        accountId: id,
        owner,
        platform: 'mt5',
        providerAccountId: `provider-${id}`,
        region: null,
      }
      claim = O.getOrElse((): JournalClaim => expect.fail('is not claimed'))(
        await rightOf(stores.journal.claim(account)),
      )
      await write()
      await knex.raw('analyze')
      knex.on('query', (query: Knex.Sql) => statements.push(query))
    })
    afterAll(() => opened.close())

    const write = () => {
      const deals = ['1', '2'].map(
        (id) =>
          ({
            id,
            kind: 'buy',
            side: 'buy',
            entry: 'in',
            positionId: '1',
            profit: 1,
            commission: 0,
            swap: 0,
            time: noon,
          }) as const,
      )
      return stores.journal.write(claim, {
        inserted: deals,
        changed: deals.slice(0, 1),
        vanished: deals.slice(1),
        reading: null,
        now: noon,
        firstReadOffset: null,
        completed: { syncedAt: noon, latestDealAt: noon },
      })()
    }

    const plansOf = async (call: () => Promise<unknown>): Promise<string> => {
      statements = []
      await call()
      const sent = statements.filter(({ sql }) =>
        /^\s*(select|update|with|delete|insert)/.test(sql),
      )
      expect(sent).not.toHaveLength(0)
      const plans: string[] = []
      for (const { sql, bindings } of sent) {
        const text = `explain (format json) ${sql.replaceAll(/\$\d+/g, '?')}`
        const { rows } = await opened.database.knex.raw<{ rows: unknown[] }>(
          text,
          bindings as Knex.RawBinding[],
        )
        plans.push(JSON.stringify(rows))
      }
      return plans.join()
    }

    const selection = () => ({
      accountIds: [account.accountId],
      filter: { profit: 'profit', symbol: 'EURUSD' as never, from: 0, to: noon } as const,
    })
    const place = () => ({ closedAt: noon, closingDealId: '5', accountId: account.accountId })
    it.each<[string, () => Promise<unknown>]>([
      ['how far a journal is', () => stores.journal.find(account)()],
      ['a claim', () => stores.journal.claim(account)()],
      ['the deals from a time on', () => stores.journal.dealsFrom(account, noon)()],
      ['the deals of an order', () => stores.journal.closingDeals(account, '1', noon)()],
      ['a comparison with the balance', () => stores.journal.check(claim, 1, noon)()],
      ['a wish', () => stores.journal.want(account, noon)()],
      ['what a write needs', write],
      ['a page of trades', () => stores.records.page(account.owner, selection(), place(), 100)()],
      [
        'a page for an export',
        () => stores.records.exportPage(account.owner, selection(), undefined, 1_000)(),
      ],
      ['the results', () => stores.records.results(account.owner, selection())()],
      [
        'a trade',
        () =>
          stores.records.find(account.owner, {
            accountId: account.accountId,
            ticket: '1' as Ticket,
          })(),
      ],
      ['the skipped positions', () => stores.records.skipped(account.owner, [account.accountId])()],
      ['the journals that disagree', () => createJournalHealth(opened.database.knex).disagreeing()],
    ])('reads %s by index', async (_, call) => {
      expect(readThrough(await plansOf(call))).toStrictEqual([])
    })

    it('reads a page of trades in closing order off the index', async () => {
      const plans = await plansOf(() =>
        stores.records.page(
          account.owner,
          { ...selection(), filter: { profit: 'all' } },
          place(),
          10,
        )(),
      )
      expect(plans).toContain('"Index Name":"trades_closed"')
    })

    it('reads the journals that are due by index', async () => {
      statements = []
      const worker = await stores.jobs.work(async () => undefined)
      const due = () => statements.find(({ sql }) => sql.includes('skip locked'))
      await expect.poll(due, { timeout: 60_000 }).toBeDefined()
      await worker.stop()
      const { sql = '', bindings = [] } = due() ?? {}
      const { rows } = await opened.database.knex.raw<{ rows: unknown[] }>(
        `explain (format json) ${sql.replaceAll(/\$\d+/g, '?')}`,
        bindings as Knex.RawBinding[],
      )
      expect(readThrough(JSON.stringify(rows))).toStrictEqual([])
      expect(JSON.stringify(rows)).toContain('"Index Name":"journals_due"')
    })
  })
}

plansOn('query plans of the journal on the embedded database', openEmbedded)
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  plansOn('query plans of the journal', openServer)
})
