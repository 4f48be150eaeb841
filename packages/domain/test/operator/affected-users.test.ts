// Whose kept credentials a document makes out of date (decision 11).
import { describe, expect, it } from 'vitest'
import { usersAffectedBy } from '../../src/operator/affected-users.ts'
import type { OperatorChanges } from '../../src/operator/records.ts'
import type { TenantId, UserId } from '../../src/primitives/ids.ts'
import { newAccessToken, newAccount, newApiKey, noChanges, noRecords, puts, removes } from '../../src/testing/stored-records.ts'

const tenant = 'acme' as TenantId
const [ann, bob, cleo] = ['ann', 'bob', 'cleo'] as [UserId, UserId, UserId]
const user = (id: UserId) => ({ id, tenantId: tenant, email: 'owner@example.com', plan: 'pro' }) as const
const [key, token] = [newApiKey(ann), newAccessToken(bob)]
const stored = { ...noRecords, apiKeys: [key], accessTokens: [token] }

const affected = (changes: Partial<OperatorChanges>) => usersAffectedBy({ ...noChanges, ...changes }, stored)

describe('the users affected by a document', () => {
  it.each<[string, Partial<OperatorChanges>, ReturnType<typeof usersAffectedBy>]>([
    ['nobody, where it names neither users nor credentials', {}, []],
    ['nobody, where it changes accounts', { accounts: puts(newAccount({ tenantId: tenant, userId: ann })) }, []],
    ['nobody, where a tenant is named anew', { tenants: puts({ id: tenant, name: 'Acme 2' }) }, []],
    ['users that it writes, whose plan may differ', { users: puts(user(ann), user(bob)) }, [ann, bob]],
    ['users that it removes', { users: removes(cleo) }, [cleo]],
    ['users of keys and tokens that it writes', { apiKeys: puts(newApiKey(bob)), accessTokens: puts(newAccessToken(cleo)) }, [bob, cleo]],
    ['users of keys and tokens that it removes', { apiKeys: removes(key.id), accessTokens: removes(token.id) }, [ann, bob]],
    ['each of them once', { users: puts(user(ann)), apiKeys: puts(newApiKey(ann), newApiKey(ann)) }, [ann]],
    ['everyone, where a tenant goes with all of its users', { tenants: removes(tenant) }, 'everyone'],
    ['everyone, where nobody knows whose a removed key was', { apiKeys: removes('k-unknown') }, 'everyone'],
    ['everyone, where a token has the id of a key that is known', { accessTokens: removes(key.id) }, 'everyone'],
  ])('are %s', (_, changes, users) => {
    expect(affected(changes)).toStrictEqual(users)
  })
})
