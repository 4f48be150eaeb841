// The whole service in a run: a provider, instances that can be killed, linked users, and receivers
// of their webhooks.
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { isTradeportError, readWebhook, type Client } from '@tradeport/client'
import {
  clientOf,
  linkUsers,
  newFolder,
  startProvider,
  startReceivers,
  startService,
  type Delivery,
  type Service,
} from '@tradeport/harness'
import type { GenerateOptions, Sandbox } from '@tradeport/sandbox-broker'
import { eventTypes, type ReceivedEvent } from './checks.ts'
import { count, type Run } from './run.ts'

export interface Setting {
  /** Each user has a webhook for each. */
  readonly receivers?: readonly ReceiverName[]
  readonly environment?: Readonly<Record<string, string>>
}

type ReceiverName = 'failing' | 'slow' | 'fine'
export type AccountKind = 'hedging' | 'netting' | 'mt4'

export interface User {
  readonly id: string
  readonly key: string
  readonly accountId: string
  readonly providerAccountId: string
  readonly kind: AccountKind
  /** Whatever happens on the account from then on is new. */
  readonly linkedAt: number
}

export interface World extends Run {
  readonly provider: Sandbox
  /** null while an instance is down. */
  readonly slots: (Service | null)[]
  /** Those that are linked, with an account each. */
  readonly users: User[]
  readonly webhooks: Webhook[]
  /** Adds an account to the provider, and links a user to it. */
  readonly link: (kind: AccountKind, generate?: GenerateOptions) => Promise<User>
  /** Kills instances and starts them again, until so many kills are counted. */
  readonly killAtRandom: (kills: number) => Promise<void>
}

interface ReadDelivery extends Delivery {
  readonly event: ReturnType<typeof readWebhook>
}

interface Webhook {
  readonly id: string
  readonly user: User
  readonly isFailing: boolean
  readonly received: () => Promise<readonly (ReceivedEvent | undefined)[]>
}

export const startWorld = async (
  run: Run,
  { receivers: names = [], environment }: Setting,
): Promise<World> => {
  const { stack, seed, random, counts, databaseUrl } = run
  const provider = await startProvider(stack, { seed })
  const answers: Record<ReceiverName, (response: ServerResponse) => void> = {
    failing: (response) => void response.writeHead(503).end(),
    slow: (response) => void setTimeout(() => response.end(), random.whole(50, 400)),
    fine: (response) => void response.end(),
  }
  const secret = randomUUID()
  const deliveries: ReadDelivery[][] = names.map(() => [])
  const receivers = await startReceivers(
    stack,
    names.map((name, index) => (response, delivery) => {
      // At the end of a run the time of its signature may have passed.
      deliveries[index]?.push({ ...delivery, event: readWebhook({ secret, ...delivery }) })
      answers[name](response)
    }),
  )
  const folder = await newFolder(stack)
  const start = (): Promise<Service> =>
    startService(stack, {
      databaseUrl,
      folder,
      providerUrl: provider.url,
      environment: {
        CAPABILITIES: 'events,pending-orders',
        WEBHOOK_RETRY_SECONDS: '1,2,3,4',
        ...receivers.environment,
        ...environment,
      },
    })
  // Only one instance can open the embedded database.
  const slots: (Service | null)[] = [await start()]
  if (databaseUrl !== '') slots.push(await start())

  const tenantId = `faults-${randomUUID()}`
  const users: User[] = []
  const webhooks: Webhook[] = []
  const register = async (user: User, index: number): Promise<Webhook> => {
    const hook = { url: receivers.urls[index] ?? '', eventTypes, secret }
    const { data } = await untilAnswered(slots, user, (client) => client.createWebhook(hook))
    const own = () => (deliveries[index] ?? []).filter(({ body }) => body.includes(data.id))
    return {
      id: data.id,
      user,
      isFailing: names[index] === 'failing',
      received: () => Promise.all(own().map(({ event }) => event)),
    }
  }
  return {
    ...run,
    provider,
    slots,
    users,
    webhooks,
    link: async (kind, generate) => {
      const platform = kind === 'mt4' ? 'mt4' : 'mt5'
      const [id, accountId] = [`faults-${randomUUID()}`, randomUUID()]
      const key = `tp_live_${randomUUID()}`
      const providerAccountId = `faults-${users.length}`
      provider.addAccount({
        id: providerAccountId,
        platform,
        marginMode: kind === 'netting' ? 'netting' : 'hedging',
        startBalance: 10_000_000,
        ...(generate && { generate }),
      })
      const [service] = running(slots)
      if (service === undefined) throw new Error('no instance runs')
      const accounts = [{ id: accountId, providerAccountId, brokerType: platform }]
      await linkUsers(service, [{ id, tenantId, keys: [key], accounts }])
      const user = { id, key, accountId, providerAccountId, kind, linkedAt: Date.now() }
      users.push(user)
      webhooks.push(...(await Promise.all(names.map((_, index) => register(user, index)))))
      return user
    },
    killAtRandom: async (kills) => {
      while ((counts.get('kills') ?? 0) < kills) {
        await pause(random.whole(300, 2_500))
        const slot = random.whole(0, slots.length - 1)
        const service = slots[slot]
        slots[slot] = null
        await service?.end('SIGKILL')
        count(counts, 'kills')
        await pause(random.whole(0, 500))
        slots[slot] = await start()
      }
    },
  }
}

export const running = (slots: World['slots']): readonly Service[] =>
  slots.filter((service) => service !== null)

/** Asks one instance after the other until the answer is neither a limit nor an outage. */
export const untilAnswered = async <A>(
  slots: World['slots'],
  { key }: User,
  call: (client: Client) => Promise<A>,
): Promise<A> => {
  for (let attempt = 0; ; attempt += 1) {
    const service = slots[attempt % slots.length]
    try {
      if (service) return await call(clientOf(service, key))
    } catch (error) {
      if (!isTradeportError(error)) throw error
      if ('status' in error && error.status < 500 && error.status !== 429) throw error
      // A request that comes too early counts towards the key's suspension.
      if ('retryAfterSeconds' in error) await pause(1_000 * (error.retryAfterSeconds ?? 0))
    }
    await pause(250)
  }
}
