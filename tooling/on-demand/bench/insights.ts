// The capabilities `insights` and `long-histories` through the whole service on a PostgreSQL
// server: what is computed of 20,000 trades, a bootstrap of 5,000, and an account of 200,000 deals.
import { setTimeout as pause } from 'node:timers/promises'
import { probed } from '@tradeport/harness'
import type { Client } from '@tradeport/client'
import {
  bounded,
  inTurn,
  median,
  msOf,
  msOfEach,
  type Bench,
  type Ratio,
  type Tools,
} from './bench.ts'
import { heldMs, openService } from './service.ts'

const rounds = 15
const bootstraps = 5
/** Requests within five seconds of a read do not read again. */
const staleMs = 5_200
const maxHoldMs = 15
const maxLongHoldMs = 50

/** Whose history is read once for the first time, and three times again. */
const openAccount = async (tools: Tools, deals: number) => {
  const { service, client } = await openService(
    tools,
    { accounts: 1, deals },
    { nodeOptions: probed, environment: { CAPABILITIES: 'insights,long-histories' } },
  )
  const held = (): Promise<number> => heldMs(service)
  const readTrades = () => client.listTrades({ limit: 100 })
  await held()
  const first = await msOf(readTrades)
  const firstHold = await held()
  const { ms } = await inTurn(
    3,
    {
      wait: () => pause(staleMs),
      ms: () => msOf(readTrades),
    },
    0,
  )
  return { client, held, first, firstHold, later: median(ms), laterHold: await held() }
}

const figures: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
  ['the curve', (client) => client.getTradeCurve({ points: 500 })],
  [
    'the breakdown by hour in Berlin',
    (client) => client.getTradeBreakdown({ by: 'hour', timeZone: 'Europe/Berlin' }),
  ],
  ['the further statistics', (client) => client.getTradeStatistics({ extended: true })],
]

export const bench: Bench = async (tools) => {
  const { client, held } = await openAccount(tools, 40_000)
  const ratios: Ratio[] = []
  for (const [name, ask] of figures) {
    await held()
    const { ms } = await inTurn(
      rounds,
      {
        unmeasured: () => client.listTrades({ limit: 1 }),
        ms: () => msOf(() => ask(client)),
      },
      0,
    )
    ratios.push(
      bounded(`${name} of 20,000 trades`, median(ms), 40, 'as the client sees it'),
      bounded(`how long ${name} holds other requests`, await held(), maxHoldMs),
    )
  }
  const small = await openAccount(tools, 10_000)
  await small.held()
  const resampled = await msOfEach(bootstraps, () =>
    small.client.getRobustStatistics({ resamples: 10_000 }),
  )
  ratios.push(
    bounded('10,000 resamples of 5,000 trades', median(resampled), 1_500),
    bounded('how long they hold other requests', await small.held(), maxHoldMs),
  )
  const short = await openAccount(tools, 20_000)
  const long = await openAccount(tools, 200_000)
  await long.client.getTradeCurve()
  await long.client.getTradeStatistics()
  await long.client.getTradeBreakdown({ by: 'symbol' })
  const computingHold = await long.held()
  return [
    ...ratios,
    {
      ...bounded('first read of 200,000 deals', long.first, 10 * short.first),
      against: 'ten times that of 20,000',
    },
    bounded('how long it holds other requests', long.firstHold, maxHoldMs),
    {
      name: 'a later read of 200,000 deals',
      ours: long.later,
      reference: short.later,
      target: 1.5,
      against: 'that of 20,000',
    },
    bounded('how long a later read holds other requests', long.laterHold, maxHoldMs),
    bounded('how long figures of 100,000 trades hold other requests', computingHold, maxLongHoldMs),
  ]
}
