// Compares the events that were recorded with what happened, and what receivers got with the
// events.

export interface RecordedEvent {
  readonly sequence: number
  readonly userId: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What truly happened to a user and the user's account: the name of each event that it is. */
export interface Happened {
  readonly userId: string
  readonly names: readonly string[]
}

/** Every type whose events a run compares, with the data that names one. */
const namedBy: Readonly<Record<string, readonly string[]>> = {
  'order.created': ['order_id'],
  'order.filled': ['order_id'],
  'position.opened': ['position_id', 'symbol', 'opened_at'],
  'position.closed': [
    'position_id',
    'closed_volume',
    'exit_price',
    'realized_pnl',
    'closed_at',
    'exit_reason',
  ],
  'trade.closed': ['position_id', 'volume', 'profit', 'closed_at'],
  'account.balance_changed': ['account_id', 'change_amount', 'changed_at'],
}
export const eventTypes = Object.keys(namedBy)

export const nameOf = (type: string, data: RecordedEvent['data']): string =>
  `${type} ${JSON.stringify((namedBy[type] ?? []).map((field) => data[field]))}`

/** @returns sentences, each a broken promise; empty when all was kept */
export const checkEvents = (
  happened: readonly Happened[],
  events: readonly RecordedEvent[],
): readonly string[] =>
  happened.flatMap(({ userId, names }) => {
    const own = events.filter((event) => event.userId === userId)
    return differences(
      `of ${userId}`,
      names,
      own.map(({ type, data }) => nameOf(type, data)),
    )
  })

/** @returns sentences on what is in one list more often than in the other */
export const differences = (
  where: string,
  happened: readonly string[],
  recorded: readonly string[],
): readonly string[] => {
  const left = new Map<string, number>()
  for (const one of happened) left.set(one, (left.get(one) ?? 0) + 1)
  for (const one of recorded) left.set(one, (left.get(one) ?? 0) - 1)
  return [...left].flatMap(([one, count]) => {
    if (count === 0) return []
    return [
      `${one} ${where} ${count > 0 ? 'is not recorded' : 'is recorded, and did not happen that often'}`,
    ]
  })
}

export interface RunWebhook {
  readonly id: string
  readonly userId: string
  readonly isFailing: boolean
}

/** A row of the log of deliveries, with the webhook as it is in the end. */
export interface LoggedDelivery {
  readonly id: string
  readonly webhookId: string
  readonly sequence: number
  readonly status: string
  readonly attempts: number
}

export interface ReceivedDelivery {
  readonly deliveryId: string
  readonly webhookId: string
  readonly isGenuine: boolean
  readonly event: string
  readonly data: unknown
}

/** @param received in the order of arrival */
export const checkDeliveries = (
  webhooks: readonly RunWebhook[],
  events: readonly RecordedEvent[],
  logged: readonly LoggedDelivery[],
  received: readonly ReceivedDelivery[],
): readonly string[] => {
  const eventOf = new Map(events.map((event) => [event.sequence, event]))
  const deliveryOf = new Map(logged.map((delivery) => [delivery.id, delivery]))
  const broken: string[] = []
  for (const { deliveryId, webhookId, isGenuine, event, data } of received) {
    const delivery = deliveryOf.get(deliveryId)
    const recorded = eventOf.get(delivery?.sequence ?? -1)
    if (!isGenuine) broken.push(`delivery ${deliveryId} came with a signature that does not verify`)
    if (delivery?.webhookId !== webhookId)
      broken.push(`delivery ${deliveryId} came, and is not in the log of webhook ${webhookId}`)
    else if (recorded?.type !== event || JSON.stringify(recorded.data) !== JSON.stringify(data))
      broken.push(`delivery ${deliveryId} came with something else than its event`)
  }
  for (const webhook of webhooks) {
    const arrived = new Set(
      received
        .filter(({ webhookId }) => webhookId === webhook.id)
        .map(({ deliveryId }) => deliveryId),
    )
    const own = logged.filter(({ webhookId }) => webhookId === webhook.id)
    broken.push(
      ...(webhook.isFailing
        ? faultsOfFailing(webhook, own)
        : faultsOfFine(webhook, events, own, arrived)),
    )
    if (!webhook.isFailing)
      broken.push(
        ...chainsOutOfOrder(
          webhook,
          [...arrived].flatMap((id) => eventOf.get(deliveryOf.get(id)?.sequence ?? -1) ?? []),
        ),
      )
  }
  return broken
}

const faultsOfFine = (
  { id, userId }: RunWebhook,
  events: readonly RecordedEvent[],
  own: readonly LoggedDelivery[],
  arrived: ReadonlySet<string>,
): readonly string[] => {
  const deliveries = Map.groupBy(own, ({ sequence }) => sequence)
  return events
    .filter((event) => event.userId === userId)
    .flatMap(({ sequence, type }) => {
      const [delivery, ...more] = deliveries.get(sequence) ?? []
      if (delivery === undefined) return [`${type} ${sequence} made no delivery for webhook ${id}`]
      if (more.length > 0)
        return [`${type} ${sequence} made ${more.length + 1} deliveries for webhook ${id}`]
      if (!arrived.has(delivery.id)) return [`${type} ${sequence} never reached webhook ${id}`]
      return delivery.status === 'success'
        ? []
        : [`${type} ${sequence} reached webhook ${id} and is logged as ${delivery.status}`]
    })
}

const failuresToDisable = 5

const faultsOfFailing = ({ id }: RunWebhook, own: readonly LoggedDelivery[]): readonly string[] => {
  const attempts = own.reduce((sum, delivery) => sum + delivery.attempts, 0)
  const unended = own.filter(({ status }) => status !== 'failed').length
  return [
    ...(attempts === failuresToDisable
      ? []
      : [`webhook ${id} fails always, and has ${attempts} failed attempts in its log`]),
    ...(unended === 0
      ? []
      : [`webhook ${id} fails always, and ${unended} of its deliveries are not logged as failed`]),
  ]
}

/**
 * What was recorded of an order, or of a position, arrives in that order: nothing that fails stands
 * between.
 */
const chainsOutOfOrder = (
  { id }: RunWebhook,
  arrived: readonly RecordedEvent[],
): readonly string[] => {
  const last = new Map<string, RecordedEvent>()
  return arrived.flatMap((event) => {
    const chains = [event.data['order_id'], event.data['position_id']].filter(
      (chain) => typeof chain === 'string',
    )
    const before = chains.flatMap((chain) => last.get(chain) ?? [])
    for (const chain of chains) last.set(chain, event)
    return before
      .filter(({ sequence }) => sequence > event.sequence)
      .map(
        ({ type }) =>
          `webhook ${id} got ${event.type} ${event.sequence} after ${type} of the same order or position`,
      )
  })
}
