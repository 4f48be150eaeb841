// The writes of the trading page: each in words, how it is sent, and what shows whether it was done.
import {
  isTradeportError,
  sleep,
  type Account,
  type BodyOf,
  type Client,
  type DataOf,
  type NewOrder,
  type Order,
  type Position,
} from '@tradeport/client'
import { lots } from './format.ts'
import { readPosition } from './positions.ts'
import type { Outcome, Write } from './sent.ts'
import { closeOutcome, orderName, orderOutcome, orderWords, positionName } from './order-words.ts'
import { sentenceOf } from './words.ts'

const done = (text: string): Outcome => ({ state: 'done', text })

/** What a new order has become; undefined while it is pending. */
const placedOutcome = (order: Order): Outcome | undefined => {
  const states = {
    pending: undefined,
    open: 'done',
    filled: 'done',
    partially_filled: 'partly',
    cancelled: 'not_done',
    expired: 'not_done',
    rejected: 'not_done',
  } as const
  const state = states[order.status]
  return state && { state, text: orderOutcome(order) }
}

/** The outcome of a cancellation; undefined while the order is pending or open. */
const cancelOutcome = (order: Order): Outcome | undefined => {
  const { status } = order
  if (status === 'open' || status === 'pending') return undefined
  if (status === 'cancelled') return done('Cancelled.')
  // What was filled before stays filled.
  return { state: status === 'partially_filled' ? 'partly' : 'not_done', text: orderOutcome(order) }
}

const recorded = ({ id }: Order): string =>
  `It is recorded as ${id}, and the broker may have it. The service goes on looking for it.`

/** Waits until the order is no longer pending, and reads on where a read fails. */
const whenPlaced = async (
  placed: Awaited<ReturnType<Client['placeOrder']>>,
  signal: AbortSignal,
  onProgress: Parameters<Write['send']>[2],
): Promise<Outcome> => {
  const unknown = { state: 'unknown', text: recorded(placed.data) } as const
  for (;;)
    try {
      return placedOutcome(await placed.settled({ signal, timeoutMs: 20_000 })) ?? unknown
    } catch (error) {
      if (signal.aborted || !isTradeportError(error)) throw error
      if (error.code === 'INSUFFICIENT_SCOPE') return unknown
      const isLate = error.code === 'TIMED_OUT'
      onProgress(
        'unknown',
        isLate ? unknown.text : `${unknown.text} It cannot be read now: ${sentenceOf(error)}`,
      )
      // A read that timed out has taken long enough.
      if (!isLate) await sleep(5_000, signal)
    }
}

/** Whether all wanted values are set now; null means that a value is absent. */
const hasAll = (now: object, wanted: object): boolean =>
  Object.entries(wanted).every(
    ([name, value]) => ((now as Readonly<Record<string, unknown>>)[name] ?? null) === value,
  )

const changed = done('Changed.')
const lifted = done('Orders are accepted again.')

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

const stateOf = (states: ReadonlySet<Outcome['state']>): Outcome['state'] => {
  if (states.has('unknown')) return 'unknown'
  const [only = 'done', ...others] = states
  return others.length === 0 ? only : 'partly'
}

/** By the outcome of each of several attempts. One that is not listed, of a newer service, is unknown. */
const attemptStates: Readonly<Record<string, Outcome['state']>> = {
  cancelled: 'done',
  closed: 'done',
  partially_closed: 'partly',
  filled: 'not_done',
  rejected: 'not_done',
}

/** "2 closed, 1 unknown (why)". All together is unknown where one of them is. */
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
  const states = [...groups.keys()].map((outcome) => attemptStates[outcome] ?? 'unknown')
  return {
    state: stateOf(new Set(states)),
    text: `${what[0]?.toUpperCase() ?? ''}${what.slice(1)}s: ${text}.`,
  }
}

type Halt = DataOf<'haltAccount'>

const failed = (what: string, error: Halt['closeError']): readonly Outcome[] =>
  error === undefined ? [] : [{ state: 'not_done', text: `No ${what}: ${error.message}` }]

const haltOutcome = ({ cancellations, cancelError, closes, closeError }: Halt): Outcome => {
  const parts: readonly Outcome[] = [
    done('The account is halted.'),
    ...(cancellations === undefined ? [] : [summed('order', cancellations, cancelOutcomes)]),
    ...(closes === undefined ? [] : [summed('position', closes, closeOutcomes)]),
    ...failed('order was cancelled', cancelError),
    ...failed('position was closed', closeError),
  ]
  return {
    state: stateOf(new Set(parts.map(({ state }) => state))),
    text: parts.map(({ text }) => text).join(' '),
  }
}

/** Closing many positions takes long, and after a timeout its outcome is unknown. */
const longTimeout = { timeoutMs: 120_000 }

/** @param change what changes, in words */
export const createWrites = (client: Client, { id: accountId, name, currency }: Account) => ({
  place: (order: NewOrder, digits: number): Write => ({
    words: orderWords(order, name, digits),
    isIdempotent: true,
    send: async (key, signal, onProgress) => {
      // The order is found by its clientId, should the answer be lost.
      const placed = await client.placeOrder(
        { ...order, clientId: key },
        { ...longTimeout, idempotencyKey: key },
      )
      onProgress('under_way', 'It is recorded, and on its way to the broker.')
      return whenPlaced(placed, signal, onProgress)
    },
    readOutcome: async (key, signal) => {
      const [found] = (await client.listOrders({ clientId: key }, { signal })).data
      return found && (placedOutcome(found) ?? { state: 'unknown', text: recorded(found) })
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
      isIdempotent: true,
      send: async (key) => {
        const body = volume === undefined ? {} : { volume }
        const { data } = await client.closePosition(position.id, body, {
          ...longTimeout,
          idempotencyKey: key,
        })
        const isLess = data.remainingVolume - rest >= 1e-9
        return { state: isLess ? 'partly' : 'done', text: closeOutcome(data, currency) }
      },
      readOutcome: async (_, signal) => {
        const now = await readPosition(client, position.id, signal)
        // Where a part was to be closed, something else may have closed the whole position.
        if (now === undefined)
          return volume === undefined ? done('The position is not open any more.') : undefined
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
    isIdempotent: false,
    send: async () => {
      await client.changePositionLevels(position.id, levels, longTimeout)
      return changed
    },
    readOutcome: async (_, signal) => {
      const now = await readPosition(client, position.id, signal)
      return now !== undefined && hasAll(now, levels) ? changed : undefined
    },
  }),

  changeOrder: (order: Order, terms: BodyOf<'modifyOrder'>, change: string): Write => ({
    words: `Change ${orderName(order, name)}: ${change}`,
    isIdempotent: false,
    send: async () => {
      await client.modifyOrder(order.id, terms, longTimeout)
      return changed
    },
    readOutcome: async (_, signal) => {
      const now = (await client.getOrder(order.id, { signal })).data
      return now.status === 'open' && hasAll(now, terms) ? changed : undefined
    },
  }),

  cancel: (order: Order): Write => ({
    words: `Cancel ${orderName(order, name)}`,
    isIdempotent: false,
    send: async () =>
      cancelOutcome((await client.cancelOrder(order.id, longTimeout)).data) ?? {
        state: 'unknown',
        text: 'It may have been cancelled.',
      },
    readOutcome: async (_, signal) =>
      cancelOutcome((await client.getOrder(order.id, { signal })).data),
  }),

  /** @param count how many there are now; undefined where that is not known */
  cancelAll: (count: number | undefined): Write => ({
    words: `Cancel every working order on ${name}${count === undefined ? '' : `, now ${count}`}`,
    isIdempotent: false,
    send: async () =>
      summed('order', (await client.cancelOrders({ accountId }, longTimeout)).data, cancelOutcomes),
    readOutcome: async (_, signal) => {
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
    isIdempotent: true,
    send: async (key) =>
      haltOutcome(
        (await client.haltAccount(accountId, terms, { ...longTimeout, idempotencyKey: key })).data,
      ),
  }),

  liftHalt: (): Write => ({
    words: `Lift the halt of ${name}: it accepts orders again`,
    isIdempotent: false,
    send: async () => {
      await client.liftHalt(accountId, longTimeout)
      return lifted
    },
    readOutcome: async (_, signal) =>
      (await client.getHalt(accountId, { signal })).data.halted ? undefined : lifted,
  }),
})
