import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import type { Environment } from '../src/config.ts'

const key = Buffer.alloc(32, 7).toString('base64')
const server: Environment = {
  DATABASE_URL: 'postgres://tradeport:hush@127.0.0.1/tradeport',
  BROKER: 'metaapi',
  OPERATOR_TOKEN: 'operator-token-of-32-characters!',
  SECRETS_KEY: key,
}

const faults = (environment: Environment): readonly string[] => {
  const config = readConfig(environment, '/data')
  return E.isLeft(config) ? config.left : []
}

const networks = (text: string) => readConfig({ WEBHOOK_ALLOWED_NETWORKS: text }, '/data')

const hasNoEffect = (name: string): string => `${name} is set and has no effect with the other variables as they are.`

describe('the environment', () => {
  it('may be empty: embedded database, sandbox, loopback', () => {
    expect(readConfig({}, '/data')).toMatchObject({
      right: {
        api: { host: '127.0.0.1', port: 3000 },
        operator: { host: '127.0.0.1', port: 3001 },
        database: { kind: 'embedded' },
        dataFolder: '/data',
        redisUrl: null,
        broker: { kind: 'sandbox' },
        logLevel: 'info',
        mail: { kind: 'log' },
        operatorToken: null,
        secretsKey: null,
        metricsToken: null,
        previousSecretsKeys: [],
        drainDelayMs: 0,
        drainTimeoutMs: 85_000,
      },
    })
  })

  it('takes the pauses between the attempts of a delivery, those of the specification when unset', () => {
    expect(readConfig({}, '/data')).toMatchObject({ right: { webhookRetries: [60_000, 300_000, 900_000, 3_600_000] } })
    expect(readConfig({ WEBHOOK_RETRY_SECONDS: '1, 2,3,86400' }, '/data')).toMatchObject({
      right: { webhookRetries: [1_000, 2_000, 3_000, 86_400_000] },
    })
    for (const text of ['1,2,3', '1,2,3,4,5', '1,2,3,0', '1,2,3,86401', '1,2,3,4.5', '1,2,,4', 'soon', '-1,2,3,4', '1;2;3;4'])
      expect(faults({ WEBHOOK_RETRY_SECONDS: text })).toEqual([
        `WEBHOOK_RETRY_SECONDS takes four whole numbers of seconds from 1 to 86400 with commas between them, such as 60,300,900,3600; it got ${JSON.stringify(text)}`,
      ])
  })

  it('takes how long an end in order may take, in whole seconds', () => {
    expect(readConfig({ DRAIN_DELAY_SECONDS: '5', DRAIN_TIMEOUT_SECONDS: '3600' }, '/data')).toMatchObject({
      right: { drainDelayMs: 5_000, drainTimeoutMs: 3_600_000 },
    })
    expect(faults({ DRAIN_DELAY_SECONDS: '1.5', DRAIN_TIMEOUT_SECONDS: '3601' })).toEqual([
      'DRAIN_DELAY_SECONDS takes whole seconds from 0 to 3600; it got "1.5"',
      'DRAIN_TIMEOUT_SECONDS takes whole seconds from 0 to 3600; it got "3601"',
    ])
    for (const [delay, timeout] of [
      ['90', ''],
      ['30', '30'],
      ['', '0'],
    ] as const)
      expect(faults({ DRAIN_DELAY_SECONDS: delay, DRAIN_TIMEOUT_SECONDS: timeout })).toEqual([
        `DRAIN_DELAY_SECONDS takes less than DRAIN_TIMEOUT_SECONDS, which is ${timeout || '85'}; it got ${delay || '0'}`,
      ])
  })

  it('takes an empty variable as unset', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' }, '/data')).toEqual(readConfig({}, '/data'))
  })

  it('names the broker, the token and the key that a database server requires', () => {
    expect(faults({ DATABASE_URL: 'postgres://127.0.0.1/tradeport' })).toEqual([
      'BROKER is required with DATABASE_URL: metaapi or sandbox',
      'OPERATOR_TOKEN is required with DATABASE_URL: at least 16 visible characters',
      'SECRETS_KEY is required with DATABASE_URL: 32 bytes in base64, the same for every instance',
    ])
    expect(faults(server)).toEqual([])
  })

  it('tells every fault at once with the name, what it got and what it takes', () => {
    expect(faults({ PORT: '99999', BROKER: 'paper', LOG_LEVEL: 'loud' })).toEqual([
      'BROKER takes metaapi or sandbox; it got "paper"',
      'PORT takes a port from 0 to 65535, 0 for a free one; it got "99999"',
      'LOG_LEVEL takes fatal, error, warn, info, debug, trace, silent; it got "loud"',
    ])
  })

  it('never repeats a secret', () => {
    const urls = { DATABASE_URL: 'mysql://u:hush@h/d', REDIS_URL: 'http://:hush@h' }
    const told = faults({ ...server, OPERATOR_TOKEN: 'sécret', METRICS_TOKEN: 'hush', SECRETS_KEY: 'c2hvcnQ=', ...urls }).join('\n')
    for (const name of ['OPERATOR_TOKEN', 'METRICS_TOKEN', 'REDIS_URL']) expect(told).toContain(`${name} takes`)
    for (const secret of ['sécret', 'c2hvcnQ=', 'hush']) expect(told).not.toContain(secret)
  })

  it('takes earlier secrets keys, and repeats none of them', () => {
    const other = Buffer.alloc(32, 8).toString('base64')
    expect(readConfig({ ...server, SECRETS_KEY_PREVIOUS: `${other}, ${key}` }, '/data')).toMatchObject({
      right: { previousSecretsKeys: [new Uint8Array(32).fill(8), new Uint8Array(32).fill(7)] },
    })
    expect(faults({ ...server, SECRETS_KEY_PREVIOUS: `${other},c2hvcnQ=` })).toEqual([
      'SECRETS_KEY_PREVIOUS takes keys of 32 bytes in base64 with commas between them; it got something else',
    ])
  })

  it.each([
    'http://provider.example',
    'http://127.0.0.1.example.com',
    'ftp://127.0.0.1',
    'https://user:pass@provider.example',
    'https://provider.example/?a=1',
    'provider.example',
  ])('refuses %s for the provider, whose token must not travel in the clear', (url) => {
    expect(faults({ METAAPI_CLIENT_URL: url })).toHaveLength(1)
  })

  it.each(['https://client.{region}.example', 'http://127.0.0.1:4000/{region}', 'http://localhost:4000/', 'http://[::1]:4000'])(
    'takes %s for the provider',
    (url) => {
      expect(readConfig({ ...server, METAAPI_CLIENT_URL: url }, '/data')).toMatchObject({
        right: { broker: { kind: 'metaapi', urls: { client: url.replace(/\/$/, '') } } },
      })
    },
  )

  it('takes a mail server and whom mail is from', () => {
    const mail = { SMTP_URL: 'smtps://me:hu%40sh@mail.example.com', MAIL_FROM: 'Tradeport <notices@example.com>' }
    expect(readConfig(mail, '/data')).toMatchObject({
      right: {
        mail: {
          kind: 'smtp',
          server: { host: 'mail.example.com', port: 465, isSecure: true, credentials: { user: 'me', password: 'hu@sh' } },
          from: { name: 'Tradeport', address: 'notices@example.com' },
        },
      },
    })
  })

  it('refuses a mail server without a sender, a sender without a mail server, and what is neither', () => {
    const [smtp, sender] = ['smtp://mail.example.com', 'notices@example.com']
    expect(faults({ SMTP_URL: smtp })).toEqual([expect.stringMatching(/^MAIL_FROM is required with SMTP_URL: an e-mail address/)])
    expect(faults({ MAIL_FROM: sender })).toEqual([expect.stringMatching(/^SMTP_URL is required with MAIL_FROM: .+ written to the log$/)])
    expect(faults({ SMTP_URL: 'http://me:hush@mail.example.com', MAIL_FROM: 'nobody' })).toEqual([
      expect.stringMatching(/^SMTP_URL takes an smtp:\/\/ or smtps:\/\/ URL .+; it got something else$/),
      expect.stringMatching(/^MAIL_FROM takes an e-mail address.+; it got "nobody"$/),
    ])
  })

  it.each(['redis://127.0.0.1', 'redis://:secret@redis.example:6380/2', 'rediss://user:secret@redis.example'])(
    'takes %s for Redis',
    (url) => {
      expect(readConfig({ REDIS_URL: url }, '/data')).toMatchObject({ right: { redisUrl: url, warnings: [] } })
    },
  )

  it('has the published hosts of the provider where none are set', () => {
    expect(readConfig({ BROKER: 'metaapi' }, '/data')).toMatchObject({
      right: {
        broker: {
          urls: {
            provisioning: 'https://mt-provisioning-api-v1.agiliumtrade.agiliumtrade.ai',
            client: 'https://mt-client-api-v1.{region}.agiliumtrade.ai',
          },
        },
      },
    })
  })

  it('refuses what is no URL also where nothing acts on it', () => {
    expect(faults({ METAAPI_MARKET_DATA_URL: 'garbage' })).toEqual([expect.stringMatching(/^METAAPI_MARKET_DATA_URL takes/)])
  })

  it.each(['redis://127.0.0.1/limits', 'redis://127.0.0.1/-1', 'redis://127.0.0.1/1/2'])('refuses %s, which names no database', (url) => {
    expect(faults({ REDIS_URL: url })).toEqual([expect.stringMatching(/^REDIS_URL takes .*database number.*; it got something else$/)])
  })

  it('reads the networks that webhooks may reach', () => {
    expect(networks('')).toMatchObject({ right: { webhookNetworks: [], warnings: [] } })
    expect(networks('10.0.0.0/8, fd00::/8,192.0.2.7')).toMatchObject({
      right: { webhookNetworks: ['10.0.0.0/8', 'fd00::/8', '192.0.2.7'], warnings: [] },
    })
    for (const text of ['10.0.0.0/33', 'intranet', '10.0.0.0/8;fd00::/8', '10.0.0.0/8,'])
      expect(faults({ WEBHOOK_ALLOWED_NETWORKS: text })).toEqual([
        `WEBHOOK_ALLOWED_NETWORKS takes CIDRs with commas between them, such as 10.0.0.0/8,fd00::/8; it got "${text}"`,
      ])
  })

  it('trusts no proxy and accepts only stored tokens by default', () => {
    expect(readConfig({}, '/data')).toMatchObject({ right: { trustedProxies: [], tokenIssuer: null } })
  })

  it.each([
    ['10.0.0.0/8', 1],
    ['10.0.0.0/8, 192.0.2.1,fd00::/8', 3],
    ['::1', 1],
  ])('trusts the proxies %s', (text, count) => {
    const config = readConfig({ TRUST_PROXY: text }, '/data')
    expect(config).toMatchObject({ right: { warnings: [] } })
    expect(E.isRight(config) && config.right.trustedProxies).toHaveLength(count)
  })

  it.each([
    [undefined, []],
    ['https://app.example.com', ['https://app.example.com']],
    ['https://app.example.com, http://localhost:5173', ['https://app.example.com', 'http://localhost:5173']],
  ])('lets browsers call from the origins %s', (text, corsOrigins) => {
    expect(readConfig({ CORS_ORIGINS: text }, '/data')).toMatchObject({ right: { corsOrigins, warnings: [] } })
  })

  it.each(['*', 'app.example.com', 'https://app.example.com/', 'https://*.example.com', 'https://app.example.com,'])(
    'refuses the origins %s',
    (text) => {
      expect(faults({ CORS_ORIGINS: text })).toEqual([expect.stringContaining('CORS_ORIGINS')])
    },
  )

  it.each(['proxy.internal', '10.0.0.0/8,', '10.0.0.0/40', 'true', '1', '*'])('refuses to trust %s', (text) => {
    expect(faults({ TRUST_PROXY: text })).toEqual([expect.stringMatching(/^TRUST_PROXY takes CIDRs with commas between them, /)])
  })

  it.each(['https://login.example.com', 'https://login.example.com/', 'https://login.example.com/realms/one', 'http://127.0.0.1:4000'])(
    'takes tokens of %s, to the letter',
    (issuer) => {
      expect(readConfig({ OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: 'https://api.example.com' }, '/data')).toMatchObject({
        right: { tokenIssuer: { issuer, audience: 'https://api.example.com' }, warnings: [] },
      })
    },
  )

  it.each([
    'http://login.example.com',
    'login.example.com',
    'https://login.example.com/?a=1',
    ' https://login.example.com',
    'https://u:p@login.example.com',
  ])('takes no tokens of %s', (issuer) => {
    expect(faults({ OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: 'api' })).toEqual([
      expect.stringMatching(/^OAUTH_ISSUER takes an https:\/\/ URL/),
    ])
  })

  it('wants the issuer of tokens and their audience, or neither', () => {
    expect(faults({ OAUTH_ISSUER: 'https://login.example.com' })).toEqual([
      'OAUTH_AUDIENCE is required with OAUTH_ISSUER: what the aud of tokens for this service names',
    ])
    expect(faults({ OAUTH_AUDIENCE: 'api' })).toEqual([expect.stringMatching(/^OAUTH_ISSUER is required with OAUTH_AUDIENCE: /)])
  })

  it('reads the capabilities, none where nothing is said, and refuses those that there are not', () => {
    expect(readConfig({}, '/data')).toMatchObject({ right: { capabilities: [] } })
    expect(readConfig({ CAPABILITIES: ' events, events' }, '/data')).toMatchObject({
      right: { capabilities: ['events'], warnings: [] },
    })
    for (const text of ['event', 'events,streaming', 'events,', 'Events'])
      expect(faults({ CAPABILITIES: text })).toEqual([`CAPABILITIES takes names with commas between them, of events; it got "${text}"`])
  })

  const embedded = expect.stringMatching(
    /^BROKER is metaapi and DATABASE_URL is not set\. The embedded database .* does not flush to disk at each commit/,
  )

  it.each([
    [{ METAAPI_MARKET_DATA_URL: 'https://market.example.com' }, [hasNoEffect('METAAPI_MARKET_DATA_URL')]],
    [{ METAAPI_CLIENT_URL: 'https://provider.example' }, [hasNoEffect('METAAPI_CLIENT_URL')]],
    [{ METAAPI_CLIENT_URL: 'https://provider.example', BROKER: 'metaapi' }, [embedded]],
    [{ ...server, METAAPI_CLIENT_URL: 'https://provider.example', BROKER: 'metaapi' }, []],
    [{ WEBHOOK_RETRY_SECONDS: '1,2,3,4' }, [hasNoEffect('WEBHOOK_RETRY_SECONDS')]],
    [{ WEBHOOK_RETRY_SECONDS: '1,2,3,4', CAPABILITIES: 'events' }, []],
  ])('warns of variables without effect and of real orders on the embedded database: %o', (environment, expected) => {
    expect(readConfig(environment, '/data')).toMatchObject({ right: { warnings: expected } })
  })
})
