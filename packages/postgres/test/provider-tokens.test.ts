// Provider tokens at rest: never in the clear, never another tenant's, and one that does not open is told to the operator.
import { newTenant, puts, rightOf, write } from '@tradeport/domain/testing'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCipher, createProviderTokens } from '../src/index.ts'
import type { Cipher, Database, LogEvent } from '../src/index.ts'
import { openEmbedded, storesOn, testKey } from './open-stores.ts'

describe('provider tokens', () => {
  let database: Database
  let logged: LogEvent[]
  beforeAll(async () => {
    database = (await openEmbedded()).database
  })
  afterAll(() => database.close())
  beforeEach(() => {
    logged = []
  })

  const stores = () => storesOn(database, { warn: (event) => logged.push(event) })

  const storedToken = async (providerToken: string) => {
    const tenant = newTenant()
    await write(stores().operator, { tenants: puts({ ...tenant, providerToken }) })
    return tenant
  }

  it('stand in no row in the clear', async () => {
    const { id } = await storedToken('provider-secret')
    const [row] = await database.knex('tenants').where({ id }).select()
    expect(Buffer.from(row.provider_token).toString('latin1')).not.toContain('provider-secret')
    expect(JSON.stringify({ ...row, provider_token: null })).not.toContain('provider-secret')
  })

  it('do not open in the row of another tenant', async () => {
    const [mine, theirs] = [await storedToken('mine'), await storedToken('theirs')]
    const [row] = await database.knex('tenants').where({ id: theirs.id }).select('provider_token')
    await database.knex('tenants').where({ id: mine.id }).update(row)
    expect(await rightOf(stores().providerTokens.find(mine.id))).toStrictEqual(O.none)
    expect(logged).toMatchObject([{ event: 'provider_token_unreadable', reason: expect.stringContaining(mine.id) }])
  })

  it('do not open under another key, and the log says so without the token', async () => {
    const { id } = await storedToken('provider-secret')
    const cipher = createCipher(new Uint8Array(32).fill(8))
    const tokens = createProviderTokens({ knex: database.knex, cipher, log: { warn: (event) => logged.push(event) } })
    expect(await rightOf(tokens.find(id))).toStrictEqual(O.none)
    expect(logged).toHaveLength(1)
    expect(JSON.stringify(logged)).not.toContain('provider-secret')
  })

  it('say nothing to the log when they open or were never set', async () => {
    const { id } = await storedToken('provider-secret')
    expect(await rightOf(stores().providerTokens.find(id))).toStrictEqual(O.some('provider-secret'))
    expect(await rightOf(stores().providerTokens.find(newTenant().id))).toStrictEqual(O.none)
    expect(logged).toStrictEqual([])
  })

  it('are opened once for those who ask together, each tenant for itself', async () => {
    const [mine, theirs] = [await storedToken('mine'), await storedToken('theirs')]
    const opened: string[] = []
    const sealing = createCipher(testKey)
    const cipher: Cipher = {
      ...sealing,
      decrypt: (place, sealed) => {
        opened.push(place.rowId)
        return sealing.decrypt(place, sealed)
      },
    }
    const tokens = createProviderTokens({ knex: database.knex, cipher, log: { warn: () => undefined } })
    const asked = [mine.id, theirs.id, mine.id, mine.id]
    expect(await Promise.all(asked.map((id) => rightOf(tokens.find(id))))).toStrictEqual(['mine', 'theirs', 'mine', 'mine'].map(O.some))
    expect(opened.toSorted()).toStrictEqual([mine.id, theirs.id].toSorted())
  })
})
