// The writes of the trading page: how each is sent, and what shows whether it was done.
import {
  isTradeportError,
  type Account,
  type BodyOf,
  type Client,
  type DataOf,
  type NewOrder,
  type Order,
  type Position,
} from '@tradeport/client'
import type { Outcome, Write } from './sent.ts'
import { sentenceOf } from './session.ts'
import { closeOutcome, orderOutcome } from './words.ts'

const outcomeOf = (order: Order): Outcome => ({
  state: order.status === 'rejected' ? 'refused' : 'done',
  text: orderOutcome(order),
})

/** The market order is filled, or the broker holds the pending order. */
const whenPlaced = async (
  placed: Awaited<ReturnType<Client['placeOrder']>>,
  signal: AbortSignal,
  note: Parameters<Write['send']>[2],
): Promise<Outcome> => {
  for (;;)
    try {
      return outcomeOf(await placed.settled({ signal, timeoutMs: 20_000 }))
    } catch (error) {
      if (signal.aborted) throw error
      if (!isTradeportError(error)) throw error
      if (error.code === 'INSUFFICIENT_SCOPE')
        return {
          state: 'unknown',
          text: `It is recorded as ${placed.data.id}. This key may not read orders, so that its outcome is not shown.`,
        }
      note(
        'unknown',
        error.code === 'TIMED_OUT'
          ? `It is recorded as ${placed.data.id}, and the broker may have it. The service goes on looking for it.`
          : `It is recorded as ${placed.data.id}, and cannot be read now: ${sentenceOf(error)}`,
      )
      // A failed read ends at once; one that waited has paused already.
      if (error.code !== 'TIMED_OUT') await new Promise((resolve) => setTimeout(resolve, 5_000))
    }
}

export const placing = (client: Client, words: string, order: NewOrder): Write => ({
  words,
  isOnceForKey: true,
  send: async (key, signal, note) => {
    // The reference finds the order, should its answer be lost.
    const placed = await client.placeOrder(
      { ...order, clientId: key },
      { idempotencyKey: key, signal },
    )
    note('under_way', 'It is recorded, and on its way to the broker.')
    return whenPlaced(placed, signal, note)
  },
  find: async (key, signal) => {
    const [order] = (await client.listOrders({ clientId: key }, { signal })).data
    return order === undefined || order.status === 'pending' ? undefined : outcomeOf(order)
  },
})

const isGone = (error: unknown): boolean =>
  isTradeportError(error) && error.code === 'POSITION_NOT_FOUND'

/** The position as it is now; undefined where it is not open any more. */
const readPosition = async (
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<Position | undefined> => {
  try {
    return (await client.getPosition(id, { signal })).data
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** @param volume lots; undefined closes all */
export const closing = (
  client: Client,
  words: string,
  position: Position,
  volume: number | undefined,
  currency: string | undefined,
): Write => ({
  words,
  isOnceForKey: true,
  send: async (key, signal) => {
    const { data } = await client.closePosition(
      position.id,
      volume === undefined ? {} : { volume },
      { idempotencyKey: key, signal },
    )
    return { state: 'done', text: closeOutcome(data, currency) }
  },
  find: async (_, signal) => {
    const now = await readPosition(client, position.id, signal)
    if (now === undefined) return { state: 'done', text: 'The position is not open any more.' }
    const expected = position.volume - (volume ?? position.volume)
    return Math.abs(now.volume - expected) < 1e-9
      ? { state: 'done', text: closeOutcome({ ...closedOf(position, now) }, currency) }
      : undefined
  },
})

const closedOf = (before: Position, now: Position) => ({
  closedVolume: Number((before.volume - now.volume).toFixed(8)),
  remainingVolume: now.volume,
})

type Levels = BodyOf<'changePositionLevels'>

/** Whether it has what was asked for; null is nothing. */
const hasAll = (now: object, wanted: object): boolean =>
  Object.entries(wanted).every(
    ([name, value]) => ((now as Readonly<Record<string, unknown>>)[name] ?? null) === value,
  )

const changed: Outcome = { state: 'done', text: 'Changed.' }

export const changingLevels = (
  client: Client,
  words: string,
  { id }: Position,
  levels: Levels,
): Write => ({
  words,
  isOnceForKey: false,
  send: async (_, signal) => {
    await client.changePositionLevels(id, levels, { signal })
    return changed
  },
  find: async (_, signal) => {
    const now = await readPosition(client, id, signal)
    return now !== undefined && hasAll(now, levels) ? changed : undefined
  },
})

export const changingOrder = (
  client: Client,
  words: string,
  { id }: Order,
  terms: BodyOf<'modifyOrder'>,
): Write => ({
  words,
  isOnceForKey: false,
  send: async (_, signal) => {
    await client.modifyOrder(id, terms, { signal })
    return changed
  },
  find: async (_, signal) => {
    const now = (await client.getOrder(id, { signal })).data
    return now.status === 'open' && hasAll(now, terms) ? changed : undefined
  },
})

export const cancelling = (client: Client, words: string, { id }: Order): Write => ({
  words,
  isOnceForKey: false,
  send: async (_, signal) => {
    const { data } = await client.cancelOrder(id, { signal })
    return { state: 'done', text: cancelledText(data) }
  },
  find: async (_, signal) => {
    const now = (await client.getOrder(id, { signal })).data
    return now.status === 'open' || now.status === 'pending'
      ? undefined
      : { state: now.status === 'cancelled' ? 'done' : 'refused', text: cancelledText(now) }
  },
})

const cancelledText = (order: Order): string =>
  order.status === 'cancelled' ? 'Cancelled.' : orderOutcome(order)

const cancelOutcomes = {
  cancelled: 'cancelled',
  filled: 'filled first',
  rejected: 'not cancelled',
  unknown: 'unknown',
} as const

const closeOutcomes = {
  closed: 'closed',
  partially_closed: 'closed in part',
  rejected: 'not closed',
  unknown: 'unknown',
} as const

/** 2 closed, 1 unknown (why). Unknown as a whole where one of them is. */
const summed = (
  what: string,
  attempts: readonly { readonly outcome: string; readonly message?: string }[],
  names: Readonly<Record<string, string>>,
): Outcome => {
  if (attempts.length === 0) return { state: 'done', text: `There was no open ${what}.` }
  const groups = Map.groupBy(attempts, ({ outcome }) => outcome)
  const text = [...groups]
    .map(([outcome, some]) => {
      const reasons = [...new Set(some.flatMap(({ message }) => message ?? []))].join(' ')
      return `${some.length} ${names[outcome] ?? outcome}${reasons === '' ? '' : ` (${reasons})`}`
    })
    .join(', ')
  const state = groups.has('unknown')
    ? 'unknown'
    : [...groups.keys()].every((outcome) => outcome === 'rejected')
      ? 'refused'
      : 'done'
  return { state, text: `${what[0]?.toUpperCase() ?? ''}${what.slice(1)}s: ${text}.` }
}

export const cancellingAll = (client: Client, words: string, { id }: Account): Write => ({
  words,
  isOnceForKey: false,
  send: async (_, signal) =>
    summed(
      'order',
      (await client.cancelOrders({ accountId: id }, { signal })).data,
      cancelOutcomes,
    ),
  find: async (_, signal) => {
    const { meta } = await client.listOrders(
      { accountId: id, status: 'open', limit: 1 },
      { signal },
    )
    return meta.pagination.total === 0
      ? { state: 'done', text: 'The account has no working order any more.' }
      : undefined
  },
})

type Halt = DataOf<'haltAccount'>

const failed = (what: string, error: Halt['closeError']): readonly Outcome[] =>
  error === undefined ? [] : [{ state: 'refused', text: `No ${what}: ${error.message}` }]

const haltOutcome = ({ cancellations, cancelError, closes, closeError }: Halt): Outcome => {
  const parts: readonly Outcome[] = [
    { state: 'done', text: 'The account is halted.' },
    ...(cancellations === undefined ? [] : [summed('order', cancellations, cancelOutcomes)]),
    ...(closes === undefined ? [] : [summed('position', closes, closeOutcomes)]),
    ...failed('order was cancelled', cancelError),
    ...failed('position was closed', closeError),
  ]
  return {
    state: parts.some(({ state }) => state === 'unknown') ? 'unknown' : 'done',
    text: parts.map(({ text }) => text).join(' '),
  }
}

export const halting = (
  client: Client,
  words: string,
  { id }: Account,
  terms: BodyOf<'haltAccount'>,
): Write => ({
  words,
  isOnceForKey: true,
  send: async (key, signal) =>
    haltOutcome((await client.haltAccount(id, terms, { idempotencyKey: key, signal })).data),
})

export const liftingHalt = (client: Client, words: string, { id }: Account): Write => ({
  words,
  // Lifted again, nothing changes.
  isOnceForKey: true,
  send: async (_, signal) => {
    const { halted, by } = (await client.liftHalt(id, { signal })).data
    return halted
      ? { state: 'refused', text: `The account is still halted by the ${by ?? 'operator'}.` }
      : { state: 'done', text: 'Orders are accepted again.' }
  },
})
