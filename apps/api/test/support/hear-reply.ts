// What is done with every reply that a test gets from a service, whoever made the request.
import { createContractWatch } from '@tradeport/contract-watch'
import type { HeardReply } from '@tradeport/contract-watch'
import { createOpenApiDocument } from '@tradeport/http'
import { secretWatch } from './secret-watch.ts'

/** The one of this test file. */
export const contractWatch = createContractWatch(createOpenApiDocument())

export const hearReply = (reply: HeardReply): void => {
  secretWatch.hearReply(reply)
  contractWatch.hearReply(reply)
}
