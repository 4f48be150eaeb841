// The configuration, which is the environment. This is the only place that reads it. All faults are
// reported at once, each with the variable's name, what it must be and what it got; the value of a
// secret is never repeated.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { embeddedRisk } from '@tradeport/domain/operator'
import { retrySchedule } from '@tradeport/domain/webhooks'
import type { RetrySchedule } from '@tradeport/domain/webhooks'
import { parseNetworks } from '@tradeport/http'
import type { Address, Network } from '@tradeport/http'
import { parseSender, parseSmtpUrl } from '@tradeport/mailer'
import type { Sender, SmtpServer } from '@tradeport/mailer'
import { isNetwork } from '@tradeport/webhook-sender'
import { closest, distance } from 'fastest-levenshtein'
import { keyForm, tokenForm } from './secret-forms.ts'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export const capabilities = ['events'] as const
export type Capability = (typeof capabilities)[number]

/** A PostgreSQL server, or the embedded one in a folder. */
export type DatabaseConfig =
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'embedded' }

/** The provider's base URLs; `{region}` stands for the account's region. */
export interface ProviderUrls {
  readonly provisioning: string
  readonly client: string
}

export type BrokerConfig =
  | { readonly kind: 'metaapi'; readonly urls: ProviderUrls }
  | { readonly kind: 'sandbox' }

/** Where mail to owners goes. */
export type MailConfig =
  | { readonly kind: 'smtp'; readonly server: SmtpServer; readonly from: Sender }
  | { readonly kind: 'log' }

/** Who issues JWT access tokens, and what of theirs is for this service. */
export interface TokenIssuer {
  readonly issuer: string
  readonly audience: string
}

export interface Config {
  readonly api: Address
  readonly operator: Address
  /** null: made once and kept in the data folder. */
  readonly operatorToken: string | null
  /** 32 bytes; null: made once and kept in the data folder. */
  readonly secretsKey: Uint8Array | null
  /** Keys that open what they have sealed, and seal nothing: 32 bytes each. */
  readonly previousSecretsKeys: readonly Uint8Array[]
  readonly database: DatabaseConfig
  readonly dataFolder: string
  /** Where instances share their limits; null: each keeps its own. May hold a password. */
  readonly redisUrl: string | null
  readonly broker: BrokerConfig
  readonly mail: MailConfig
  /** Behaviour beyond the specification. */
  readonly capabilities: readonly Capability[]
  /** CIDRs and addresses that webhooks may reach although they are not public. */
  readonly webhookNetworks: readonly string[]
  /** The pauses between the attempts of a delivery. */
  readonly webhookRetries: RetrySchedule
  readonly trustedProxies: readonly Network[]
  /** Origins from which browsers may call the API. */
  readonly corsOrigins: readonly string[]
  /** null: stored access tokens alone. */
  readonly tokenIssuer: TokenIssuer | null
  readonly logLevel: LogLevel
  /**
   * Whoever reads the metrics has to bring it, and may then do so on the public listener too; null:
   * the operator's listener alone, without one.
   */
  readonly metricsToken: string | null
  /**
   * How long new requests are still taken after the signal to end, so that a proxy may learn of it
   * first.
   */
  readonly drainDelayMs: number
  /** The longest that an end in order may take, from the signal on. */
  readonly drainTimeoutMs: number
  /** What the operator should know of a configuration that is accepted, in sentences. */
  readonly warnings: readonly string[]
}

export type Environment = Readonly<Record<string, string | undefined>>

const publishedUrls: ProviderUrls = {
  provisioning: 'https://mt-provisioning-api-v1.agiliumtrade.agiliumtrade.ai',
  client: 'https://mt-client-api-v1.{region}.agiliumtrade.ai',
}

/**
 * Reads the environment.
 * @param defaultDataFolder where data goes when DATA_DIR is unset
 * @returns the faults, a sentence each, or the configuration
 */
export const readConfig = (
  environment: Environment,
  defaultDataFolder: string,
): E.Either<readonly string[], Config> => {
  const faults: string[] = []
  const read = createReader(environment, faults)
  const databaseUrl =
    read(
      'DATABASE_URL',
      parseUrlOf(['postgres:', 'postgresql:']),
      'a postgres:// or postgresql:// URL',
      'secret',
    ) ?? null
  const broker = read('BROKER', parseOneOf(['metaapi', 'sandbox'] as const), 'metaapi or sandbox')
  const operatorToken = read('OPERATOR_TOKEN', tokenForm.parse, tokenForm.told, 'secret') ?? null
  const secretsKey = read('SECRETS_KEY', keyForm.parse, keyForm.told, 'secret') ?? null
  const needed = {
    BROKER: 'metaapi or sandbox',
    OPERATOR_TOKEN: tokenForm.told,
    SECRETS_KEY: `${keyForm.told}, the same for every instance`,
  }
  for (const [name, form] of Object.entries(needed))
    if (databaseUrl !== null && !isSet(environment, name))
      faults.push(`${name} is required with DATABASE_URL: ${form}`)
  const urls: ProviderUrls = {
    provisioning:
      read('METAAPI_PROVISIONING_URL', parseProviderUrl, providerUrlForm) ??
      publishedUrls.provisioning,
    client: read('METAAPI_CLIENT_URL', parseProviderUrl, providerUrlForm) ?? publishedUrls.client,
  }
  // Nothing acts on it, and what is no URL is wrong all the same.
  read('METAAPI_MARKET_DATA_URL', parseProviderUrl, providerUrlForm)
  const config: Omit<Config, 'warnings'> = {
    api: {
      host: read('HOST', parseText, hostForm) ?? '127.0.0.1',
      port: read('PORT', parsePort, portForm) ?? 3000,
    },
    operator: {
      host: read('OPERATOR_HOST', parseText, hostForm) ?? '127.0.0.1',
      port: read('OPERATOR_PORT', parsePort, portForm) ?? 3001,
    },
    operatorToken,
    secretsKey,
    previousSecretsKeys: read('SECRETS_KEY_PREVIOUS', parseKeys, previousKeysForm, 'secret') ?? [],
    database: databaseUrl === null ? { kind: 'embedded' } : { kind: 'server', url: databaseUrl },
    dataFolder: read('DATA_DIR', parseText, 'a folder') ?? defaultDataFolder,
    redisUrl:
      read(
        'REDIS_URL',
        parseRedisUrl,
        'a redis:// or rediss:// URL, with a database number as its path or none',
        'secret',
      ) ?? null,
    broker: broker === 'metaapi' ? { kind: 'metaapi', urls } : { kind: 'sandbox' },
    mail: readMail(environment, read, faults),
    webhookNetworks: read('WEBHOOK_ALLOWED_NETWORKS', parseNetworkList, networksForm) ?? [],
    webhookRetries: read('WEBHOOK_RETRY_SECONDS', parseRetries, retriesForm) ?? retrySchedule,
    trustedProxies: read('TRUST_PROXY', parseProxies, networksForm) ?? [],
    corsOrigins:
      read(
        'CORS_ORIGINS',
        parseOrigins,
        'a list of origins such as https://app.example.com, separated by commas',
      ) ?? [],
    tokenIssuer: readTokenIssuer(environment, read, faults),
    // The demo shows everything.
    capabilities:
      read('CAPABILITIES', parseCapabilities, capabilitiesForm) ??
      (databaseUrl === null && broker !== 'metaapi' ? capabilities : []),
    logLevel: read('LOG_LEVEL', parseOneOf(logLevels), logLevels.join(', ')) ?? 'info',
    metricsToken: read('METRICS_TOKEN', tokenForm.parse, tokenForm.told, 'secret') ?? null,
    drainDelayMs: 1_000 * (read('DRAIN_DELAY_SECONDS', parseSeconds, secondsForm) ?? 0),
    drainTimeoutMs: 1_000 * (read('DRAIN_TIMEOUT_SECONDS', parseSeconds, secondsForm) ?? 85),
  }
  // The timeout runs from the signal on: with a delay as long every end would be cut short.
  if (config.drainDelayMs >= config.drainTimeoutMs)
    faults.push(
      `DRAIN_DELAY_SECONDS must be less than DRAIN_TIMEOUT_SECONDS, which is ${config.drainTimeoutMs / 1_000}; got ${config.drainDelayMs / 1_000}`,
    )
  return faults.length > 0
    ? E.left(faults)
    : E.right({ ...config, warnings: warningsOf(config, environment) })
}

const warningsOf = (
  config: Omit<Config, 'warnings'>,
  environment: Environment,
): readonly string[] => [
  ...withoutEffect(config)
    .filter((name) => isSet(environment, name))
    .map((name) => `${name} is set and has no effect with the other variables as they are.`),
  ...Object.keys(environment).flatMap(misspelt),
  ...(config.database.kind === 'embedded' && config.broker.kind === 'metaapi'
    ? [`BROKER is metaapi and DATABASE_URL is not set. ${embeddedRisk}`]
    : []),
]

/** A warning for a variable whose name is almost one of ours. */
const misspelt = (name: string): readonly string[] => {
  if (variables.includes(name)) return []
  const meant = closest(name, variables)
  const mistakes = meant.length < 6 ? 1 : 2
  return distance(name, meant) <= mistakes
    ? [`${name} is set and is not a variable of the service; ${meant} is.`]
    : []
}

const withoutEffect = ({
  broker,
  capabilities,
}: Pick<Config, 'broker' | 'capabilities'>): readonly string[] => [
  'METAAPI_MARKET_DATA_URL',
  ...(broker.kind === 'metaapi' ? [] : ['METAAPI_PROVISIONING_URL', 'METAAPI_CLIENT_URL']),
  ...(capabilities.includes('events') ? [] : ['WEBHOOK_RETRY_SECONDS']),
]

/** Two variables that make sense together alone. */
const requireBoth = (
  environment: Environment,
  faults: string[],
  ...pair: readonly [name: string, form: string, otherwise?: string][]
): void => {
  const missing = pair.filter(([name]) => !isSet(environment, name))
  const [set] = pair.filter(([name]) => isSet(environment, name))
  for (const [name, form, otherwise = ''] of missing)
    if (set !== undefined) faults.push(`${name} is required with ${set[0]}: ${form}${otherwise}`)
}

const readMail = (environment: Environment, read: Read, faults: string[]): MailConfig => {
  const server = read('SMTP_URL', (text) => O.toUndefined(parseSmtpUrl(text)), smtpForm, 'secret')
  const from = read('MAIL_FROM', (text) => O.toUndefined(parseSender(text)), senderForm)
  requireBoth(
    environment,
    faults,
    ['SMTP_URL', smtpForm, '; without both, mail is written to the log'],
    ['MAIL_FROM', senderForm],
  )
  return server === undefined || from === undefined
    ? { kind: 'log' }
    : { kind: 'smtp', server, from }
}

const readTokenIssuer = (
  environment: Environment,
  read: Read,
  faults: string[],
): TokenIssuer | null => {
  const issuer = read('OAUTH_ISSUER', parseIssuer, issuerForm)
  const audience = read('OAUTH_AUDIENCE', parseText, audienceForm)
  // Without an audience, any token of the issuer would do, whomever it was made for.
  requireBoth(environment, faults, ['OAUTH_ISSUER', issuerForm], ['OAUTH_AUDIENCE', audienceForm])
  return issuer === undefined || audience === undefined ? null : { issuer, audience }
}

// An empty variable counts as unset, as shells and compose files leave them.
const isSet = (environment: Environment, name: string): boolean => (environment[name] ?? '') !== ''

const previousKeysForm = 'keys of 32 bytes in base64 with commas between them'
const portForm = 'a port from 0 to 65535, 0 for a free one'
const secondsForm = 'whole seconds from 0 to 3600'
const retriesForm =
  'four whole numbers of seconds from 1 to 86400 with commas between them, such as 60,300,900,3600'
const networksForm = 'CIDRs with commas between them, such as 10.0.0.0/8,fd00::/8'
const capabilitiesForm = `all, or names of ${capabilities.join(', ')} separated by commas`
const hostForm = 'a host name or an address'
const smtpForm =
  'an smtp:// or smtps:// URL such as smtps://user:password@mail.example.com, user and password percent-encoded'
const senderForm =
  'an e-mail address, such as notices@example.com or Tradeport <notices@example.com>'
const issuerForm =
  'an https:// URL (http:// for loopback hosts only), to the letter as the iss of its tokens'
const audienceForm = 'what the aud of tokens for this service names'
const providerUrlForm =
  'an https:// URL (http:// for loopback hosts only), in which {region} stands for the region'

const variables: readonly string[] = [
  'BROKER',
  'CAPABILITIES',
  'CORS_ORIGINS',
  'DATABASE_URL',
  'DATA_DIR',
  'DRAIN_DELAY_SECONDS',
  'DRAIN_TIMEOUT_SECONDS',
  'HOST',
  'LOG_LEVEL',
  'MAIL_FROM',
  'METAAPI_CLIENT_URL',
  'METAAPI_MARKET_DATA_URL',
  'METAAPI_PROVISIONING_URL',
  'METRICS_TOKEN',
  'OAUTH_AUDIENCE',
  'OAUTH_ISSUER',
  'OPERATOR_HOST',
  'OPERATOR_PORT',
  'OPERATOR_TOKEN',
  // The command line's.
  'OPERATOR_URL',
  'PORT',
  'REDIS_URL',
  'SECRETS_KEY',
  'SECRETS_KEY_PREVIOUS',
  'SMTP_URL',
  'TRUST_PROXY',
  'WEBHOOK_ALLOWED_NETWORKS',
  'WEBHOOK_RETRY_SECONDS',
]

/** What the log says of a configuration: what is connected to what, and no secret. */
export const summaryOf = ({
  database,
  broker,
  redisUrl,
  mail,
  tokenIssuer,
  capabilities: enabled,
  dataFolder,
}: Config) => ({
  database: database.kind === 'server' ? new URL(database.url).host : `embedded in ${dataFolder}`,
  broker: broker.kind,
  limiter: redisUrl === null ? 'in-process' : new URL(redisUrl).host,
  mail: mail.kind,
  tokens: tokenIssuer === null ? 'stored' : tokenIssuer.issuer,
  capabilities: enabled,
})

/** undefined where the text is not of the form asked for. */
type Parse<A> = (text: string) => A | undefined

type Read = ReturnType<typeof createReader>

const createReader =
  (environment: Environment, faults: string[]) =>
  <A>(
    name: string,
    parse: Parse<A>,
    form: string,
    kind: 'plain' | 'secret' = 'plain',
  ): A | undefined => {
    const text = environment[name] ?? ''
    if (text === '') return undefined
    const value = parse(text)
    if (value === undefined)
      faults.push(
        `${name} must be ${form}; got ${kind === 'secret' ? 'something else' : JSON.stringify(text)}`,
      )
    return value
  }

const parseOneOf =
  <A extends string>(values: readonly A[]): Parse<A> =>
  (text) =>
    values.find((value) => value === text)

const parseText: Parse<string> = (text) => (/^\S(.*\S)?$/.test(text) ? text : undefined)

const parsePort: Parse<number> = (text) =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined

const parseSeconds: Parse<number> = (text) =>
  /^\d{1,4}$/.test(text) && Number(text) <= 3_600 ? Number(text) : undefined

/** The entries between the commas. */
const entriesOf = (text: string): readonly string[] => text.split(',').map((entry) => entry.trim())

const parseRetries: Parse<RetrySchedule> = (text) => {
  const pauses = entriesOf(text)
  const isSchedule =
    pauses.length === retrySchedule.length &&
    pauses.every((pause) => /^[1-9]\d{0,4}$/.test(pause) && Number(pause) <= 86_400)
  return isSchedule ? pauses.map((pause) => 1_000 * Number(pause)) : undefined
}

const parseNetworkList: Parse<readonly string[]> = (text) => {
  const networks = entriesOf(text)
  return networks.every(isNetwork) ? networks : undefined
}

const parseCapabilities: Parse<readonly Capability[]> = (text) => {
  if (text.trim() === 'all') return capabilities
  const names = entriesOf(text).map(parseOneOf(capabilities))
  return names.includes(undefined) ? undefined : capabilities.filter((one) => names.includes(one))
}

const parseKeys: Parse<readonly Uint8Array[]> = (text) => {
  const keys = entriesOf(text).map(keyForm.parse)
  return keys.includes(undefined) ? undefined : keys.filter((key) => key !== undefined)
}

const parseUrlOf =
  (protocols: readonly string[]): Parse<string> =>
  (text) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : undefined

const parseRedisUrl: Parse<string> = (text) => {
  const url = parseUrlOf(['redis:', 'rediss:'])(text)
  return url !== undefined && /^(\/\d{0,5})?$/.test(new URL(url).pathname) ? url : undefined
}

// A token travels to these hosts.
const parseProviderUrl: Parse<string> = (text) =>
  isSafeUrl(text.replaceAll('{region}', 'region')) ? text.replace(/\/+$/, '') : undefined

// From there come the keys that tokens are believed by.
const parseIssuer: Parse<string> = (text) =>
  /^\S+$/.test(text) && isSafeUrl(text) ? text : undefined

const parseProxies: Parse<readonly Network[]> = (text) => parseNetworks(entriesOf(text))

// Exactly as browsers send them: `https://app.example.com`, without a path. A wildcard would let every page use a key that it got hold of.
const parseOrigins: Parse<readonly string[]> = (text) => {
  const origins = entriesOf(text)
  return origins.every(
    (origin) => !origin.includes('*') && URL.canParse(origin) && new URL(origin).origin === origin,
  )
    ? origins
    : undefined
}

/** In clear text to this machine alone, and with nothing in it but where to. */
const isSafeUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  if (username !== '' || password !== '' || search !== '' || hash !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
