// Accounts that go on while a run works: positions are opened and closed through the API, at a
// terminal, by the broker and by their levels, money is moved, and the broker shows some of it late,
// twice, in another order or not at all for a while.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Fault, Sandbox, TradeReason } from '@tradeport/sandbox-broker'
import { isClosing, timeOf } from './broker-history.ts'
import type { Random } from './run.ts'
import { ask, running, type FaultUser, type Fleet } from './service.ts'

export interface LiveAccount {
  readonly user: FaultUser
  readonly linkedAt: number
}

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

export interface LiveParts {
  readonly fleet: Fleet
  readonly sandbox: Sandbox
  readonly random: Random
  readonly signal: AbortSignal
  /** Of each account. */
  readonly maxActions: number
  /** How often each action was carried out. */
  readonly counts: Map<string, number>
  /** When each deal was made that has an earlier time, by id. */
  readonly lateDeals: Map<string, number>
}

type Action = (parts: LiveParts, live: LiveAccount) => unknown

/** Acts on an account until the signal. */
export const live = async (parts: LiveParts, account: LiveAccount): Promise<void> => {
  const { random, signal, maxActions, counts } = parts
  const names = Object.keys(actions) as [keyof typeof actions]
  const done = { orders: 0, actions: 0 }
  while (!signal.aborted && done.actions < maxActions) {
    await pause(random.whole(100, 1_500))
    const name = random.pick(names)
    if (name === 'order through the API' && (done.orders += 1) > maxOrders) continue
    await actions[name](parts, account)
    done.actions += 1
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
}

/** Moves the price, so that levels close positions, until the signal. */
export const movePrices = async ({ sandbox, random, signal }: LiveParts): Promise<void> => {
  while (!signal.aborted) {
    const bid = random.whole(10_500, 12_500) / 10_000
    for (const symbol of Object.values(symbols))
      sandbox.prices.pin(symbol, { bid, ask: Number((bid + 0.0002).toFixed(4)) })
    await pause(random.whole(1_000, 4_000))
  }
}

const brokerAccount = ({ sandbox }: LiveParts, { user }: LiveAccount) =>
  sandbox.account(user.providerAccountId)

const send = async (
  { fleet, random }: LiveParts,
  { user }: LiveAccount,
  path: string,
  body?: object,
): Promise<void> => {
  const [first, ...others] = running(fleet)
  if (first !== undefined)
    await ask(random.pick([first, ...others]), user, {
      path,
      ...(body && { body, idempotencyKey: randomUUID() }),
    })
}

/** Levels that a move of the price reaches. */
const newPosition = ({ sandbox, random }: LiveParts, symbol: string) => {
  const side = random.pick(['buy', 'sell'])
  const { bid } = sandbox.prices.quote(symbol)
  const near = (pips: number): number =>
    Number((bid + (side === 'buy' ? 1 : -1) * pips * 0.0001).toFixed(4))
  const levels = { stopLoss: near(-random.whole(50, 600)), takeProfit: near(random.whole(50, 600)) }
  return { symbol, side, volume: random.whole(2, 30) / 100, ...(random.whole(0, 2) > 0 && levels) }
}

interface OpenPosition {
  readonly id: string
  readonly volume: number
}

/** An action on one of the account's positions. */
const onPosition =
  (act: (parts: LiveParts, account: LiveAccount, position: OpenPosition) => unknown): Action =>
  (parts, account) => {
    const positions = brokerAccount(parts, account).positions()
    const position = positions[parts.random.whole(0, Math.max(0, positions.length - 1))]
    return position && act(parts, account, position)
  }

const closeAtBroker = (reasons: readonly [TradeReason, ...TradeReason[]], volume?: number) =>
  onPosition((parts, account, { id: positionId, volume: held }) => {
    if (volume !== undefined && held <= volume) return
    const action =
      volume === undefined
        ? { actionType: 'POSITION_CLOSE_ID', positionId }
        : { actionType: 'POSITION_PARTIAL', positionId, volume }
    brokerAccount(parts, account).trade(action, parts.random.pick(reasons))
  })

const closeThroughApi = (body: object) =>
  onPosition((parts, account, { id }) =>
    send(parts, account, `/positions/${account.user.accountId}:${id}/close`, body),
  )

const addLate = (parts: LiveParts, account: LiveAccount, at: number): void => {
  const { random, lateDeals } = parts
  const id = String(900_000_000 + lateDeals.size)
  lateDeals.set(id, Date.now())
  const type = random.pick(['DEAL_TYPE_BALANCE', 'DEAL_TYPE_COMMISSION', 'DEAL_TYPE_CORRECTION'])
  const profit = random.whole(-900, 900) / 100
  brokerAccount(parts, account).addDeals([
    { id, type, time: new Date(at).toISOString(), profit, commission: 0, swap: 0 },
  ])
}

const actions = {
  'open at a terminal': (parts, account) => {
    const { side, ...order } = newPosition(parts, symbols.terminal)
    brokerAccount(parts, account).trade(
      { actionType: `ORDER_TYPE_${side.toUpperCase()}`, ...order },
      'CLIENT',
    )
  },
  'close at a terminal': closeAtBroker(['CLIENT', 'MOBILE', 'WEB']),
  'close in part at a terminal': closeAtBroker(['CLIENT', 'MOBILE'], 0.01),
  'stop out': closeAtBroker(['SO']),
  'order through the API': (parts, account) => {
    const { side, ...order } = newPosition(parts, symbols.api)
    return send(parts, account, '/orders', {
      accountId: account.user.accountId,
      type: side,
      orderType: 'market',
      ...order,
    })
  },
  'close through the API': closeThroughApi({}),
  'close in part through the API': closeThroughApi({ volume: 0.01 }),
  'read trades': (parts, account) =>
    send(parts, account, `/trades?accountId=${account.user.accountId}&limit=1`),
  'read statistics': (parts, account) =>
    send(parts, account, `/trades/stats?accountId=${account.user.accountId}`),
  'deposit or withdraw': (parts, account) =>
    brokerAccount(parts, account).deposit(parts.random.whole(-50_000, 50_000) / 100, 'Transfer'),
  credit: (parts, account) =>
    brokerAccount(parts, account).deposit(parts.random.whole(1, 50), 'Bonus', 'DEAL_TYPE_CREDIT'),
  'late deal': (parts, account) =>
    addLate(parts, account, parts.random.whole(account.linkedAt, Date.now())),
  'late deal from before the link': (parts, account) =>
    addLate(parts, account, account.linkedAt - parts.random.whole(1, 18 * 60) * 60_000),
  'hide closing deals': (parts, account) => {
    const broker = brokerAccount(parts, account)
    const last = broker
      .deals()
      .findLast((deal) => isClosing(deal) && timeOf(deal) > Date.now() - hourMs)
    if (last !== undefined)
      broker.hideDeals(
        { id: last.id, entryType: 'DEAL_ENTRY_OUT' },
        { reads: parts.random.whole(1, 4) },
      )
  },
  'misbehaving history': ({ sandbox, random }, { user }) =>
    sandbox.faults.add(user.providerAccountId, 'deals', {
      ...random.pick(historyFaults),
      times: random.whole(1, 4),
    }),
} satisfies Readonly<Record<string, Action>>
