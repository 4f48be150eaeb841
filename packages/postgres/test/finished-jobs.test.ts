// What done work leaves behind does not stay: jobs of the queue, and idempotency keys that count no more.
import { newClaim, rightOf, storedOwner } from '@tradeport/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startJobs } from '../src/index.ts'
import type { Jobs } from '../src/index.ts'
import { openEmbedded, openServer, serverTitle, serverUrl } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'
import { startInstance } from './order-ports.ts'

const finishedOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`what done work leaves, ${title}`, () => {
    let opened: OpenedDatabase
    let jobs: Jobs
    beforeAll(async () => {
      opened = await open()
      jobs = await startJobs({ knex: opened.database.knex, superviseSeconds: 1 })
    })
    afterAll(async () => {
      await jobs.stop()
      await opened.close()
    })

    it('lets an idempotency key go after 25 hours, where jobs are worked on', async () => {
      const { knex } = opened.database
      const { ports, stop } = await startInstance(opened.database)
      const owner = await storedOwner(ports.operator)
      for (const key of ['lately', 'long ago']) await rightOf(ports.idempotency.claim(owner, newClaim({ key }), Date.now()))
      const ago = (key: string, hours: number) =>
        knex('idempotency_keys')
          .where({ user_id: owner.userId, key })
          .update({ since: knex.raw(`now() - ? * interval '1 hour'`, [hours]) })
      await ago('lately', 24)
      await ago('long ago', 26)
      const worker = await ports.jobs.work(async () => undefined)
      await expect.poll(() => knex('idempotency_keys').where({ user_id: owner.userId }).pluck<string[]>('key')).toStrictEqual(['lately'])
      await worker.stop()
      await stop()
    })
  })
}

finishedOn('embedded', openEmbedded)

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  finishedOn('server', openServer)
})
