// The run of orders: load, kills and a provider that misbehaves, then peace, then the account of every order.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { checkBook } from './book-check.ts'
import type { OpeningDeal, ToldOrder } from './book-check.ts'
import { behave, misbehave } from './broker-faults.ts'
import { startInstance } from './instance.ts'
import type { Instance } from './instance.ts'
import { createRandom } from './random.ts'
import type { Random } from './random.ts'

export interface OrdersRun {
  readonly seed: number
  readonly orders: number
  readonly kills: number
  /** null for the embedded database; a server gets two instances. */
  readonly databaseUrl: string | null
}

interface Fleet {
  readonly slots: (Instance | null)[]
  readonly environment: Readonly<Record<string, string>>
}

const providerToken = 'faults-provider-token'
const operatorToken = 'faults-operator-token'
const ordersPerUser = 40
const settleMs = 12 * 60_000
const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** @returns whether every promise was kept */
export const runOrders = async (run: OrdersRun): Promise<boolean> => {
  const random = createRandom(run.seed)
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-faults-'))
  const users = Array.from({ length: Math.ceil(run.orders / ordersPerUser) }, (_, index) => newUser(index))
  const sandbox = await startSandbox({
    seed: run.seed,
    tokens: [providerToken],
    accounts: users.map(({ providerAccountId }) => ({ id: providerAccountId, startBalance: 10_000_000 })),
  })
  const fleet: Fleet = {
    slots: Array.from({ length: run.databaseUrl === null ? 1 : 2 }, () => null),
    environment: environmentOf(run, sandbox, folder),
  }
  try {
    for (const slot of fleet.slots.keys()) fleet.slots[slot] = await startInstance(fleet.environment)
    await link(fleet, users)
    misbehave(sandbox)
    const killing = { kills: 0, isOver: false }
    const killer = killAtRandom(fleet, random, run.kills, killing)
    const placed = await placeOrders(fleet, users, run.orders)
    await killer
    behave(sandbox)
    say(`seed ${run.seed}: ${placed.length} orders answered with 201, ${killing.kills} kills; waiting for the last to settle`)
    const told = await settledOrders(fleet, users)
    return report(run, placed, told, openingDeals(sandbox), killing.kills)
  } finally {
    for (const instance of fleet.slots) await instance?.stop()
    await sandbox.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface FaultUser {
  readonly id: string
  readonly key: string
  readonly accountId: string
  readonly providerAccountId: string
}

const newUser = (index: number): FaultUser => ({
  id: `faults-${index}-${randomUUID()}`,
  key: `tp_live_${randomUUID()}`,
  accountId: randomUUID(),
  providerAccountId: `faults-${index}`,
})

const environmentOf = (run: OrdersRun, sandbox: Sandbox, folder: string): Readonly<Record<string, string>> => ({
  PORT: '0',
  OPERATOR_PORT: '0',
  DATA_DIR: join(folder, 'data'),
  OPERATOR_TOKEN: operatorToken,
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  BROKER: 'metaapi',
  METAAPI_CLIENT_URL: sandbox.url,
  METAAPI_PROVISIONING_URL: sandbox.url,
  LOG_LEVEL: 'info',
  DATABASE_URL: run.databaseUrl ?? '',
})

const link = async ({ slots }: Fleet, users: readonly FaultUser[]): Promise<void> => {
  const tenantId = `faults-${randomUUID()}`
  const document = {
    tenants: [{ id: tenantId, name: 'Faults', providerToken }],
    users: users.map(({ id }) => ({ id, tenantId, email: 'faults@example.com', plan: 'enterprise' })),
    accounts: users.map(({ id, accountId, providerAccountId }, index) => ({
      id: accountId,
      userId: id,
      name: providerAccountId,
      brokerType: 'mt5',
      accountNumber: String(index + 1),
      server: 'Faults-Demo',
      purpose: 'trading',
      isDemo: true,
      currency: 'USD',
      providerAccountId,
      region: 'new-york',
    })),
    apiKeys: users.map(({ id, key }) => ({ id: `${id}-key`, userId: id, key, scopes: ['trading:read', 'trading:write'] })),
  }
  const response = await fetch(`${slots[0]?.operatorUrl}/operator/v1/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })
  if (response.status !== 200) throw new Error(`the run's records were refused: ${await response.text()}`)
}

const killAtRandom = async (fleet: Fleet, random: Random, kills: number, state: { kills: number }): Promise<void> => {
  while (state.kills < kills) {
    await pause(random.whole(300, 2_500))
    const slot = random.whole(0, fleet.slots.length - 1)
    const instance = fleet.slots[slot]
    if (instance === null || instance === undefined) continue
    fleet.slots[slot] = null
    await instance.kill()
    state.kills += 1
    await pause(random.whole(0, 500))
    fleet.slots[slot] = await startInstance(fleet.environment)
  }
}

/** Every user places orders one after the other, each until it is answered: the same intent under the same idempotency key. */
const placeOrders = async (fleet: Fleet, users: readonly FaultUser[], count: number): Promise<readonly string[]> => {
  const share = Math.ceil(count / users.length)
  const placed = await Promise.all(users.map((user, index) => placeForUser(fleet, user, Math.min(share, count - index * share))))
  return placed.flat()
}

const placeForUser = async (fleet: Fleet, user: FaultUser, count: number): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let placed = 0; placed < count; placed += 1) {
    ids.push(await placeUntilAnswered(fleet, user, randomUUID(), placed))
    await pause(400)
  }
  return ids
}

const placeUntilAnswered = async (fleet: Fleet, user: FaultUser, intent: string, turn: number): Promise<string> => {
  const body = JSON.stringify({
    accountId: user.accountId,
    symbol: 'EURUSD',
    type: turn % 2 === 0 ? 'buy' : 'sell',
    orderType: 'market',
    volume: 0.1,
  })
  for (let attempt = turn; ; attempt += 1) {
    const instance = fleet.slots[attempt % fleet.slots.length]
    const reply = instance === null || instance === undefined ? null : await ask(instance, user, '/orders', { body, intent })
    if (reply?.status === 201) return reply.body.data.id
    if (reply !== null && reply.status === 429) {
      // Every try counts against the key's limits, and one that comes too early against its good name.
      await pause(reply.retryAfterMs)
      continue
    }
    if (reply !== null && reply.status !== 409 && reply.status !== 400 && reply.status < 500)
      throw new Error(`an order was refused: ${JSON.stringify(reply.body)}`)
    await pause(250)
  }
}

interface Answer {
  readonly status: number
  /** How long to wait; 0 where the reply does not say. */
  readonly retryAfterMs: number
  readonly body: ReturnType<typeof JSON.parse>
}

/** null when there was no answer, because the instance was killed or is starting. */
const ask = async (
  { apiUrl }: Instance,
  { key }: FaultUser,
  path: string,
  order?: { readonly body: string; readonly intent: string },
): Promise<Answer | null> => {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  const init =
    order === undefined ? { headers } : { method: 'POST', headers: { ...headers, 'Idempotency-Key': order.intent }, body: order.body }
  try {
    const response = await fetch(`${apiUrl}${path}`, { ...init, signal: AbortSignal.timeout(30_000) })
    const retryAfterMs = Number(response.headers.get('Retry-After') ?? 0) * 1_000
    return { status: response.status, retryAfterMs, body: await response.json() }
  } catch {
    return null
  }
}

const settledOrders = async (fleet: Fleet, users: readonly FaultUser[]): Promise<readonly ToldOrder[]> => {
  const deadline = Date.now() + settleMs
  for (;;) {
    const orders = (await Promise.all(users.map((user) => ordersOf(fleet, user)))).flat()
    const pending = orders.filter(({ status }) => status === 'pending').length
    if (pending === 0 || Date.now() > deadline) return orders
    say(`  ${pending} of ${orders.length} pending`)
    await pause(15_000)
  }
}

const ordersOf = async ({ slots }: Fleet, user: FaultUser): Promise<readonly ToldOrder[]> => {
  const [instance] = slots
  if (instance === null || instance === undefined) throw new Error('no instance runs')
  const reply = await ask(instance, user, '/orders?limit=100')
  if (reply?.status !== 200 || reply.body.meta.pagination.total > 100)
    throw new Error(`the orders cannot be listed: ${JSON.stringify(reply)}`)
  return reply.body.data
}

const openingDeals = (sandbox: Sandbox): readonly OpeningDeal[] =>
  sandbox
    .accountIds()
    .flatMap((id) => sandbox.account(id).deals())
    .filter(({ entryType }) => entryType === 'DEAL_ENTRY_IN')
    .map(({ clientId, orderId, volume }) => ({ clientId: textOf(clientId), orderId: textOf(orderId), volume: Number(volume ?? 0) }))

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const report = (
  { seed, databaseUrl }: OrdersRun,
  placed: readonly string[],
  told: readonly ToldOrder[],
  deals: readonly OpeningDeal[],
  kills: number,
): boolean => {
  const { filled, partiallyFilled, rejected, broken } = checkBook(told, deals)
  const known = new Set(told.map(({ id }) => id))
  const lost = placed.filter((id) => !known.has(id)).map((id) => `order ${id} was answered with 201 and is gone`)
  const faults = [...lost, ...broken]
  say(`seed ${seed}, ${databaseUrl === null ? 'embedded database' : 'PostgreSQL server, two instances'}`)
  say(`orders answered with 201: ${placed.length}; recorded: ${told.length}; kills: ${kills}`)
  say(`filled ${filled}, partially filled ${partiallyFilled}, rejected ${rejected}; executions at the broker: ${deals.length}`)
  for (const fault of faults) say(`  broken: ${fault}`)
  say(faults.length === 0 ? 'every promise was kept' : `${faults.length} promises were broken`)
  return faults.length === 0
}
