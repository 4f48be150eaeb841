// The service as the specification describes it: no event is recorded and none delivered (decision 45).
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { CloseRecords } from '../../ports/close-records.ts'
import type { WebhookDeliveries } from '../../ports/webhook-deliveries.ts'
import { pageOf } from '../../primitives/pages.ts'

export const withoutEvents: { readonly closeRecords: CloseRecords; readonly webhookDeliveries: WebhookDeliveries } = {
  closeRecords: { record: () => TE.right(O.none), find: () => TE.right(O.none), advance: () => TE.right(false) },
  webhookDeliveries: {
    list: (_owner, _webhookId, query) => TE.right(pageOf([], query)),
    replay: () => TE.right(O.none),
  },
}
