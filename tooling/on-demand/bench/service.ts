// The service of a bench with its accounts and keys, its client, and how long it was held.
import type { Client } from '@tradeport/client'
import {
  clientOf,
  linkUsers,
  startService,
  withoutIdempotencyKey,
  type Measured,
  type Service,
  type ServiceOptions,
} from '@tradeport/harness'
import type { Tools } from './bench.ts'
import { startProviderProcess } from './processes.ts'
import type { ProviderOptions } from './provider.ts'

/** An API key as an operator chooses it; one may require 24 characters after the prefix. */
export const apiKeyOf = (name: string): string => `tp_live_${name.padEnd(24, '-')}`

/** The account of that number, here and at the provider. */
export const accountOf = (index: number) => ({
  id: `be9c4000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  providerAccountId: `account-${index}`,
})

export const accountsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => accountOf(index))

/** Without the record that the service keeps of an Idempotency-Key. */
export const plainClient = (service: Service, key: string): Client =>
  clientOf(service, key, { fetch: withoutIdempotencyKey })

export const smallOrder = {
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.01,
} as const

/** On a database of its own, with one user and a provider in another process. */
export const openService = async (
  { stack, newDatabase }: Tools,
  provided: ProviderOptions,
  options: Partial<ServiceOptions> = {},
) => {
  const provider = await startProviderProcess(stack, provided)
  const databaseUrl = await newDatabase()
  const start = () => startService(stack, { databaseUrl, providerUrl: provider.ready, ...options })
  const service = await start()
  const accounts = accountsOf(provided.accounts)
  const key = apiKeyOf('bench')
  await linkUsers(service, [{ id: 'bench', accounts, keys: [key] }])
  const client = plainClient(service, key)
  /** `serverMs` resolves to the service's own mean time for requests to a route during the work. */
  const startAnother = async () => {
    const another = await start()
    const serverMs = async (route: string, work: () => Promise<void>): Promise<number> => {
      const read = async () => {
        const metrics = await (await fetch(`${another.operator}/metrics`)).text()
        const line = `duration_seconds_(?:sum|count).*"/api/v1${route}".* (.+)`
        return [...metrics.matchAll(RegExp(line, 'g'))].map(([, total]) => Number(total))
      }
      const [seconds = 0, count = 0] = await read()
      await work()
      const [secondsAfter = 0, countAfter = 0] = await read()
      return (1_000 * (secondsAfter - seconds)) / (countAfter - count)
    }
    return { client: plainClient(another, key), serverMs }
  }
  return { provider, databaseUrl, service, client, startAnother }
}

/** The processor time of the longest turn of a probed service's event loop since the last call. */
export const heldMs = async (service: Service): Promise<number> =>
  (await service.ask<Measured>('measure')).heldMs
