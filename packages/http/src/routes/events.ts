// The log of events: by pages, and as a stream.
import { type EventId, eventScopes, type LoggedEvent, parseEventId } from '@tradeport/domain/events'
import { type WebhookEventType, webhookEventTypes } from '@tradeport/domain/webhooks'
import * as O from 'fp-ts/lib/Option.js'
import { eventFrame, eventStreamOf, eventStreamReply } from '../event-stream.ts'
import { accountId, limit, listPaginationShape } from '../fields.ts'
import { anyOf } from '../route.ts'
import {
  anything,
  list,
  oneOf,
  optional,
  parsedString,
  partial,
  record,
  text,
  time,
} from '../schema.ts'
import { route } from '../use-cases.ts'

export const eventIdPattern = '^evt_[0-9a-z]{20,32}$'
export const exampleEventId = 'evt_0000000000423f9a6c1e07d2b58c'
const eventId = (description: string) =>
  parsedString('the id of an event', parseEventId, description, exampleEventId, {
    pattern: eventIdPattern,
  })

// Browsers may send it empty where they have none yet.
const lastEventId = parsedString<EventId | undefined>(
  'the id of an event, or empty',
  (sent) => (sent === '' ? O.some(undefined) : parseEventId(sent)),
  'Resume after this event; overrides `after`. Empty: as if it were left out.',
  exampleEventId,
  { pattern: `${eventIdPattern}|^$` },
)

const isType = (name: string): name is WebhookEventType =>
  (webhookEventTypes as readonly string[]).includes(name)

const typePattern = webhookEventTypes.join('|').replaceAll('.', String.raw`\.`)

const types = parsedString<readonly WebhookEventType[]>(
  `names of ${webhookEventTypes.join(', ')}, separated by commas`,
  (sent) => {
    const names = sent.split(',')
    return names.every(isType) ? O.some(names) : O.none
  },
  'Only events of these types, separated by commas; without it all that the credential may read.',
  'trade.closed,position.closed',
  { pattern: `^(${typePattern})(,(${typePattern}))*$` },
)

const event = record(
  'Event',
  'Something that happened, as the log has it.',
  {
    id: text('Event id; ids sort in event order.', exampleEventId, { pattern: eventIdPattern }),
    event: oneOf(webhookEventTypes, 'The event type.', 'order.filled'),
    accountId,
    timestamp: time('When it was recorded.'),
    data: anything('As webhooks get it; the fields depend on the type.', {
      order_id: 'ord_0mhk3v9q2c7d1x8p4z6w',
    }),
  },
  ({ type, recordedAt, ...logged }: LoggedEvent) => ({
    ...logged,
    event: type,
    timestamp: recordedAt,
  }),
)

const eventReaders = anyOf(...eventScopes)
const filters = partial({ types, accountId })

export const eventRoutes = [
  route('GET /events', 'listEvents', 'The log of events, oldest first.', {
    capability: 'events',
    access: eventReaders,
    query: {
      ...filters,
      ...partial({
        after: eventId('Only events after this one.'),
        before: eventId('Only events before this one; newest first.'),
        order: oneOf(['asc', 'desc'], 'Default: asc; desc when only `before` is given.'),
      }),
      limit: limit(1_000, 100),
    },
    refusals: ['InsufficientScope', 'AccountNotFound', 'EventGone'],
    data: list(event, 'In the order of the page.'),
    meta: { pagination: listPaginationShape },
  }),
  route('GET /events/stream', 'streamEvents', 'Events as they are recorded.', {
    capability: 'events',
    access: eventReaders,
    query: { ...filters, after: optional(eventId('Begin with what follows this event.')) },
    headers: { 'Last-Event-ID': optional(lastEventId) },
    refusals: ['InsufficientScope', 'AccountNotFound', 'EventGone', 'StreamLimitReached'],
    ...eventStreamOf(
      'Each event has its id as `id`, its type as `event`, and itself as one line of `data`.',
    ),
    stream: (events) =>
      eventStreamReply(
        events,
        (batch) =>
          batch.events
            .map((logged) => eventFrame(logged.type, event.encode(logged), logged.id))
            .join(''),
        ({ readTo }) => readTo,
      ),
  }),
]
