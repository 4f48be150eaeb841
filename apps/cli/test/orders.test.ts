// An order whose outcome the broker does not show: the operator sees it, is warned before changing
// its account, and ends it by hand.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, startSandbox, startService } from './service.ts'
import type { Called, StartedSandbox, StartedService } from './service.ts'

const account = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c'
const token = 'operator-token-for-tests'
const key = 'tp_live_only_for_automated_tests_of_the_orders'

let sandbox: StartedSandbox
let service: StartedService
const environment = () => ({ OPERATOR_URL: service.operatorUrl, OPERATOR_TOKEN: token })
// A lookup may be written at the very moment at which the order is ended; then it is ended at the
// next call.
const operator = async (...words: string[]): Promise<Called> => {
  for (;;) {
    const called = await call(words, { environment: environment() })
    if (!called.err.includes('changed at the same moment')) return called
  }
}
const done = async (...words: string[]): Promise<string> => {
  const { exit, out, err } = await operator(...words)
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  return out
}
const read = async <A>(...words: string[]): Promise<A> =>
  JSON.parse(await done(...words, '--json')) as A

interface Order {
  readonly id: string
  readonly step: string
}

const users = async (
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly id: string; readonly status: string }> => {
  const response = await fetch(`${service.apiUrl}/api/v1${path}`, {
    method,
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { data, error } = (await response.json()) as {
    data: { id: string; status: string }
    error: object | null
  }
  expect(error).toBeNull()
  return data
}

beforeAll(async () => {
  sandbox = await startSandbox()
  service = await startService({
    OPERATOR_TOKEN: token,
    BROKER: 'metaapi',
    METAAPI_PROVISIONING_URL: sandbox.url,
    METAAPI_CLIENT_URL: sandbox.url,
  })
  const link = {
    brokerType: 'mt5',
    accountNumber: '5012345',
    server: 'Example-Demo',
    purpose: 'trading',
    isDemo: true,
    currency: 'USD',
  }
  const document = {
    tenants: [{ id: 'acme', name: 'Acme', providerToken: 'sandbox-token' }],
    users: [{ id: 'u-1', tenantId: 'acme', email: 'owner@example.com' }],
    accounts: [{ id: account, userId: 'u-1', name: 'Main', providerAccountId: 'demo', ...link }],
    apiKeys: [{ id: 'k-1', userId: 'u-1', key, scopes: ['trading:read', 'trading:write'] }],
  }
  const { exit, err } = await call(['apply', '-'], {
    environment: environment(),
    input: JSON.stringify(document),
  })
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  // The broker executes orders, answers none of them, and shows no records.
  for (const route of ['trade', 'positions', 'orders', 'deals', 'history-orders'])
    await sandbox.control('/faults', {
      account: 'demo',
      route,
      fault: { kind: 'timeout', when: 'after' },
    })
})
afterAll(async () => {
  await service?.stop()
  await sandbox?.stop()
})

const lookedUp = async (): Promise<string> => {
  const { id } = await users('POST', '/orders', {
    accountId: account,
    symbol: 'EURUSD',
    type: 'buy',
    orderType: 'market',
    volume: 0.1,
  })
  await expect
    .poll(() => read<Order[]>('orders', 'list'), { timeout: 120_000 })
    .toContainEqual(expect.objectContaining({ id, step: 'looking_up' }))
  return id
}

describe('an order whose outcome is unknown', () => {
  it('is listed, is named by a dry run that relinks its account, and is ended as filled, once', async () => {
    expect(await done('orders', 'list')).toBe('There are no orders under way.\n')
    const id = await lookedUp()
    expect(await done('orders', 'list', '--tenant', 'acme')).toMatch(
      new RegExp(
        `^ID +TENANT +USER .*\\n${id} +acme +u-1 +${account} +demo +buy 0.1 EURUSD +.* looking_up .*\\n1 order\\n$`,
      ),
    )
    expect(await done('orders', 'list', '--stuck')).toBe('There are no orders under way.\n')
    expect(await read('orders', 'show', id)).toMatchObject({
      id,
      status: 'pending',
      destination: { providerAccountId: 'demo', platform: 'mt5' },
      sentAt: expect.any(String),
      finished: null,
    })

    const input = JSON.stringify({ accounts: [{ id: account, providerAccountId: 'other' }] })
    const dryRun = await call(['apply', '-', '--plan'], { environment: environment(), input })
    expect(dryRun.out).toContain(
      `Warning: 1 order under way is affected:\n  ${id} (looking_up) on account ${account}: its account is linked to another provider account, region or platform\n`,
    )
    const planned = await call(['apply', '-', '--plan', '--json'], {
      environment: environment(),
      input,
    })
    expect(JSON.parse(planned.out)).toMatchObject({
      ordersUnderWay: [{ id, accountId: account, effects: ['account_relinked'] }],
    })

    const words = ['orders', 'finish', id, '--as', 'filled', '--reason', 'seen in the terminal']
    expect(
      await done(
        ...words,
        '--price',
        '1.0842',
        '--volume',
        '0.1',
        '--position',
        '90001',
        '--by',
        'kim',
      ),
    ).toBe(`The order ${id} is now filled.\n`)
    expect(await users('GET', `/orders/${id}`)).toMatchObject({
      status: 'filled',
      fillPrice: 1.0842,
      positionId: `${account}:90001`,
    })
    expect(await done('orders', 'show', id)).toMatch(
      /\nended by +kim at \S+Z: seen in the terminal\n/,
    )
    expect(await operator(...words)).toMatchObject({
      exit: 1,
      out: '',
      err: 'The service answered: The order is filled; only a pending order can be ended by hand.\n',
    })
    expect(await done('orders', 'list')).toBe('There are no orders under way.\n')
  })

  it('is ended as rejected, with a reason that its user sees', async () => {
    const id = await lookedUp()
    const words = [
      'orders',
      'finish',
      id,
      '--as',
      'rejected',
      '--reason',
      'the broker has no such order',
    ]
    const refused = await operator(...words, '--price', '1')
    expect([refused.exit, refused.err]).toEqual([
      1,
      expect.stringContaining('price must be absent where the order was rejected'),
    ])
    expect(await read(...words)).toMatchObject({
      id,
      status: 'rejected',
      finished: { by: 'operator' },
    })
    expect(await users('GET', `/orders/${id}`)).toMatchObject({
      status: 'rejected',
      rejectReason: { code: 'FINISHED_BY_OPERATOR', message: 'the broker has no such order' },
    })
  })

  it('is named by an apply that unlinks its account', async () => {
    const id = await lookedUp()
    expect(await done('accounts', 'unlink', account)).toContain(
      `  ${id} (looking_up) on account ${account}: its account is removed\n`,
    )
    expect(await read<Order[]>('orders', 'list')).toMatchObject([{ id }])
  })
})
