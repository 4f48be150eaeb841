// Sending a notice to its owner by mail.
import { describe, expect, it } from 'vitest'
import { noticeText } from '../../src/notices/owner-notice.ts'
import type { Mail, MailAnswer, Mailer, OwnerNoticeJob } from '../../src/ports/index.ts'
import {
  createFakeOperatorStore,
  createFakeRecords,
  createFakeUserStore,
  newUser,
  puts,
  removes,
  storedOwner,
  write,
} from '@tradeport/testkit'
import { sendOwnerNotice } from '../../src/use-cases/send-owner-notice.ts'
import { rightOf, tagOf, unavailable } from './desk.ts'

const openDesk = async (answer: MailAnswer = { kind: 'sent' }) => {
  const records = createFakeRecords()
  const operator = createFakeOperatorStore(records)
  const owner = await storedOwner(operator)
  const mails: Mail[] = []
  const mailer: Mailer = {
    send: (mail) => async () => {
      mails.push(mail)
      return answer
    },
  }
  const ports = { users: createFakeUserStore(records), mailer }
  const job: OwnerNoticeJob = {
    id: 'n-1',
    owner,
    notice: {
      kind: 'suspended',
      credential: { kind: 'api_key', id: 'k-1', applicationId: null },
      since: 0,
      until: 900_000,
    },
  }
  return { operator, owner, ports, job, mails }
}

describe('a notice', () => {
  it.each<[MailAnswer]>([
    [{ kind: 'sent' }],
    [{ kind: 'undelivered', reason: 'ECONNREFUSED' }],
    [{ kind: 'refused', reason: '550' }],
  ])(
    'is mailed to the user’s address with its own id, and has the outcome of the mail server: %o',
    async (answer) => {
      const { ports, job, mails } = await openDesk(answer)
      expect(await rightOf(sendOwnerNotice(ports)(job))).toStrictEqual(answer)
      const mail = { id: 'n-1', to: 'owner@example.com', ...noticeText(job.notice) }
      expect(mails).toStrictEqual([mail])
    },
  )

  it.each(['', 'nobody', 'a@b.example, c@d.example', null])(
    'is not mailed to a user whose address is %j, or who was removed',
    async (email) => {
      const { operator, owner, ports, job, mails } = await openDesk()
      const user = { ...newUser(owner.tenantId), id: owner.userId }
      await write(operator, {
        users: email === null ? removes(owner.userId) : puts({ ...user, email }),
      })
      expect(await rightOf(sendOwnerNotice(ports)(job))).toStrictEqual({ kind: 'no_address' })
      expect(mails).toStrictEqual([])
    },
  )

  it('fails, to be tried again, while the address cannot be read', async () => {
    const { ports, job, mails } = await openDesk()
    expect(await tagOf(sendOwnerNotice({ ...ports, users: { email: unavailable } })(job))).toBe(
      'ServiceUnavailable',
    )
    expect(mails).toStrictEqual([])
  })
})
