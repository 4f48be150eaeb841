// Whatever id a caller sends on whatever route, it never sees, changes or learns of another's
// record: the answer to another's id is byte for byte the answer to one that never existed, the
// broker is asked nothing for it, and its owner finds everything as it was. Routes and parameters
// come from the API's own table, with every capability on.
import { times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { apiRoutes } from '@tradeport/http'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  brokerOf,
  eventually,
  keyOf,
  linkDocument,
  newAccountUuid,
  openDesk,
} from './support/desk.ts'
import {
  createTestClock,
  moreProviderTokens,
  request,
  useTestService,
  type Json,
  type Reply,
} from './support/service.ts'

type Route = (typeof apiRoutes)[number]
type IdKind =
  | 'account'
  | 'order'
  | 'position'
  | 'webhook'
  | 'delivery'
  | 'event'
  | 'halted'
  | 'cursor'
  | 'clientId'
  | 'idempotencyKey'
/**
 * By parameter or, in paths, by the word before it. A parameter that is neither here nor below
 * fails the test of its route.
 */
const kinds: Readonly<Record<string, IdKind>> = {
  accounts: 'account',
  halt: 'halted',
  accountId: 'account',
  orders: 'order',
  positions: 'position',
  trades: 'position',
  webhooks: 'webhook',
  deliveries: 'delivery',
  after: 'event',
  since: 'event',
  'Last-Event-ID': 'event',
  // A place in the own log, whosever event has it.
  before: 'cursor',
  cursor: 'cursor',
  clientId: 'clientId',
  'Idempotency-Key': 'idempotencyKey',
}
const namesNobodysThing = new Set([
  'extended',
  'symbol',
  'symbols',
  'search',
  'If-None-Match',
  'startDate',
  'endDate',
  'startTime',
  'endTime',
  'timeZone',
  'types',
])

const never = newAccountUuid(999)
const absent: Readonly<Record<IdKind, string | undefined>> = {
  account: never,
  order: 'ord_neverneverneverneve0',
  position: `${never}:99999999999`,
  webhook: never,
  delivery: never,
  event: 'evt_00000000zzzzzzzzzzzzzzzzzzzz',
  halted: never,
  clientId: 'client of nobody',
  // A cursor is a place in a list, and a key becomes its sender's own: neither can be absent.
  cursor: undefined,
  idempotencyKey: undefined,
}
const malformed = [
  'x',
  '%',
  ':',
  '__proto__',
  '../accounts',
  "' or '1'='1",
  '\u0000',
  `{${never}}`,
  `${never}:`,
  'x'.repeat(300),
]
const spellings: readonly ((id: string) => string)[] = [
  ...times(4, () => (id: string) => id),
  (id) => id.toUpperCase(),
  (id) => ` ${id}`,
  (id) => `${id}0`,
]

const orderBody = { symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1 }
// Recorded with the orders themselves, so that no delivery is added later.
const webhookBody = { url: 'https://127.0.0.1:9/hook', eventTypes: ['order.created'] }
const limitBody = { ...orderBody, orderType: 'limit', price: 0.5 }
const bodies: Readonly<Record<string, readonly object[]>> = {
  'POST /orders': [orderBody, { ...orderBody, volume: 11 }, limitBody],
  'POST /orders/preview': [orderBody, limitBody],
  'PUT /orders/:id': [{ price: 0.6 }, { stopLoss: null }],
  'POST /accounts/:id/halt': [{ reason: 'of the asker', cancelOrders: true, closePositions: true }],
  'PUT /positions/:id/levels': [{ stopLoss: 0.0001, takeProfit: null }],
  'POST /positions/close': [{}],
  'PUT /positions/:id/sl': [{ value: 0.0001 }, { value: 1.1 }],
  'PUT /positions/:id/tp': [{ value: 100_000 }, { value: 1.1 }],
  'POST /positions/:id/close': [{}, { volume: 0.01 }],
  'POST /webhooks': [webhookBody],
  'PUT /webhooks/:id': [{ ...webhookBody, enabled: false }],
  'POST /webhooks/:id/rotate-secret': [{}],
  'POST /webhooks/:id/recover': [{}],
}
/** What is asked of the broker for a request alone, and never because an account is watched. */
const askedByRequests = [
  'positions',
  'trade',
  'margin',
  'symbols',
  'specification',
  'price',
  'candles',
  'ticks',
]

const clock = createTestClock('2026-03-08T12:00:00.000Z')
const identities = ['u-ada', 'u-bea', 'u-cyd', 'u-feed'].map((user, index) => ({
  user,
  tenant: index < 2 ? 'tenant-one' : 'tenant-two',
  /** The tenant's; the provider opens an account with no other's. */
  token: moreProviderTokens[index < 2 ? 0 : 1]!,
  account: newAccountUuid(index + 1),
  /** No broker's, and halted. */
  paper: newAccountUuid(index + 11),
  provider: `at-broker-${index + 1}`,
}))
type Person = (typeof identities)[number] & {
  readonly ids: Readonly<Record<IdKind, readonly string[]>>
  readonly marks: readonly string[]
  kept: Json
}

const service = useTestService(
  identities.map(({ provider, token }) => ({
    id: provider,
    token,
    startBalance: 1_000_000,
    generate: { trades: 25, openPositions: 8 },
  })),
  {
    now: clock.now,
    environment: {
      CAPABILITIES: 'all',
      WATCH_SECONDS: '2',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    },
  },
)
let people: readonly Person[]
const deskOf = ({ user, account }: Pick<Person, 'user' | 'account'>) =>
  openDesk(service, { user, accountId: account })

/** What is a person's own, once no order is on its way; nothing in it moves with prices or time. */
const recordsOf = async (person: Pick<Person, 'user' | 'account' | 'paper' | 'provider'>) => {
  const desk = deskOf(person)
  const orders = await eventually(
    () => desk.read('/orders?limit=100'),
    (all) => all.every(({ status }: Json) => status !== 'pending'),
  )
  const webhooks: Json[] = await desk.read('/webhooks')
  const deliveriesOf = async ({ id }: Json) =>
    (await desk.read(`/webhooks/${id}/deliveries?limit=100`)).map((one: Json) => one.id)
  const broker = brokerOf(service.sandbox, person.provider)
  return {
    orders,
    // Deliveries fail whenever their time has come, and many failures disable a webhook.
    webhooks: webhooks.map((one) => ({
      ...one,
      failureCount: 0,
      lastFailureAt: null,
      enabled: true,
    })),
    deliveries: await Promise.all(webhooks.map(deliveriesOf)),
    halt: await desk.read(`/accounts/${person.paper}/halt`),
    atBroker: [
      broker.held(),
      broker.orders().map((one) => [one['id'], one['openPrice'], one['stopLoss']]),
      broker.deals().length,
    ],
  }
}

beforeAll(async () => {
  await service.setUp(
    ...identities.map(({ user, tenant, token, account, paper, provider }) =>
      linkDocument({
        user,
        tenant,
        providerToken: token,
        accounts: [
          { id: account, providerAccountId: provider, name: `Account of ${user}` },
          { id: paper, providerAccountId: null, brokerType: 'paper' },
        ],
      }),
    ),
    { marketDataFeed: { accountId: newAccountUuid(identities.length) } },
  )
  people = await Promise.all(
    identities.map(async (identity) => {
      const { user, account, paper } = identity
      const desk = deskOf(identity)
      const webhook = await desk.createWebhook({
        ...webhookBody,
        url: `${webhookBody.url}/of-${user}`,
      })
      await desk.call('POST', `/accounts/${paper}/halt`, { reason: `of ${user}` })
      const keyed = (await desk.post({}, { 'Idempotency-Key': `key-of-${user}` })).body.data
      const placed = [
        keyed,
        await desk.place({ comment: `comment of ${user}`, clientId: `client of ${user}` }),
        await desk.place({ orderType: 'limit', price: 0.5 }),
      ]
      const kept = await recordsOf(identity)
      const events = (await desk.read('/events')).map(({ id }: Json) => id)
      const { data, meta } = (await desk.get('/trades?limit=3')).body
      const positions = [...(await desk.read('/positions?limit=100')), ...data].map(
        ({ id }: Json) => id,
      )
      const ids = {
        account: [account],
        order: placed.map(({ id }) => id),
        position: positions,
        webhook: [webhook.id],
        delivery: kept.deliveries[0],
        event: events,
        halted: [paper],
        cursor: [meta.pagination.cursor, events[0]],
        clientId: [`client of ${user}`],
        idempotencyKey: [`key-of-${user}`],
      }
      return {
        ...identity,
        ids,
        kept,
        marks: [
          user,
          account,
          paper,
          identity.provider,
          ...ids.order,
          ...ids.webhook,
          ...ids.delivery,
          ...ids.event,
        ],
      }
    }),
  )
})

interface Slot {
  readonly place: 'path' | 'query' | 'header' | 'body'
  readonly name: string
  readonly kind: IdKind
}
const nameOf = ({ method, path }: Route) => `${method} ${path}`

/** Where a request of the route holds an id. */
const slotsOf = (route: Route): readonly Slot[] => {
  const slot = (place: Slot['place'], name: string, key = name): Slot[] => {
    const kind = kinds[key]
    if (kind === undefined)
      throw new Error(
        `${nameOf(route)} has the parameter ${name}: name in this file what it identifies, or that it identifies nothing`,
      )
    return [{ place, name, kind }]
  }
  const words = route.path.split('/')
  const inPath = words.flatMap((word, index) =>
    word.startsWith(':') && word !== ':symbol'
      ? slot('path', word.slice(1), words.at(-1) === 'halt' ? 'halt' : words[index - 1])
      : [],
  )
  const isPlain = (name: string) => {
    const schema: object = route.query[name]?.json ?? {}
    return (
      namesNobodysThing.has(name) ||
      ('type' in schema && schema.type === 'integer') ||
      'enum' in schema
    )
  }
  const inQuery = Object.keys(route.query).flatMap((name) =>
    isPlain(name) ? [] : slot('query', name),
  )
  const inHeaders = Object.keys(route.headers).flatMap((name) =>
    isPlain(name) ? [] : slot('header', name),
  )
  if (route.body !== undefined && bodies[nameOf(route)] === undefined)
    throw new Error(`${nameOf(route)} has a body: add one to this file`)
  const inBody = ['accountId', 'since'].flatMap((name) =>
    name in Object(route.body?.example) ? slot('body', name) : [],
  )
  return [...inPath, ...inQuery, ...inHeaders, ...inBody]
}

interface SentId {
  readonly text: string
  /** An id of the same form that never existed, with which the answer must be the same. */
  readonly twin?: string | undefined
}
const idsOf = (kind: IdKind, asker: Person, other: Person): fc.Arbitrary<SentId> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(fc.constantFrom(...other.ids[kind]), fc.constantFrom(...spellings))
        .map(([id, spell]) => ({
          text: spell(id),
          twin: absent[kind] === undefined ? undefined : spell(absent[kind]),
        })),
    },
    { weight: 2, arbitrary: fc.constantFrom(...asker.ids[kind]).map((text) => ({ text })) },
    { weight: 1, arbitrary: fc.constantFrom(...malformed).map((text) => ({ text })) },
  )

interface Case {
  readonly asker: Person
  readonly other: Person
  readonly ids: readonly (SentId | undefined)[]
  readonly body: object | undefined
}

const casesOf = (route: Route): fc.Arbitrary<Case> => {
  const slots = slotsOf(route)
  return fc
    .shuffledSubarray([0, 1, 2], { minLength: 2, maxLength: 2 })
    .chain(([asking = 0, owning = 0]) => {
      const [asker, other] = [people[asking] as Person, people[owning] as Person]
      const sent = slots.map(({ kind, place }) =>
        place === 'path' || place === 'body'
          ? idsOf(kind, asker, other)
          : fc.option(idsOf(kind, asker, other), { nil: undefined, freq: 5 }),
      )
      return fc.record({
        asker: fc.constant(asker),
        other: fc.constant(other),
        ids: fc.tuple(...sent),
        body: fc.constantFrom(...(bodies[nameOf(route)] ?? [undefined])),
      })
    })
}

/**
 * With each body, ids of another user of the asker's tenant in every place, and in one place beside
 * the asker's own, where that is all that is wrong.
 */
const colleaguesOf = (route: Route): [Case][] => {
  const [other, asker] = people as [Person, Person]
  const slots = slotsOf(route)
  const places = slots.length > 1 ? slots.keys() : []
  return [undefined, ...places].flatMap((place) => {
    const ids = slots.map(({ kind }, index) =>
      place === undefined || place === index
        ? { text: other.ids[kind][0] ?? '', twin: absent[kind] }
        : { text: asker.ids[kind][0] ?? '' },
    )
    return (bodies[nameOf(route)] ?? [undefined]).map((body): [Case] => [
      { asker, other, ids, body },
    ])
  })
}

const requiredQuery: Readonly<Record<string, string>> = {
  timeframe: '1h',
  symbols: 'EURUSD',
  by: 'symbol',
}

/** A stream until it matches, or the whole answer where it is refused. */
const readStream = async (url: string, init: RequestInit, until = /\n\n/) => {
  const stopping = new AbortController()
  const { status, headers, body } = await fetch(url, { ...init, signal: stopping.signal })
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (status === 200 && until.test(text)) break
  }
  stopping.abort()
  return { status, headers, body: text }
}
const firstFrameOf = async (url: string, init: RequestInit) => {
  const { body, ...reply } = await readStream(url, init)
  return { ...reply, body: body.split('\n\n')[0] }
}

const ask = (
  route: Route,
  asker: Person,
  texts: readonly (string | undefined)[],
  body: object | undefined,
) => {
  const slots = slotsOf(route)
  const at = (place: Slot['place']): Record<string, string> =>
    Object.fromEntries(
      slots.flatMap((slot, index) =>
        slot.place === place && texts[index] !== undefined ? [[slot.name, texts[index]]] : [],
      ),
    )
  const inPath = at('path')
  const target = route.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(inPath[name] ?? 'EURUSD'),
  )
  const required = Object.entries(requiredQuery).filter(([name]) => name in route.query)
  const query = new URLSearchParams({ ...Object.fromEntries(required), ...at('query') })
  const headers = Object.entries(at('header')).map(([name, text]) => [
    name,
    text.replaceAll(/[^ -~]/g, '?'),
  ])
  const send = route.path.endsWith('/stream') ? firstFrameOf : request
  return send(`${service.apiUrl}/api/v1${target}?${query.toString()}`, {
    method: route.method,
    headers: {
      'X-API-Key': keyOf(asker.user),
      'Content-Type': 'application/json',
      ...Object.fromEntries(headers),
    },
    ...(body === undefined ? {} : { body: JSON.stringify({ ...body, ...at('body') }) }),
  })
}

/**
 * Everything that an answer says except its own id, the moment, what is left of limits, and what
 * the caller sent.
 */
const saidOf = (
  { status, headers, body }: Reply,
  sent: readonly (string | undefined)[],
): object => {
  const kept = [...headers].filter(
    ([name]) => !['date', 'x-request-id'].includes(name) && !name.startsWith('x-ratelimit-'),
  )
  let text = typeof body === 'string' ? body : JSON.stringify(body)
  const own = [headers.get('X-Request-ID') ?? '', ...sent].flatMap((word) =>
    word === undefined || word === '' ? [] : [word],
  )
  for (const word of own.toSorted((a, b) => b.length - a.length))
    text = text.replaceAll(word, '…').replaceAll(JSON.stringify(word).slice(1, -1), '…')
  return { status, headers: kept, text }
}

describe('a caller', () => {
  it('sees only the own account on every list, whoever asks in the same moment', async () => {
    const paths = [
      '/accounts',
      '/positions?limit=100',
      '/orders?limit=100',
      '/trades?limit=100',
      '/events?limit=1000',
    ]
    const asked = people.flatMap((person) => paths.map((path) => ({ person, path })))
    const replies = await Promise.all(asked.map(({ person, path }) => deskOf(person).get(path)))
    for (const [index, { body }] of replies.entries()) {
      const { person, path } = asked[index] ?? expect.fail()
      const owners = body.data.map(
        ({ id, accountId, userId }: Json) => `${userId ?? person.user} ${accountId ?? id}`,
      )
      const own = [person.account, ...(path === '/accounts' ? [person.paper] : [])]
      expect(new Set(owners), path).toEqual(new Set(own.map((id) => `${person.user} ${id}`)))
    }
  })

  const quoteStream = '/quotes/stream'
  it.each([
    ...apiRoutes.filter(({ path }) => path !== quoteStream),
    // The last, because it may ask the broker once more after its end.
    ...apiRoutes.filter(({ path }) => path === quoteStream),
  ])('learns nothing of another’s by $method $path, and changes nothing of it', async (route) => {
    const isRead = route.method === 'GET'
    const examples = colleaguesOf(route)
    await fc.assert(
      fc.asyncProperty(casesOf(route), async ({ asker, other, ids, body }) => {
        // Of exports one more is let through every six minutes.
        if (route.path === '/trades/export') clock.advance(12 * 60_000)
        const others = people.filter((one) => one !== asker)
        // The broker of the feed is asked for everybody.
        const askedFor = () =>
          others
            .filter(({ user }) => user !== 'u-feed')
            .flatMap(({ provider }) =>
              askedByRequests.map((name) =>
                service.sandbox.requests.count({ account: provider, route: name }),
              ),
            )
        const before = askedFor()
        const texts = ids.map((id) => id?.text)
        const reply = await ask(route, asker, texts, body)
        const said = saidOf(reply, texts)
        expect([429, 500, 503, 504]).not.toContain(reply.status)
        const shown = JSON.stringify(said)
        const marks = others.flatMap((one) => one.marks)
        expect(marks.filter((mark) => shown.includes(mark))).toEqual([])
        if (ids.some((id) => id?.twin !== undefined)) {
          const twins = ids.map((id) => id?.twin ?? id?.text)
          expect(said).toEqual(saidOf(await ask(route, asker, twins, body), twins))
        }
        if (route.path !== quoteStream) expect(askedFor()).toEqual(before)
        if (isRead) return
        expect(await recordsOf(other), `the records of ${other.user}`).toEqual(other.kept)
        if (reply.status < 400) asker.kept = await recordsOf(asker)
      }),
      { examples, numRuns: examples.length + slotsOf(route).length * (isRead ? 4 : 2) },
    )
  })
})

it('orders are sent with the token of their tenant, and who asked for nothing has what there was', async () => {
  const feed = people.at(-1) as Person
  expect(await recordsOf(feed)).toEqual(feed.kept)
  for (const { kept, ids } of people)
    for (const id of ids.order.slice(0, 2))
      expect(kept.orders.find((one: Json) => one.id === id).status).toBe('filled')
})

it('a stream of events has its own log and nothing else, whatever happens to others meanwhile', async () => {
  const start = `evt_${'0'.repeat(20)}`
  const read = people.map(async ({ user }) => {
    const url = `${service.apiUrl}/api/v1/events/stream?after=${start}`
    const init = { headers: { 'X-API-Key': keyOf(user) } }
    return (await readStream(url, init, /^event: risk\.threshold_breached\n.*\n\n/m)).body
  })
  const threshold = { type: 'equity_below', value: 10_000_000, severity: 'warning' }
  const riskThresholds = people.map(({ account }) => ({ accountId: account, ...threshold }))
  await service.setUp({ riskThresholds })
  for (const [index, text] of (await Promise.all(read)).entries()) {
    const person = people[index] as Person
    const own = await deskOf(person).read('/events?limit=1000')
    expect([...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))).toEqual(
      own.slice(0, 1 + own.findIndex(({ event }: Json) => event === 'risk.threshold_breached')),
    )
    for (const mark of people.flatMap((one) => (one === person ? [] : one.marks)))
      expect(text).not.toContain(mark)
  }
})

it('two users who link the same broker account see it as their own, and one whose token does not open it sees nothing', async () => {
  const [ada] = people as [Person]
  const linkedAgain = (user: string, token: string, id: string) =>
    linkDocument({
      user,
      tenant: `tenant-of-${user}`,
      providerToken: token,
      accounts: [{ id, providerAccountId: ada.provider }],
    })
  await service.setUp(
    linkedAgain('u-twin', ada.token, newAccountUuid(20)),
    linkedAgain('u-intruder', moreProviderTokens[1]!, newAccountUuid(21)),
  )
  for (const path of ['/positions', '/trades', '/trades/stats']) {
    const own = (await service.get(path, keyOf('u-ada'))).body
    const twins = (await service.get(path, keyOf('u-twin'))).body
    expect(twins.meta.provenance.accounts).toEqual([newAccountUuid(20)])
    expect(JSON.stringify(twins)).not.toContain(ada.account)
    expect(twins.data.length ?? twins.data.totalTrades).toBe(
      own.data.length ?? own.data.totalTrades,
    )
    expect(await service.get(path, keyOf('u-intruder'))).toMatchObject({
      status: 400,
      body: { data: null, error: { code: 'NOT_PROVISIONED' } },
    })
  }
  expect((await service.get('/accounts', keyOf('u-intruder'))).body.data).toMatchObject([
    { status: 'error', liveDataUpdatedAt: null, balance: 1_000 },
  ])
})
