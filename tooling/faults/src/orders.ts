// The run of orders: instances are killed while the provider misbehaves.
import { setTimeout as pause } from 'node:timers/promises'
import type { AccountControl, Fault, Sandbox } from '@tradeport/sandbox-broker'
import { compare } from './compare.ts'
import { marketOrder, underLoad, type OrderFields } from './load.ts'
import { fault, type Random } from './run.ts'
import { startWorld, type User } from './world.ts'

const tradeFaults: readonly Fault[] = [
  { kind: 'timeout', when: 'after', probability: 0.06 },
  { kind: 'timeout', when: 'before', probability: 0.04 },
  { kind: 'cut', when: 'after', probability: 0.06 },
  { kind: 'cut', when: 'before', probability: 0.04 },
  { kind: 'lost', when: 'before', probability: 0.02 },
  { kind: 'rate-limit', retryAfterSeconds: 2, probability: 0.04 },
  { kind: 'unavailable', when: 'after', probability: 0.04 },
  { kind: 'unavailable', when: 'before', probability: 0.03 },
  { kind: 'return-code', numericCode: 99_999, when: 'after', probability: 0.03 },
  { kind: 'return-code', numericCode: 10_012, when: 'before', probability: 0.02 },
  { kind: 'return-code', numericCode: 10_019, when: 'before', probability: 0.03 },
  { kind: 'placed', ms: 1_500, probability: 0.05 },
  { kind: 'partial-fill', fraction: 0.5, probability: 0.03 },
  { kind: 'malformed-json', probability: 0.03 },
  { kind: 'closing-deal-lag', ms: 3_000, probability: 0.1 },
  { kind: 'orders-lag', ms: 2_000, probability: 0.1 },
  { kind: 'new-ticket', probability: 0.05 },
]

/** On the routes by which an order may be looked up. */
const lookupFaults: readonly Fault[] = [
  { kind: 'timeout', probability: 0.05 },
  { kind: 'cut', probability: 0.05 },
  { kind: 'unavailable', probability: 0.05 },
]

const reads = ['503 BROKER_UNAVAILABLE', '503 ACCOUNT_DISCONNECTED', '429 BROKER_RATE_LIMITED']
const changes = [
  ...reads,
  '400 ORDER_NOT_MODIFIABLE',
  '400 ORDER_NOT_CANCELLABLE',
  '400 INVALID_PRICE',
  // A new price of a stop-limit order whose price the market has reached.
  '400 VALIDATION_ERROR',
  '409 ORDER_IN_FLIGHT',
  '422 TRADE_REJECTED',
  '504 BROKER_OUTCOME_UNKNOWN',
  '504 INTERNAL_TIMEOUT',
]

/** What the service knows by itself is answered in any case. */
const allowed = {
  listPositions: reads,
  listTrades: reads,
  getAccount: reads,
  placeOrder: ['409 IDEMPOTENCY_IN_PROGRESS'],
  modifyOrder: changes,
  cancelOrder: changes,
  closePosition: [
    ...reads,
    '404 POSITION_NOT_FOUND',
    '409 ORDER_IN_FLIGHT',
    '422 TRADE_REJECTED',
    '422 INVALID_VOLUME',
    '504 BROKER_OUTCOME_UNKNOWN',
    '504 INTERNAL_TIMEOUT',
  ],
}

/** Pending orders have a symbol of their own, whose price moves. */
const pendingSymbol = 'GBPUSD'
const startPrice = 1.3
const pip = 0.0001

/** Walks the price so that pending orders near it are reached, until the signal. */
const walkPrice = async (
  { prices }: Sandbox,
  random: Random,
  signal: AbortSignal,
): Promise<void> => {
  for (let pips = 0; !signal.aborted; pips += random.whole(-8, 8)) {
    const bid = Number((startPrice + pips * pip).toFixed(5))
    prices.pin(pendingSymbol, { bid, ask: Number((bid + 2 * pip).toFixed(5)) })
    await pause(500)
  }
}

/** Ends some pending orders at a terminal, until the signal. */
const cancelAtTerminals = async (
  accounts: readonly AccountControl[],
  random: Random,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    await pause(random.whole(500, 3_000))
    const account = accounts[random.whole(0, accounts.length - 1)]
    const orderId = account?.orders()[0]?.id
    if (orderId !== undefined) account?.trade({ actionType: 'ORDER_CANCEL', orderId }, 'CLIENT')
  }
}

/** Three of five are pending orders near the market, some for a short time. */
const orderTypes = ['market', 'limit', 'stop', 'stop_limit', 'market'] as const
const newOrderNear = (
  prices: Sandbox['prices'],
  random: Random,
  turn: number,
  { kind }: User,
): OrderFields => {
  const wanted = orderTypes[turn % orderTypes.length] ?? 'market'
  if (wanted === 'market') return marketOrder
  const orderType = wanted === 'stop_limit' && kind === 'mt4' ? 'stop' : wanted
  const away = random.whole(3, 40) * (orderType === 'limit' ? -pip : pip)
  const price = prices.quote(pendingSymbol).ask + away
  return {
    ...marketOrder,
    symbol: pendingSymbol,
    orderType,
    price: Number(price.toFixed(5)),
    ...(orderType === 'stop_limit' && { stopLimitPrice: Number((price - 2 * pip).toFixed(5)) }),
    // One without a key, which is not sent again when it may have expired.
    ...(turn % 4 === 2 && {
      timeInForce: 'gtd',
      expiresAt: new Date(Date.now() + random.whole(10, 60) * 1_000).toISOString(),
    }),
  }
}

export const orders = fault({ orders: 200, kills: 10 }, async (run, { orders: wanted, kills }) => {
  const { random } = run
  const world = await startWorld(run, {
    receivers: ['failing', 'slow', 'fine'],
    environment: { WATCH_SECONDS: '2' },
  })
  const { provider } = world
  const users = Math.max(3, Math.ceil(wanted / 40))
  const options = {
    users,
    ordersPerUser: Math.ceil(wanted / users),
    orderPauseMs: 400,
    newOrder: (turn: number, user: User) => newOrderNear(provider.prices, random, turn, user),
    changesOrders: true,
    allowed,
  }
  const check = await underLoad(world, options, async (_, placed) => {
    const until = new AbortController()
    const accounts = provider.accountIds().map(provider.account)
    const disturbing = [
      walkPrice(provider, random, until.signal),
      cancelAtTerminals(accounts, random, until.signal),
    ]
    provider.faults.set('*', 'trade', tradeFaults)
    for (const route of ['positions', 'orders', 'history-orders', 'deals'] as const)
      provider.faults.set('*', route, lookupFaults)
    await Promise.all([world.killAtRandom(kills), placed])
    until.abort()
    await Promise.all(disturbing)
  })
  return compare(world, check)
})
