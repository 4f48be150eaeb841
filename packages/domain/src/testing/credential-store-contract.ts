// What every CredentialStore does, numbered: whose a key or token is, and nothing for one that is not there.
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAccessToken, newApiKey, newHash, puts, removes, rightOf, storedOwner, write } from './stored-records.ts'
import type { OpenStores, Stores } from './stored-records.ts'

export const credentialStoreContract = (title: string, open: OpenStores): void => {
  describe(`credential store, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenStores>>
    let stores: Stores
    beforeAll(async () => {
      opened = await open()
      stores = opened.stores
    })
    afterAll(() => opened.close())

    it('C1 finds whose an API key is, with the plan of its user and every field of the key', async () => {
      const owner = await storedOwner(stores.operator)
      const key = newApiKey(owner.userId, {
        ipAllowlist: ['127.0.0.1/32', '2001:db8::/32'],
        expiresAt: Date.parse('2027-01-01T00:00:00.001Z'),
        enabled: false,
      })
      await write(stores.operator, {
        users: puts({ id: owner.userId, tenantId: owner.tenantId, email: 'owner@example.com', plan: 'enterprise' }),
        apiKeys: puts(key),
      })
      expect(await rightOf(stores.credentials.findApiKey(key.hash))).toStrictEqual(
        O.some({
          kind: 'api_key',
          id: key.id,
          owner,
          applicationId: null,
          plan: 'enterprise',
          scopes: new Set(['accounts:read', 'trading:read']),
          ipAllowlist: ['127.0.0.1/32', '2001:db8::/32'],
          expiresAt: Date.parse('2027-01-01T00:00:00.001Z'),
          enabled: false,
        }),
      )
    })

    it('C2 finds whose an access token is, with its application', async () => {
      const owner = await storedOwner(stores.operator)
      const token = newAccessToken(owner.userId, { applicationId: 'app-7', scopes: [] })
      await write(stores.operator, { accessTokens: puts(token) })
      expect(await rightOf(stores.credentials.findAccessToken(token.hash))).toStrictEqual(
        O.some({
          kind: 'access_token',
          id: token.id,
          owner,
          applicationId: 'app-7',
          plan: 'free',
          scopes: new Set(),
          ipAllowlist: [],
          expiresAt: null,
          enabled: true,
        }),
      )
    })

    it('C3 finds nothing for a hash that no credential has', async () => {
      expect(await rightOf(stores.credentials.findApiKey(newHash()))).toStrictEqual(O.none)
      expect(await rightOf(stores.credentials.findAccessToken(newHash()))).toStrictEqual(O.none)
    })

    it('C4 never takes a key for a token or a token for a key', async () => {
      const owner = await storedOwner(stores.operator)
      const [key, token] = [newApiKey(owner.userId), newAccessToken(owner.userId)]
      await write(stores.operator, { apiKeys: puts(key), accessTokens: puts(token) })
      expect(await rightOf(stores.credentials.findAccessToken(key.hash))).toStrictEqual(O.none)
      expect(await rightOf(stores.credentials.findApiKey(token.hash))).toStrictEqual(O.none)
    })

    it('C5 sees a revocation and a removal at the next read', async () => {
      const owner = await storedOwner(stores.operator)
      const [revoked, removed] = [newApiKey(owner.userId), newApiKey(owner.userId)]
      await write(stores.operator, { apiKeys: puts(revoked, removed) })
      await write(stores.operator, { apiKeys: { put: [{ ...revoked, enabled: false }], remove: [removed.id] } })
      const found = await rightOf(stores.credentials.findApiKey(revoked.hash))
      expect(O.toUndefined(found)?.enabled).toBe(false)
      expect(await rightOf(stores.credentials.findApiKey(removed.hash))).toStrictEqual(O.none)
    })

    it('C6 takes the credentials of a user along when the user is removed', async () => {
      const owner = await storedOwner(stores.operator)
      const [key, token] = [newApiKey(owner.userId), newAccessToken(owner.userId)]
      await write(stores.operator, { apiKeys: puts(key), accessTokens: puts(token) })
      await write(stores.operator, { users: removes(owner.userId) })
      expect(await rightOf(stores.credentials.findApiKey(key.hash))).toStrictEqual(O.none)
      expect(await rightOf(stores.credentials.findAccessToken(token.hash))).toStrictEqual(O.none)
    })

    it('C7 finds the plan of a user in the tenant that it belongs to and in no other', async () => {
      const [owner, stranger] = [await storedOwner(stores.operator), await storedOwner(stores.operator)]
      const user = { id: owner.userId, tenantId: owner.tenantId, email: 'owner@example.com', plan: 'pro' } as const
      await write(stores.operator, { users: puts(user) })
      expect(await rightOf(stores.credentials.findUserPlan(owner))).toStrictEqual(O.some({ owner, plan: 'pro' }))
      expect(await rightOf(stores.credentials.findUserPlan({ ...owner, tenantId: stranger.tenantId }))).toStrictEqual(O.none)
      await write(stores.operator, { users: removes(owner.userId) })
      expect(await rightOf(stores.credentials.findUserPlan(owner))).toStrictEqual(O.none)
    })
  })
}
