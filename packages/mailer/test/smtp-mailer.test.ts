import type { Mail } from '@tradeport/domain/ports'
import type { EmailAddress } from '@tradeport/domain/primitives'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createSmtpMailer } from '../src/smtp-mailer.ts'
import type { Sender, SmtpServer } from '../src/index.ts'
import type { SmtpLimits, SmtpMailer } from '../src/smtp-mailer.ts'
import { startMailServer } from './mail-server.ts'
import type { MailServer, Place } from './mail-server.ts'

const from: Sender = { name: 'Tradeport', address: 'notices@tradeport.example' as EmailAddress }
const mail: Mail = {
  id: '0123-abc',
  to: 'owner@example.com' as EmailAddress,
  subject: 'Your API key k-1 is suspended',
  text: 'Hello,\n\n.a line that begins with a dot\nGrüße\n',
}
const accepted = { kind: 'accepted' }

const mailerTo = (server: SmtpServer, limits: Partial<SmtpLimits> = {}): SmtpMailer =>
  createSmtpMailer({ server, from, limits })

describe('a mail', () => {
  let server: MailServer
  let mailer: SmtpMailer
  beforeEach(async () => {
    server = await startMailServer()
    mailer = mailerTo(server.address)
  })
  afterEach(() => server.close())

  it('arrives with its sender, its subject and its text, as a mail that nobody answers automatically', async () => {
    expect(await mailer.send(mail)()).toEqual(accepted)
    const [one] = server.received
    expect(one).toMatchObject({ from: 'notices@tradeport.example', to: ['owner@example.com'] })
    expect(one?.mail).toMatchObject({
      from: { name: 'Tradeport', address: 'notices@tradeport.example' },
      to: [{ address: 'owner@example.com' }],
      subject: mail.subject,
      messageId: '<0123-abc@tradeport.example>',
    })
    expect(one?.mail.text?.replaceAll('\r\n', '\n')).toBe(mail.text)
    expect(one?.mail.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    )
    expect(one?.mail.date).toBeDefined()
    expect(one?.mail.cc ?? one?.mail.bcc).toBeUndefined()
  })

  it('has the same Message-ID whenever it is sent, and another one than any other mail', async () => {
    for (const id of ['a', 'a', 'A', 'a b', 'a_20_b', '>\r\nBcc: x@y.example', 'ü'.repeat(40)])
      expect(await mailer.send({ ...mail, id })()).toEqual(accepted)
    const ids = server.received.map((one) => one.mail.messageId)
    expect(ids[0]).toBe(ids[1])
    expect(new Set(ids).size).toBe(6)
    for (const id of ids) expect(id).toMatch(/^<[A-Za-z0-9_-]+@tradeport\.example>$/)
  })

  it.each<[Place, string, string]>([
    ['MAIL', '451 4.3.0 later', '451 4.3.0 to MAIL FROM'],
    ['RCPT', '450 4.2.1 greylisted', '450 4.2.1 to RCPT TO'],
    ['DATA', '452 4.3.1 no room', '452 4.3.1 to DATA'],
    ['MAIL', '553 5.1.8 no such sender', '553 5.1.8 to MAIL FROM'],
    ['RCPT', '554 5.7.1 relay access denied', '554 5.7.1 to RCPT TO'],
    ['RCPT', '530 authentication required', '530 to RCPT TO'],
  ])(
    'that is put off at %s with %s is undelivered, and accepted later',
    async (place, reply, reason) => {
      server.sayNext(place, reply)
      expect(await mailer.send(mail)()).toEqual({ kind: 'undelivered', reason })
      expect(server.received).toHaveLength(0)
      expect(await mailer.send(mail)()).toEqual(accepted)
      expect(server.received).toHaveLength(1)
    },
  )

  it.each<[Place, string, string]>([
    ['RCPT', '550 5.1.1 no such mailbox owner@example.com', '550 5.1.1 to RCPT TO'],
    ['RCPT', '550 unknown user', '550 to RCPT TO'],
    ['DATA', '554 5.6.0 not like this', '554 5.6.0 to DATA'],
  ])('that is refused at %s with %s is refused for good', async (place, reply, reason) => {
    server.sayNext(place, reply)
    expect(await mailer.send(mail)()).toEqual({ kind: 'refused', reason })
  })
})

describe('a mail server that is down', () => {
  it('leaves the mail undelivered, and takes it once it is up again', async () => {
    const first = await startMailServer()
    const mailer = mailerTo(first.address)
    expect(await mailer.send(mail)()).toEqual(accepted)
    await first.close()
    expect(await mailer.send(mail)()).toEqual({ kind: 'undelivered', reason: 'ECONNREFUSED' })
    const second = await startMailServer({ port: first.address.port })
    expect(await mailer.send(mail)()).toEqual(accepted)
    expect(second.received).toHaveLength(1)
    await second.close()
  })

  it('is undelivered where the host has no address', async () => {
    const answer = await mailerTo({
      host: 'nowhere.invalid',
      port: 25,
      isSecure: false,
      isLoopback: false,
      credentials: null,
    }).send(mail)()
    expect(answer).toEqual({ kind: 'undelivered', reason: expect.stringMatching(/^E[A-Z_]+$/) })
  })
})

const greet = (socket: Socket): void => void socket.write('220 hello\r\n')
const drip = (socket: Socket): void => {
  greet(socket)
  const dripping = setInterval(() => socket.write('250-and so on\r\n'), 20)
  socket.on('close', () => clearInterval(dripping))
}
const pour = (socket: Socket): void => {
  greet(socket)
  socket.once('data', () => socket.end(`250-${'x'.repeat(3_000_000)}`))
}

describe('a mail server that is slow', () => {
  it.each<
    readonly [
      what: string,
      limits: Partial<SmtpLimits>,
      reason: unknown,
      talk: (socket: Socket) => void,
    ]
  >([
    ['does not greet', { greetingMs: 100 }, 'ETIMEDOUT at GREETING_TIMEOUT', () => undefined],
    ['does not answer', { answerMs: 100 }, 'ETIMEDOUT at SOCKET_TIMEOUT', greet],
    [
      'says a little again and again but never comes to an end',
      { answerMs: 10_000, mailMs: 300 },
      'no end after 300 ms',
      drip,
    ],
    ['talks without end in one answer', { answerMs: 5_000 }, expect.any(String), pour],
  ])('is given up when it %s', async (_, limits, reason, talk) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      talk(socket)
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const address = {
      host: '127.0.0.1',
      port,
      isSecure: false,
      isLoopback: true,
      credentials: null,
    }
    expect(await mailerTo(address, limits).send(mail)()).toEqual({ kind: 'undelivered', reason })
    server.close()
  })

  it('is given up when it never answers the end of the mail', async () => {
    const server = await startMailServer()
    server.hangNext()
    expect(await mailerTo(server.address, { answerMs: 200 }).send(mail)()).toEqual({
      kind: 'undelivered',
      reason: 'ETIMEDOUT at SOCKET_TIMEOUT',
    })
    await server.close()
  })
})

describe('a mailer that is closed', () => {
  it('breaks off what is under way, sends nothing more, and leaves no connection', async () => {
    const server = await startMailServer()
    const mailer = mailerTo(server.address)
    server.hangNext()
    const underWay = mailer.send(mail)()
    await expect.poll(() => server.connections()).toBe(1)
    mailer.close()
    const closed = { kind: 'undelivered', reason: 'the mailer is closed' }
    expect(await underWay).toEqual(closed)
    expect(await mailer.send(mail)()).toEqual(closed)
    expect(server.connections()).toBe(1)
    await server.close()
  })
})
