import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  noticeText,
  type OwnerNotice,
  type WebhookDisabledNotice,
} from '../../src/notices/owner-notice.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const key: OwnerNotice = {
  kind: 'suspended',
  credential: { kind: 'api_key', id: 'k-1', applicationId: null },
  since: noon,
  until: noon + 900_000,
}
const application: OwnerNotice = {
  ...key,
  credential: { kind: 'access_token', id: 't-1', applicationId: 'app-1' },
}
const webhook: WebhookDisabledNotice = {
  kind: 'webhook_disabled',
  webhookId: '0a000000-0000-4000-8000-000000000001',
  url: 'https://hooks.example.com:8443/services/T0/s3cret?token=s3cret#s3cret',
  at: noon,
  recoverSince: noon - 60_000,
}

const lines = (notice: OwnerNotice) =>
  noticeText(notice).text.split(/[\n\v\f\r\u0085\u2028\u2029]/u).length
const suspended = (id: string): OwnerNotice => ({
  ...key,
  credential: { kind: 'api_key', id, applicationId: null },
})
const disabled = (id: string, url: string): OwnerNotice => ({ ...webhook, webhookId: id, url })

describe('what an owner is told', () => {
  it.each([
    [
      'a suspended key',
      key,
      'Your API key k-1 is suspended until 2026-11-02 12:15:01 UTC',
      `  API key:          k-1
  Suspended since:  2026-11-02 12:00:00 UTC
  Suspended until:  2026-11-02 12:15:01 UTC
`,
      ['Retry-After', 'ends by itself', 'have the key revoked'],
    ],
    [
      'a suspended application',
      application,
      'Your application app-1 is suspended until 2026-11-02 12:15:01 UTC',
      `  Application:      app-1
  Suspended since:  2026-11-02 12:00:00 UTC
  Suspended until:  2026-11-02 12:15:01 UTC
`,
      ['Retry-After', 'ends by itself', 'withdraw the access of the application'],
    ],
    [
      'a disabled webhook',
      webhook,
      'Your webhook 0a000000-0000-4000-8000-000000000001 is disabled',
      `  Webhook:          0a000000-0000-4000-8000-000000000001
  Host:             hooks.example.com:8443
  Disabled at:      2026-11-02 12:00:00 UTC
  Disabled until:   you enable it again
`,
      [
        'five attempts in a row',
        'PUT /api/v1/webhooks/0a000000-0000-4000-8000-000000000001 with {"enabled": true}',
        'POST /api/v1/webhooks/0a000000-0000-4000-8000-000000000001/recover with {"since": "2026-11-02T11:59:00.123Z"}',
      ],
    ],
  ])('names %s, since when, until when and what to do', (_, notice, subject, table, words) => {
    const told = noticeText(notice)
    expect(told.subject).toBe(subject)
    expect(told.text).toContain(`\n\n${table}\n`)
    for (const word of words) expect(told.text).toContain(word)
    expect(told.text).toMatch(/^Hello,\n\n[\s\S]+\n\nTradeport\n$/)
  })

  it('names the host of a receiver on the same machine', () => {
    const { text } = noticeText({ ...webhook, url: 'http://127.0.0.1:4000/hook' })
    expect(text).toContain('Host:             127.0.0.1:4000\n')
  })

  it('names the token’s id where the application is not known', () => {
    expect(
      noticeText({ ...key, credential: { kind: 'access_token', id: 't-1', applicationId: null } })
        .subject,
    ).toContain('application t-1')
  })

  it.each([
    webhook.url,
    'https://user:s3cret@hooks.example.com/',
    'https://hooks.example.com\\s3cret',
    's3cret',
  ])('never repeats what may be a secret: %s', (url) => {
    const { subject, text } = noticeText({ ...webhook, url })
    expect(`${subject}${text}`).not.toContain('s3cret')
  })

  it('lets no name make a line of its own', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, host) => {
        expect(lines(suspended(name))).toBe(lines(suspended('k')))
        expect(lines(disabled(name, `https://${host}/`))).toBe(lines(webhook))
        for (const notice of [suspended(name), disabled(name, host)])
          expect(noticeText(notice).subject).not.toMatch(/\p{Cc}/u)
      }),
    )
  })
})
