// The environment: what may be left out, what is accepted, and that every fault is reported at once
// without a secret.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig, summaryOf, variables, type Environment } from '../src/config.ts'

const key = Buffer.alloc(32, 7).toString('base64')
const server: Environment = {
  DATABASE_URL: 'postgres://tradeport:hush@127.0.0.1/tradeport',
  BROKER: 'metaapi',
  OPERATOR_TOKEN: 'operator-token-of-32-characters!',
  SECRETS_KEY: key,
}
const read = (environment: Environment) => readConfig(environment, '/data')
const faults = (environment: Environment) => {
  const config = read(environment)
  return config._tag === 'Left' ? config.left : []
}

describe('an environment', () => {
  it('may be empty: embedded database, sandbox, loopback; an empty variable counts as absent', () => {
    expect(read({ PORT: '', DATABASE_URL: '' })).toEqual(read({}))
    expect(read({})).toMatchObject({
      right: {
        api: { host: '127.0.0.1', port: 3000 },
        operator: { host: '127.0.0.1', port: 3001 },
        databaseUrl: null,
        isDemo: true,
        dataFolder: '/data',
        redisUrl: null,
        broker: 'sandbox',
        capabilities: [
          'console',
          'events',
          'insights',
          'long-histories',
          'market-data',
          'pending-orders',
          'trading-tools',
        ],
        logLevel: 'info',
        smtp: null,
        operatorToken: null,
        secretsKey: null,
        metricsToken: null,
        previousSecretsKeys: [],
        tokenIssuer: null,
        trustedProxies: undefined,
        webhookRetries: [60_000, 300_000, 900_000, 3_600_000],
        drainDelayMs: 0,
        drainTimeoutMs: 85_000,
        warnings: [],
      },
    })
    expect(read({ BROKER: 'metaapi' })).toMatchObject({
      right: {
        providerUrls: {
          provisioning: 'https://mt-provisioning-api-v1.agiliumtrade.agiliumtrade.ai',
          client: 'https://mt-client-api-v1.{region}.agiliumtrade.ai',
          marketData: 'https://mt-market-data-client-api-v1.{region}.agiliumtrade.ai',
        },
      },
    })
  })

  it.each<[Environment, object]>([
    [
      {
        WEBHOOK_RETRY_SECONDS: '1, 2,3,86400',
        EVENT_RETENTION_DAYS: '365',
        WATCH_SECONDS: '300',
        CAPABILITIES: ' events, events',
      },
      {
        webhookRetries: [1_000, 2_000, 3_000, 86_400_000],
        eventRetentionDays: 365,
        watchMs: 300_000,
        capabilities: ['events'],
      },
    ],
    [
      { DRAIN_DELAY_SECONDS: '5', DRAIN_TIMEOUT_SECONDS: '3600', HOST: '::1', PORT: '3001' },
      { drainDelayMs: 5_000, drainTimeoutMs: 3_600_000 },
    ],
    [
      { ...server, BROKER: 'sandbox', SECRETS_KEY_PREVIOUS: `${key}, ${key}` },
      {
        isDemo: false,
        capabilities: [],
        previousSecretsKeys: Array(2).fill(new Uint8Array(32).fill(7)),
      },
    ],
    [
      { ...server, METAAPI_CLIENT_URL: 'https://client.{region}.example' },
      { providerUrls: { client: 'https://client.{region}.example' } },
    ],
    [
      { ...server, METAAPI_CLIENT_URL: 'http://[::1]:4000/' },
      { providerUrls: { client: 'http://[::1]:4000' } },
    ],
    [
      { REDIS_URL: 'rediss://user:secret@redis.example:6380/2' },
      { redisUrl: 'rediss://user:secret@redis.example:6380/2' },
    ],
    [
      { WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, fd00::/8,192.0.2.7' },
      { webhookNetworks: { length: 3, 2: [{ octets: [192, 0, 2, 7] }, 32] } },
    ],
    [
      { TRUST_PROXY: '10.0.0.0/8, ::1' },
      {
        trustedProxies: [
          [{ octets: [10, 0, 0, 0] }, 8],
          [{ parts: [0, 0, 0, 0, 0, 0, 0, 1] }, 128],
        ],
      },
    ],
    [
      { CORS_ORIGINS: 'https://app.example.com, http://localhost:5173' },
      { corsOrigins: ['https://app.example.com', 'http://localhost:5173'] },
    ],
    [
      { OAUTH_ISSUER: 'https://login.example.com/one/', OAUTH_AUDIENCE: 'api' },
      { tokenIssuer: { issuer: 'https://login.example.com/one/', audience: 'api' } },
    ],
    [
      {
        SMTP_URL: 'smtps://me:hu%40sh@mail.example.com',
        MAIL_FROM: 'Tradeport <notices@example.com>',
      },
      {
        smtp: {
          server: {
            host: 'mail.example.com',
            port: 465,
            isSecure: true,
            credentials: { user: 'me', pass: 'hu@sh' },
          },
          from: { name: 'Tradeport', address: 'notices@example.com' },
        },
      },
    ],
  ])('is read: %o', (environment, expected) => {
    const config = read(environment)
    expect(config).toMatchObject({ right: { ...expected, warnings: [] } })
    const summary = config._tag === 'Right' && summaryOf(config.right)
    expect(JSON.stringify(summary)).not.toMatch(/hush|secret/)
  })

  it.each([
    ['EVENT_RETENTION_DAYS', ['0', '366', '1.5', 'all']],
    ['WATCH_SECONDS', ['1', '301', '2.5', 'often']],
    ['WEBHOOK_RETRY_SECONDS', ['1,2,3', '1,2,3,0', '1,2,3,86401', '1,2,,4', 'soon']],
    ['DRAIN_DELAY_SECONDS', ['1.5', '85']],
    ['DRAIN_TIMEOUT_SECONDS', ['0', '3601']],
    ['PORT', ['99999', 'x']],
    ['BROKER', ['paper']],
    ['LOG_LEVEL', ['loud']],
    ['CAPABILITIES', ['event', 'events,streaming', 'events,', 'Events']],
    // The provider's token must not travel in the clear.
    [
      'METAAPI_CLIENT_URL',
      [
        'http://provider.example',
        'http://127.0.0.1.example.com',
        'https://u:p@provider.example',
        'https://provider.example/?a=1',
        'https://provider.example/?',
      ],
    ],
    ['METAAPI_MARKET_DATA_URL', ['garbage']],
    ['METAAPI_PROVISIONING_URL', ['http://provider.example', 'https://{region}.provider.example']],
    [
      'REDIS_URL',
      [
        'http://:hush@h',
        'redis://127.0.0.1/limits',
        'redis://127.0.0.1/1/2',
        'redis://h/1?connectTimeout=5000',
      ],
    ],
    ['WEBHOOK_ALLOWED_NETWORKS', ['10.0.0.0/33', 'intranet', '10.0.0.0/8,']],
    ['TRUST_PROXY', ['proxy.internal', '10.0.0.0/40', 'true', '*']],
    ['CORS_ORIGINS', ['*', 'app.example.com', 'https://app.example.com/', 'https://*.example.com']],
    [
      'OAUTH_ISSUER',
      [
        'http://login.example.com',
        'https://login.example.com/?a=1',
        'https://u:p@login.example.com',
      ],
      { OAUTH_AUDIENCE: 'api' },
    ],
    ['SMTP_URL', ['http://me:hush@mail.example.com'], { MAIL_FROM: 'a@example.com' }],
    ['MAIL_FROM', ['nobody'], { SMTP_URL: 'smtp://mail.example.com' }],
    ['SECRETS_KEY_PREVIOUS', ['c2hvcnQ='], server],
    ['METRICS_TOKEN', ['fifteen-letters', 'of several words']],
  ])(
    'is refused with a sentence that names %s where that is one of %j',
    (name, values, rest = {}) => {
      for (const value of values) {
        expect(faults({ ...rest, [name]: value })).toEqual([
          expect.stringMatching(new RegExp(`^${name} must be `)),
        ])
      }
    },
  )

  it.each<[Environment, string[]]>([
    [
      { DATABASE_URL: 'postgres://127.0.0.1/tradeport' },
      ['BROKER', 'OPERATOR_TOKEN', 'SECRETS_KEY'],
    ],
    [{ SMTP_URL: 'smtp://mail.example.com' }, ['MAIL_FROM']],
    [{ MAIL_FROM: 'notices@example.com' }, ['SMTP_URL']],
    [{ OAUTH_ISSUER: 'https://login.example.com' }, ['OAUTH_AUDIENCE']],
    [{ OAUTH_AUDIENCE: 'api' }, ['OAUTH_ISSUER']],
  ])('%o lacks %j', (environment, names) => {
    const [given] = Object.keys(environment)
    expect(faults(environment)).toEqual(
      names.map((name) =>
        expect.stringMatching(new RegExp(`^${name} is required with ${given}: `)),
      ),
    )
  })

  it.each<[Environment, string]>([
    [{ PORT: '3001' }, 'OPERATOR_PORT must differ from PORT, which is 3001'],
    [
      { OPERATOR_TOKEN: 'a'.repeat(32), METRICS_TOKEN: 'a'.repeat(32) },
      'METRICS_TOKEN must differ from OPERATOR_TOKEN; both are the same',
    ],
  ])('%o contradicts itself', (environment, fault) => {
    expect(faults(environment)).toEqual([fault])
  })

  it('has every fault reported at once, and no secret repeated', () => {
    const urls = { DATABASE_URL: ' postgres://u:hush@h/d', REDIS_URL: 'http://:hush@h' }
    const reported = faults({
      ...server,
      OPERATOR_TOKEN: 'sécret',
      METRICS_TOKEN: 'hush',
      SECRETS_KEY: 'c2hvcnQ=',
      ...urls,
    }).join('\n')
    for (const name of ['OPERATOR_TOKEN', 'METRICS_TOKEN', 'DATABASE_URL', 'REDIS_URL'])
      expect(reported).toContain(`${name} must be`)
    for (const secret of ['sécret', 'c2hvcnQ=', 'hush']) expect(reported).not.toContain(secret)
  })

  it.each<[Environment, string]>([
    [{ BROKER: 'metaapi' }, 'The embedded database'],
    [
      { DATABSE_URL: 'postgres://db.example/x' },
      'DATABSE_URL is set and is not a variable of the service; DATABASE_URL is.',
    ],
    [{ SMPT_URL: 'x' }, 'SMPT_URL is set and is not a variable of the service; SMTP_URL is.'],
    [
      { CAPABILITY: 'events' },
      'CAPABILITY is set and is not a variable of the service; CAPABILITIES is.',
    ],
    [{ PORTS: '1' }, 'PORTS is set and is not a variable of the service; PORT is.'],
  ])('%o is warned of: %s', (environment, warning) => {
    expect(read(environment)).toMatchObject({
      right: { warnings: [expect.stringContaining(warning)] },
    })
  })
})

it.each(['HTTP_URL', 'PGHOST'])('%s is not a misspelt variable', (name) => {
  expect(read({ [name]: 'x' })).toMatchObject({ right: { warnings: [] } })
})

it('docs/configuration.md describes every variable', () => {
  const page = resolve(import.meta.dirname, '../../../docs/configuration.md')
  const rows = readFileSync(page, 'utf8').match(/^\| `[A-Z].*$/gm) ?? []
  const inTable = rows.flatMap((row) => Array.from(row.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)))
  const named = new Set(inTable.map(([, name]) => name))
  expect(named).toEqual(new Set(Object.keys(variables)))
})
