// Listens to whatever the services of a test file tell: every reply, every line of the log, the output of processes. It knows every secret that they were given
// or made, and none may stand in any of it, but where one is told once to whoever made it; nor may a reply tell of the code or the database behind it.

import type { HeardReply } from '@tradeport/contract-watch'

export interface SecretWatch {
  /** @param what names the secret in a fault */
  readonly know: (what: string, secret: string | null | undefined) => void
  readonly hear: (where: string, text: string) => void
  readonly hearReply: (reply: HeardReply) => void
  /** A sentence for everything that was told and must not be, since this was asked last. */
  readonly takeFaults: () => readonly string[]
}

type Json = ReturnType<typeof JSON.parse>

/** Shorter ones, such as a test's `other`, could stand anywhere. */
const shortestSecret = 10

/** The replies that tell a secret, once: the objects in their data, and the field of each that holds it. */
const toldOnce: Readonly<Record<string, (data: Json) => readonly (readonly [holder: Json, field: string])[]>> = {
  'POST /operator/v1/apply': ({ apiKeys, accessTokens }) => [
    ...apiKeys.map((made: Json) => [made, 'key'] as const),
    ...accessTokens.map((made: Json) => [made, 'token'] as const),
  ],
  'POST /api/v1/webhooks': (data) => [[data, 'secret']],
}

/** The secrets of what is sent, by field. */
const sentSecrets: Readonly<Record<string, (body: Json) => readonly unknown[]>> = {
  'POST /operator/v1/apply': (document) => [
    ...fieldsOf(document.tenants, 'providerToken'),
    ...fieldsOf(document.apiKeys, 'key'),
    ...fieldsOf(document.accessTokens, 'token'),
  ],
  'POST /api/v1/webhooks': (body) => [body.secret],
}

const ofServices = /^\/(?:api|operator)\/v1(?:\/|$)/
const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}
const insides: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a place in the code', /\.[cm]?[jt]s:\d+|node_modules|node:internal/],
  ['SQL', /\b(?:insert into|delete from|select \S+ from|update \S+ set|on conflict|violates \w+ constraint|relation \\?"\w+)\b/i],
]

export const createSecretWatch = (): SecretWatch => {
  const known = new Map<string, string>()
  let heard: { readonly where: string; readonly text: string }[] = []
  let faults: string[] = []

  const know: SecretWatch['know'] = (what, secret) => {
    if (typeof secret === 'string' && secret.length >= shortestSecret) known.set(secret, what)
  }
  const hear: SecretWatch['hear'] = (where, text) => void heard.push({ where, text })

  return {
    know,
    hear,
    hearReply: ({ method, url, sent, status, headers, text }) => {
      const path = URL.canParse(url) ? new URL(url).pathname : url
      const name = `${method} ${path}`
      const where = `the ${status} of ${name}`
      for (const secret of sentSecrets[name]?.(parsed(sent)) ?? [])
        if (typeof secret === 'string') know(`a secret sent with ${name}`, secret)
      const reply = parsed(text)
      const tellers = reply.success === true ? (toldOnce[name]?.(reply.data) ?? []) : []
      for (const [holder, field] of tellers) {
        know(`the ${field} that ${name} made`, holder[field])
        holder[field] = 'told once'
      }
      const head = headers.map(([header, value]) => `${header}: ${value}`)
      hear(where, [...head, tellers.length === 0 ? text : JSON.stringify(reply)].join('\n'))
      for (const [what, pattern] of insides) if (pattern.test(text)) faults.push(`${where} tells ${what}: ${text.slice(0, 500)}`)
      if (!ofServices.test(path)) return
      const sentHeaders = new Map(headers.map(([header, value]) => [header.toLowerCase(), value]))
      for (const [header, value] of Object.entries(securityHeaders))
        if (sentHeaders.get(header) !== value) faults.push(`${where} has no ${header}: ${value}`)
      for (const header of ['server', 'x-powered-by']) if (sentHeaders.has(header)) faults.push(`${where} has the header ${header}`)
    },
    takeFaults: () => {
      for (const [secret, what] of known) {
        const forms = formsOf(secret)
        for (const { where, text } of heard) if (forms.some((form) => text.includes(form))) faults.push(`${what} stands in ${where}`)
      }
      const found = faults
      heard = []
      faults = []
      return found
    },
  }
}

/** The one of this test file. */
export const secretWatch = createSecretWatch()

const fieldsOf = (entries: Json, field: string): readonly unknown[] =>
  Array.isArray(entries) ? entries.map((entry: Json) => entry?.[field]) : []

const parsed = (text: string | undefined): Json => {
  try {
    return Object(JSON.parse(text ?? ''))
  } catch {
    return {}
  }
}

/** As it is, as JSON has it, and as it is written in base64 and in hexadecimal. */
const formsOf = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret)
  const base64 = bytes.toString('base64').replace(/=+$/, '')
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), base64, bytes.toString('base64url'), bytes.toString('hex')])]
}
