// Webhooks keep the contract, on the embedded database and on a server with two instances; their secrets stand nowhere in the clear.
import { newWebhook, rightOf, storedOwner, webhookStoreContract } from '@tradeport/domain/testing'
import type { OpenWebhookPorts } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCipher, createWebhookStore, openDatabase } from '../src/index.ts'
import type { Database } from '../src/index.ts'
import { createServerDatabase, openEmbedded, serverTitle, serverUrl, storesOn, testKey } from './open-stores.ts'

const cipher = createCipher(testKey)
const webhooksOn = ({ knex }: Database) => createWebhookStore({ knex, cipher })

const openWebhooksEmbedded: OpenWebhookPorts = async () => {
  const { database, close } = await openEmbedded()
  const { operator } = storesOn(database)
  return { ports: { operator, webhooks: webhooksOn(database), elsewhere: webhooksOn(database) }, close }
}

/** Two instances with pools of their own on one server. */
const openWebhooksOnServer: OpenWebhookPorts = async () => {
  const { url, drop } = await createServerDatabase()
  const [here, elsewhere] = await Promise.all([openDatabase({ url }), openDatabase({ url })])
  return {
    ports: { operator: storesOn(here).operator, webhooks: webhooksOn(here), elsewhere: webhooksOn(elsewhere) },
    close: async () => {
      await Promise.all([here.close(), elsewhere.close()])
      await drop()
    },
  }
}

webhookStoreContract('embedded', openWebhooksEmbedded)
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  webhookStoreContract('server', openWebhooksOnServer)
})

describe('the secret of a webhook', () => {
  const secret = 'a secret of some length'
  let database: Database
  beforeAll(async () => {
    database = (await openEmbedded()).database
  })
  afterAll(() => database.close())

  const stored = async () => {
    const webhook = newWebhook(await storedOwner(storesOn(database).operator), 0)
    await rightOf(webhooksOn(database).create(webhook.owner, { webhook, secret }))
    return webhook
  }

  it('stands in no row in the clear', async () => {
    const { id } = await stored()
    const [row] = await database.knex('webhooks').where({ id }).select()
    expect(Buffer.from(row.secret).toString('latin1')).not.toContain(secret)
    expect(JSON.stringify({ ...row, secret: null })).not.toContain(secret)
  })

  it('does not open in the row of another webhook, nor under another key, and nothing is signed with what is there', async () => {
    const [mine, theirs] = [await stored(), await stored()]
    const otherKey = createWebhookStore({ knex: database.knex, cipher: createCipher(new Uint8Array(32).fill(8)) })
    const [row] = await database.knex('webhooks').where({ id: theirs.id }).select('secret')
    await database.knex('webhooks').where({ id: mine.id }).update(row)
    for (const [store, webhook] of [[webhooksOn(database), mine] as const, [otherKey, theirs] as const]) {
      const reason = `the secret of webhook ${webhook.id} cannot be decrypted; was it written under another secrets key?`
      expect(await store.findWithSecret(webhook.owner, webhook.id)()).toStrictEqual(E.left({ _tag: 'ServiceUnavailable', reason }))
      // What needs no secret is not kept from its user.
      expect(E.isRight(await store.find(webhook.owner, webhook.id)())).toBe(true)
    }
  })
})
