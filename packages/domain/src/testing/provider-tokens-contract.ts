// What every ProviderTokens does, numbered: a tenant's token as it was last set, and never another tenant's.
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newTenant, puts, rightOf, write } from './stored-records.ts'
import type { OpenStores, Stores } from './stored-records.ts'

export const providerTokensContract = (title: string, open: OpenStores): void => {
  describe(`provider tokens, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenStores>>
    let stores: Stores
    beforeAll(async () => {
      opened = await open()
      stores = opened.stores
    })
    afterAll(() => opened.close())

    it('P1 leaves the provider token alone when it is not named, sets it, and unsets it', async () => {
      const tenant = newTenant()
      const token = () => rightOf(stores.providerTokens.find(tenant.id))
      expect(await token()).toStrictEqual(O.none)
      await write(stores.operator, { tenants: puts(tenant) })
      expect(await token()).toStrictEqual(O.none)
      await write(stores.operator, { tenants: puts({ ...tenant, providerToken: 'provider-secret ☂' }) })
      expect(await token()).toStrictEqual(O.some('provider-secret ☂'))
      await write(stores.operator, { tenants: puts({ ...tenant, name: 'Renamed' }) })
      expect(await token()).toStrictEqual(O.some('provider-secret ☂'))
      await write(stores.operator, { tenants: puts({ ...tenant, providerToken: null }) })
      expect(await token()).toStrictEqual(O.none)
    })

    it('P2 keeps the token of one tenant from another', async () => {
      const [mine, other] = [newTenant(), newTenant()]
      await write(stores.operator, { tenants: puts({ ...mine, providerToken: 'mine' }, { ...other, providerToken: 'other' }) })
      expect(await rightOf(stores.providerTokens.find(mine.id))).toStrictEqual(O.some('mine'))
      expect(await rightOf(stores.providerTokens.find(other.id))).toStrictEqual(O.some('other'))
    })
  })
}
