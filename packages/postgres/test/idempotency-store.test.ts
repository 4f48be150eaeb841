// What the contract of idempotency keys cannot show: how kept replies that hold a secret stand in the table, and what happens to keys of earlier versions.
import { newClaim, newOrder, newReply, rightOf, storedOwner, toRecord } from '@tradeport/domain/testing'
import type { IdempotencyClaim, Owner } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCipher, createIdempotencyStore } from '../src/index.ts'
import { openEmbedded, openServer, serverTitle, serverUrl } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'
import { startInstance } from './order-ports.ts'
import type { OrderInstance } from './order-ports.ts'

const secret = 'whsec_0123456789abcdef'
const reply = newReply({ body: JSON.stringify({ data: { secret } }), isSecret: true })

const keptOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`kept replies, ${title}`, () => {
    let opened: OpenedDatabase
    let instance: OrderInstance
    let knex: Knex
    beforeAll(async () => {
      opened = await open()
      instance = await startInstance(opened.database)
      knex = opened.database.knex
    })
    afterAll(async () => {
      await instance.stop()
      await opened.close()
    })

    const claimed = async () => {
      const owner = await storedOwner(instance.ports.operator)
      const claim = newClaim()
      await rightOf(instance.ports.idempotency.claim(owner, claim, 0))
      return { owner, claim }
    }

    it.each<[string, (owner: Owner, claim: IdempotencyClaim) => Promise<unknown>]>([
      ['alone', (owner, claim) => rightOf(instance.ports.idempotency.keep(owner, claim, reply))],
      [
        'with its order',
        (owner, claim) => rightOf(instance.ports.orders.record(owner, toRecord(newOrder(owner, 0), { keep: { claim, reply } }))),
      ],
    ])('seal a secret that is kept %s, for the claim that it belongs to', async (_, keep) => {
      const { owner, claim } = await claimed()
      await keep(owner, claim)
      const { id } = claim
      const [row] = await knex('idempotency_keys').where({ id }).select<{ sealed_reply_body: Uint8Array }[]>('*')
      expect(Buffer.from(row?.sealed_reply_body ?? []).toString('latin1')).not.toContain(secret)
      expect(JSON.stringify({ ...row, sealed_reply_body: null })).not.toContain(secret)
      expect(await rightOf(instance.ports.idempotency.claim(owner, claim, 1))).toStrictEqual({ kind: 'replied', reply })
      const other = await claimed()
      await knex('idempotency_keys').where({ id: other.claim.id }).update({ state: 'replied', sealed_reply_body: row?.sealed_reply_body })
      expect(await instance.ports.idempotency.claim(other.owner, other.claim, 1)()).toMatchObject({
        left: { _tag: 'ServiceUnavailable', reason: expect.stringContaining(`the kept reply ${other.claim.id} cannot be decrypted`) },
      })
    })

    it('are not given out, and their key to nobody, where no key of the service opens them', async () => {
      const { owner, claim } = await claimed()
      await rightOf(instance.ports.idempotency.keep(owner, claim, reply))
      const elsewhere = createIdempotencyStore({ knex, cipher: createCipher(new Uint8Array(32).fill(8)) })
      expect(E.isLeft(await elsewhere.claim(owner, newClaim({ ...claim, id: 'later' }), 1)())).toBe(true)
      expect(await rightOf(instance.ports.idempotency.claim(owner, claim, 1))).toStrictEqual({ kind: 'replied', reply })
    })
  })
}

keptOn('embedded', openEmbedded)
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  keptOn('server', openServer)
})
