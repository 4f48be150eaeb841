// The watch over secrets finds what it is there to find, and lets pass what is told once.
import type { HeardReply } from '@tradeport/contract-watch'
import { describe, expect, it } from 'vitest'
import { createSecretWatch } from './support/secret-watch.ts'
import type { SecretWatch } from './support/secret-watch.ts'

const secret = 'a-secret/of+mine=="'
const headers = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
] as const
const reply = (parts: Partial<HeardReply>): HeardReply => ({
  method: 'GET',
  url: 'http://127.0.0.1:1/api/v1/accounts?x=1',
  sent: undefined,
  status: 200,
  headers,
  text: '{"success":true,"data":[]}',
  ...parts,
})
const watching = (...hear: readonly ((watch: SecretWatch) => void)[]): readonly string[] => {
  const watch = createSecretWatch()
  for (const one of hear) one(watch)
  return watch.takeFaults()
}

const know = (watch: SecretWatch): void => watch.know('mine', secret)

describe('a watch over secrets', () => {
  it.each([
    ['as it is', `key=${secret}.`],
    ['in JSON', JSON.stringify({ a: [secret] })],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in hexadecimal', Buffer.from(secret).toString('hex')],
  ])('finds one %s, in a line, a body or a header, heard before it was known or after', (_, text) => {
    const hear = (watch: SecretWatch) => watch.hear('the log', text)
    expect(watching(know, hear)).toEqual(['mine stands in the log'])
    expect(watching(hear, know)).toEqual(['mine stands in the log'])
    expect(watching(know, (watch) => watch.hearReply(reply({ text })))).toEqual(['mine stands in the 200 of GET /api/v1/accounts'])
    const bearing = [...headers, ['X-Other', text]] as const
    expect(watching(know, (watch) => watch.hearReply(reply({ headers: bearing })))).toHaveLength(1)
  })

  it('knows what an operator’s document gives and makes, and finds it everywhere but in that one reply', () => {
    const document = {
      tenants: [{ providerToken: 'token-of-the-provider' }],
      apiKeys: [{ id: 'k', key: 'tp_live_given' }],
      accessTokens: [{ token: 'token-that-is-given' }],
    }
    const data = {
      apiKeys: [
        { id: 'k', key: 'tp_live_given' },
        { id: 'l', key: 'tp_live_made' },
      ],
      accessTokens: [{ id: 't', token: 'token-that-is-made' }],
    }
    const applied = reply({
      method: 'POST',
      url: 'http://h/operator/v1/apply',
      sent: JSON.stringify(document),
      text: JSON.stringify({ success: true, data }),
    })
    expect(watching((watch) => watch.hearReply(applied))).toEqual([])
    for (const told of ['token-of-the-provider', 'tp_live_given', 'token-that-is-given', 'tp_live_made', 'token-that-is-made'])
      expect(
        watching(
          (watch) => watch.hearReply(applied),
          (watch) => watch.hear('the log', told),
        ),
        told,
      ).toHaveLength(1)
    const telling = reply({ ...applied, text: JSON.stringify({ success: true, data, warnings: ['token-of-the-provider'] }) })
    expect(watching((watch) => watch.hearReply(telling))).toHaveLength(1)
    expect(watching((watch) => watch.hearReply(reply({ ...applied, status: 400, text: 'tp_live_given' })))).toHaveLength(1)
  })

  it('knows a webhook’s secret from the reply that tells it', () => {
    const text = JSON.stringify({ success: true, data: { id: 'w', secret: 'secret-of-a-webhook' } })
    const created = reply({ method: 'POST', url: 'http://h/api/v1/webhooks', status: 201, text })
    expect(watching((watch) => watch.hearReply(created))).toEqual([])
    expect(
      watching(
        (watch) => watch.hearReply(created),
        (watch) => watch.hearReply(reply({ text })),
      ),
    ).toHaveLength(1)
  })

  it.each([
    'Error: x\n    at run (/work/src/mount.ts:12:3)',
    'insert into "orders" ("id") values ($1) - duplicate key',
    'duplicate key value violates unique constraint "orders_pkey"',
    'relation "orders" does not exist',
  ])('finds the insides of the service in a reply: %s', (text) => {
    expect(watching((watch) => watch.hearReply(reply({ status: 500, text })))).toHaveLength(1)
  })

  it('finds a reply without the headers that every reply has, or with one that tells what answers', () => {
    expect(watching((watch) => watch.hearReply(reply({ headers: [] })))).toHaveLength(3)
    expect(watching((watch) => watch.hearReply(reply({ headers: [...headers, ['X-Powered-By', 'x']] })))).toHaveLength(1)
  })
})
