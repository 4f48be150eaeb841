// A change on an account through one instance shows on the other as soon as that hears of it: the clock of both stands still, so that nothing that
// is kept could expire.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Service } from '../src/service.ts'
import { eventually, openDesk } from './support/order-desk.ts'
import { linkingDesks, openPositionDesk } from './support/position-desk.ts'
import { startTestService } from './support/running-service.ts'
import type { RunningService } from './support/running-service.ts'
import { createServerDatabase, serverTitle, serverUrl } from './support/server-database.ts'
import type { ServerDatabase } from './support/server-database.ts'
import { startFrom } from './support/start-service.ts'
import { createTestClock } from './support/test-clock.ts'

const key = 'tp_live_only_for_automated_tests_account_notices'
const clock = createTestClock('2026-03-05T12:00:00.000Z')

const isClosed = ([positions, trades]: readonly number[]): boolean => positions === 0 && trades === 1

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  let folder: string
  let database: ServerDatabase
  let one: RunningService
  let two: Service
  let link: ReturnType<typeof linkingDesks>
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
    database = await createServerDatabase()
    const environment = { DATABASE_URL: database.url, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }
    one = await startTestService([], { environment, now: clock.now })
    two = await startFrom({ ...one.environment, DATA_DIR: folder }, { now: clock.now })
    one.sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
    link = linkingDesks(one, { user: 'u-1', key })
  })
  afterAll(async () => {
    await one?.sandbox.close()
    await two?.close()
    await one?.close()
    await database?.drop()
    await rm(folder, { recursive: true, force: true })
  })

  it('a level that was moved', async () => {
    const here = await link()
    const there = openPositionDesk(two, { key, accountId: here.accountId })
    const ticket = here.open({ stopLoss: 1.04 })
    expect((await there.find(ticket)).body.data.stopLoss).toBe(1.04)
    expect((await here.moveStopLoss(ticket, 1.05)).status).toBe(200)
    expect(
      await eventually(
        async () => (await there.find(ticket)).body.data.stopLoss,
        (stopLoss) => stopLoss === 1.05,
      ),
    ).toBe(1.05)
  })

  it('a position that was closed, and the trade that it became', async () => {
    const here = await link()
    const there = openPositionDesk(two, { key, accountId: here.accountId })
    const ticket = here.open()
    const countThere = async (path: string): Promise<number> =>
      (await there.get(`${path}?accountId=${here.accountId}`)).body.meta.pagination.total
    expect([await countThere('/positions'), await countThere('/trades')]).toEqual([1, 0])
    expect((await here.close(ticket)).status).toBe(200)
    expect(await eventually(async () => [await countThere('/positions'), await countThere('/trades')], isClosed)).toEqual([0, 1])
  })

  it('an order that was filled', async () => {
    const here = await link()
    const there = openPositionDesk(two, { key, accountId: here.accountId })
    expect((await there.list()).body.data).toEqual([])
    const order = await openDesk(one, { key, accountId: here.accountId }).placeAndSettle()
    expect(order.status).toBe('filled')
    const shown = await eventually(
      async () => (await there.list()).body.data,
      (positions) => positions.length === 1,
    )
    expect(shown).toMatchObject([{ id: order.positionId }])
  })
})
