// An owner's reads go by index: they do not slow down with other tenants' rows.
import { newWebhook, rightOf, storedAccount } from '@tradeport/domain/testing'
import type { Account, AccountReading, Webhook } from '@tradeport/domain'
import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCipher, createTenantRecords, createWebhookStore } from '../src/index.ts'
import { openEmbedded, openServer, serverTitle, serverUrl, storesOn, testKey } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

// The account under test is one of twenty with 2,000 snapshots each.
const crowd = `
  insert into tenants (id, name) select 'crowd-' || n, 'Crowd' from generate_series(1, 2000) n;
  insert into users (id, tenant_id, email, plan) select 'crowd-' || n, 'crowd-' || n, 'e', 'free' from generate_series(1, 2000) n;
  insert into accounts (id, tenant_id, user_id, name, broker_type, account_number, server, purpose, linked_as_demo, currency, balance, equity,
      margin, status, created_at, updated_at)
    select gen_random_uuid(), 'crowd-' || n, 'crowd-' || n, '', 'mt5', '', '', 'trading', true, 'USD', 1, 1, 1, 'connected', now(), now()
    from generate_series(1, 2000) n, generate_series(1, 2);
  insert into api_keys (id, user_id, name, hash, scopes, ip_allowlist, enabled)
    select 'crowd-' || n || '-' || m, 'crowd-' || n, '', encode(sha256((n || '-' || m)::bytea), 'hex'), '{}', '{}', true
    from generate_series(1, 2000) n, generate_series(1, 2) m;
  insert into access_tokens (id, user_id, application_id, hash, scopes, enabled)
    select 'crowd-' || n || '-' || m, 'crowd-' || n, '', encode(sha256((n || '-' || m)::bytea), 'hex'), '{}', true
    from generate_series(1, 2000) n, generate_series(1, 2) m;
  insert into desks (id, tenant_id) select 'crowd-' || n || '-' || m, 'crowd-' || n from generate_series(1, 2000) n, generate_series(1, 2) m;
  insert into desk_accounts (desk_id, account_id, place)
    select desks.id, accounts.id, 0 from desks join accounts on accounts.tenant_id = desks.tenant_id;
  insert into webhooks (id, tenant_id, user_id, url, event_types, secret, enabled, failure_count, created_at, updated_at)
    select gen_random_uuid(), 'crowd-' || n, 'crowd-' || n, 'https://example.com', '{}', '', true, 0, now(), now()
    from generate_series(1, 2000) n, generate_series(1, 10);
  insert into balance_snapshots (account_id, taken_at, balance, equity, margin)
    select id, timestamptz '2026-01-01' + n * interval '5 minutes', 1, 1, 1 from (select id from accounts order by user_id like 'crowd-%', id limit 20) a, generate_series(1, 2000) n`

const reading: AccountReading = {
  tradeMode: 'demo',
  broker: null,
  currency: null,
  figures: { balance: 1, equity: 1, margin: 1, freeMargin: 1, marginLevel: 1, leverage: 1 },
  readAt: 2e12,
}

const plansOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(title, () => {
    let opened: OpenedDatabase
    let account: Account
    let webhook: Webhook
    let statements: Knex.Sql[]
    beforeAll(async () => {
      opened = await open()
      account = await storedAccount(storesOn(opened.database).operator)
      webhook = newWebhook(account.owner, 0)
      await rightOf(webhooks().create(account.owner, { webhook, secret: 's' }))
      for (const statement of crowd.split(';\n')) await opened.database.knex.raw(statement)
      await opened.database.knex.raw('analyze')
      statements = []
      opened.database.knex.on('query', (query: Knex.Sql) => statements.push(query))
    })
    afterAll(() => opened.close())

    /** The scans and sorts of the statements that the call sent. */
    const scansOf = async (call: () => Promise<unknown>): Promise<readonly string[]> => {
      statements.length = 0
      await call()
      const sent = statements.filter(({ sql }) => sql.startsWith('select'))
      const plans: string[] = []
      for (const { sql, bindings } of sent) {
        // The statement as it was sent, its placeholders turned back into knex's own.
        const explained = await opened.database.knex.raw<{ rows: unknown[] }>(
          `explain (format json) ${sql.replaceAll(/\$\d+/g, '?')}`,
          bindings as Knex.RawBinding[],
        )
        plans.push(JSON.stringify(explained.rows))
      }
      expect(plans).not.toHaveLength(0)
      return plans.flatMap((plan) => [...plan.matchAll(/"Node Type":"([A-Za-z ]*(?:Scan|Sort))"/g)].map(([, step]) => step ?? ''))
    }

    const stores = () => storesOn(opened.database)
    const webhooks = () => createWebhookStore({ knex: opened.database.knex, cipher: createCipher(testKey) })

    it.each<[string, () => Promise<unknown>]>([
      ['the accounts of an owner', () => stores().accounts.list(account.owner)()],
      ['an account', () => stores().accounts.find(account.owner, account.id)()],
      ['the snapshots of an account', () => stores().accounts.snapshots(account.owner, account.id, { from: 0, to: 2e12, limit: 365 })()],
      ['the last snapshot when a reading is recorded', () => stores().accounts.recordReading(account.owner, account, reading)()],
      ['the webhooks of an owner', () => webhooks().list(account.owner)()],
      ['a webhook', () => webhooks().findWithSecret(account.owner, webhook.id)()],
      ['a webhook that is changed', () => webhooks().change(account.owner, webhook.id, { enabled: false }, 0)()],
      ['how many webhooks an owner has', () => webhooks().create(account.owner, { webhook: newWebhook(account.owner, 0), secret: 's' })()],
      ['a key by its hash', () => stores().credentials.findApiKey('0'.repeat(64) as never)()],
    ])('reads %s by index alone', async (_, call) => {
      const scans = await scansOf(call)
      expect(scans).not.toContain('Seq Scan')
      expect(scans).not.toContain('Sort')
      expect(scans.join()).toContain('Index')
    })

    const slice = { after: undefined, limit: 101, userId: undefined }
    const from = () => ({ ...slice, after: { userId: account.owner.userId, id: 'a' } })
    const records = () => createTenantRecords(opened.database)
    it.each<[string, () => Promise<unknown>]>([
      ['the users of a tenant', () => records().users(account.owner.tenantId, slice)()],
      ['the keys of a tenant', () => records().apiKeys(account.owner.tenantId, slice)()],
      ['the keys of a tenant after a place', () => records().apiKeys(account.owner.tenantId, from())()],
      ['the keys of a user', () => records().apiKeys(account.owner.tenantId, { ...slice, userId: account.owner.userId })()],
      ['the tokens of a tenant', () => records().accessTokens(account.owner.tenantId, from())()],
      ['the desks of a tenant', () => records().desks(account.owner.tenantId, slice)()],
      ['all tenants', () => records().tenants({ after: account.owner.tenantId, limit: 101 })()],
    ])('lists %s by index, sorting one user’s at a time at most', async (_, call) => {
      const scans = await scansOf(call)
      expect(scans.filter((step) => step === 'Seq Scan')).toStrictEqual([])
      expect(scans.join()).toContain('Index')
    })
  })
}

plansOn('query plans on the embedded database', openEmbedded)
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  plansOn('query plans', openServer)
})
