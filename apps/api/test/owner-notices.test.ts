// What the log shows of a notice whose mail server cannot be reached.
import type { OwnerNoticeJobs } from '@tradeport/domain/ports'
import type { EmailAddress } from '@tradeport/domain/primitives'
import { freePort, someOwner } from '@tradeport/testkit'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import { createLog } from '../src/log.ts'
import { startOwnerNotices } from '../src/owner-notices.ts'

it('a mail that fails is left to the queue to log, with the notice’s id', async () => {
  const lines: string[] = []
  const working = Promise.withResolvers<Parameters<OwnerNoticeJobs['work']>[0]>()
  const port = await freePort()
  const from = { name: 'Tradeport', address: 'notices@tradeport.example' as EmailAddress }
  const server = {
    host: '127.0.0.1',
    port,
    isSecure: false,
    isLoopback: true,
    credentials: undefined,
  }
  const notices = await startOwnerNotices({
    smtp: { server, from },
    queue: {
      enqueue: () => TE.right(undefined),
      work: async (send) => {
        working.resolve(send)
        return { stop: async () => undefined }
      },
    },
    users: { email: () => TE.right(O.some('owner@example.com')) },
    onAttempt: () => undefined,
    log: createLog('info', { write: (line) => lines.push(line) }),
  })
  const credential = { kind: 'api_key', id: 'k-1', applicationId: null } as const
  const notice = { kind: 'suspended', credential, since: 0, until: 900_000 } as const
  const send = await working.promise
  await expect(send({ id: 'n-1', owner: someOwner, notice })).rejects.toThrow('n-1: ECONNREFUSED')
  expect(lines).toEqual([])
  await notices.stop()
})
