// Reads of every kind.
import { isOnMt4 } from './population.ts'
import type { Person } from './population.ts'
import { pickFrom, pickPopular, skip } from './scene.ts'
import type { Arrival, Kind } from './scene.ts'

const reader = ({ scene, random }: Arrival): Person => pickPopular(random, scene.population.readers)
const trader = ({ scene, random }: Arrival): Person => pickFrom(random, scene.population.traders)

const get =
  (who: (arrival: Arrival) => Person, route: string, query: (person: Person, arrival: Arrival) => string = () => '') =>
  async (arrival: Arrival): Promise<void> => {
    const person = who(arrival)
    await arrival.ask(route, { credential: person.credential, query: query(person, arrival) })
  }

const getAccount =
  (route: string, query = '') =>
  async (arrival: Arrival): Promise<void> => {
    const person = reader(arrival)
    await arrival.ask(route, { credential: person.credential, id: pickFrom(arrival.random, person.accounts).id, query })
  }

const ofAccount = ({ account }: Person): string => `accountId=${account.id}`

const tradesInTwoPages = async (arrival: Arrival): Promise<void> => {
  const person = reader(arrival)
  const query = `${ofAccount(person)}&limit=10&profitFilter=${arrival.random.pick(['all', 'profit', 'loss'])}`
  const { meta } = await arrival.ask('GET /trades', { credential: person.credential, query })
  if (meta.pagination.cursor === undefined) return
  await arrival.ask('GET /trades', {
    credential: person.credential,
    query: `${query}&cursor=${encodeURIComponent(meta.pagination.cursor)}`,
  })
}

const ordersInTwoPages = async (arrival: Arrival): Promise<void> => {
  const { credential } = trader(arrival)
  // Two walks of one list need different limits.
  const limit = arrival.random.whole(3, 50)
  await arrival.ask('GET /orders', { credential, query: `limit=${limit}` })
  await arrival.ask('GET /orders', { credential, query: `limit=${limit}&page=2` })
}

const lastOrder = async (arrival: Arrival): Promise<void> => {
  const { credential, lastOrderId } = trader(arrival)
  if (lastOrderId !== undefined) await arrival.ask('GET /orders/{id}', { credential, id: lastOrderId })
  else skip(arrival.scene, 'there was no order yet')
}

const standing =
  (kind: 'positions' | 'trades') =>
  async (arrival: Arrival): Promise<void> => {
    const person = reader(arrival)
    const ids = arrival.scene.standing.get(person.id)?.[kind] ?? []
    await arrival.ask(kind === 'positions' ? 'GET /positions/{id}' : 'GET /trades/{id}', {
      credential: person.credential,
      id: pickFrom(arrival.random, ids),
    })
  }

// Ten at once and ten an hour are as many as a key may have.
const exported =
  (format: string) =>
  async (arrival: Arrival): Promise<void> => {
    const { readers, traders } = arrival.scene.population
    const person = [...readers, ...traders.filter((one) => !isOnMt4(one))].find(({ left }) => left.exports > 0)
    if (person === undefined) return skip(arrival.scene, 'all exports were used up')
    person.left.exports -= 1
    await arrival.ask('GET /trades/export', { credential: person.credential, query: `format=${format}` })
  }

const symbolsAgain = async ({ ask }: Arrival): Promise<void> => {
  const { headers } = await ask('GET /symbols')
  await ask('GET /symbols', { headers: { 'If-None-Match': String(headers.etag) } })
}

const marketData =
  (path: string, query = '') =>
  async ({ ask, random }: Arrival): Promise<void> => {
    const symbol = random.pick(['EURUSD', 'XAUUSD', 'AAPL'])
    await ask(`GET /${path}/{symbol}`, { symbol, query, expects: ['NOT_IMPLEMENTED'] })
  }

const ownWebhook =
  (route: string, query = '') =>
  async ({ ask, random, scene }: Arrival): Promise<void> => {
    const person = pickFrom(random, scene.population.traders)
    await ask(route, { credential: person.credential, id: scene.webhooks.get(person.id) ?? '', query })
  }

export const reads: readonly Kind[] = [
  { name: 'accounts', weight: 10, run: get(reader, 'GET /accounts') },
  { name: 'account', weight: 8, run: getAccount('GET /accounts/{id}') },
  { name: 'balances', weight: 4, run: getAccount('GET /accounts/{id}/history', 'interval=1d') },
  { name: 'positions', weight: 14, run: get(reader, 'GET /positions') },
  { name: 'positions of one account', weight: 6, run: get(trader, 'GET /positions', ofAccount) },
  { name: 'positions of a symbol', weight: 3, run: get(reader, 'GET /positions', () => 'symbol=EURUSD&limit=100') },
  { name: 'position', weight: 4, run: standing('positions') },
  { name: 'trades', weight: 6, run: tradesInTwoPages },
  { name: 'trades of a trader', weight: 3, run: get(trader, 'GET /trades') },
  { name: 'trade', weight: 3, run: standing('trades') },
  { name: 'statistics', weight: 5, run: get(reader, 'GET /trades/stats') },
  { name: 'export as CSV', weight: 0.4, run: exported('csv') },
  { name: 'export as JSON', weight: 0.3, run: exported('json') },
  { name: 'orders', weight: 6, run: ordersInTwoPages },
  {
    name: 'orders by status',
    weight: 2,
    run: get(trader, 'GET /orders', (_, { random }) => `status=${random.pick(['pending', 'filled', 'rejected'])}`),
  },
  { name: 'order', weight: 3, run: lastOrder },
  { name: 'symbols', weight: 3, run: symbolsAgain },
  { name: 'quotes', weight: 1, run: marketData('quotes') },
  { name: 'candles', weight: 1, run: marketData('candles', 'timeframe=1h') },
  { name: 'ticks', weight: 1, run: marketData('ticks') },
  { name: 'document', weight: 0.2, run: async ({ ask }) => void (await ask('GET /openapi.json')) },
  { name: 'webhooks', weight: 2, run: get(trader, 'GET /webhooks') },
  { name: 'webhook', weight: 1, run: ownWebhook('GET /webhooks/{id}') },
  { name: 'deliveries', weight: 2, run: ownWebhook('GET /webhooks/{id}/deliveries') },
  { name: 'deliveries by status', weight: 1, run: ownWebhook('GET /webhooks/{id}/deliveries', 'status=success&limit=100&page=1') },
]
