// Records of closes keep their contract on the embedded database and on a server; beside it: they go after a month, and with their user, and the log
// tells of none as lost that is taken up again.
import { closeRecordsContract, rightOf, storedOwner } from '@tradeport/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestClock, openClosesEmbedded, openClosesOnServer, startEvents } from './event-ports.ts'
import type { EventInstance } from './event-ports.ts'
import type { LogEvent } from '../src/index.ts'
import { openEmbedded, serverTitle, serverUrl, storesOn } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

closeRecordsContract('embedded', openClosesEmbedded)

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  closeRecordsContract('server', openClosesOnServer)
})

describe('records of closes', () => {
  const warnings: LogEvent[] = []
  let opened: OpenedDatabase
  let instance: EventInstance
  beforeAll(async () => {
    opened = await openEmbedded()
    instance = await startEvents(opened.database, createTestClock(), {}, { warn: (event) => void warnings.push(event) })
  })
  afterAll(async () => {
    await instance.jobs.stop()
    await opened.close()
  })
  const record = async () => {
    const owner = await storedOwner(storesOn(opened.database).operator)
    const close = {
      id: { accountId: '0a000000-0000-4000-8000-000000000001', ticket: '42' },
      position: { symbol: 'EURUSD', side: 'buy', volume: 0.1, entryPrice: 1.1 },
      order: { closes: 0.1, leaves: 0 },
      sentAt: 5,
    } as unknown as Parameters<typeof instance.events.closes.records.record>[1]
    await rightOf(instance.events.closes.records.record(owner, close, 3_600_000))
    return owner
  }
  const count = async (): Promise<number> => (await opened.database.knex('position_closes').select('id')).length

  it('go after a month, whatever is known of them', async () => {
    await record()
    const worker = await instance.events.closes.jobs.work(async () => undefined)
    await worker.stop()
    expect(await count()).toBe(1)
    await opened.database.knex('position_closes').update({ recorded_at: opened.database.knex.raw(`now() - interval '31 days'`) })
    const next = await instance.events.closes.jobs.work(async () => undefined)
    await expect.poll(count, { timeout: 60_000 }).toBe(0)
    await next.stop()
  })

  it('are looked after within moments though they are due an hour late, because the clock of the database was set back', async () => {
    await record()
    const { knex } = opened.database
    await knex.raw(`update pgboss.job set start_after = now() + interval '1 hour'`)
    const begun: unknown[] = []
    const worker = await instance.events.closes.jobs.work(async (job) => void begun.push(job))
    await expect.poll(() => begun.length, { timeout: 60_000 }).toBeGreaterThan(0)
    await worker.stop()
    await knex('position_closes').delete()
  })

  it('whose job fails are told as taken up again, and are; none is told as given up', async () => {
    await record()
    warnings.length = 0
    let attempts = 0
    const worker = await instance.events.closes.jobs.work(async () => {
      attempts += 1
      throw new Error('the broker is away')
    })
    await expect.poll(() => attempts, { timeout: 60_000 }).toBeGreaterThan(2)
    await worker.stop()
    expect(warnings).toStrictEqual([{ event: 'position_close_failed', reason: 'Error; another job takes it up again' }])
    await opened.database.knex('position_closes').delete()
  })

  it('go with their user', async () => {
    const { tenantId, userId } = await record()
    await opened.database.knex('users').where({ tenant_id: tenantId, id: userId }).delete()
    expect(await count()).toBe(0)
  })
})
