// The fakes of notices keep the contracts that the database keeps.
import { createFakeUserStore } from '../src/testing/fake-mail.ts'
import { createFakeOperatorStore } from '../src/testing/fake-operator-store.ts'
import { createFakeOwnerNotices } from '../src/testing/fake-owner-notices.ts'
import { createFakeRecords } from '../src/testing/fake-records.ts'
import { ownerNoticesContract } from '../src/testing/owner-notices-contract.ts'
import { userStoreContract } from '../src/testing/user-store-contract.ts'

ownerNoticesContract('in memory', async () => {
  let now = 0
  const notices = createFakeOwnerNotices({ now: () => now })
  const elapse = async (ms: number): Promise<void> => {
    now += ms
    notices.handOut()
    await new Promise(setImmediate)
  }
  return {
    ports: { notices, elsewhere: notices, jobs: notices.jobs, elapse, forget: () => elapse(600_000) },
    close: async () => undefined,
  }
})

userStoreContract('in memory', async () => {
  const records = createFakeRecords()
  return { ports: { users: createFakeUserStore(records), operator: createFakeOperatorStore(records) }, close: async () => undefined }
})
