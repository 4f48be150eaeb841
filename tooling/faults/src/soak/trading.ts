// Orders placed and followed, levels moved, positions closed in part and whole.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ask } from './asking.ts'
import { isOnMt4, mayOnlyBuy } from './population.ts'
import type { Person } from './population.ts'
import { breathe, withFree } from './scene.ts'
import type { Arrival, Kind } from './scene.ts'

const route = {
  place: 'POST /orders',
  order: 'GET /orders/{id}',
  position: 'GET /positions/{id}',
  stopLoss: 'PUT /positions/{id}/sl',
  takeProfit: 'PUT /positions/{id}/tp',
  close: 'POST /positions/{id}/close',
} as const

export const orderBody = ({ account }: Person, more: object = {}) => ({
  accountId: account.id,
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.2,
  ...more,
})

/** Places an order, by which the user has one less left of the day. */
export const place = async (
  ask: Ask,
  person: Person,
  body: object = orderBody(person),
): Promise<{ readonly id: string; readonly intent: string }> => {
  const intent = randomUUID()
  person.left.orders -= 1
  const { data } = await ask(route.place, { credential: person.credential, body, headers: { 'Idempotency-Key': intent } })
  person.lastOrderId = data.id
  return { id: data.id, intent }
}

const followPauseMs = 300
const followMs = 60_000

/** @returns the position that it opened; undefined where it was not filled in all that time */
export const follow = async (ask: Ask, { credential }: Person, id: string): Promise<string | undefined> => {
  const deadline = Date.now() + followMs
  for (;;) {
    const { data } = await ask(route.order, { credential, id })
    if (data.status !== 'pending' || Date.now() > deadline) return data.positionId
    await pause(followPauseMs)
  }
}

const trade = (arrival: Arrival): Promise<void> =>
  withFree(arrival.scene, arrival.random, arrival.scene.population.traders, async (person) => {
    const { ask, random } = arrival
    const { credential } = person
    const side = mayOnlyBuy(person) ? 'buy' : random.pick(['buy', 'sell'])
    const body = orderBody(person, { type: side, clientId: 'soak' })
    const { id: orderId, intent } = await place(ask, person, body)
    await askAgain(arrival, person, body, intent)
    const id = await follow(ask, person, orderId)
    if (id === undefined) return
    const { data: position } = await ask(route.position, { credential, id })
    const away = (share: number): number => Math.round(position.entryPrice * share * 1e5) / 1e5
    await breathe(random)
    await ask(route.stopLoss, { credential, id, body: { value: side === 'buy' ? away(0.8) : away(1.2) } })
    await ask(route.takeProfit, { credential, id, body: { value: side === 'buy' ? away(1.2) : away(0.8) } })
    await askWrongly(arrival, person, id, { value: side === 'buy' ? away(1.2) : away(0.8) })
    await breathe(random)
    const rest = random.whole(0, 1) === 0 ? id : await closePart(ask, person, id)
    await ask(route.close, { credential, id: rest, body: {} })
    await ask(route.position, { credential, id: rest, expects: ['POSITION_NOT_FOUND'] })
    if (!isOnMt4(person)) await ask('GET /trades/{id}', { credential, id })
    await ask('PUT /orders/{id}', { credential, id: orderId, body: { stopLoss: 1 }, expects: ['ORDER_NOT_MODIFIABLE'] })
    await ask('DELETE /orders/{id}', { credential, id: orderId, expects: ['ORDER_NOT_CANCELLABLE'] })
  })

// The same intent is the same order; another under its key is none.
const askAgain = async ({ ask, random }: Arrival, { credential }: Person, body: object, intent: string): Promise<void> => {
  const headers = { 'Idempotency-Key': intent }
  if (random.whole(0, 3) > 0) return
  await ask(route.place, { credential, body, headers })
  await ask(route.place, { credential, body: { ...body, volume: 0.3 }, headers, expects: ['IDEMPOTENCY_KEY_REUSED'] })
}

const askWrongly = async ({ ask, random }: Arrival, { credential }: Person, id: string, wrong: object): Promise<void> => {
  if (random.whole(0, 3) > 0) return
  await ask(route.stopLoss, { credential, id, body: wrong, expects: ['INVALID_PRICE'] })
  await ask(route.stopLoss, { credential, id, body: { value: -1 }, expects: ['VALIDATION_ERROR'] })
  await ask(route.close, { credential, id, body: { volume: 9 }, expects: ['INVALID_VOLUME'] })
}

/** @returns the id of what is left, which on MT4 is another */
const closePart = async (ask: Ask, { credential }: Person, id: string): Promise<string> => {
  const { data } = await ask(route.close, { credential, id, body: { volume: 0.1 } })
  return data.remainingPositionId ?? id
}

/** An order that the broker takes two seconds for is pending until then. */
const changePending = ({ ask, random, scene }: Arrival): Promise<void> =>
  withFree(scene, random, [scene.population.special.slowBroker], async (person) => {
    const { credential } = person
    const { id } = await place(ask, person)
    await ask('PUT /orders/{id}', { credential, id, body: { price: 1 }, expects: ['ORDER_IN_FLIGHT'] })
    await ask('DELETE /orders/{id}', { credential, id, expects: ['ORDER_IN_FLIGHT'] })
    const position = await follow(ask, person, id)
    if (position !== undefined) await ask(route.close, { credential, id: position, body: {}, isSlow: true })
  })

/** The second comes while the first waits for a slow book. */
const placeTwiceAtOnce = ({ ask, random, scene }: Arrival): Promise<void> =>
  withFree(scene, random, [scene.population.special.slowBook], async (person) => {
    const { credential } = person
    const asked = { credential, body: orderBody(person), headers: { 'Idempotency-Key': randomUUID() }, isSlow: true }
    person.left.orders -= 1
    const first = ask(route.place, { ...asked, expects: ['ok', 'IDEMPOTENCY_IN_PROGRESS'] })
    const second = ask(route.place, { ...asked, expects: ['ok', 'IDEMPOTENCY_IN_PROGRESS'] })
    const replies = await Promise.all([first, second])
    const id = replies.find(({ code }) => code === undefined)?.data.id
    const position = id === undefined ? undefined : await follow(ask, person, id)
    if (position !== undefined) await ask(route.close, { credential, id: position, body: {}, isSlow: true })
  })

export const trading: readonly Kind[] = [
  { name: 'an order from its placing to its end', weight: 1.2, run: trade },
  { name: 'a change of a pending order', weight: 0.02, run: changePending },
  { name: 'an order placed twice at once', weight: 0.02, run: placeTwiceAtOnce },
]
