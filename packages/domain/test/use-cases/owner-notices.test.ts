import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { serviceUnavailable } from '../../src/errors.ts'
import { noticeText } from '../../src/notices/notice-text.ts'
import type { OwnerNoticeJob } from '../../src/ports/owner-notices.ts'
import { createFakeMailer, createFakeUserStore } from '../../src/testing/fake-mail.ts'
import { createFakeOperatorStore } from '../../src/testing/fake-operator-store.ts'
import { createFakeRecords } from '../../src/testing/fake-records.ts'
import { newUser, puts, removes, storedOwner, write } from '../../src/testing/stored-records.ts'
import { sendOwnerNotice } from '../../src/use-cases/send-owner-notice.ts'

const openDesk = async () => {
  const records = createFakeRecords()
  const operator = createFakeOperatorStore(records)
  const owner = await storedOwner(operator)
  const mailer = createFakeMailer()
  const users = createFakeUserStore(records)
  const job: OwnerNoticeJob = {
    id: 'n-1',
    owner,
    notice: { kind: 'suspended', credential: { kind: 'api_key', id: 'k-1', applicationId: null }, since: 0, until: 900_000 },
  }
  return { operator, owner, mailer, users, job, send: sendOwnerNotice({ users, mailer }) }
}

describe('sending a notice to its owner (8.1 rule 7)', () => {
  it('mails it to the user’s address, with the same id at every attempt', async () => {
    const { mailer, job, send } = await openDesk()
    mailer.next({ kind: 'undelivered', reason: 'ECONNREFUSED' })
    expect(await send(job)()).toStrictEqual({ _tag: 'Right', right: { kind: 'undelivered', reason: 'ECONNREFUSED' } })
    expect(await send(job)()).toStrictEqual({ _tag: 'Right', right: { kind: 'sent' } })
    expect(mailer.accepted()).toStrictEqual([{ id: 'n-1', to: 'owner@example.com', ...noticeText(job.notice) }])
  })

  it('says so when the server will never take it', async () => {
    const { mailer, job, send } = await openDesk()
    mailer.next({ kind: 'refused', reason: '550' })
    expect(await send(job)()).toStrictEqual({ _tag: 'Right', right: { kind: 'refused', reason: '550' } })
  })

  it.each(['', 'nobody', 'a@b.example, c@d.example'])('mails nothing to a user whose address is %j', async (email) => {
    const { operator, owner, mailer, job, send } = await openDesk()
    await write(operator, { users: puts({ ...newUser(owner.tenantId), id: owner.userId, email }) })
    expect(await send(job)()).toStrictEqual({ _tag: 'Right', right: { kind: 'no_address' } })
    expect(mailer.accepted()).toStrictEqual([])
  })

  it('mails nothing to a user who is gone', async () => {
    const { operator, owner, mailer, job, send } = await openDesk()
    await write(operator, { users: removes(owner.userId) })
    expect(await send(job)()).toStrictEqual({ _tag: 'Right', right: { kind: 'no_address' } })
    expect(mailer.accepted()).toStrictEqual([])
  })

  it('fails, to be tried again, while the address cannot be read', async () => {
    const { mailer, job } = await openDesk()
    const users = { email: () => TE.left(serviceUnavailable('down')) }
    expect(await sendOwnerNotice({ users, mailer })(job)()).toStrictEqual({ _tag: 'Left', left: serviceUnavailable('down') })
    expect(mailer.accepted()).toStrictEqual([])
  })
})
