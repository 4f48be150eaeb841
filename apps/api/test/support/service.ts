// A service on real ports, pointed at a simulated provider and set up through the operator API: one
// instance with an embedded database, or two on servers that they share.
import { times } from '@tradeport/testkit'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createContractWatch, type HeardReply } from '@tradeport/testkit/contract-watch'
import { createOpenApiDocument } from '@tradeport/http'
import { startSandbox, type AccountOptions } from '@tradeport/sandbox-broker'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { AdapterTimes } from '../../src/adapters.ts'
import { readConfig, type Environment } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { startService } from '../../src/service.ts'
import { secretWatch } from './secret-watch.ts'

export const operatorToken = 'operator-token-for-tests'
export const providerToken = 'provider-token-for-tests'
/** The provider accepts these as well. */
export const moreProviderTokens = times(1_000, (n) => `token-at-the-provider-${n}`)
export const contractWatch = createContractWatch(createOpenApiDocument())

/** What a reply holds is for the test that reads it to check. */
export type Json = ReturnType<typeof JSON.parse>

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

/** Checks a reply for secrets and against the API's document, whoever made the request. */
const hearReply = (reply: HeardReply) => {
  secretWatch.hearReply(reply)
  contractWatch.hearReply(reply)
}

/** Any request; a body that is JSON is parsed, any other is its text. */
export const request = async (url: string, init: RequestInit = {}): Promise<Reply> => {
  const response = await fetch(url, init)
  const text = await response.text()
  const { method = 'GET', body } = init
  const { status, headers } = response
  hearReply({
    method,
    url,
    sent: typeof body === 'string' ? body : undefined,
    status,
    headers: [...headers],
    text,
  })
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  return { status, headers, body: isJson ? JSON.parse(text) : text }
}

/** A stream of events under /api/v1, until the test ends or stops it. */
export const openStream = async (
  { apiUrl }: { readonly apiUrl: string },
  path: string,
  key: string,
) => {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  onTestFinished(stop)
  const { status, body } = await fetch(`${apiUrl}/api/v1${path}`, {
    headers: { 'X-API-Key': key },
    signal: stopping.signal,
  })
  const stream = { status, text: '', isOver: false, stop }
  const read = async () => {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) stream.text += chunk
  }
  void read()
    .catch(() => undefined)
    .finally(() => (stream.isOver = true))
  return stream
}

/** A request with the operator token; a POST where there is a body. */
export const operate = (operatorUrl: string, path: string, body?: object) =>
  request(`${operatorUrl}/operator/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

/**
 * Applies the documents one after the other, and returns what the last one made; throws where one
 * is refused.
 */
export const setUpAt = async (operatorUrl: string, ...documents: readonly object[]) => {
  let data: Json
  for (const document of documents) {
    const { status, body } = await operate(operatorUrl, '/apply', document)
    if (status !== 200)
      throw new Error(`the operator API answered ${status}: ${JSON.stringify(body)}`)
    data = body.data
  }
  return data
}

/**
 * A clock that stands still until a test moves it on, so that what is cached stays cached however
 * slow the machine is.
 */
export const createTestClock = (startsAt: number | string) => {
  let at = new Date(startsAt).getTime()
  return {
    now: () => at,
    iso: () => new Date(at).toISOString(),
    advance: (ms: number) => {
      at += ms
    },
  }
}

interface StartOptions extends Partial<
  Pick<AdapterTimes, 'deadlines' | 'accountBackoff' | 'redis'>
> {
  /** The time of the service, in epoch milliseconds. */
  readonly now?: () => number
  readonly onLogLine?: (line: string) => void
}

/** The environment of a service on free ports with everything of its own in the folder. */
export const environmentOf = (folder: string, providerUrl: string): Environment => ({
  PORT: '0',
  OPERATOR_PORT: '0',
  DATA_DIR: folder,
  OPERATOR_TOKEN: operatorToken,
  BROKER: 'metaapi',
  METAAPI_CLIENT_URL: providerUrl,
  METAAPI_PROVISIONING_URL: providerUrl,
  METAAPI_MARKET_DATA_URL: providerUrl,
  LOG_LEVEL: 'trace',
})

/**
 * Starts a service as `main` does, in this process; retries at the provider hardly pause unless a
 * test asks for it.
 */
export const startFrom = async (
  environment: Environment,
  {
    now = Date.now,
    accountBackoff = { firstMs: 1, longestMs: 1 },
    onLogLine = () => undefined,
    ...times
  }: StartOptions = {},
) => {
  const config = readConfig(environment, '/nowhere')
  if (config._tag === 'Left') throw new Error(config.left.join('; '))
  for (const name of ['OPERATOR_TOKEN', 'SECRETS_KEY', 'METRICS_TOKEN'])
    secretWatch.know(name, environment[name])
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'SMTP_URL'])
    secretWatch.know(`the password of ${name}`, URL.parse(environment[name] ?? '')?.password)
  const write = (line: string) => {
    secretWatch.hear('the log', line)
    onLogLine(line)
  }
  const service = await startService(config.right, createLog(config.right.logLevel, { write }), {
    clock: { now },
    accountBackoff,
    ...times,
  })
  for (const name of ['operator-token', 'secrets-key'])
    secretWatch.know(
      `the file ${name}`,
      await readFile(join(config.right.dataFolder, name), 'utf8').catch(() => undefined),
    )
  return service
}

export interface TestServiceOptions extends Omit<StartOptions, 'onLogLine'> {
  readonly environment?: Environment
}

export type TestService = Awaited<ReturnType<typeof startTestService>>

/** The provider is on the same clock as the service. */
export const startTestService = async (
  accounts: readonly AccountOptions[],
  options: TestServiceOptions = {},
) => {
  const { environment: changes, ...times } = options
  const logged: Json[] = []
  const startOptions = { ...times, onLogLine: (line: string) => logged.push(JSON.parse(line)) }
  const sandbox = await startSandbox({
    seed: 7,
    tokens: [providerToken, ...moreProviderTokens],
    accounts,
    now: options.now ?? Date.now,
  })
  const folder = await newFolder()
  const environment = { ...environmentOf(folder, sandbox.url), ...changes }
  let service = await startFrom(environment, startOptions)
  return {
    get apiUrl() {
      return service.apiUrl
    },
    get operatorUrl() {
      return service.operatorUrl
    },
    sandbox,
    /** The lines of the log. */
    logged,
    /** Where the database and the generated secrets are. */
    folder,
    environment,
    /** GET under /api/v1. */
    get: (path: string, key?: string) =>
      request(
        `${service.apiUrl}/api/v1${path}`,
        key === undefined ? {} : { headers: { 'X-API-Key': key } },
      ),
    apply: (document: object) => operate(service.operatorUrl, '/apply', document),
    setUp: (...documents: readonly object[]) => setUpAt(service.operatorUrl, ...documents),
    restart: async (changed: Environment = {}) => {
      await service.close()
      service = await startFrom({ ...environment, ...changed }, startOptions)
    },
    close: async () => {
      // The provider first: it cuts off requests that a fault never answers.
      await sandbox.close()
      await service.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** One that runs while the tests of a file run. */
export const useTestService = (
  accounts: readonly AccountOptions[] = [],
  options: TestServiceOptions = {},
): TestService => {
  let service: TestService | undefined
  beforeAll(async () => {
    service = await startTestService(accounts, options)
  })
  afterAll(() => service?.close())
  return new Proxy({} as TestService, {
    get: (_, name): unknown => Reflect.get(service as TestService, name),
  })
}

/** The demo, in a folder of its own. */
export const startDemo = async (environment: Environment = {}, options?: StartOptions) =>
  startFrom(
    {
      PORT: '0',
      OPERATOR_PORT: '0',
      OPERATOR_TOKEN: operatorToken,
      LOG_LEVEL: 'info',
      DATA_DIR: await newFolder(),
      ...environment,
    },
    options,
  )

/** A folder with an empty database in it, which is removed after the last test at the latest. */
export const newFolder = async () => {
  const template = process.env['TEST_EMPTY_FOLDER'] ?? ''
  const folder = await mkdtemp(join(dirname(template), 'run-'))
  await cp(template, join(folder, 'postgres'), { recursive: true })
  return folder
}
