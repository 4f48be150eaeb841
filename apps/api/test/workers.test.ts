// What the service says when an order that was rejected as not found appears at the broker after
// all.
import type { OrderJob } from '@tradeport/domain/ports'
import { newOrder, placementOf } from '@tradeport/domain/testing'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { startWorkers } from '../src/workers.ts'

const owner = { tenantId: 'acme', userId: 'u-1' } as Parameters<typeof newOrder>[0]

it('logs and counts a corrected order, and no other', async () => {
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
  let corrections = 0
  const handlers: ((job: OrderJob) => Promise<unknown>)[] = []
  const job: OrderJob = { ...placementOf(newOrder(owner, 0)), isOwn: false, sendUntilMs: 0 }
  const jobs = {
    work: async (handle: (job: OrderJob) => Promise<unknown>) => {
      handlers.push(handle)
      return { stop: async () => undefined }
    },
  }
  for (const isCorrected of [false, true])
    await startWorkers(
      { processOrder: () => TE.right({ isCorrected, retry: undefined }) } as never,
      {
        orders: { jobs },
        events: undefined,
        metrics: { orderCorrected: () => (corrections += 1) },
      } as never,
      { closers: [], log },
    )
  for (const handle of handlers) await handle(job)
  expect(corrections).toBe(1)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'order_corrected', orderId: job.order.id, owner },
  ])
})
