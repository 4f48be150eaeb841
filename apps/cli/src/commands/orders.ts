// Orders under way: listed, shown one by one, ended by hand, and named where a document touches
// them.
import type { OrderUnderWay, TouchedOrder } from '../records.ts'
import { openSession } from '../session.ts'
import type { CommonOptions, Session } from '../session.ts'
import type { World } from '../world.ts'

const orderPath = (id: string): string => `/orders/${encodeURIComponent(id)}`

export const showOrder = async (
  world: World,
  id: string,
  options: CommonOptions,
): Promise<void> => {
  const session = await openSession(world, options)
  const order = await session.api.get<OrderUnderWay>(orderPath(id))
  session.json(order)
  for (const [name, value] of linesOf(order)) session.say(`${name.padEnd(16)}${value}`)
}

export interface FinishOptions extends CommonOptions {
  readonly as: string
  readonly reason: string
  readonly price?: number | undefined
  readonly volume?: number | undefined
  readonly position?: string | undefined
  readonly by?: string | undefined
}

export const finishOrder = async (
  world: World,
  id: string,
  options: FinishOptions,
): Promise<void> => {
  const session = await openSession(world, options)
  const { as, reason, price, volume, position, by } = options
  const order = await session.api.post<OrderUnderWay>(
    `${orderPath(id)}/finish`,
    { as, reason, price, volume, position, by },
    `Look whether it was ended: pnpm operator orders show ${id}.`,
  )
  session.json(order)
  session.say(`The order ${order.id} is now ${order.status}.`)
}

const linesOf = (order: OrderUnderWay): readonly (readonly [name: string, value: string])[] => {
  const { destination, rejectReason, finished } = order
  const lines: readonly (readonly [string, string | number | null | undefined])[] = [
    ['order', order.id],
    ['status', order.status],
    ['step', order.step],
    ['tenant', order.tenantId],
    ['user', order.userId],
    ['account', order.accountId],
    [
      'destination',
      `${destination.providerAccountId} (${destination.platform}, ${destination.region ?? 'region not set'})`,
    ],
    ['trade', tradeText(order)],
    ['created', order.createdAt],
    ['sent', order.sentAt],
    ['lookups', order.lookups],
    ['broker order', order.brokerOrderId],
    ['next step due', order.dueAt],
    ['fill price', order.fillPrice],
    ['filled volume', order.filledVolume],
    ['position', order.positionId],
    ['reject reason', rejectReason && `${rejectReason.code}: ${rejectReason.message}`],
    ['ended by', finished && `${finished.by} at ${finished.at}: ${finished.reason}`],
  ]
  return lines.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)] as const],
  )
}

export const tradeText = ({ type, volume, symbol }: OrderUnderWay): string =>
  `${type} ${volume} ${symbol}`

const effectTexts: Readonly<Record<string, string>> = {
  tenant_removed: 'its tenant is removed',
  user_removed: 'its user is removed',
  account_removed: 'its account is removed',
  account_relinked: 'its account is linked to another provider account, region or platform',
  provider_token_changed: 'the provider token of its tenant is changed',
  provider_token_removed: 'the provider token of its tenant is removed',
}

/** Names the orders under way that a document touches; says nothing where there are none. */
export const warnOfTouchedOrders = (session: Session, orders: readonly TouchedOrder[]): void => {
  if (orders.length === 0) return
  const count =
    orders.length === 1 ? '1 order under way is' : `${orders.length} orders under way are`
  session.say(session.styled('yellow', `\nWarning: ${count} affected:`))
  for (const { id, accountId, step, effects } of orders) {
    const what = effects.map((effect) => effectTexts[effect] ?? effect).join(', ')
    session.say(`  ${id} (${step}) on account ${accountId}: ${what}`)
  }
  session.say(
    'They are looked up where they were sent, which needs a provider token. Without one, end them with pnpm operator orders finish.',
  )
}
