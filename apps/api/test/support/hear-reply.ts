// What is done with every reply that a test gets from a service, whoever made the request.
import { createOpenApiDocument } from '@tradeport/http'
import { createContractWatch } from './contract-watch.ts'
import { secretWatch } from './secret-watch.ts'
import type { HeardReply } from './secret-watch.ts'

/** The one of this test file. */
export const contractWatch = createContractWatch(createOpenApiDocument())

export const hearReply = (reply: HeardReply): void => {
  secretWatch.hearReply(reply)
  contractWatch.hearReply(reply)
}
