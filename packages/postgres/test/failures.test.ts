// What goes wrong in the database is told as ServiceUnavailable, with a reason that holds no value and no secret.
import type { AccountId } from '@tradeport/domain'
import { newAccount, newApiKey, newTenant, noChanges, noKeys, puts, rightOf, storedAccount, write } from '@tradeport/domain/testing'
import type { Stores } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

const methods: readonly (readonly [string, (stores: Stores) => TE.TaskEither<unknown, unknown>])[] = [
  ['accounts.list', ({ accounts }) => accounts.list(account.owner)],
  ['accounts.find', ({ accounts }) => accounts.find(account.owner, account.id)],
  ['accounts.recordReading', ({ accounts }) => accounts.recordReading(account.owner, account, reading)],
  ['accounts.recordFailedRead', ({ accounts }) => accounts.recordFailedRead(account.owner, account.id, 0)],
  ['accounts.snapshots', ({ accounts }) => accounts.snapshots(account.owner, account.id, { limit: 1 })],
  ['credentials.findApiKey', ({ credentials }) => credentials.findApiKey(key.hash)],
  ['credentials.findAccessToken', ({ credentials }) => credentials.findAccessToken(key.hash)],
  ['operator.apply', ({ operator }) => operator.apply(noKeys, () => E.right({ changes: noChanges }))],
  ['providerTokens.find', ({ providerTokens }) => providerTokens.find(account.owner.tenantId)],
]

describe('a database that refuses, holds what cannot be read, or is closed', () => {
  let database: Database
  let stores: Stores
  beforeAll(async () => {
    database = (await openEmbedded()).database
    stores = storesOn(database)
  })
  afterAll(() => database.close())

  it('names the column of a row that does not decode and not what stands there', async () => {
    const stored = await storedAccount(stores.operator)
    await database.knex('accounts').where({ id: stored.id }).update({ status: 'odd-secret', purpose: 'odd-secret' })
    const unreadable = { _tag: 'ServiceUnavailable', reason: 'accounts.find: a row of accounts does not decode at purpose, status' }
    expect(await stores.accounts.find(stored.owner, stored.id)()).toStrictEqual(E.left(unreadable))
    expect(await stores.accounts.list(stored.owner)()).toMatchObject(E.left({ _tag: 'ServiceUnavailable' }))
  })

  it('takes a key with a scope that this version does not know for unreadable, never for one with fewer scopes', async () => {
    const { owner } = await storedAccount(stores.operator)
    const [stored, other] = [newApiKey(owner.userId), newApiKey(owner.userId)]
    await write(stores.operator, { apiKeys: puts(stored, other) })
    await database
      .knex('api_keys')
      .where({ id: stored.id })
      .update({ scopes: ['accounts:read', 'future:read'] })
    const unreadable = { _tag: 'ServiceUnavailable', reason: 'credentials.findApiKey: a row of api_keys does not decode at scopes' }
    // Both are read by one statement.
    const found = await Promise.all([stored, other].map(({ hash }) => stores.credentials.findApiKey(hash)()))
    expect(found).toMatchObject([E.left(unreadable), E.right(O.some({ id: other.id }))])
  })

  it('tells the code and not the value of a statement that the database refuses', async () => {
    const result = await stores.accounts.find(account.owner, 'value-secret' as AccountId)()
    expect(result).toStrictEqual(E.left({ _tag: 'ServiceUnavailable', reason: 'accounts.find: 22P02' }))
  })

  it('tells the constraint that changes would break', async () => {
    const changes = { ...noChanges, apiKeys: puts(key) }
    const result = await stores.operator.apply(noKeys, () => E.right({ changes }))()
    const reason = 'operator.apply: 23503 on api_keys_user_id_foreign'
    expect(result).toStrictEqual(E.left({ _tag: 'ServiceUnavailable', reason }))
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('stores nothing of a reading with the figure %d', async (equity) => {
    const stored = await storedAccount(stores.operator)
    const broken = { ...reading, figures: { ...reading.figures, equity } }
    expect(await stores.accounts.recordReading(stored.owner, stored, broken)()).toStrictEqual(
      E.left({ _tag: 'ServiceUnavailable', reason: 'accounts.recordReading: a number that is not finite' }),
    )
    expect(await rightOf(stores.accounts.snapshots(stored.owner, stored.id, { limit: 1 }))).toStrictEqual([])
  })

  it.each(methods)('leaves %s with ServiceUnavailable when it is closed', async (name, call) => {
    await database.close()
    expect(await call(stores)()).toStrictEqual(E.left({ _tag: 'ServiceUnavailable', reason: `${name}: Unable to acquire a connection` }))
  })
})
