// The configuration, which is the environment. All faults are reported at once, each with the
// variable's name, what it must be and what it got; the value of a secret is never repeated.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { embeddedRisk } from '@tradeport/domain/operator'
import { isLoopback, retrySchedule } from '@tradeport/domain/webhooks'
import { parseNetworks } from '@tradeport/http'
import { parseSender, parseSmtpUrl } from '@tradeport/mailer'
import { closest, distance } from 'fastest-levenshtein'

/** How a variable, or a file of the data folder, is written. */
export interface VariableType<A> {
  /** What it must be, for an error message. */
  readonly description: string
  /** Undefined when the text is something else. */
  readonly parse: (text: string) => A | undefined
  readonly isSecret?: boolean
}

const variableType = <A>(
  description: string,
  parse: VariableType<A>['parse'],
): VariableType<A> => ({ description, parse })
const asSecret = <A>(plain: VariableType<A>): VariableType<A> => ({ ...plain, isSecret: true })

const oneOf = <A extends string>(...values: readonly A[]): VariableType<A> =>
  variableType(`one of ${values.join(', ')}`, (text) => values.find((value) => value === text))

/** With commas between the values. */
const listOf = <A>(
  description: string,
  item: (text: string) => A | undefined,
): VariableType<readonly A[]> =>
  variableType(description, (text) => {
    const items = text.split(',').map((entry) => item(entry.trim()))
    return items.includes(undefined) ? undefined : (items as readonly A[])
  })

const matching = (description: string, pattern: RegExp): VariableType<string> =>
  variableType(description, (text) => (pattern.test(text) ? text : undefined))

const wholeNumber = (description: string, least: number, most: number): VariableType<number> =>
  variableType(description, (text) =>
    /^\d{1,5}$/.test(text) && Number(text) >= least && Number(text) <= most
      ? Number(text)
      : undefined,
  )

/** For `Authorization: Bearer`. */
export const tokenType = asSecret(matching('at least 16 visible characters', /^[!-~]{16,}$/))

export const keyType: VariableType<Uint8Array> = asSecret(
  variableType('32 bytes in base64', (text) =>
    /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? new Uint8Array(Buffer.from(text, 'base64')) : undefined,
  ),
)

/** Encrypted, or on this machine, and nothing in it but host, port and path. */
const isSafeUrl = (text: string): boolean => {
  const url = URL.parse(text)
  if (url === null || /[\s{}]/.test(text)) return false
  const { protocol, hostname, username, password } = url
  if (`${username}${password}` !== '' || /[?#]/.test(text)) return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Text that neither begins nor ends with a space. */
const trimmed = /^\S(.*\S)?$/
const host = matching('a host name or an address', trimmed)
const port = wholeNumber('a port from 0 to 65535, 0 for a free one', 0, 65_535)
const networks = variableType(
  'CIDRs with commas between them, such as 10.0.0.0/8,fd00::/8',
  (text) => parseNetworks(text.split(',').map((entry) => entry.trim())),
)

// The provider's token is sent to these.
const safeUrlDescription = 'an https:// URL (http:// for loopback hosts only)'
const baseUrlOf = (text: string): string => text.replace(/\/+$/, '')
const regionalUrl = variableType(
  `${safeUrlDescription}, in which {region} stands for the region`,
  (text) => (isSafeUrl(text.replaceAll('{region}', 'region')) ? baseUrlOf(text) : undefined),
)

const capabilities = [
  'console',
  'events',
  'insights',
  'long-histories',
  'market-data',
  'pending-orders',
  'trading-tools',
] as const
const logLevel = oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')

/** Every variable; docs/configuration.md describes each. */
export const variables = {
  BROKER: oneOf('metaapi', 'sandbox'),
  CAPABILITIES: variableType(
    `all, or names of ${capabilities.join(', ')} separated by commas`,
    (text) =>
      text.trim() === 'all' ? capabilities : listOf('', oneOf(...capabilities).parse).parse(text),
  ),
  // Exactly as browsers send them. With a wildcard every page could use a key that it has.
  CORS_ORIGINS: listOf(
    'a list of origins such as https://app.example.com, separated by commas',
    (text) => (!text.includes('*') && URL.parse(text)?.origin === text ? text : undefined),
  ),
  DATABASE_URL: asSecret(
    variableType('a postgres:// or postgresql:// URL without spaces (percent-encoded)', (text) =>
      /^postgres(ql)?:\/\/\S+$/i.test(text) && URL.canParse(text) ? text : undefined,
    ),
  ),
  DATA_DIR: matching('a folder', trimmed),
  DRAIN_DELAY_SECONDS: wholeNumber('whole seconds from 0 to 3600', 0, 3_600),
  DRAIN_TIMEOUT_SECONDS: wholeNumber('whole seconds from 1 to 3600', 1, 3_600),
  HOST: host,
  LOG_LEVEL: logLevel,
  MAIL_FROM: variableType(
    'an e-mail address, such as notices@example.com or Tradeport <notices@example.com>',
    (text) => O.toUndefined(parseSender(text)),
  ),
  METAAPI_CLIENT_URL: regionalUrl,
  METAAPI_MARKET_DATA_URL: regionalUrl,
  // The region of an account is read from it.
  METAAPI_PROVISIONING_URL: variableType(safeUrlDescription, (text) =>
    isSafeUrl(text) ? baseUrlOf(text) : undefined,
  ),
  METRICS_TOKEN: tokenType,
  OAUTH_AUDIENCE: matching('the aud of tokens for this service', trimmed),
  // The keys that tokens are verified with come from it.
  OAUTH_ISSUER: variableType(`${safeUrlDescription}, exactly as the iss of its tokens`, (text) =>
    isSafeUrl(text) ? text : undefined,
  ),
  OPERATOR_HOST: host,
  OPERATOR_PORT: port,
  OPERATOR_TOKEN: tokenType,
  PORT: port,
  REDIS_URL: asSecret(
    variableType(
      'a redis:// or rediss:// URL, with a database number as its path or none, and no parameter but keyPrefix',
      (text) => {
        const url = URL.parse(text)
        return url !== null &&
          /^rediss?:$/.test(url.protocol) &&
          /^(\/\d{0,5})?$/.test(url.pathname) &&
          // The others would replace the options of the limiter, as texts.
          [...url.searchParams.keys()].every((name) => name === 'keyPrefix')
          ? text
          : undefined
      },
    ),
  ),
  SECRETS_KEY: keyType,
  SECRETS_KEY_PREVIOUS: asSecret(
    listOf('keys of 32 bytes in base64 with commas between them', keyType.parse),
  ),
  SMTP_URL: asSecret(
    variableType(
      'an smtp:// or smtps:// URL such as smtps://user:password@mail.example.com, user and password percent-encoded',
      (text) => O.toUndefined(parseSmtpUrl(text)),
    ),
  ),
  TRUST_PROXY: networks,
  WEBHOOK_ALLOWED_NETWORKS: networks,
  WATCH_SECONDS: wholeNumber('a whole number of seconds from 2 to 300', 2, 300),
  EVENT_RETENTION_DAYS: wholeNumber('a whole number of days from 1 to 365', 1, 365),
  WEBHOOK_RETRY_SECONDS: variableType(
    'four whole numbers of seconds from 1 to 86400 with commas between them, such as 60,300,900,3600',
    (text) => {
      const pauses = listOf('', wholeNumber('', 1, 86_400).parse).parse(text)
      return pauses?.length === retrySchedule.length
        ? pauses.map((seconds) => 1_000 * seconds)
        : undefined
    },
  ),
}

type Name = keyof typeof variables
type Values = {
  readonly [N in Name]: (typeof variables)[N] extends VariableType<infer A> ? A | undefined : never
}
export type Environment = Readonly<Record<string, string | undefined>>

/** The first is required where the second is set. */
const required: readonly (readonly [required: Name, where: Name])[] = [
  ['BROKER', 'DATABASE_URL'],
  ['OPERATOR_TOKEN', 'DATABASE_URL'],
  ['SECRETS_KEY', 'DATABASE_URL'],
  ['SMTP_URL', 'MAIL_FROM'],
  ['MAIL_FROM', 'SMTP_URL'],
  // Without an audience, every token of the issuer would be accepted.
  ['OAUTH_AUDIENCE', 'OAUTH_ISSUER'],
  ['OAUTH_ISSUER', 'OAUTH_AUDIENCE'],
]

export type Config = ReturnType<typeof configOf>
export type LogLevel = Config['logLevel']

/**
 * Reads the environment.
 * @param defaultDataFolder where data goes when DATA_DIR is unset
 * @returns the faults, a sentence each, or the configuration and warnings about it
 */
export const readConfig = (
  environment: Environment,
  defaultDataFolder: string,
): E.Either<readonly string[], Config & { readonly warnings: readonly string[] }> => {
  const faults: string[] = []
  // An empty variable counts as unset, as shells and compose files leave them.
  const isSet = (name: string) => (environment[name] ?? '') !== ''
  const read = ([name, { description, parse, isSecret }]: [
    string,
    VariableType<unknown>,
  ]): unknown => {
    if (!isSet(name)) return undefined
    const text = environment[name] ?? ''
    const value = parse(text)
    if (value === undefined)
      faults.push(
        `${name} must be ${description}; got ${isSecret === true ? 'something else' : JSON.stringify(text)}`,
      )
    return value
  }
  const values = Object.fromEntries(
    Object.entries(variables).map((entry) => [entry[0], read(entry)]),
  ) as Values
  for (const [name, where] of required)
    if (isSet(where) && !isSet(name))
      faults.push(`${name} is required with ${where}: ${variables[name].description}`)
  const config = configOf(values, defaultDataFolder)
  // The timeout runs from the signal on: with a delay as long, every end would be cut short.
  if (config.drainDelayMs >= config.drainTimeoutMs)
    faults.push(
      `DRAIN_DELAY_SECONDS must be less than DRAIN_TIMEOUT_SECONDS, which is ${config.drainTimeoutMs / 1_000}; got ${config.drainDelayMs / 1_000}`,
    )
  const { api, operator } = config
  if (api.host === operator.host && api.port === operator.port && api.port !== 0)
    faults.push(`OPERATOR_PORT must differ from PORT, which is ${api.port}`)
  // Who reads metrics could change every record.
  if (config.metricsToken !== null && config.metricsToken === config.operatorToken)
    faults.push('METRICS_TOKEN must differ from OPERATOR_TOKEN; both are the same')
  if (faults.length > 0) return E.left(faults)
  const warnings = [
    ...Object.keys(environment).flatMap(misspelt),
    ...(config.databaseUrl === null && config.broker === 'metaapi'
      ? [`BROKER is metaapi and DATABASE_URL is not set. ${embeddedRisk}`]
      : []),
  ]
  return E.right({ ...config, warnings })
}

const configOf = (values: Values, defaultDataFolder: string) => {
  const { BROKER: broker = 'sandbox', SMTP_URL: server, MAIL_FROM: from } = values
  const { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience } = values
  const databaseUrl = values.DATABASE_URL ?? null
  /** Neither `DATABASE_URL` nor `BROKER=metaapi`: embedded database and simulated provider. */
  const isDemo = databaseUrl === null && broker === 'sandbox'
  return {
    isDemo,
    api: { host: values.HOST ?? '127.0.0.1', port: values.PORT ?? 3000 },
    operator: { host: values.OPERATOR_HOST ?? '127.0.0.1', port: values.OPERATOR_PORT ?? 3001 },
    /** Null: generated at the first start and stored in DATA_DIR. */
    operatorToken: values.OPERATOR_TOKEN ?? null,
    /** 32 bytes; null: generated at the first start and stored in DATA_DIR. */
    secretsKey: values.SECRETS_KEY ?? null,
    /** Earlier keys that only decrypt: 32 bytes each. */
    previousSecretsKeys: values.SECRETS_KEY_PREVIOUS ?? [],
    /** Null: embedded in the data folder. May hold a password. */
    databaseUrl,
    dataFolder: values.DATA_DIR ?? defaultDataFolder,
    /** Where instances share their limits; null: each keeps its own. May hold a password. */
    redisUrl: values.REDIS_URL ?? null,
    broker,
    /** The provider's base URLs; `{region}` stands for the account's region. */
    providerUrls: {
      provisioning:
        values.METAAPI_PROVISIONING_URL ??
        'https://mt-provisioning-api-v1.agiliumtrade.agiliumtrade.ai',
      client: values.METAAPI_CLIENT_URL ?? 'https://mt-client-api-v1.{region}.agiliumtrade.ai',
      marketData:
        values.METAAPI_MARKET_DATA_URL ??
        'https://mt-market-data-client-api-v1.{region}.agiliumtrade.ai',
    },
    /** Null: mail is written to the log. */
    smtp: server === undefined || from === undefined ? null : { server, from },
    /** CIDRs and addresses that webhooks may reach although they are not public. */
    webhookNetworks: values.WEBHOOK_ALLOWED_NETWORKS ?? [],
    /** The pauses between the attempts of a delivery. */
    webhookRetries: values.WEBHOOK_RETRY_SECONDS ?? retrySchedule,
    /** Between two rounds of a watched account. */
    watchMs: 1_000 * (values.WATCH_SECONDS ?? 10),
    /** How long events are kept, with their deliveries. */
    eventRetentionDays: values.EVENT_RETENTION_DAYS ?? 30,
    trustedProxies: values.TRUST_PROXY,
    corsOrigins: values.CORS_ORIGINS ?? [],
    /** Null: only stored access tokens are accepted. */
    tokenIssuer: issuer === undefined || audience === undefined ? null : { issuer, audience },
    /** Behaviour beyond the specification. */
    capabilities: [...new Set(values.CAPABILITIES ?? (isDemo ? capabilities : []))],
    logLevel: values.LOG_LEVEL ?? ('info' as const),
    /** Null: metrics are read without a token, and only on the operator's listener. */
    metricsToken: values.METRICS_TOKEN ?? null,
    /** How long requests are accepted after the signal to end, so that a proxy can see it. */
    drainDelayMs: 1_000 * (values.DRAIN_DELAY_SECONDS ?? 0),
    /** The longest that an orderly end may take, from the signal on. */
    drainTimeoutMs: 1_000 * (values.DRAIN_TIMEOUT_SECONDS ?? 85),
  }
}

/** OPERATOR_URL is the command line's. */
const names: readonly string[] = [...Object.keys(variables), 'OPERATOR_URL']

/**
 * A warning about a variable whose name is almost one of ours: HTTP_URL is not SMTP_URL misspelt.
 */
const misspelt = (name: string): readonly string[] => {
  if (names.includes(name)) return []
  const meant = closest(name, names)
  const most = name[0] === meant[0] ? Math.round(meant.length / 4) : 1
  return distance(name, meant) <= most
    ? [`${name} is set and is not a variable of the service; ${meant} is.`]
    : []
}

/** What the log says of a configuration: no secret. */
export const summaryOf = (config: Config) => ({
  database:
    config.databaseUrl === null
      ? `embedded in ${config.dataFolder}`
      : new URL(config.databaseUrl).host,
  broker: config.broker,
  limiter: config.redisUrl === null ? 'in-process' : new URL(config.redisUrl).host,
  mail: config.smtp === null ? 'log' : 'smtp',
  tokenIssuer: config.tokenIssuer?.issuer ?? 'none',
  capabilities: config.capabilities,
})
