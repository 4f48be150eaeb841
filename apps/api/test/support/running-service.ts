// A whole service on real ports, pointed at a simulated provider, and set up through the operator API as an operator would: one instance with an
// embedded database, or two on a database and a Redis that they share.
import { cpSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { AccountOptions, Sandbox } from '@tradeport/sandbox-broker'
import type { Environment } from '../../src/config.ts'
import { createCanary } from './canary.ts'
import { hearReply } from './hear-reply.ts'
import { environmentOf, operatorToken, startFrom } from './start-service.ts'
import type { StartOptions } from './start-service.ts'
import { chosenTopology } from './topology.ts'
import { startTwoInstances } from './two-instances.ts'
import type { Deployment, TwoInstances } from './two-instances.ts'

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
  /** Resolves when every instance knows of it. */
  readonly apply: (document: object) => Promise<Reply>
  /** Applies what all of the documents say, at once; throws where it is refused. */
  readonly setUp: (...documents: readonly object[]) => Promise<void>
  /** Ends the service and starts it again on the same data; of two instances, one after the other. */
  readonly restart: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The provider is on the same clock as the service. */
export interface TestServiceOptions extends StartOptions {
  readonly environment?: Environment
  /** The tokens that the provider accepts; `providerToken` when left out. */
  readonly providerTokens?: readonly string[]
}

/** As the topology that was chosen says. */
export const startTestService = async (accounts: readonly AccountOptions[], options: TestServiceOptions = {}): Promise<RunningService> => {
  if (chosenTopology() === 'two instances') return startTestInstances(accounts, options)
  const sandbox = await startProvider(accounts, options)
  return runningService(sandbox, await startOneInstance(sandbox.url, options), async () => undefined)
}

export interface RunningInstances extends RunningService, Pick<TwoInstances, 'instances' | 'database' | 'redis'> {}

/** Two instances behind proxies that take turns, whatever was chosen. */
export const startTestInstances = async (
  accounts: readonly AccountOptions[],
  options: TestServiceOptions = {},
): Promise<RunningInstances> => {
  const sandbox = await startProvider(accounts, options)
  const deployment = await startTwoInstances(sandbox.url, options)
  const everybodyHeard = createCanary(deployment, {
    apply: applyDocument,
    get: (apiUrl, path, key) => request(`${apiUrl}/api/v1${path}`, { headers: { 'X-API-Key': key } }),
  })
  return {
    ...runningService(sandbox, deployment, everybodyHeard),
    get instances() {
      return deployment.instances
    },
    database: deployment.database,
    redis: deployment.redis,
  }
}

const startProvider = (
  accounts: readonly AccountOptions[],
  { now = Date.now, providerTokens = [providerToken] }: TestServiceOptions,
): Promise<Sandbox> => startSandbox({ seed: 7, tokens: [...providerTokens], accounts, now })

const runningService = (sandbox: Sandbox, deployment: Deployment, everybodyHeard: () => Promise<void>): RunningService => {
  const apply = async (document: object): Promise<Reply> => {
    const reply = await applyDocument(deployment.operatorUrl, document)
    if (reply.status === 200) await everybodyHeard()
    return reply
  }
  return {
    get apiUrl() {
      return deployment.apiUrl
    },
    get operatorUrl() {
      return deployment.operatorUrl
    },
    sandbox,
    folder: deployment.folder,
    environment: deployment.environment,
    get: (path, key) => request(`${deployment.apiUrl}/api/v1${path}`, key === undefined ? {} : { headers: { 'X-API-Key': key } }),
    apply,
    setUp: async (...documents) => {
      const { status, body } = await apply(merged(documents))
      if (status !== 200) throw new Error(`the operator API answered ${status}: ${JSON.stringify(body)}`)
    },
    restart: deployment.restart,
    close: async () => {
      // The provider first: it cuts off requests that it was told never to answer.
      await sandbox.close()
      await deployment.close()
    },
  }
}

const startOneInstance = async (providerUrl: string, { environment: changes, ...options }: TestServiceOptions): Promise<Deployment> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
  copyDatabase(folder)
  const environment = { ...environmentOf(folder, providerUrl), ...changes }
  const start = () => startFrom(environment, options)
  let service = await start()
  return {
    get apiUrl() {
      return service.apiUrl
    },
    get operatorUrl() {
      return service.operatorUrl
    },
    folder,
    environment,
    restart: async () => {
      await service.close()
      service = await start()
    },
    close: async () => {
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

/** Any request; a body that is JSON is parsed, any other is its text. Requests that are made without it call `hearReply` themselves. */
export const request = async (url: string, init: RequestInit = {}): Promise<Reply> => {
  const response = await fetch(url, init)
  const text = await response.text()
  const { method = 'GET', body } = init
  const { status, headers } = response
  hearReply({ method, url, sent: typeof body === 'string' ? body : undefined, status, headers: [...headers], text })
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  return { status, headers, body: isJson ? JSON.parse(text) : text }
}
