// After every test of this package: nothing that was told in it holds a secret.
import { afterAll, afterEach, expect } from 'vitest'
import { secretWatch } from './secret-watch.ts'

const expectNothingTold = (): void => expect(secretWatch.takeFaults()).toEqual([])

afterEach(expectNothingTold)
// What was told between the tests and after them.
afterAll(expectNothingTold)
