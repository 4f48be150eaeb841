// What every UserStore does, numbered.
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OperatorStore } from '../ports/operator-store.ts'
import type { UserStore } from '../ports/user-store.ts'
import { newUser, puts, removes, rightOf, storedOwner, write } from './stored-records.ts'

export interface UserPorts {
  readonly users: UserStore
  readonly operator: OperatorStore
}

export type OpenUserPorts = () => Promise<{ readonly ports: UserPorts; readonly close: () => Promise<void> }>

export const userStoreContract = (title: string, open: OpenUserPorts): void => {
  describe(`user store, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenUserPorts>>
    let ports: UserPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    it('U1 finds the address of a user as it stands now', async () => {
      const owner = await storedOwner(ports.operator)
      expect(await rightOf(ports.users.email(owner))).toStrictEqual(O.some('owner@example.com'))
      await write(ports.operator, { users: puts({ ...newUser(owner.tenantId), id: owner.userId, email: 'ünï@example.com' }) })
      expect(await rightOf(ports.users.email(owner))).toStrictEqual(O.some('ünï@example.com'))
    })

    it('U2 finds none for a user that is not there, that was removed, or that is another tenant’s', async () => {
      const [owner, other] = [await storedOwner(ports.operator), await storedOwner(ports.operator)]
      expect(await rightOf(ports.users.email({ tenantId: other.tenantId, userId: owner.userId }))).toStrictEqual(O.none)
      expect(await rightOf(ports.users.email({ tenantId: owner.tenantId, userId: newUser(owner.tenantId).id }))).toStrictEqual(O.none)
      await write(ports.operator, { users: removes(owner.userId) })
      expect(await rightOf(ports.users.email(owner))).toStrictEqual(O.none)
    })
  })
}
