// Accounts that go on while a run works: positions are opened and closed through the API, at a
// terminal, by the broker and by their levels, money is moved, and the broker shows some of it
// late, twice, in another order or not at all for a while.
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@tradeport/client'
import { clientOf } from '@tradeport/harness'
import type { AccountControl, Fault, GenerateOptions, TradeReason } from '@tradeport/sandbox-broker'
import { isClosing, timeOf } from './broker-history.ts'
import { count } from './run.ts'
import { running, type User, type World } from './world.ts'

/**
 * A lost order is not decided while somebody else trades the same symbol, so the API and the
 * terminals have one each.
 */
const symbols = { api: 'GBPUSD', terminal: 'EURUSD' } as const
/** A user may create 100 orders a day. */
const maxOrders = 40
const hourMs = 60 * 60_000

const historyFaults: readonly [Fault, ...Fault[]] = [
  { kind: 'synchronizing', share: 0.9 },
  { kind: 'synchronizing', share: 0.99 },
  { kind: 'shuffled' },
  { kind: 'duplicates', rows: 7 },
  { kind: 'timeout' },
  { kind: 'cut' },
  { kind: 'delay', ms: 700 },
]

/** Users whose accounts go on until they are stopped. */
export const goOn = (world: World, maxActions: number) => {
  const { provider, random, counts, slots, stack, users } = world
  const over = new AbortController()
  stack.defer(() => over.abort())
  const lateSince = new Map<string, number>()
  const actOn = async (user: User): Promise<void> => {
    const account: LiveAccount = {
      world,
      user,
      broker: provider.account(user.providerAccountId),
      newLateDealId: () => {
        const id = String(900_000_000 + lateSince.size)
        lateSince.set(id, Date.now())
        return id
      },
      ask: async (call) => {
        const [first, ...others] = running(slots)
        if (first !== undefined)
          await call(clientOf(random.pick([first, ...others]), user.key)).catch(() => undefined)
      },
    }
    const names = Object.keys(actions) as [keyof typeof actions]
    const done = { orders: 0, actions: 0 }
    while (!over.signal.aborted && done.actions < maxActions) {
      await pause(random.whole(100, 1_500))
      const name = random.pick(names)
      if (name === 'order through the API' && (done.orders += 1) > maxOrders) continue
      await actions[name](account)
      done.actions += 1
      count(counts, name)
    }
  }
  /** So that levels close positions. */
  const movePrices = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const bid = random.whole(10_500, 12_500) / 10_000
      for (const symbol of Object.values(symbols))
        provider.prices.pin(symbol, { bid, ask: Number((bid + 0.0002).toFixed(4)) })
      await pause(random.whole(1_000, 4_000))
    }
  }
  const working = [movePrices()]
  return {
    /** When a deal was added that had an earlier time; 0 of all others. */
    addedAt: (id: string): number => lateSince.get(id) ?? 0,
    add: async (generate?: GenerateOptions): Promise<User> => {
      const user = await world.link(users.length % 3 === 2 ? 'mt4' : 'hedging', generate)
      working.push(actOn(user))
      return user
    },
    stop: async (): Promise<void> => {
      over.abort()
      await Promise.all(working)
    },
  }
}

interface LiveAccount {
  readonly world: World
  readonly user: User
  readonly broker: AccountControl
  readonly newLateDealId: () => string
  /** Asks an instance that runs, whatever it answers. */
  readonly ask: (call: (client: Client) => Promise<unknown>) => Promise<void>
}

type Action = (account: LiveAccount) => unknown

/** With levels that a move of the price reaches. */
const newPosition = ({ provider, random }: World, symbol: string) => {
  const side = random.pick(['buy', 'sell'] as const)
  const { bid } = provider.prices.quote(symbol)
  const near = (pips: number): number =>
    Number((bid + (side === 'buy' ? 1 : -1) * pips * 0.0001).toFixed(4))
  const levels = { stopLoss: near(-random.whole(50, 600)), takeProfit: near(random.whole(50, 600)) }
  return { symbol, side, volume: random.whole(2, 30) / 100, ...(random.whole(0, 2) > 0 && levels) }
}

/** An action on one of the account's positions. */
const onPosition =
  (act: (account: LiveAccount, position: { id: string; volume: number }) => unknown): Action =>
  (account) => {
    const positions = account.broker.positions()
    const position = positions[account.world.random.whole(0, Math.max(0, positions.length - 1))]
    return position && act(account, position)
  }

const closeAtBroker = (reasons: readonly [TradeReason, ...TradeReason[]], volume?: number) =>
  onPosition(({ broker, world }, { id: positionId, volume: held }) => {
    if (volume !== undefined && held <= volume) return
    const action =
      volume === undefined
        ? { actionType: 'POSITION_CLOSE_ID', positionId }
        : { actionType: 'POSITION_PARTIAL', positionId, volume }
    broker.trade(action, world.random.pick(reasons))
  })

const closeThroughApi = (body: { readonly volume?: number }) =>
  onPosition(({ ask, user }, { id }) =>
    ask((client) => client.closePosition(`${user.accountId}:${id}`, body)),
  )

const addLate = ({ broker, newLateDealId, world: { random } }: LiveAccount, at: number): void => {
  const types = ['DEAL_TYPE_BALANCE', 'DEAL_TYPE_COMMISSION', 'DEAL_TYPE_CORRECTION'] as const
  const profit = random.whole(-900, 900) / 100
  const [time, type] = [new Date(at).toISOString(), random.pick(types)]
  broker.addDeals([{ id: newLateDealId(), type, time, profit, commission: 0, swap: 0 }])
}

const actions = {
  'open at a terminal': ({ broker, world }) => {
    const { side, ...order } = newPosition(world, symbols.terminal)
    broker.trade({ actionType: `ORDER_TYPE_${side.toUpperCase()}`, ...order }, 'CLIENT')
  },
  'close at a terminal': closeAtBroker(['CLIENT', 'MOBILE', 'WEB']),
  'close in part at a terminal': closeAtBroker(['CLIENT', 'MOBILE'], 0.01),
  'stop out': closeAtBroker(['SO']),
  'order through the API': ({ ask, user: { accountId }, world }) => {
    const { side: type, ...order } = newPosition(world, symbols.api)
    return ask((client) => client.placeOrder({ accountId, type, orderType: 'market', ...order }))
  },
  'close through the API': closeThroughApi({}),
  'close in part through the API': closeThroughApi({ volume: 0.01 }),
  'read trades': ({ ask, user: { accountId } }) =>
    ask((client) => client.listTrades({ accountId, limit: 1 })),
  'read statistics': ({ ask, user: { accountId } }) =>
    ask((client) => client.getTradeStatistics({ accountId })),
  'deposit or withdraw': ({ broker, world: { random } }) =>
    broker.deposit(random.whole(-50_000, 50_000) / 100, 'Transfer'),
  credit: ({ broker, world: { random } }) =>
    broker.deposit(random.whole(1, 50), 'Bonus', 'DEAL_TYPE_CREDIT'),
  'late deal': (account) =>
    addLate(account, account.world.random.whole(account.user.linkedAt, Date.now())),
  'late deal from before the link': (account) =>
    addLate(account, account.user.linkedAt - account.world.random.whole(1, 18 * 60) * 60_000),
  'hide closing deals': ({ broker, world: { random } }) => {
    const last = broker
      .deals()
      .findLast((deal) => isClosing(deal) && timeOf(deal) > Date.now() - hourMs)
    const hidden = { id: last?.id ?? '', entryType: 'DEAL_ENTRY_OUT' }
    if (last !== undefined) broker.hideDeals(hidden, { reads: random.whole(1, 4) })
  },
  'misbehaving history': ({ user, world: { provider, random } }) =>
    provider.faults.add(user.providerAccountId, 'deals', {
      ...random.pick(historyFaults),
      times: random.whole(1, 4),
    }),
} satisfies Readonly<Record<string, Action>>
