// Requests that are refused, one kind for each refusal that a caller or a broker can bring about.
import { orderBody, place } from './trading.ts'
import type { Person, SpecialName } from './population.ts'
import type { Request } from './asking.ts'
import { pickFrom, skip, withFree } from './scene.ts'
import type { Arrival, Kind } from './scene.ts'

type Asked = Request & { readonly route: string }

const refused = (code: string, weight: number, asked: (arrival: Arrival) => Asked): Kind => ({
  name: code,
  weight,
  run: async (arrival) => {
    const { route, ...request } = asked(arrival)
    await arrival.ask(route, { expects: [code], ...request })
  },
})

const special = ({ scene }: Arrival, name: SpecialName): Person => scene.population.special[name]
const reader = ({ scene, random }: Arrival): Person => pickFrom(random, scene.population.readers)
const trader = ({ scene, random }: Arrival): Person => pickFrom(random, scene.population.traders)

const orderOf = (person: Person, more: object = {}): Asked => ({
  route: 'POST /orders',
  credential: person.credential,
  body: orderBody(person, more),
})

const restrictedOrder =
  (index: number) =>
  (arrival: Arrival): Asked => {
    const person = special(arrival, 'restricted')
    return orderOf(person, { accountId: person.accounts[index]?.id })
  }

const positionsOf =
  (name: SpecialName, index = 0) =>
  (arrival: Arrival): Asked => {
    const { credential, accounts } = special(arrival, name)
    return { route: 'GET /positions', credential, query: `accountId=${accounts[index]?.id}` }
  }

const standingOf =
  (name: SpecialName) =>
  (arrival: Arrival): Asked => {
    const { credential, id } = special(arrival, name)
    const [position = ''] = arrival.scene.standing.get(id)?.positions ?? []
    return { route: 'PUT /positions/{id}/sl', credential, id: position, body: { value: 0.5 }, isSlow: true }
  }

const unknownKeys = ['tp_live_unknown-1', 'tp_live_unknown-2', 'tp_live_unknown-3']

// One byte more than a body may hold.
const tooLarge = `{"comment":"${'x'.repeat(10 * 1_024 * 1_024)}"}`

const unknownId = '00000000-0000-4000-8000-000000000000'

/** A hundred orders of a day, and from then on none. */
const orderTooOften = ({ scene, random, ask }: Arrival): Promise<void> => {
  const person = scene.population.special.exhausted
  const { credential } = person
  if (person.left.orders > 0) return withFree(scene, random, [person], async () => void (await place(ask, person)))
  return ask('POST /orders', { credential, body: orderBody(person), expects: ['RISK_LIMIT_EXCEEDED'] }).then(() => undefined)
}

/** Ten exports, and from then on one now and then. */
const exportTooOften = async ({ scene, ask }: Arrival): Promise<void> => {
  const { credential, left } = scene.population.special.exporting
  left.exports -= 1
  await ask('GET /trades/export', { credential, expects: left.exports >= 0 ? ['ok'] : ['ok', 'RATE_LIMIT_EXCEEDED'] })
}

const webhookTooMany = async ({ scene, random, ask }: Arrival): Promise<void> => {
  if (scene.webhooks.size === 0) return skip(scene, 'the webhooks were not made yet')
  const { credential } = pickFrom(random, [scene.population.special.fullOfWebhooks])
  const body = { url: scene.urlOf('fine'), eventTypes: ['order.filled'] }
  await ask('POST /webhooks', { credential, body, expects: ['WEBHOOK_LIMIT_REACHED'] })
}

export const refusals: readonly Kind[] = [
  refused('VALIDATION_ERROR', 0.5, (arrival) => ({
    route: 'GET /trades',
    credential: reader(arrival).credential,
    query: 'limit=0&profitFilter=some',
  })),
  refused('VALIDATION_ERROR', 0.2, () => ({ route: 'GET /quotes/{symbol}', symbol: 'eurusd' })),
  refused('VALIDATION_ERROR', 0.2, (arrival) => ({ ...orderOf(trader(arrival)), body: '{"accountId":' })),
  refused('UNAUTHORIZED', 0.5, ({ random }) => ({ route: 'GET /accounts', credential: { 'X-API-Key': pickFrom(random, unknownKeys) } })),
  refused('UNAUTHORIZED', 0.2, () => ({ route: 'GET /positions' })),
  refused('UNAUTHORIZED', 0.2, (arrival) => ({ route: 'GET /orders', credential: trader(arrival).credential, query: 'api_key=one' })),
  refused('INSUFFICIENT_SCOPE', 0.4, (arrival) => ({ route: 'GET /positions', credential: trader(arrival).weakCredential })),
  refused('INSUFFICIENT_SCOPE', 0.2, (arrival) => ({ ...orderOf(trader(arrival)), credential: trader(arrival).weakCredential })),
  refused('NOT_FOUND', 0.3, (arrival) => ({ route: 'GET /nowhere', credential: reader(arrival).credential })),
  refused('NOT_FOUND', 0.2, () => ({ route: 'GET /quotes/{symbol}', symbol: 'NOSUCH' })),
  refused('NOT_FOUND', 0.2, (arrival) => ({ route: 'GET /orders/{id}', credential: reader(arrival).credential, id: 'ord_unknown' })),
  refused('ACCOUNT_NOT_FOUND', 0.3, (arrival) => ({
    route: 'GET /accounts/{id}',
    credential: reader(arrival).credential,
    id: trader(arrival).account.id,
  })),
  refused('ACCOUNT_NOT_FOUND', 0.1, (arrival) => orderOf(trader(arrival), { accountId: unknownId })),
  refused('POSITION_NOT_FOUND', 0.3, (arrival) => ({
    route: 'GET /positions/{id}',
    credential: reader(arrival).credential,
    id: 'nothing',
  })),
  refused('TRADE_NOT_FOUND', 0.3, (arrival) => ({
    route: 'GET /trades/{id}',
    credential: reader(arrival).credential,
    id: `${trader(arrival).account.id}:1`,
  })),
  refused('LIVE_ACCOUNT_RESTRICTED', 0.2, restrictedOrder(0)),
  refused('ACCOUNT_PURPOSE_RESTRICTED', 0.2, restrictedOrder(1)),
  refused('UNSUPPORTED_BROKER', 0.2, restrictedOrder(2)),
  refused('UNSUPPORTED_BROKER', 0.2, positionsOf('restricted', 2)),
  refused('NOT_PROVISIONED', 0.2, restrictedOrder(3)),
  refused('NOT_PROVISIONED', 0.2, positionsOf('restricted', 3)),
  refused('ORDER_TYPE_NOT_SUPPORTED', 0.2, (arrival) => orderOf(trader(arrival), { orderType: 'limit' })),
  refused('BROKER_UNAVAILABLE', 0.2, (arrival) => orderOf(special(arrival, 'untokened'))),
  refused('BROKER_UNAVAILABLE', 0.2, positionsOf('unreadable')),
  refused('ACCOUNT_DISCONNECTED', 0.2, (arrival) => {
    const { credential, account } = special(arrival, arrival.random.pick(['unreadable', 'disconnected']))
    return { route: 'GET /accounts/{id}', credential, id: account.id }
  }),
  refused('BROKER_RATE_LIMITED', 0.2, positionsOf('brokerLimited')),
  refused('LIMIT_CHECK_UNAVAILABLE', 0.2, (arrival) => orderOf(special(arrival, 'unreadableWithLimits'))),
  refused('CHALLENGE_LOCKED', 0.2, (arrival) => orderOf(special(arrival, 'challenged'))),
  refused('DESK_LIMIT_BREACHED', 0.2, (arrival) => orderOf(special(arrival, 'limited'), { symbol: 'GBPUSD' })),
  refused('TRADER_LIMIT_BREACHED', 0.2, (arrival) => orderOf(special(arrival, 'limited'), { volume: 2 })),
  refused('APPROVAL_REQUIRED', 0.2, (arrival) => orderOf(special(arrival, 'limited'), { volume: 0.8 })),
  refused('RISK_LIMIT_EXCEEDED', 0.2, (arrival) => orderOf(trader(arrival), { volume: 11 })),
  refused('TRADE_REJECTED', 0.1, standingOf('rejecting')),
  refused('BROKER_OUTCOME_UNKNOWN', 0.1, standingOf('silent')),
  refused('HISTORY_TOO_LARGE', 0.01, (arrival) => ({
    route: 'GET /trades',
    credential: special(arrival, 'longHistory').credential,
    isSlow: true,
  })),
  refused('INVALID_CURSOR', 0.2, (arrival) => ({ route: 'GET /trades', credential: reader(arrival).credential, query: 'cursor=none' })),
  refused('PAYLOAD_TOO_LARGE', 0.01, (arrival) => ({ ...orderOf(trader(arrival)), body: tooLarge, isSlow: true })),
  { name: 'a hundred orders of a day, and more', weight: 0.8, run: orderTooOften },
  { name: 'exports, and more', weight: 0.02, run: exportTooOften },
  { name: 'an eleventh webhook', weight: 0.2, run: webhookTooMany },
  refused('RATE_LIMIT_EXCEEDED', 2.5, (arrival) => ({
    route: 'GET /orders',
    credential: special(arrival, 'greedy').credential,
    expects: ['ok', 'RATE_LIMIT_EXCEEDED'],
  })),
]
