// For tests that use nock: no request leaves, and nothing that one test set up is met by the next.
import nock from 'nock'
import { afterAll, afterEach, beforeAll } from 'vitest'

export const closeNetwork = (): void => {
  beforeAll(() => nock.disableNetConnect())
  afterEach(() => {
    nock.abortPendingRequests()
    nock.cleanAll()
  })
  afterAll(() => nock.restore())
}
