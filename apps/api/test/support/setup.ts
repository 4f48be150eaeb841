// After every test of this package: nothing that the service wrote or answered holds a secret, and
// every reply is as the API's document says.
import { afterAll, afterEach, expect } from 'vitest'
import { contractWatch } from './service.ts'
import { secretWatch } from './secret-watch.ts'

const expectNoFaults = () =>
  expect([...secretWatch.takeFaults(), ...contractWatch.takeFaults()]).toEqual([])

afterEach(expectNoFaults)
// Whatever happened between the tests and after them.
afterAll(expectNoFaults)
