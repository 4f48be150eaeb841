// The service as the specification describes it: no event is recorded and none delivered (decision 45).
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { EventLog } from '../../ports/event-log.ts'
import type { WebhookDeliveries } from '../../ports/webhook-deliveries.ts'
import { pageOf } from '../../primitives/pages.ts'

export const withoutEvents: { readonly eventLog: EventLog; readonly webhookDeliveries: WebhookDeliveries } = {
  eventLog: { isRecording: false, record: () => TE.right(undefined) },
  webhookDeliveries: {
    list: (_owner, _webhookId, query) => TE.right(pageOf([], query)),
    replay: () => TE.right(O.none),
  },
}
