// A whole service on real ports with an embedded database, pointed at a simulated provider, and set up through the operator API as an operator would.
import { cpSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { AccountOptions, Sandbox } from '@tradeport/sandbox-broker'
import type { Environment } from '../../src/config.ts'
import { environmentOf, operatorToken, startFrom } from './start-service.ts'
import type { StartOptions } from './start-service.ts'

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

/** The provider is on the same clock as the service. */
export interface TestServiceOptions extends StartOptions {
  readonly environment?: Environment
}

export const startTestService = async (accounts: readonly AccountOptions[], options: TestServiceOptions = {}): Promise<RunningService> => {
  const { now = Date.now } = options
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
  copyDatabase(folder)
  const sandbox = await startSandbox({ seed: 7, tokens: [providerToken], accounts, now })
  const environment = { ...environmentOf(folder, sandbox.url), ...options.environment }
  const start = () => startFrom(environment, options)
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

/** Puts an empty database into the folder where the run has made one; else the service makes its own. */
export const copyDatabase = (folder: string): void => {
  const template: string | undefined = inject('databaseTemplate')
  // All at once: there are a thousand small files, and nothing else to do meanwhile.
  if (template !== undefined) cpSync(template, join(folder, 'postgres'), { recursive: true })
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
