// Credentials, certificates, and what a mail may not become.
import { setDefaultCACertificates, getCACertificates } from 'node:tls'
import type { Mail } from '@tradeport/domain/ports'
import type { EmailAddress } from '@tradeport/domain/primitives'
import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSmtpMailer } from '../src/smtp-mailer.ts'
import type { SmtpServer } from '../src/index.ts'
import { startMailServer } from './mail-server.ts'
import type { MailServer } from './mail-server.ts'
import { testCertificate } from './test-certificate.ts'

const password = 'pa55word of the mail server'
const credentials = { user: 'tradeport', password }
const from = { name: null, address: 'notices@tradeport.example' as EmailAddress }
const mail: Mail = {
  id: 'm-1',
  to: 'owner@example.com' as EmailAddress,
  subject: 'Subject',
  text: 'Text\n',
}
const accepted = { kind: 'accepted' }

const withLogin: Parameters<typeof startMailServer>[0] = {
  authOptional: false,
  allowInsecureAuth: true,
  onAuth: ({ username, password: given }, _session, callback) =>
    username === 'tradeport' && given === password
      ? callback(null, { user: username })
      : callback(
          Object.assign(new Error(`no login for ${username} with ${given}`), { responseCode: 535 }),
        ),
}

let isAsked: boolean
const asked: Parameters<typeof startMailServer>[0] = {
  ...withLogin,
  onAuth: (_auth, _session, callback) => {
    isAsked = true
    callback(null, { user: 'anybody' })
  },
}

let server: MailServer
beforeEach(() => {
  isAsked = false
})
afterEach(() => server.close())

const sendTo = (address: Partial<SmtpServer>) =>
  createSmtpMailer({ server: { ...server.address, ...address }, from }).send(mail)()

describe('logging in', () => {
  it('is done with the user and the password of the URL', async () => {
    server = await startMailServer(withLogin)
    expect(await sendTo({ credentials })).toEqual(accepted)
    expect(server.received[0]).toMatchObject({ user: 'tradeport' })
  })

  it('that fails leaves the mail undelivered, and repeats nothing that the server says', async () => {
    server = await startMailServer(withLogin)
    expect(await sendTo({ credentials: { user: 'tradeport', password: 'wrong' } })).toEqual({
      kind: 'undelivered',
      reason: expect.stringMatching(/^535 to AUTH (PLAIN|LOGIN)$/),
    })
    expect(await sendTo({})).toEqual({
      kind: 'undelivered',
      reason: expect.stringMatching(/^530 to MAIL FROM$/),
    })
  })

  it('sends no password unencrypted to another machine', async () => {
    server = await startMailServer({ ...asked, disabledCommands: ['STARTTLS'] })
    expect(await sendTo({ credentials, isLoopback: false })).toEqual({
      kind: 'undelivered',
      reason: '500 to STARTTLS',
    })
    expect(isAsked).toBe(false)
    expect(server.received).toEqual([])
  })
})

describe('certificates', () => {
  const trusted = getCACertificates('default')
  const trust = (isTrusted: boolean): void =>
    setDefaultCACertificates(isTrusted ? [...trusted, testCertificate.cert] : trusted)
  beforeAll(() => trust(false))
  afterAll(() => trust(false))
  afterEach(() => trust(false))

  it('that nobody vouches for end the connection to another machine, before any password', async () => {
    for (const secure of [true, false]) {
      server = await startMailServer({ ...asked, ...testCertificate, secure })
      const answer = await sendTo({ host: 'localhost', credentials, isLoopback: false })
      expect(answer).toEqual({ kind: 'undelivered', reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
      expect([isAsked, server.received]).toEqual([false, []])
      if (secure) await server.close()
    }
  })

  it('that are for another name end the connection', async () => {
    trust(true)
    server = await startMailServer({ ...testCertificate, secure: true })
    expect(await sendTo({ host: '127.0.0.1', isLoopback: false })).toEqual({
      kind: 'undelivered',
      reason: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
  })

  it('that are in order are taken, from the first byte and after STARTTLS', async () => {
    trust(true)
    for (const secure of [true, false]) {
      server = await startMailServer({ ...withLogin, ...testCertificate, secure })
      expect(await sendTo({ host: 'localhost', credentials, isLoopback: false })).toEqual(accepted)
      expect(server.received[0]).toMatchObject({ isEncrypted: true, user: 'tradeport' })
      if (secure) await server.close()
    }
  })

  it('are not looked at on this machine, where STARTTLS is a matter of course for some servers, but are with smtps', async () => {
    server = await startMailServer(testCertificate)
    expect(await sendTo({ host: 'localhost' })).toEqual(accepted)
    expect(server.received[0]).toMatchObject({ isEncrypted: true })
    await server.close()
    server = await startMailServer({ ...testCertificate, secure: true })
    expect(await sendTo({ host: 'localhost' })).toEqual({
      kind: 'undelivered',
      reason: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
  })
})

describe('what a mail holds', () => {
  it('makes no header, no recipient and no second mail of itself', async () => {
    server = await startMailServer()
    const mailer = createSmtpMailer({
      server: server.address,
      from: { name: 'Trade"port, <x@y.example>', address: from.address },
    })
    const evil = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\r\nBcc: evil@example.com',
        '\nBcc: evil@example.com\n\nbody',
        '\r\n.\r\nMAIL FROM:<evil@example.com>\r\n',
        '=?utf-8?q?=0ABcc:?=',
      ),
    )
    const text = fc.array(evil, { maxLength: 5 }).map((parts) => ['Text', ...parts].join('\r\n'))
    await fc.assert(
      fc.asyncProperty(evil, text, async (subject, body) => {
        const before = server.received.length
        expect(await mailer.send({ ...mail, subject: `S ${subject}`, text: body })()).toEqual(
          accepted,
        )
        expect(server.received).toHaveLength(before + 1)
        const one = server.received[before]
        expect(one?.to).toEqual(['owner@example.com'])
        expect(one?.mail.headers.map(({ key }) => key).toSorted()).toEqual(expectedHeaders)
        expect(one?.mail.from).toMatchObject({ address: from.address })
        expect(spaced(one?.mail.subject)).toBe(spaced(`S ${subject.toWellFormed()}`))
      }),
      { numRuns: 60 },
    )
  })
})

// As it is shown, which is without what would be decoded into something else.
const spaced = (text = ''): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll('=?', '= ?')
    .trim()

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
