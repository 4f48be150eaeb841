// A whole service on real ports with an embedded database, pointed at a simulated provider, and set up through the operator API as an operator would.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { AccountOptions, Sandbox } from '@tradeport/sandbox-broker'
import { readConfig } from '../../src/config.ts'
import type { Environment } from '../../src/config.ts'
import { startService } from '../../src/service.ts'

export const operatorToken = 'operator-token-for-tests'
export const providerToken = 'provider-token-for-tests'

/** What a reply says is for the test that reads it to check. */
export type Json = ReturnType<typeof JSON.parse>

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

export interface RunningService {
  readonly apiUrl: string
  readonly operatorUrl: string
  readonly sandbox: Sandbox
  /** Where the database and the generated secrets lie. */
  readonly folder: string
  readonly environment: Environment
  /** GET under /api/v1 with the key. */
  readonly get: (path: string, key?: string) => Promise<Reply>
  readonly apply: (document: object) => Promise<Reply>
  /** Applies what all of the documents say, at once; throws where it is refused. */
  readonly setUp: (...documents: readonly object[]) => Promise<void>
  /** Ends the service and starts it again on the same data folder. */
  readonly restart: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface TestServiceOptions {
  readonly environment?: Environment
  /** What the service and the provider take for now, in epoch milliseconds; the machine's clock when left out. */
  readonly now?: () => number
  /** Is given every line of the log. */
  readonly onLogLine?: (line: string) => void
}

export const startTestService = async (accounts: readonly AccountOptions[], options: TestServiceOptions = {}): Promise<RunningService> => {
  const { now = Date.now, onLogLine = () => undefined } = options
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
  const sandbox = await startSandbox({ seed: 7, tokens: [providerToken], accounts, now })
  const environment = { ...environmentOf(folder, sandbox.url), ...options.environment }
  const start = () => startFrom(environment, { now, onLogLine })
  let service = await start()
  return {
    get apiUrl() {
      return service.apiUrl
    },
    get operatorUrl() {
      return service.operatorUrl
    },
    sandbox,
    folder,
    environment,
    get: (path, key) => request(`${service.apiUrl}/api/v1${path}`, key === undefined ? {} : { headers: { 'X-API-Key': key } }),
    apply: (document) => applyDocument(service.operatorUrl, document),
    setUp: async (...documents) => {
      const { status, body } = await applyDocument(service.operatorUrl, merged(documents))
      if (status !== 200) throw new Error(`the operator API answered ${status}: ${JSON.stringify(body)}`)
    },
    restart: async () => {
      await service.close()
      service = await start()
    },
    close: async () => {
      // The provider first: it cuts off requests that it was told never to answer.
      await sandbox.close()
      await service.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
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
  LOG_LEVEL: 'silent',
})

/** Starts a service as `main` does, in this process. */
export const startFrom = (environment: Environment, { now = Date.now, onLogLine = () => undefined }: TestServiceOptions = {}) => {
  const config = readConfig(environment, '/nowhere')
  if (config._tag === 'Left') throw new Error(config.left.join('; '))
  return startService(config.right, pino({ level: config.right.logLevel }, { write: onLogLine }), { now })
}

export const applyDocument = (operatorUrl: string, document: object): Promise<Reply> =>
  request(`${operatorUrl}/operator/v1/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })

// An entry that several documents hold, such as the tenant of several users, is taken once.
const merged = (documents: readonly object[]): object => {
  const sections: Record<string, Map<string, unknown>> = {}
  for (const [section, entries] of documents.flatMap((document) => Object.entries(document as Record<string, readonly unknown[]>)))
    for (const entry of entries) (sections[section] ??= new Map()).set(JSON.stringify(entry), entry)
  return Object.fromEntries(Object.entries(sections).map(([section, entries]) => [section, [...entries.values()]]))
}

/** Any request; a body that is JSON is parsed, any other is its text. */
export const request = async (url: string, init: RequestInit = {}): Promise<Reply> => {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}
