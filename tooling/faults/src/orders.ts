// The runs of orders: instances are killed while the provider misbehaves, the provider is away, and
// the clock of an instance is set back.
import { setTimeout as pause } from 'node:timers/promises'
import type { Fault } from '@tradeport/sandbox-broker'
import { createTcpProxy } from '@tradeport/testkit'
import { backAfterMs } from './checks.ts'
import { eventually, inRun, say } from './run.ts'
import { killAtRandom, running } from './service.ts'
import { underLoad } from './under-load.ts'

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
]

/** On the routes by which an order may be looked up. */
const lookupFaults: readonly Fault[] = [
  { kind: 'timeout', probability: 0.05 },
  { kind: 'cut', probability: 0.05 },
  { kind: 'unavailable', probability: 0.05 },
]

const away = ['503 BROKER_UNAVAILABLE', '503 ACCOUNT_DISCONNECTED', '429 BROKER_RATE_LIMITED']
const reads = ['200', ...away]
/** What the service knows by itself is answered in any case. */
const withoutBroker = {
  'GET /positions': reads,
  'GET /trades': reads,
  'GET /accounts/{id}': reads,
  'POST /positions/{id}/close': [
    ...reads,
    '404 POSITION_NOT_FOUND',
    '409 ORDER_IN_FLIGHT',
    '429 BROKER_RATE_LIMITED',
    '422 TRADE_REJECTED',
    '422 INVALID_VOLUME',
    '504 BROKER_OUTCOME_UNKNOWN',
  ],
  '*': ['200'],
}

export interface OrdersRun {
  readonly databaseUrl: string | null
  readonly orders: number
  readonly kills: number
}

export const runOrders = (seed: number, { databaseUrl, orders, kills }: OrdersRun) =>
  inRun(seed, (run) => {
    const users = Math.max(3, Math.ceil(orders / 40))
    return underLoad(run, {
      databaseUrl,
      users,
      load: { ordersPerUser: Math.ceil(orders / users), orderPauseMs: 400 },
      receivers: ['failing', 'slow', 'fine'],
      allowed: { 'POST /orders': ['201', '409 IDEMPOTENCY_IN_PROGRESS'], ...withoutBroker },
      disturb: async ({ fleet, sandbox, load }) => {
        sandbox.faults.set('*', 'trade', tradeFaults)
        for (const route of ['positions', 'orders', 'history-orders', 'deals'] as const)
          sandbox.faults.set('*', route, lookupFaults)
        await Promise.all([killAtRandom(run, fleet, kills, { kills: 0 }), load.placed()])
        return []
      },
    })
  })

export interface BrokerRun {
  readonly databaseUrl: string | null
  /** For how long the provider is away: half of it refuses, and half of it is silent. */
  readonly seconds: number
  /** How soon positions must be read again once it is back. */
  readonly within: number
}

const quietMs = 5_000
/** Cached positions are five seconds old at most. */
const cachedMs = 5_000

export const runBroker = (seed: number, { databaseUrl, seconds, within }: BrokerRun) =>
  inRun(seed, async (run) => {
    let proxy: Awaited<ReturnType<typeof createTcpProxy>>
    return underLoad(run, {
      databaseUrl,
      users: 4,
      // A user may have fifty pending orders.
      load: { orderPauseMs: 2_000 },
      providerUrl: async ({ url }) => {
        proxy = await createTcpProxy({ target: url })
        run.closeLater(proxy.close)
        return proxy.url
      },
      allowed: { 'POST /orders': ['201'], ...withoutBroker },
      disturb: async ({ fleet, load }) => {
        await pause(quietMs)
        const awayAt = performance.now()
        await proxy.refuse()
        await pause(seconds * 500)
        await proxy.resume()
        proxy.blackHole()
        await pause(seconds * 500)
        const ready = await Promise.all(
          running(fleet).map(async ({ operatorUrl }) => (await fetch(`${operatorUrl}/readyz`)).ok),
        )
        await proxy.refuse()
        await proxy.resume()
        const backAt = performance.now()
        await pause(Math.max(quietMs, within * 1_000))
        const stale = load.replies.filter(
          ({ what, beganAt, endedAt, outcome }) =>
            what === 'GET /positions' &&
            outcome === '200' &&
            beganAt > awayAt + cachedMs &&
            endedAt < backAt,
        ).length
        return [
          ...(ready.includes(false) ? ['an instance was not ready, although it could serve'] : []),
          ...(stale > 0 ? [`stale positions were answered ${stale} times`] : []),
          ...[...fleet.slots.keys()].flatMap((slot) => {
            const wanted = { what: 'GET /positions', slot, outcome: '200' }
            const afterMs = backAfterMs(load.replies, backAt, wanted) ?? Infinity
            say(`instance ${slot + 1}: positions are read again after ${Math.round(afterMs)} ms`)
            return afterMs <= within * 1_000
              ? []
              : [`instance ${slot + 1} did not read positions within ${within} s`]
          }),
        ]
      },
    })
  })

const hourMs = 60 * 60_000

export const runClock = (seed: number, { steps }: { readonly steps: number }) =>
  inRun(seed, (run) =>
    underLoad(run, {
      databaseUrl: null,
      users: 4,
      receivers: ['fine'],
      isSameClock: false,
      environment: {
        NODE_OPTIONS: `--import=${new URL('set-back-clock.js', import.meta.url).href}`,
      },
      // A caller should notice nothing of a clock.
      allowed: { ...withoutBroker, 'POST /orders': ['201', '409 IDEMPOTENCY_IN_PROGRESS'] },
      disturb: async ({ fleet, sandbox }) => {
        // Some orders are in progress at every step: lost answers are looked up, and orders that
        // were not executed are sent again.
        sandbox.faults.set('*', 'trade', [
          { kind: 'cut', when: 'after', probability: 0.1 },
          { kind: 'return-code', numericCode: 10_024, when: 'before', probability: 0.1 },
        ])
        const [instance] = running(fleet)
        const hoursBehind = async (): Promise<number> => {
          const reply = await fetch(`${instance?.apiUrl}/symbols`)
          const { meta } = (await reply.json()) as { readonly meta: { readonly timestamp: string } }
          return Math.round((Date.now() - Date.parse(meta.timestamp)) / hourMs)
        }
        for (let step = 1; step <= steps; step += 1) {
          await pause(run.random.whole(4_000, 6_000))
          instance?.signal('SIGUSR2')
          const isSet = async () => ((await hoursBehind()) === step ? true : undefined)
          if ((await eventually(30_000, isSet)) === undefined)
            return ['the clock was not set back as the run wanted']
          say(`the clock is ${step} h behind`)
        }
        await pause(quietMs)
        return []
      },
    }),
  )
