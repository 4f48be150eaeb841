// The network to the database loses packets without closing any connection: the service answers again, and is ready again, soon after the network is back, and
// an order that could not be sent in time meanwhile is not sent then.
import { setTimeout } from 'node:timers/promises'
import { createTcpProxy } from '@tradeport/testkit'
import type { TcpProxy } from '@tradeport/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, openDesk, sends } from './support/order-desk.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { RunningService } from './support/running-service.ts'
import { createServerDatabase, serverTitle, serverUrl } from './support/server-database.ts'
import type { ServerDatabase } from './support/server-database.ts'
import { operatorToken } from './support/start-service.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

/** Without timeouts of its own the service would wait for as long as TCP does, which is a quarter of an hour. */
const recoveryMs = 30_000

const isServing = (found: readonly number[]): boolean => found.every((status) => status === 200)

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  let database: ServerDatabase
  let proxy: TcpProxy
  let service: RunningService
  beforeAll(async () => {
    database = await createServerDatabase()
    proxy = await createTcpProxy({ target: database.url })
    service = await startTestService([{ id: 'stalled' }], {
      environment: { DATABASE_URL: proxy.url, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') },
    })
  })
  afterAll(async () => {
    await service?.close()
    await proxy?.close()
    await database?.drop()
  })

  const tenants = async (): Promise<number> =>
    (await request(`${service.operatorUrl}/operator/v1/tenants`, { headers: { Authorization: `Bearer ${operatorToken}` } })).status
  const readiness = async (): Promise<number> => (await request(`${service.apiUrl}/readyz`)).status
  const statuses = (): Promise<readonly number[]> => Promise.all([readiness(), tenants()])
  /** Requests that use every connection of the pool. */
  const burst = (): Promise<readonly number[]> => Promise.all(Array.from({ length: 30 }, tenants))

  it('replaces the connections that are lost while new ones work', async () => {
    expect(isServing(await burst())).toBe(true)
    const underWay = burst()
    proxy.blackHole()
    await proxy.resume()
    expect(await eventually(statuses, isServing, recoveryMs)).toEqual([200, 200])
    await underWay
  })

  it('is not ready while everything is lost, and recovers with the network', async () => {
    expect(isServing(await burst())).toBe(true)
    proxy.blackHole()
    const underWay = burst()
    expect(await eventually(readiness, (status) => status === 503, recoveryMs)).toBe(503)
    await setTimeout(12_000)
    expect(await readiness()).toBe(503)
    await proxy.resume()
    expect(await eventually(statuses, isServing, recoveryMs)).toEqual([200, 200])
    await underWay
  })

  it('does not send an order whose 30 seconds have passed while the network stood still', async () => {
    const user = { tenant: 'acme', user: 'u-1', key: 'tp_live_only_for_automated_tests_stalled', providerToken }
    const accountId = newAccountUuid(1)
    await service.setUp(linkDocument(user, [{ id: accountId, providerAccountId: 'stalled' }], ['trading:read', 'trading:write']))
    const desk = openDesk(service, { key: user.key, accountId })
    // An account that was never read is read before the first order is sent: the network stops between the record of the order and its send.
    service.sandbox.faults.set('stalled', 'account-information', { kind: 'delay', ms: 1_500 })
    const { id } = await desk.place()
    proxy.stall()
    await setTimeout(33_000)
    await proxy.resume()
    expect(await eventually(statuses, isServing, recoveryMs)).toEqual([200, 200])
    const isLookedUp = () => service.sandbox.requests.count({ account: 'stalled', route: 'history-orders' }) > 0
    expect(
      await eventually(
        async () => isLookedUp() || (await desk.find(id)).status !== 'pending',
        (done) => done,
        recoveryMs,
      ),
    ).toBe(true)
    expect(sends(service, 'stalled')).toBe(0)
  })
})
