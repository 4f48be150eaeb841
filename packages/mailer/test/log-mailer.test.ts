import type { Mail } from '@tradeport/domain/ports'
import type { EmailAddress } from '@tradeport/domain/primitives'
import { expect, it } from 'vitest'
import { createLogMailer } from '../src/index.ts'

it('a mail without a mail server stands in the log as a whole, once for each attempt', async () => {
  const lines: unknown[] = []
  const mail: Mail = {
    id: 'm-1',
    to: 'owner@example.com' as EmailAddress,
    subject: 'Subject',
    text: 'Text\n',
  }
  const mailer = createLogMailer({ warn: (...line) => void lines.push(line) })
  const send = mailer.send(mail)
  expect(lines).toStrictEqual([])
  expect(await send()).toStrictEqual({ kind: 'accepted' })
  expect(lines).toStrictEqual([
    [{ event: 'owner_mail', ...mail }, 'no mail server is configured (SMTP_URL): this is the mail'],
  ])
})
