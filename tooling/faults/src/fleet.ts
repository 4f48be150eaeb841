// Instances of the service that a run kills and starts again, the users that it links, and how they
// ask.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { startInstance } from './instance.ts'
import type { Instance } from './instance.ts'
import type { Random } from './random.ts'
import type { Run } from './run.ts'

export interface Fleet {
  /** null while an instance is down. */
  readonly slots: (Instance | null)[]
  readonly start: () => Promise<Instance>
}

export interface FaultUser {
  readonly id: string
  readonly key: string
  readonly accountId: string
  readonly providerAccountId: string
  readonly brokerType: 'mt4' | 'mt5'
  /** enterprise when left out. */
  readonly plan?: 'free'
}

export const providerToken = 'faults-provider-token'
export const operatorToken = 'faults-operator-token'

export const newUser = (index: number, brokerType: FaultUser['brokerType'] = 'mt5'): FaultUser => ({
  id: `faults-${index}-${randomUUID()}`,
  key: `tp_live_${randomUUID()}`,
  accountId: randomUUID(),
  providerAccountId: `faults-${index}`,
  brokerType,
})

export const newUsers = (count: number): readonly FaultUser[] =>
  Array.from({ length: count }, (_, index) => newUser(index))

/** A simulated provider, as a rule with an account for each user. */
export const startBroker = async (
  { closeLater }: Run,
  seed: number,
  users: readonly FaultUser[],
  accounts: NonNullable<Parameters<typeof startSandbox>[0]>['accounts'] = users.map(
    ({ providerAccountId }) => ({
      id: providerAccountId,
      startBalance: 10_000_000,
    }),
  ),
): Promise<Sandbox> => {
  const sandbox = await startSandbox({ seed, tokens: [providerToken], accounts })
  closeLater(sandbox.close)
  return sandbox
}

export interface FleetOptions {
  /** null for the embedded database, which one instance opens; a server gets two. */
  readonly databaseUrl: string | null
  readonly providerUrl: string
  readonly more?: Readonly<Record<string, string>>
  readonly dataFolder?: string
  readonly isMeasured?: boolean
  readonly instances?: number
}

export const dataFolderOf = ({ folder }: Run): string => join(folder, 'data')

export const startFleet = async (
  run: Run,
  {
    databaseUrl,
    providerUrl,
    more = {},
    dataFolder = dataFolderOf(run),
    isMeasured = false,
    instances = databaseUrl === null ? 1 : 2,
  }: FleetOptions,
): Promise<Fleet> => {
  const environment = {
    PORT: '0',
    OPERATOR_PORT: '0',
    DATA_DIR: dataFolder,
    OPERATOR_TOKEN: operatorToken,
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    BROKER: 'metaapi',
    METAAPI_CLIENT_URL: providerUrl,
    METAAPI_PROVISIONING_URL: providerUrl,
    LOG_LEVEL: 'info',
    DATABASE_URL: databaseUrl ?? '',
    ...more,
  }
  const fleet: Fleet = { slots: [], start: () => startInstance(environment, isMeasured) }
  run.closeLater(() => stopFleet(fleet))
  while (fleet.slots.length < instances) fleet.slots.push(await fleet.start())
  return fleet
}

export const stopFleet = async (fleet: Fleet): Promise<void> => {
  for (const instance of fleet.slots) await instance?.stop()
}

export const applyDocument = async (
  operatorUrl: string | undefined,
  document: object,
): Promise<void> => {
  const response = await fetch(`${operatorUrl}/operator/v1/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })
  if (response.status !== 200)
    throw new Error(`the run's records were refused: ${await response.text()}`)
}

/** @returns a time after which whatever happens on the accounts counts as new */
export const link = async (
  { slots }: Fleet,
  users: readonly FaultUser[],
  scopes: readonly string[],
): Promise<number> => {
  const tenantId = `faults-${randomUUID()}`
  const document = {
    tenants: [{ id: tenantId, name: 'Faults', providerToken }],
    users: users.map(({ id, plan = 'enterprise' }) => ({
      id,
      tenantId,
      email: 'faults@example.com',
      plan,
    })),
    accounts: users.map(({ id, accountId, providerAccountId, brokerType }, index) => ({
      id: accountId,
      userId: id,
      name: providerAccountId,
      brokerType,
      accountNumber: String(index + 1),
      server: 'Faults-Demo',
      purpose: 'trading',
      isDemo: true,
      currency: 'USD',
      providerAccountId,
      region: 'new-york',
    })),
    apiKeys: users.map(({ id, key }) => ({ id: `${id}-key`, userId: id, key, scopes })),
  }
  const linkedAt = Date.now()
  await applyDocument(slots[0]?.operatorUrl, document)
  return linkedAt
}

export const killAtRandom = async (
  fleet: Fleet,
  random: Random,
  kills: number,
  state: { kills: number },
): Promise<void> => {
  while (state.kills < kills) {
    await pause(random.whole(300, 2_500))
    const slot = random.whole(0, fleet.slots.length - 1)
    const instance = fleet.slots[slot]
    if (instance === null || instance === undefined) continue
    fleet.slots[slot] = null
    await instance.kill()
    state.kills += 1
    await pause(random.whole(0, 500))
    fleet.slots[slot] = await fleet.start()
  }
}

export interface Answer {
  readonly status: number
  /** How long to wait; 0 where the reply does not say. */
  readonly retryAfterMs: number
  readonly body: ReturnType<typeof JSON.parse>
}

export interface Asked {
  readonly method?: string
  readonly path: string
  readonly body?: string
  /** An idempotency key. */
  readonly intent?: string
}

/** null when there was no answer, because the instance was killed or is starting. */
export const ask = async (
  { apiUrl }: Instance,
  { key }: FaultUser,
  { path, body, intent, method = body === undefined ? 'GET' : 'POST' }: Asked,
): Promise<Answer | null> => {
  const headers = {
    'X-API-Key': key,
    'Content-Type': 'application/json',
    ...(intent === undefined ? {} : { 'Idempotency-Key': intent }),
  }
  const signal = AbortSignal.timeout(30_000)
  try {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers,
      signal,
      ...(body === undefined ? {} : { body }),
    })
    const retryAfterMs = Number(response.headers.get('Retry-After') ?? 0) * 1_000
    return { status: response.status, retryAfterMs, body: await response.json() }
  } catch {
    return null
  }
}

const patienceMs = 250

/**
 * Asks one instance after the other, again and again, until the answer is one that says something:
 * no limit, and no trouble of the service's own.
 */
export const askUntilAnswered = async (
  fleet: Fleet,
  user: FaultUser,
  asked: Asked,
  firstSlot = 0,
): Promise<Answer> => {
  for (let attempt = firstSlot; ; attempt += 1) {
    const instance = fleet.slots[attempt % fleet.slots.length]
    const reply =
      instance === null || instance === undefined ? null : await ask(instance, user, asked)
    if (reply !== null && reply.status === 429) {
      // Every try counts against the key's limits, and one that comes too early against its good
      // name.
      await pause(reply.retryAfterMs)
      continue
    }
    if (
      reply !== null &&
      reply.status < 500 &&
      reply.body.error?.code !== 'IDEMPOTENCY_IN_PROGRESS'
    )
      return reply
    await pause(patienceMs)
  }
}

/** Makes the service read the history of every account to its end. */
export const readHistories = async (fleet: Fleet, users: readonly FaultUser[]): Promise<void> => {
  for (const user of users)
    await askUntilAnswered(fleet, user, { path: `/trades?accountId=${user.accountId}&limit=1` })
}
