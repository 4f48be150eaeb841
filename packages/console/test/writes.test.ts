// What is shown of a write that was sent, for what the service answers.
import { createClient, type Account, type Order, type Position } from '@tradeport/client'
import { beforeEach, expect, it, vi } from 'vitest'
import {
  createWriteTracker,
  unresolvedWords,
  type SentWrite,
  type Write,
} from '../page/write-tracker.ts'
import { createWrites } from '../page/writes.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return () => void vi.useRealTimers()
})

type Answer = (body: string) => Response | Promise<Response>

const lost: Answer = () => Promise.reject(new TypeError('fetch failed'))
const never: Answer = () => new Promise(() => {})
const success =
  (data: unknown, total = 0): Answer =>
  () =>
    Response.json({ success: true, data, meta: { pagination: { total } } })
const refusal =
  (status: number, code: string, headers = {}): Answer =>
  () =>
    Response.json(
      { success: false, error: { code, message: `${code} in words.`, request_id: 'req_1' } },
      { status, headers },
    )

const account = { id: 'a', name: 'First', currency: 'EUR' } as Account
const position = {
  id: 'a:7',
  type: 'buy',
  symbol: 'EURUSD',
  volume: 0.1,
  brokerPositionId: '7',
} as Position
const order = {
  id: 'ord_1',
  type: 'buy',
  orderType: 'limit',
  symbol: 'EURUSD',
  volume: 0.1,
  price: 1.07,
  brokerOrderId: '8',
  status: 'open',
} as Order
const now = (changes: Partial<Order>): Order => ({ ...order, ...changes })
const terms = {
  accountId: 'a',
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
} as const
const halted = { accountId: 'a', halted: true, by: 'owner', since: null, reason: null }
const closing = { closePrice: 1.1, realizedPnl: 5 }

/** Requests get the answers in turn, and the last one stands for all that follow. */
const setUp = (answers: readonly Answer[]) => {
  const requests: Readonly<Record<'method' | 'key' | 'signal', unknown>>[] = []
  const client = createClient({
    baseUrl: 'https://trade.example.com/api/v1',
    apiKey: 'tp_live_key',
    retry: { attempts: 1 },
    fetch: async (_, { method = '', headers, body, signal } = {}) => {
      requests.push({ method, key: new Headers(headers).get('Idempotency-Key'), signal })
      return (answers[Math.min(requests.length, answers.length) - 1] ?? lost)(body as string)
    },
  })
  const sent = createWriteTracker()
  const latest = () => sent.list()[0]
  return { writes: createWrites(client, account), sent, latest, requests }
}

const pass = async (seconds: number) => {
  for (let second = 0; second < seconds; second += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(1_000)
  }
}

type Writes = ReturnType<typeof createWrites>

type Row = [
  name: string,
  write: (writes: Writes) => Write,
  answers: readonly Answer[],
  state: SentWrite['state'],
  text: RegExp,
  /** Whether "Send it again" is pressed once, and can be at the end; the number of reads. */
  more?: {
    readonly isSentAgain?: boolean
    readonly maySendAgain?: boolean
    readonly reads?: number
  },
]

const place = (writes: Writes) => writes.place(terms, 5)
const closeAll = (writes: Writes) => writes.close(position)
const closePart = (writes: Writes) => writes.close(position, 0.04)
const cancel = (writes: Writes) => writes.cancel(order)
const haltAll = (writes: Writes) => writes.halt({ closePositions: true, cancelOrders: true })

const rows: readonly Row[] = [
  [
    'an order that is lost stays unknown while it is not found',
    place,
    [lost, success([])],
    'unknown',
    /^It may have been done\. The service does not answer\.$/,
    { maySendAgain: true },
  ],
  [
    'an order that is lost is filled once it is found',
    place,
    [lost, success([]), success([now({ status: 'filled', filledVolume: 0.1 })])],
    'done',
    /^Filled 0\.10 of 0\.10\.$/,
  ],
  [
    'an order that is not found at the broker may still be',
    place,
    [
      success(
        now({ status: 'rejected', rejectReason: { code: 'NOT_FOUND_AT_BROKER', message: 'Why.' } }),
      ),
    ],
    'unknown',
    /Why\./,
  ],
  [
    'an order that is lost and recorded is with the service',
    place,
    [lost, success([now({ status: 'pending' })])],
    'unknown',
    /^It is recorded as ord_1, and the broker may have it\./,
  ],
  [
    'an order that is lost and may not be read stays unknown',
    place,
    [lost, refusal(403, 'INSUFFICIENT_SCOPE')],
    'unknown',
    /does not answer\. The API key may not read whether it was done\.$/,
    { maySendAgain: true, reads: 1 },
  ],
  ...([401, 403, 429, 503] as const).map((status): Row => [
    `an order that is lost stays unknown where its repetition is refused with ${status}`,
    place,
    [lost, refusal(status, 'SERVICE_UNAVAILABLE'), success([])],
    'unknown',
    /^It may have been done before\. Sent again: SERVICE_UNAVAILABLE in words\.$/,
    { isSentAgain: true, maySendAgain: true },
  ]),
  [
    'an order that is lost is looked for after its repetition was refused',
    place,
    [lost, refusal(503, 'SERVICE_UNAVAILABLE'), success([now({ status: 'filled' })])],
    'done',
    /^Filled\.$/,
    { isSentAgain: true },
  ],
  [
    'an order that is refused at once is not done',
    place,
    [refusal(422, 'ACCOUNT_HALTED')],
    'not_done',
    /^ACCOUNT_HALTED in words\.$/,
  ],
  [
    'an order that fails with advice for programmers is unknown in plain words',
    place,
    [refusal(500, 'INTERNAL_ERROR'), success([])],
    'unknown',
    /^It may have been done\. The service could not complete the request \(INTERNAL_ERROR\)\.$/,
    { maySendAgain: true },
  ],
  ...(
    [
      ['open', 'done'],
      ['filled', 'done'],
      ['partially_filled', 'partial'],
      ['cancelled', 'not_done'],
      ['expired', 'not_done'],
      ['rejected', 'not_done'],
      ['of_a_newer_service', 'unknown'],
    ] as const
  ).map(([status, state]): Row => [
    `a new order that is ${status} is ${state}`,
    place,
    [success({ ...order, status }), success([{ ...order, status }])],
    state,
    /./,
  ]),
  ...(
    [
      ['open', 'unknown'],
      ['cancelled', 'done'],
      ['partially_filled', 'partial'],
      ['filled', 'not_done'],
      ['expired', 'not_done'],
      ['of_a_newer_service', 'unknown'],
    ] as const
  ).flatMap(([status, state]) => {
    const found = success({ ...order, status, filledVolume: 0.04 })
    return [[found], [lost, found]].map((answers): Row => [
      `a cancellation, answer ${answers.length} of which has the order ${status}, is ${state}`,
      cancel,
      answers,
      state,
      /./,
    ])
  }),
  [
    'a close that is lost may have left a rest where its number is gone',
    closeAll,
    [lost, refusal(404, 'POSITION_NOT_FOUND')],
    'partial',
    /^Its ticket is not open any more\. Look at the positions\.$/,
  ],
  [
    'a close that the broker does not answer stays unknown while the position is open',
    closeAll,
    [refusal(504, 'BROKER_OUTCOME_UNKNOWN'), success(position)],
    'unknown',
    /^It may have been done\./,
  ],
  [
    'a close of a part that is lost stays unknown where the position is gone',
    closePart,
    [lost, refusal(404, 'POSITION_NOT_FOUND')],
    'unknown',
    /^It may have been done\./,
    { maySendAgain: true },
  ],
  [
    'a close of a part that is lost stays unknown once as much is open: others may have closed it',
    closePart,
    [lost, success({ ...position, volume: 0.06 })],
    'unknown',
    /^It may have been done\./,
    { maySendAgain: true },
  ],
  [
    'a close of all closes what was confirmed, and is done in part where more was open',
    closeAll,
    [
      (body) =>
        success({ ...closing, closedVolume: JSON.parse(body).volume, remainingVolume: 0.06 })(body),
    ],
    'partial',
    /^Closed 0\.10 at 1\.10, .*; 0\.06 stay open\.$/,
  ],
  [
    'a close of a part is done in part where another left nothing open',
    closePart,
    [success({ ...closing, closedVolume: 0.04, remainingVolume: 0 })],
    'partial',
    /^Closed 0\.04 at 1\.10, .* Nothing stays open\.$/,
  ],
  [
    'a halt that closed nothing is done in part',
    haltAll,
    [success({ ...halted, cancellations: [], closeError: { code: 'X', message: 'It is away.' } })],
    'partial',
    /^The account was halted\. There was no open order\. No position was closed: It is away\.$/,
  ],
  [
    'a halt that is lost is done once the account is halted',
    (writes) => writes.halt({}),
    [lost, success({ ...halted, halted: true })],
    'done',
    /^The account was halted\.$/,
  ],
  [
    'a halt that is lost with its closes stays unknown',
    haltAll,
    [lost, success({ ...halted, halted: true })],
    'unknown',
    /^It may have been done\./,
    { maySendAgain: true },
  ],
  [
    'a halt whose closes are partly unknown is unknown',
    haltAll,
    [
      success({
        ...halted,
        cancellations: [{ orderId: '1', outcome: 'cancelled' }],
        closes: [
          { positionId: '1', outcome: 'closed' },
          { positionId: '2', outcome: 'unknown' },
        ],
      }),
    ],
    'unknown',
    /Orders: 1 cancelled\. Positions: 1 closed, 1 unknown\.$/,
  ],
  ...(
    [
      [['cancelled', 'cancelled'], 'done'],
      [['cancelled', 'rejected'], 'partial'],
      [['filled'], 'not_done'],
      [['rejected', 'filled'], 'not_done'],
      [['cancelled', 'unknown'], 'unknown'],
      [['cancelled', 'of_a_newer_service'], 'unknown'],
      [[], 'done'],
    ] as const
  ).map(([outcomes, state]): Row => [
    `cancellations that are ${outcomes.join(' and ')} are ${state}`,
    (writes) => writes.cancelAll(outcomes.length),
    [success(outcomes.map((outcome) => ({ orderId: '1', outcome }))), success([], 1)],
    state,
    /./,
  ]),
  ...(
    [
      [
        success([
          { orderId: '1', outcome: 'cancelled' },
          { orderId: '2', outcome: 'unknown' },
        ]),
        0,
      ],
      [lost, 0],
      [lost, 1],
    ] as const
  ).map(([answer, left]): Row => [
    `cancellations whose outcome is unknown are not called done once ${left} are open`,
    (writes) => writes.cancelAll(2),
    [answer, success([], left)],
    left === 0 ? 'partial' : 'unknown',
    left === 0 ? /^No order is open any more\. Look at what was filled\.$/ : /./,
  ]),
  [
    'a halt that is lifted in vain stays unknown, and cannot be lifted again without a key',
    (writes) => writes.liftHalt(),
    [lost, success(halted)],
    'unknown',
    /^It may have been done\./,
  ],
  [
    'a lift that is lost is done once the account is not halted',
    (writes) => writes.liftHalt(),
    [lost, success({ ...halted, halted: false })],
    'done',
    /^Orders are accepted again\.$/,
  ],
]

it.each(rows)('%s', async (_, write, answers, state, text, more = {}) => {
  const { isSentAgain = false, maySendAgain = false } = more
  const { writes, sent, latest, requests } = setUp(answers)
  sent.run(write(writes))
  if (isSentAgain) {
    await pass(1)
    latest()?.sendAgain?.()
  }
  await pass(10)
  expect(sent.list()).toMatchObject([{ state, text: expect.stringMatching(text) as unknown }])
  expect(latest()?.sendAgain !== undefined).toBe(maySendAgain)
  const posts = requests.filter(({ method }) => method === 'POST')
  const reads = requests.length - posts.length
  expect(reads).toBe(more.reads ?? reads)
  expect(new Set(posts.map(({ key }) => key)).size).toBeLessThanOrEqual(1)
})

/** The answer to a close, once it is released. */
const heldAnswer = () => {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const answer: Answer = async (body) => {
    await promise
    return success({ ...closing, closedVolume: 0.1, remainingVolume: 0 })(body)
  }
  return { answer, release }
}

it('sends four closes at a time, a halt beside them, and none that waits once the user has signed out', async () => {
  const { answer, release } = heldAnswer()
  const { writes, sent, requests } = setUp([answer])
  for (let count = 0; count < 6; count += 1) sent.run(closeAll(writes))
  await pass(1)
  expect(requests).toHaveLength(4)
  sent.run(haltAll(writes))
  await pass(1)
  expect(unresolvedWords(sent.list())).toBe(
    '2 closes were not sent. The outcome of 5 writes is not known: look at the orders and positions.',
  )
  sent.stop()
  release()
  await pass(2)
  expect(requests).toHaveLength(5)
})

it('offers no write to be sent again before its Retry-After has passed', async () => {
  const refused = refusal(429, 'RATE_LIMIT_EXCEEDED', { 'Retry-After': '20' })
  const { writes, sent, latest } = setUp([lost, refused, success([])])
  sent.run(place(writes))
  await pass(1)
  latest()?.sendAgain?.()
  await pass(18)
  expect(latest()?.sendAgain).toBeUndefined()
  await pass(3)
  expect(latest()?.sendAgain).toBeDefined()
})

it('ends what it follows and no write, also one that is sent again', async () => {
  const { writes, sent, latest, requests } = setUp([lost, never])
  sent.run(place(writes))
  await pass(1)
  latest()?.sendAgain?.()
  await pass(1)
  sent.stop()
  expect(requests.at(-1)).toMatchObject({ method: 'POST', signal: { aborted: false } })
  const followed = setUp([lost, success([])])
  followed.sent.run(place(followed.writes))
  await pass(4)
  const before = followed.requests.length
  followed.sent.stop()
  await pass(90)
  expect(followed.requests).toHaveLength(before)
})

it('names in its sentence the position or the order that is meant', () => {
  const { writes } = setUp([])
  expect(
    [
      writes.close(position, 0.04),
      writes.cancel(order),
      writes.changeLevels({ ...position, stopLoss: 1 }, { stopLoss: null, takeProfit: 1.2 }, 4),
      writes.changeOrder(order, { price: 1.06, expiresAt: '2026-01-05T10:00:00.000Z' }, 4),
      writes.cancelAll(120),
      writes.cancelAll(undefined),
    ].map(({ words }) => words),
  ).toEqual([
    'Close 0.04 of the buy position of 0.10 EURUSD, ticket 7, on First at market; 0.06 stay open',
    'Cancel the order to buy 0.10 EURUSD at 1.07 or better, ticket 8, on First',
    'Change the buy position of 0.10 EURUSD, ticket 7, on First: stop loss 1.0000 removed, take profit set to 1.2000',
    expect.stringMatching(/: price from 1\.0700 to 1\.0600, held until Jan 5, 2026, /),
    'Cancel every open order on First, now 120',
    'Cancel every open order on First',
  ])
})

it('shows what was unresolved before a reload, and what is sent since beside it', async () => {
  const lost = (['waiting', 'under_way'] as const).map((state) => ({ words: state, state }))
  const tracker = createWriteTracker(lost)
  tracker.run({ words: 'new', send: async () => ({ state: 'done', text: 'Done.' }) })
  await vi.advanceTimersByTimeAsync(0)
  expect(tracker.list().map(({ words, state }) => [words, state])).toEqual([
    ['new', 'done'],
    ['waiting', 'unknown'],
    ['under_way', 'unknown'],
  ])
  expect(unresolvedWords(tracker.list())).toContain('The outcome of 2 writes is not known')
})
