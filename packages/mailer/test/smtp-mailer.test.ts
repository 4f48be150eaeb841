import { createServer, type AddressInfo, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Mail } from '@tradeport/domain/ports'
import type { EmailAddress } from '@tradeport/domain/primitives'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createLogMailer, type SmtpServer } from '../src/index.ts'
import { createSmtpMailer, type SmtpLimits } from '../src/smtp-mailer.ts'
import { startMailServer, type Command } from './mail-server.ts'
import { createCertificate } from '@tradeport/testkit/certificates'

const testCertificate = await createCertificate()
const from = {
  name: 'Trade"port, <x@y.example>',
  address: 'notices@tradeport.example' as EmailAddress,
}
const mail = {
  id: '0123-abc',
  to: 'owner@example.com' as EmailAddress,
  subject: 'Your API key k-1 is suspended',
  text: 'Hello,\n\n.a line that begins with a dot\nGrüße\n',
}
const sentAnswer = { kind: 'sent' }
const undelivered = (reason: unknown) => ({ kind: 'undelivered', reason })

const mailerTo = (server: SmtpServer, limits: Partial<SmtpLimits> = {}) =>
  createSmtpMailer({ server, from, limits })
const send = (server: SmtpServer, changes: Partial<Mail> = {}) =>
  mailerTo(server).send({ ...mail, ...changes })()

it('without a mail server a mail is written into the log, once for each attempt', async () => {
  const lines: unknown[] = []
  const attempt = createLogMailer({ warn: (...line) => void lines.push(line) }).send(mail)
  expect(lines).toEqual([])
  expect(await attempt()).toEqual(sentAnswer)
  expect(lines).toEqual([
    [{ event: 'owner_mail', ...mail }, 'no mail server is configured (SMTP_URL): this is the mail'],
  ])
})

describe.concurrent('a mail', () => {
  it('arrives with its sender, subject and text, marked as generated', async () => {
    await using server = await startMailServer()
    expect(await send(server.address)).toEqual(sentAnswer)
    const [received] = server.received
    expect(received).toMatchObject({
      to: [mail.to],
      mail: {
        from,
        to: [{ address: mail.to }],
        subject: mail.subject,
        messageId: '<0123-abc@tradeport.example>',
      },
    })
    expect(received?.mail.text?.replaceAll('\r\n', '\n')).toBe(mail.text)
    expect(received?.mail.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    )
  })

  it.each<[string, Command, string, string]>([
    ['undelivered', 'MAIL', '451 4.3.0 later', '451 4.3.0 to MAIL FROM'],
    ['undelivered', 'RCPT', '450 4.2.1 greylisted', '450 4.2.1 to RCPT TO'],
    ['undelivered', 'DATA', '452 4.3.1 no room', '452 4.3.1 to DATA'],
    ['undelivered', 'MAIL', '553 5.1.8 no such sender', '553 5.1.8 to MAIL FROM'],
    ['undelivered', 'RCPT', '554 5.7.1 relay access denied', '554 5.7.1 to RCPT TO'],
    ['undelivered', 'RCPT', '530 authentication required', '530 to RCPT TO'],
    ['refused', 'RCPT', '550 5.1.1 no mailbox owner@example.com', '550 5.1.1 to RCPT TO'],
    ['refused', 'RCPT', '550 unknown user', '550 to RCPT TO'],
    ['refused', 'DATA', '554 5.6.0 not like this', '554 5.6.0 to DATA'],
  ])('is %s after %s is answered with %s', async (kind, command, reply, reason) => {
    await using server = await startMailServer()
    server.replyNext(command, reply)
    expect(await send(server.address)).toEqual({ kind, reason })
    expect(server.received).toEqual([])
    expect(await send(server.address)).toEqual(sentAnswer)
  })

  it('cannot add a header, a recipient or a second mail', async () => {
    await using server = await startMailServer()
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\r\nBcc: evil@example.com',
        '\nBcc: evil@example.com\n\nbody',
        '\r\n.\r\nMAIL FROM:<evil@example.com>\r\n',
        '=?utf-8?q?=0ABcc:?=',
      ),
    )
    const texts = fc
      .array(hostile, { maxLength: 5 })
      .map((parts) => ['Text', ...parts].join('\r\n'))
    // At once: the server greets each client after a tenth of a second.
    const subjects = hostile.map((text) => `S ${text}`)
    const changes = fc.array(fc.record({ subject: subjects, text: texts }), { minLength: 8 })
    await fc.assert(
      fc.asyncProperty(changes, async (sent) => {
        server.received.length = 0
        const answers = sent.map((changes, index) =>
          send(server.address, { id: String(index), ...changes }),
        )
        expect(await Promise.all(answers)).toEqual(sent.map(() => sentAnswer))
        const mails = server.received.map((received) => received.mail)
        expect(server.received).toMatchObject(sent.map(() => ({ to: [mail.to], mail: { from } })))
        for (const { headers } of mails)
          expect(headers.map(({ key }) => key).toSorted()).toEqual(expectedHeaders)
        expect(mails.map(({ subject }) => spaced(subject)).toSorted()).toEqual(
          sent.map(({ subject }) => spaced(subject.toWellFormed())).toSorted(),
        )
      }),
      { numRuns: 6 },
    )
  })
})

const expectedHeaders = [
  'auto-submitted',
  'content-transfer-encoding',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'subject',
  'to',
]

const spaced = (text = '') =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll('=?', '= ?')
    .trim()

describe('a mail server', () => {
  it('that was down receives the next attempt', async () => {
    const { address } = await (async () => {
      await using first = await startMailServer()
      return first
    })()
    expect(await send(address)).toEqual(undelivered('ECONNREFUSED'))
    await using second = await startMailServer({ port: address.port })
    expect(await send(second.address)).toEqual(sentAnswer)
  })

  it.each([
    ['does not greet', { greetingMs: 100 }, 'ETIMEDOUT at GREETING_TIMEOUT', () => undefined],
    ['does not answer', { answerMs: 100 }, 'ETIMEDOUT at SOCKET_TIMEOUT', greet],
    ['never ends its answer', { answerMs: 10_000, mailMs: 300 }, 'no end after 300 ms', drip],
    ['answers without limit', { answerMs: 5_000 }, expect.any(String), pour],
  ])('that %s leaves the mail undelivered', async (_, limits, reason, talk) => {
    await using server = createServer((socket) => {
      socket.on('error', () => undefined).resume()
      talk(socket)
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const address = { host: '127.0.0.1', port, isSecure: false, isLoopback: true }
    expect(await mailerTo({ ...address, credentials: undefined }, limits).send(mail)()).toEqual(
      undelivered(reason),
    )
  })
})

function greet(socket: Socket) {
  socket.write('220 hello\r\n')
}
function drip(socket: Socket) {
  greet(socket)
  const dripping = setInterval(() => socket.write('250-and so on\r\n'), 20)
  socket.on('close', () => clearInterval(dripping))
}
function pour(socket: Socket) {
  greet(socket)
  socket.once('data', () => socket.end(`250-${'x'.repeat(3_000_000)}`))
}

it('closing the mailer aborts the mail in progress and sends nothing more', async () => {
  await using server = await startMailServer()
  const mailer = mailerTo(server.address)
  server.hang()
  const inProgress = mailer.send(mail)()
  await expect.poll(() => server.connections()).toBe(1)
  mailer.close()
  expect(await inProgress).toEqual(undelivered('the mailer is closed'))
  expect(await mailer.send(mail)()).toEqual(undelivered('the mailer is closed'))
  expect(server.connections()).toBe(1)
})

describe('the connection', () => {
  const credentials = { user: 'tradeport', pass: 'pa55word of the mail server' }
  const selfSigned = undelivered('DEPTH_ZERO_SELF_SIGNED_CERT')
  const trusted = getCACertificates('default')
  afterEach(() => setDefaultCACertificates(trusted))

  const startWithLogin = async (options: Parameters<typeof startMailServer>[0] = {}) => {
    const passwords: unknown[] = []
    const server = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, callback) => {
        passwords.push(password)
        if (password === credentials.pass) callback(null, { user: username })
        else callback(Object.assign(new Error(`no login with ${password}`), { responseCode: 535 }))
      },
      ...options,
    })
    const sendTo = (changes: Partial<SmtpServer>) => send({ ...server.address, ...changes })
    return { ...server, passwords, sendTo }
  }

  it('logs in, and reports nothing of what the server says to a wrong password', async () => {
    await using server = await startWithLogin({ disabledCommands: ['STARTTLS'] })
    expect(await server.sendTo({ credentials })).toEqual(sentAnswer)
    expect(server.received[0]).toMatchObject({ user: 'tradeport' })
    expect(await server.sendTo({ credentials: { ...credentials, pass: 'wrong' } })).toEqual(
      undelivered(expect.stringMatching(/^535 to AUTH (PLAIN|LOGIN)$/)),
    )
  })

  it('sends no password unencrypted to another machine', async () => {
    await using server = await startWithLogin({ disabledCommands: ['STARTTLS'] })
    expect(await server.sendTo({ credentials, isLoopback: false })).toEqual(
      undelivered('500 to STARTTLS'),
    )
    expect(await server.sendTo({ isLoopback: false })).toEqual(undelivered('530 to MAIL FROM'))
    expect([server.passwords, server.received]).toEqual([[], []])
  })

  it.each([true, false])(
    'to another machine requires a valid certificate, before any password (smtps: %s)',
    async (secure) => {
      const address = { host: 'localhost', credentials, isLoopback: false }
      await using server = await startWithLogin({ ...testCertificate, secure })
      expect(await server.sendTo(address)).toEqual(selfSigned)
      expect([server.passwords, server.received]).toEqual([[], []])
      setDefaultCACertificates([...trusted, testCertificate.cert])
      expect(await server.sendTo({ ...address, host: '127.0.0.1' })).toEqual(
        undelivered('ERR_TLS_CERT_ALTNAME_INVALID'),
      )
      expect(server.passwords).toEqual([])
      expect(await server.sendTo(address)).toEqual(sentAnswer)
      expect(server.received[0]).toMatchObject({ isEncrypted: true, user: 'tradeport' })
    },
  )

  it.each([
    { secure: true, answer: selfSigned },
    { secure: false, answer: sentAnswer },
  ])(
    'to this machine checks the certificate only with smtps: $secure',
    async ({ secure, answer }) => {
      await using server = await startMailServer({ ...testCertificate, secure })
      expect(await send({ ...server.address, host: 'localhost' })).toEqual(answer)
      expect(server.received.map(({ isEncrypted }) => isEncrypted)).toEqual(secure ? [] : [true])
    },
  )
})
