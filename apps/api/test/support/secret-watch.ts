// Knows every secret that the services of a test file were given or made. None may stand in a
// reply, a line of the log or the output of a process, except in the reply that issues it; nor may
// a reply show code or SQL.
import type { HeardReply } from '@tradeport/testkit/contract-watch'

/** Shorter ones could stand anywhere. */
const shortestSecret = 10

/** What sends secrets, and answers with those that it made. */
const issuing = /^POST (?:\/operator\/v1\/apply|\/api\/v1\/webhooks(?:\/[^/]+\/rotate-secret)?)$/
const secretFields = new Set(['key', 'token', 'secret', 'providerToken'])
const internals =
  /\.[cm]?[jt]s:\d+|node_modules|node:internal|\b(?:insert into|delete from|select \S+ from|violates \w+ constraint|relation \\?")/i

const known = new Map<string, string>()
const heard: { readonly where: string; readonly text: string }[] = []
const faults: string[] = []

const know = (what: string, secret: string | null | undefined) => {
  if (typeof secret === 'string' && secret.length >= shortestSecret) known.set(secret, what)
}
const hear = (where: string, text: string) => void heard.push({ where, text })

const eachSecret = (json: string | undefined, act: (secret: string) => void) => {
  try {
    JSON.parse(json ?? '', (field, value) => {
      if (secretFields.has(field) && typeof value === 'string') act(value)
      return value
    })
  } catch {
    // No JSON: it holds no field.
  }
}

const hearReply = ({ method, url, sent, status, headers, text }: HeardReply) => {
  const name = `${method} ${URL.parse(url)?.pathname ?? url}`
  let shown = text
  if (issuing.test(name)) eachSecret(sent, (secret) => know(`a secret sent with ${name}`, secret))
  if (issuing.test(name) && status < 300)
    eachSecret(text, (secret) => {
      know(`a secret that ${name} issued`, secret)
      shown = shown.replace(JSON.stringify(secret), '""')
    })
  if (internals.test(text))
    faults.push(`the ${status} of ${name} shows code or SQL: ${text.slice(0, 500)}`)
  hear(
    `the ${status} of ${name}`,
    [...headers.map((header) => header.join(': ')), shown].join('\n'),
  )
}

/** As it is, as JSON has it, and as it is written in base64 and in hexadecimal. */
const formsOf = (secret: string) => {
  const bytes = Buffer.from(secret)
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
  ]
}

export const secretWatch = {
  know,
  hear,
  hearReply,
  /** A sentence for every fault since this was called last. */
  takeFaults: () => {
    const all = heard.splice(0)
    for (const [secret, what] of known) {
      const forms = formsOf(secret)
      for (const { where, text } of all)
        if (forms.some((form) => text.includes(form))) faults.push(`${what} stands in ${where}`)
    }
    return faults.splice(0)
  },
}
