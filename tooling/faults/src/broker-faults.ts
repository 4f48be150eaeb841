// What the provider does wrong during a run of orders: losing requests before and answers after executing, cutting connections, limiting, answering
// 503 with HTML and codes that nobody knows, and showing its records late.
import type { Sandbox } from '@tradeport/sandbox-broker'

type Fault = Parameters<Sandbox['faults']['set']>[2] extends infer Given ? (Given extends readonly (infer One)[] ? One : never) : never

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
]

const readFaults: readonly Fault[] = [
  { kind: 'timeout', probability: 0.05 },
  { kind: 'cut', probability: 0.05 },
  { kind: 'unavailable', probability: 0.05 },
]

/** The routes by which an order may be looked for. */
const lookupRoutes = ['positions', 'orders', 'history-orders', 'deals'] as const

export const misbehave = ({ faults }: Sandbox): void => {
  faults.set('*', 'trade', tradeFaults)
  for (const route of lookupRoutes) faults.set('*', route, readFaults)
}

export const behave = ({ faults }: Sandbox): void => faults.clear()
