// The writes of the trading page: each in words, how it is sent, and what shows whether it was
// done.
import type { Account, BodyOf, Client, DataOf, NewOrder, Order, Position } from '@tradeport/client'
import { lots } from './format.ts'
import { readPosition } from './positions.ts'
import {
  changeWords,
  closeOutcome,
  orderName,
  orderOutcome,
  orderWords,
  positionName,
} from './order-words.ts'
import { mayStillAppear } from './words.ts'
import type { Outcome, Write } from './write-tracker.ts'

const done = (text: string): Outcome => ({ state: 'done', text })

/** By the status of an order. One that is not listed, of a newer service, is unknown. */
type States = Partial<Record<Order['status'], Outcome['state']>>

const placedStates: States = {
  open: 'done',
  filled: 'done',
  partially_filled: 'partial',
  cancelled: 'not_done',
  expired: 'not_done',
  rejected: 'not_done',
}

const cancelStates: States = {
  cancelled: 'done',
  // What was filled before stays filled.
  partially_filled: 'partial',
  filled: 'not_done',
  expired: 'not_done',
  rejected: 'not_done',
}

const orderAs = (states: States, order: Order): Outcome => ({
  state: (!mayStillAppear(order) && states[order.status]) || 'unknown',
  text: orderOutcome(order),
})

/** Whether all wanted values are set now; null means that a value is absent. */
const hasAll = (now: object, wanted: object): boolean =>
  Object.entries(wanted).every(
    ([name, value]) => ((now as Readonly<Record<string, unknown>>)[name] ?? null) === value,
  )

const changedOutcome = done('Changed.')
const liftedOutcome = done('Orders are accepted again.')

const stateOf = (parts: readonly Pick<Outcome, 'state'>[]): Outcome['state'] => {
  const states = new Set(parts.map(({ state }) => state))
  if (states.has('unknown')) return 'unknown'
  const [only = 'done', ...others] = states
  return others.length === 0 ? only : 'partial'
}

/**
 * By the outcome of each of several attempts. One that is not listed, of a newer service, is
 * unknown.
 */
const attempted: Readonly<Record<string, readonly [state: Outcome['state'], words: string]>> = {
  cancelled: ['done', 'cancelled'],
  closed: ['done', 'closed'],
  partially_closed: ['partial', 'closed in part'],
  filled: ['not_done', 'filled first'],
  rejected: ['not_done', 'refused'],
}

/** "2 closed, 1 unknown (why)". All together is unknown where one of them is. */
const summed = (
  what: 'order' | 'position',
  attempts: readonly { readonly outcome: string; readonly message?: string }[],
): Outcome => {
  if (attempts.length === 0) return done(`There was no open ${what}.`)
  const groups = [...Map.groupBy(attempts, ({ outcome }) => outcome)].map(([outcome, some]) => {
    const [state, words] = attempted[outcome] ?? ['unknown', outcome]
    const reasons = [...new Set(some.flatMap(({ message }) => message ?? []))].join(' ')
    return { state, text: `${some.length} ${words}${reasons === '' ? '' : ` (${reasons})`}` }
  })
  return {
    state: stateOf(groups),
    text: `${what === 'order' ? 'Orders' : 'Positions'}: ${groups.map(({ text }) => text).join(', ')}.`,
  }
}

type Halt = DataOf<'haltAccount'>

const failed = (what: string, error: Halt['closeError']): readonly Outcome[] =>
  error === undefined ? [] : [{ state: 'not_done', text: `No ${what}: ${error.message}` }]

const haltedOutcome = done('The account was halted.')

const haltOutcome = ({ cancellations, cancelError, closes, closeError }: Halt): Outcome => {
  const parts: readonly Outcome[] = [
    haltedOutcome,
    ...(cancellations === undefined ? [] : [summed('order', cancellations)]),
    ...(closes === undefined ? [] : [summed('position', closes)]),
    ...failed('order was cancelled', cancelError),
    ...failed('position was closed', closeError),
  ]
  return { state: stateOf(parts), text: parts.map(({ text }) => text).join(' ') }
}

/** Closing many positions takes long, and after a timeout its outcome is unknown. */
const longTimeout = { timeoutMs: 120_000 }
/** How long the service waits for the outcome of a new order before it answers. */
const placedWithinSeconds = 20

export type Writes = ReturnType<typeof createWrites>

export const createWrites = (client: Client, { id: accountId, name, currency }: Account) => ({
  place: (order: NewOrder, digits: number): Write => ({
    words: orderWords(order, name, digits),
    isIdempotent: true,
    send: async (key) => {
      // The order is found by its clientId, should the answer be lost.
      const body = { ...order, clientId: key }
      const options = { ...longTimeout, idempotencyKey: key, wait: placedWithinSeconds }
      return orderAs(placedStates, (await client.placeOrder(body, options)).data)
    },
    readOutcome: async (key, signal) => {
      const [found] = (await client.listOrders({ clientId: key }, { signal })).data
      return found && orderAs(placedStates, found)
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
      positionToClose: position.id,
      isIdempotent: true,
      send: async (key) => {
        // Also of all: what was confirmed, and not what may be open by then.
        const body = { volume: volume ?? position.volume }
        const options = { ...longTimeout, idempotencyKey: key }
        const { data } = await client.closePosition(position.id, body, options)
        const isOther = Math.abs(data.remainingVolume - rest) >= 1e-9
        const isAllGone = rest > 0 && data.remainingVolume === 0
        return {
          state: isOther ? 'partial' : 'done',
          text: `${closeOutcome(data, currency)}${isAllGone ? ' Nothing stays open.' : ''}`,
        }
      },
      // Of a part no read shows it: something else may have closed as much.
      readOutcome: async (_, signal) =>
        volume === undefined && (await readPosition(client, position.id, signal)) === undefined
          ? { state: 'partial', text: 'Its ticket is not open any more. Look at the positions.' }
          : undefined,
    }
  },

  changeLevels: (
    position: Position,
    levels: BodyOf<'changePositionLevels'>,
    digits: number,
  ): Write => ({
    words: `Change ${positionName(position, name)}: ${changeWords(position, levels, digits)}`,
    send: async () => {
      await client.changePositionLevels(position.id, levels, longTimeout)
      return changedOutcome
    },
    readOutcome: async (_, signal) => {
      const now = await readPosition(client, position.id, signal)
      return now !== undefined && hasAll(now, levels) ? changedOutcome : undefined
    },
  }),

  changeOrder: (order: Order, terms: BodyOf<'modifyOrder'>, digits: number): Write => ({
    words: `Change ${orderName(order, name)}: ${changeWords(order, terms, digits)}`,
    send: async () => {
      await client.modifyOrder(order.id, terms, longTimeout)
      return changedOutcome
    },
    readOutcome: async (_, signal) => {
      const now = (await client.getOrder(order.id, { signal })).data
      return now.status === 'open' && hasAll(now, terms) ? changedOutcome : undefined
    },
  }),

  cancel: (order: Order): Write => ({
    words: `Cancel ${orderName(order, name)}`,
    send: async () => orderAs(cancelStates, (await client.cancelOrder(order.id, longTimeout)).data),
    readOutcome: async (_, signal) =>
      orderAs(cancelStates, (await client.getOrder(order.id, { signal })).data),
  }),

  /** @param count how many there are now; undefined where that is not known */
  cancelAll: (count: number | undefined): Write => ({
    words: `Cancel every open order on ${name}${count === undefined ? '' : `, now ${count}`}`,
    send: async () => summed('order', (await client.cancelOrders({ accountId }, longTimeout)).data),
    readOutcome: async (_, signal) => {
      const filter = { accountId, status: 'open', limit: 1 } as const
      const { meta } = await client.listOrders(filter, { signal })
      // Some may have been filled first.
      return meta.pagination.total === 0
        ? { state: 'partial', text: 'No order is open any more. Look at what was filled.' }
        : undefined
    },
  }),

  halt: (terms: BodyOf<'haltAccount'>): Write => ({
    words: [
      `Halt ${name}${terms.reason === undefined ? '' : `, because of "${terms.reason}"`}: it accepts no orders until the halt is lifted`,
      ...(terms.cancelOrders === true ? ['every open order is cancelled'] : []),
      ...(terms.closePositions === true ? ['every position is closed at market'] : []),
    ].join(', '),
    isIdempotent: true,
    send: async (key) =>
      haltOutcome(
        (await client.haltAccount(accountId, terms, { ...longTimeout, idempotencyKey: key })).data,
      ),
    // What became of orders and positions only the answer says.
    readOutcome: async (_, signal) =>
      terms.cancelOrders !== true &&
      terms.closePositions !== true &&
      (await client.getHalt(accountId, { signal })).data.halted
        ? haltedOutcome
        : undefined,
  }),

  liftHalt: (): Write => ({
    words: `Lift the halt of ${name}: it accepts orders again`,
    send: async () => {
      await client.liftHalt(accountId, longTimeout)
      return liftedOutcome
    },
    readOutcome: async (_, signal) =>
      (await client.getHalt(accountId, { signal })).data.halted ? undefined : liftedOutcome,
  }),
})
