// The writes of the trading page: each in words, how it is sent, and what shows whether it was done.
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
import { lots } from './format.ts'
import { readPosition } from './position-table.tsx'
import { pause, type Outcome, type Write } from './sent.ts'
import { sentenceOf } from './session.ts'
import { closeOutcome, orderName, orderOutcome, orderWords, positionName } from './words.ts'

const done = (text: string): Outcome => ({ state: 'done', text })
const refused = (text: string): Outcome => ({ state: 'refused', text })

const outcomeOf = (order: Order): Outcome =>
  (order.status === 'rejected' ? refused : done)(orderOutcome(order))

/** The market order is filled, or the broker holds the pending order. */
const whenPlaced = async (
  placed: Awaited<ReturnType<Client['placeOrder']>>,
  signal: AbortSignal,
  note: Parameters<Write['send']>[2],
): Promise<Outcome> => {
  const recorded = `It is recorded as ${placed.data.id}`
  for (;;)
    try {
      return outcomeOf(await placed.settled({ signal, timeoutMs: 20_000 }))
    } catch (error) {
      if (signal.aborted || !isTradeportError(error)) throw error
      if (error.code === 'INSUFFICIENT_SCOPE')
        return {
          state: 'unknown',
          text: `${recorded}. This key may not read orders, so that its outcome is not shown.`,
        }
      note(
        'unknown',
        error.code === 'TIMED_OUT'
          ? `${recorded}, and the broker may have it. The service goes on looking for it.`
          : `${recorded}, and cannot be read now: ${sentenceOf(error)}`,
      )
      // A failed read ends at once; one that waited has paused already.
      if (error.code !== 'TIMED_OUT') await pause(5_000, signal)
    }
}

/** Whether all wanted values are set now; null means that a value is absent. */
const hasAll = (now: object, wanted: object): boolean =>
  Object.entries(wanted).every(
    ([name, value]) => ((now as Readonly<Record<string, unknown>>)[name] ?? null) === value,
  )

const changed = done('Changed.')

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
  if (attempts.length === 0) return done(`There was no open ${what}.`)
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

type Halt = DataOf<'haltAccount'>

const failed = (what: string, error: Halt['closeError']): readonly Outcome[] =>
  error === undefined ? [] : [refused(`No ${what}: ${error.message}`)]

const haltOutcome = ({ cancellations, cancelError, closes, closeError }: Halt): Outcome => {
  const parts: readonly Outcome[] = [
    done('The account is halted.'),
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

/** @param change what changes, in words */
export const createWrites = (client: Client, { id: accountId, name, currency }: Account) => ({
  place: (order: NewOrder, digits: number): Write => ({
    words: orderWords(order, name, digits),
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
      const [found] = (await client.listOrders({ clientId: key }, { signal })).data
      return found === undefined || found.status === 'pending' ? undefined : outcomeOf(found)
    },
  }),

  /** @param volume lots; undefined closes all */
  close: (position: Position, volume?: number): Write => {
    const rest = Number((position.volume - (volume ?? position.volume)).toFixed(8))
    const of = positionName(position, name)
    return {
      words:
        volume === undefined
          ? `Close ${of} at market`
          : `Close ${lots(volume)} of ${of} at market; ${lots(rest)} stay open`,
      isOnceForKey: true,
      send: async (key, signal) => {
        const body = volume === undefined ? {} : { volume }
        const options = { idempotencyKey: key, signal }
        const { data } = await client.closePosition(position.id, body, options)
        return done(closeOutcome(data, currency))
      },
      find: async (_, signal) => {
        const now = await readPosition(client, position.id, signal)
        if (now === undefined) return done('The position is not open any more.')
        if (Math.abs(now.volume - rest) >= 1e-9) return undefined
        const closedVolume = Number((position.volume - now.volume).toFixed(8))
        return done(closeOutcome({ closedVolume, remainingVolume: now.volume }, currency))
      },
    }
  },

  changeLevels: (
    position: Position,
    levels: BodyOf<'changePositionLevels'>,
    change: string,
  ): Write => ({
    words: `Change ${positionName(position, name)}: ${change}`,
    isOnceForKey: false,
    send: async (_, signal) => {
      await client.changePositionLevels(position.id, levels, { signal })
      return changed
    },
    find: async (_, signal) => {
      const now = await readPosition(client, position.id, signal)
      return now !== undefined && hasAll(now, levels) ? changed : undefined
    },
  }),

  changeOrder: (order: Order, terms: BodyOf<'modifyOrder'>, change: string): Write => ({
    words: `Change ${orderName(order, name)}: ${change}`,
    isOnceForKey: false,
    send: async (_, signal) => {
      await client.modifyOrder(order.id, terms, { signal })
      return changed
    },
    find: async (_, signal) => {
      const now = (await client.getOrder(order.id, { signal })).data
      return now.status === 'open' && hasAll(now, terms) ? changed : undefined
    },
  }),

  cancel: (order: Order): Write => ({
    words: `Cancel ${orderName(order, name)}`,
    isOnceForKey: false,
    send: async (_, signal) =>
      done(cancelledText((await client.cancelOrder(order.id, { signal })).data)),
    find: async (_, signal) => {
      const now = (await client.getOrder(order.id, { signal })).data
      return now.status === 'open' || now.status === 'pending'
        ? undefined
        : (now.status === 'cancelled' ? done : refused)(cancelledText(now))
    },
  }),

  /** @param count how many there are now */
  cancelAll: (count: number): Write => ({
    words: `Cancel every working order on ${name}, now ${count}`,
    isOnceForKey: false,
    send: async (_, signal) =>
      summed('order', (await client.cancelOrders({ accountId }, { signal })).data, cancelOutcomes),
    find: async (_, signal) => {
      const filter = { accountId, status: 'open', limit: 1 } as const
      const { meta } = await client.listOrders(filter, { signal })
      return meta.pagination.total === 0
        ? done('The account has no working order any more.')
        : undefined
    },
  }),

  halt: (terms: BodyOf<'haltAccount'>): Write => ({
    words: [
      `Halt ${name}: it accepts no orders until the halt is lifted`,
      ...(terms.cancelOrders === true ? ['every working order is cancelled'] : []),
      ...(terms.closePositions === true ? ['every position is closed at market'] : []),
    ].join(', '),
    isOnceForKey: true,
    send: async (key, signal) =>
      haltOutcome(
        (await client.haltAccount(accountId, terms, { idempotencyKey: key, signal })).data,
      ),
  }),

  liftHalt: (): Write => ({
    words: `Lift the halt of ${name}: it accepts orders again`,
    // Lifted again, nothing changes.
    isOnceForKey: true,
    send: async (_, signal) => {
      const { halted, by } = (await client.liftHalt(accountId, { signal })).data
      return halted
        ? refused(`The account is still halted by the ${by ?? 'operator'}.`)
        : done('Orders are accepted again.')
    },
  }),
})
