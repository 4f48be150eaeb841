// The service under test: instances that a run kills and starts again, a simulated provider, the
// users that it links, and how they send requests.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '@tradeport/postgres'
import { startSandbox, type AccountOptions, type Sandbox } from '@tradeport/sandbox-broker'
import { startInstance, type Instance } from './instance.ts'
import { say, type Run } from './run.ts'

export interface Fleet {
  /** null while an instance is down. */
  readonly slots: (Instance | null)[]
  readonly start: () => Promise<Instance>
  readonly database: { readonly url: string } | { readonly folder: string }
}

export interface FaultUser {
  readonly id: string
  readonly key: string
  readonly accountId: string
  readonly providerAccountId: string
  readonly brokerType: 'mt4' | 'mt5'
  readonly marginMode: 'hedging' | 'netting'
}

export const providerToken = 'faults-provider-token'
export const operatorToken = 'faults-operator-token'

let lastUser = 0
export const newUsers = (
  count: number,
  fields: (index: number) => Partial<FaultUser> = () => ({}),
): readonly FaultUser[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `faults-${index}-${randomUUID()}`,
    key: `tp_live_${randomUUID()}`,
    accountId: randomUUID(),
    providerAccountId: `faults-${(lastUser += 1)}`,
    brokerType: 'mt5',
    marginMode: 'hedging',
    ...fields(index),
  }))

export const accountOf = ({ providerAccountId: id, brokerType, marginMode }: FaultUser) => ({
  id,
  platform: brokerType,
  marginMode,
  startBalance: 10_000_000,
})

/** A simulated provider. */
export const startBroker = async (
  { seed, closeLater }: Run,
  accounts: readonly AccountOptions[],
): Promise<Sandbox> => {
  const sandbox = await startSandbox({ seed, tokens: [providerToken], accounts })
  closeLater(sandbox.close)
  return sandbox
}

export interface FleetOptions {
  /** null for the embedded database, which one instance opens; a server gets two instances. */
  readonly databaseUrl: string | null
  readonly providerUrl: string
  readonly environment?: Readonly<Record<string, string>>
  readonly isMeasured?: boolean
  readonly instances?: number
}

export const startFleet = async (
  run: Run,
  {
    databaseUrl,
    providerUrl,
    environment = {},
    isMeasured = false,
    instances = databaseUrl === null ? 1 : 2,
  }: FleetOptions,
): Promise<Fleet> => {
  const dataFolder = join(run.folder, 'data')
  const all = {
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
    ...environment,
  }
  const fleet: Fleet = {
    slots: [],
    start: () => startInstance(all, isMeasured),
    database: databaseUrl === null ? { folder: dataFolder } : { url: databaseUrl },
  }
  run.closeLater(() => stopFleet(fleet))
  while (fleet.slots.length < instances) fleet.slots.push(await fleet.start())
  return fleet
}

export const stopFleet = async (fleet: Fleet): Promise<void> => {
  for (const instance of fleet.slots) await instance?.end('SIGTERM')
}

/** @returns those that run */
export const running = ({ slots }: Fleet): readonly Instance[] =>
  slots.filter((instance) => instance !== null)

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

const scopes = ['trading:read', 'trading:write', 'accounts:read', 'webhooks:read', 'webhooks:write']

/** @returns a time after which whatever happens on the accounts counts as new */
export const link = async (fleet: Fleet, users: readonly FaultUser[]): Promise<number> => {
  const tenantId = `faults-${randomUUID()}`
  await applyDocument(running(fleet)[0]?.operatorUrl, {
    tenants: [{ id: tenantId, name: 'Faults', providerToken }],
    users: users.map(({ id }) => ({
      id,
      tenantId,
      email: 'faults@example.com',
      plan: 'enterprise',
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
  })
  return Date.now()
}

/** Kills instances and starts them again until `state` has counted so many. */
export const killAtRandom = async (
  { random }: Run,
  fleet: Fleet,
  kills: number,
  state: { kills: number },
): Promise<void> => {
  while (state.kills < kills) {
    await pause(random.whole(300, 2_500))
    const slot = random.whole(0, fleet.slots.length - 1)
    const instance = fleet.slots[slot]
    fleet.slots[slot] = null
    await instance?.end('SIGKILL')
    state.kills += 1
    await pause(random.whole(0, 500))
    fleet.slots[slot] = await fleet.start()
  }
}

export interface Answer {
  readonly status: number
  /** `201`, `503 SERVICE_UNAVAILABLE`, `no answer`. */
  readonly outcome: string
  /** How long to wait; 0 where the reply does not say. */
  readonly retryAfterMs: number
  /** {} where there is no reply. */
  readonly body: ReturnType<typeof JSON.parse>
}

export interface FaultRequest {
  readonly path: string
  /** POST with a body, else GET, where left out. */
  readonly method?: 'PUT' | 'DELETE'
  readonly body?: object
  readonly idempotencyKey?: string
}

export const methodOf = ({ method, body }: FaultRequest): string =>
  method ?? (body === undefined ? 'GET' : 'POST')

const noAnswer: Answer = { status: 0, outcome: 'no answer', retryAfterMs: 0, body: {} }

/** There is no answer where the instance was killed or takes longer than 30 seconds. */
export const ask = async (
  { apiUrl }: Instance,
  { key }: FaultUser,
  request: FaultRequest,
): Promise<Answer> => {
  const { path, body, idempotencyKey } = request
  const headers = {
    'X-API-Key': key,
    'Content-Type': 'application/json',
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
  }
  const signal = AbortSignal.timeout(30_000)
  try {
    const response = await fetch(`${apiUrl}${path}`, {
      method: methodOf(request),
      headers,
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const reply: Answer['body'] = await response.json()
    const { status } = response
    return {
      status,
      outcome: reply.error?.code === undefined ? String(status) : `${status} ${reply.error.code}`,
      retryAfterMs: Number(response.headers.get('Retry-After') ?? 0) * 1_000,
      body: reply,
    }
  } catch {
    return noAnswer
  }
}

/** Asks one instance after the other until the answer is neither a limit nor an outage. */
export const askUntilAnswered = async (
  fleet: Fleet,
  user: FaultUser,
  request: FaultRequest,
): Promise<Answer> => {
  for (let attempt = 0; ; attempt += 1) {
    const instance = fleet.slots[attempt % fleet.slots.length]
    const reply = instance ? await ask(instance, user, request) : noAnswer
    // A request that comes too early counts towards the key's suspension.
    if (reply.status === 429) await pause(reply.retryAfterMs)
    else if (reply.status === 0 || reply.status >= 500) await pause(250)
    else return reply
  }
}

/** Makes the service read the history of every account to its end. */
export const readHistories = async (fleet: Fleet, users: readonly FaultUser[]): Promise<void> => {
  for (const user of users)
    await askUntilAnswered(fleet, user, { path: `/trades?accountId=${user.accountId}&limit=1` })
}

export type Knex = Awaited<ReturnType<typeof openDatabase>>['knex']

/** Reads the database itself; the embedded one once no instance has it open. */
export const readDatabase = async <A>(
  { database }: Fleet,
  read: (knex: Knex) => Promise<A>,
): Promise<A> => {
  const { knex, close } = await openDatabase(database, { warn: ({ reason }) => say(reason) })
  try {
    return await read(knex)
  } finally {
    await close()
  }
}
