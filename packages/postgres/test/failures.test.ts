// What goes wrong in the database is ServiceUnavailable, with a reason that holds no value and no
// secret.
import type { AccountId } from '@tradeport/domain/primitives'
import {
  newAccount,
  newApiKey,
  newTenant,
  noChanges,
  noKeys,
  puts,
  rightOf,
  storedAccount,
  write,
  type Stores,
} from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../src/index.ts'
import { openEmbedded, storesOn } from './open-stores.ts'

const reading = {
  tradeMode: 'demo',
  broker: null,
  currency: null,
  figures: { balance: 1, equity: 1, margin: 1, freeMargin: 1, marginLevel: 1, leverage: 1 },
  readAt: 0,
} as const

const account = newAccount({ tenantId: newTenant().id, userId: newApiKey('u' as never).userId })
const key = newApiKey(account.owner.userId)

let database: Database
let stores: Stores
beforeAll(async () => {
  database = (await openEmbedded()).database
  stores = storesOn(database)
})
afterAll(() => database.close())

const unavailable = (reason: string) => E.left({ _tag: 'ServiceUnavailable', reason })

it('names the columns of a row that does not decode, and not their values', async () => {
  const stored = await storedAccount(stores.operator)
  await database
    .knex('accounts')
    .where({ id: stored.id })
    .update({ trade_mode: 'odd-secret', purpose: 'odd-secret' })
  const reason = 'accounts.find: a row of accounts does not decode at purpose, trade_mode'
  expect(await stores.accounts.find(stored.owner, stored.id)()).toStrictEqual(unavailable(reason))
})

it('a key with a scope that this version does not know is unreadable, never one with fewer scopes, and others that are read with it are not', async () => {
  const { owner } = await storedAccount(stores.operator)
  const [stored, other] = [newApiKey(owner.userId), newApiKey(owner.userId)]
  await write(stores.operator, { apiKeys: puts(stored, other) })
  await database
    .knex('api_keys')
    .where({ id: stored.id })
    .update({ scopes: ['accounts:read', 'future:read'] })
  const found = await Promise.all(
    [stored, other].map(({ hash }) => stores.credentials.findApiKey(hash)()),
  )
  const reason = 'credentials.findApiKey: a row of api_keys does not decode at scopes'
  expect(found).toMatchObject([unavailable(reason), E.right(O.some({ id: other.id }))])
})

it('a statement that the database refuses is reported by its code and constraint, not its values', async () => {
  const query = { limit: 1 }
  expect(
    await stores.accounts.snapshots(account.owner, 'value-secret' as AccountId, query)(),
  ).toStrictEqual(unavailable('accounts.snapshots: 22P02'))
  const ofNobody = newAccount({ tenantId: newTenant().id, userId: account.owner.userId })
  const result = await stores.operator.apply(noKeys, () =>
    E.right({ changes: { ...noChanges, accounts: puts(ofNobody) } }),
  )()
  expect(result).toStrictEqual(
    unavailable('operator.apply: 23503 on accounts_tenant_id_user_id_fkey'),
  )
})

it.each([Number.NaN, Number.POSITIVE_INFINITY])(
  'nothing is stored of a reading with the figure %d',
  async (equity) => {
    const stored = await storedAccount(stores.operator)
    const broken = { ...reading, figures: { ...reading.figures, equity } }
    const refused = await stores.accounts.recordReading(stored.owner, stored, broken)()
    expect(refused).toStrictEqual(
      unavailable('accounts.recordReading: a number that is not finite'),
    )
    expect(
      await rightOf(stores.accounts.snapshots(stored.owner, stored.id, { limit: 1 })),
    ).toStrictEqual([])
  },
)

it.each<[string, () => () => Promise<unknown>]>([
  ['accounts.find', () => stores.accounts.find(account.owner, account.id)],
  ['credentials.findApiKey', () => stores.credentials.findApiKey(key.hash)],
  ['operator.apply', () => stores.operator.apply(noKeys, () => E.right({ changes: noChanges }))],
  ['providerTokens.find', () => stores.providerTokens.find(account.owner.tenantId)],
])('%s is unavailable when the database is closed', async (name, call) => {
  await database.close()
  expect(await call()()).toStrictEqual(unavailable(`${name}: Unable to acquire a connection`))
})
