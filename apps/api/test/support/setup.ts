// After every test of this package: nothing that was told in it holds a secret, and everything that was answered is as the API's document says.
import { afterAll, afterEach, expect } from 'vitest'
import { contractWatch } from './hear-reply.ts'
import { secretWatch } from './secret-watch.ts'

const expectNoFaults = (): void => expect([...secretWatch.takeFaults(), ...contractWatch.takeFaults()]).toEqual([])

afterEach(expectNoFaults)
// What was told between the tests and after them.
afterAll(expectNoFaults)
