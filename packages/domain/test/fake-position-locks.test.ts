// The fake locks keep the contract that the database's keep.
import { createFakePositionLocks } from '../src/testing/fake-position-locks.ts'
import { positionLocksContract } from '../src/testing/position-locks-contract.ts'

positionLocksContract('in memory', async () => {
  let now = 0
  const locks = createFakePositionLocks({ now: () => now })
  return {
    ports: {
      locks,
      elsewhere: locks,
      dying: locks.dying,
      impatient: locks.impatient,
      elapse: async (ms) => {
        now += ms
        locks.tick()
        await new Promise(setImmediate)
      },
    },
    close: async () => undefined,
  }
})
