// The service as the specification describes it: no event is recorded and none delivered.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { WebhookDeliveries } from '../../ports/webhook-deliveries.ts'
import { pageOf } from '../../primitives/pages.ts'

export const noDeliveries: WebhookDeliveries = {
  list: (_owner, _webhookId, query) => TE.right(pageOf([], query)),
  replay: () => TE.right(O.none),
}
