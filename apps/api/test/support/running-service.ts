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
  /** GET under /api/v1 with the key. */
  readonly get: (path: string, key?: string) => Promise<Reply>
  readonly apply: (document: object) => Promise<Reply>
  /** Ends the service and starts it again on the same data folder. */
  readonly restart: () => Promise<void>
  readonly close: () => Promise<void>
}

export const startTestService = async (accounts: readonly AccountOptions[], environment: Environment = {}): Promise<RunningService> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
  const sandbox = await startSandbox({ seed: 7, tokens: [providerToken], accounts })
  const settings: Environment = {
    PORT: '0',
    OPERATOR_PORT: '0',
    DATA_DIR: folder,
    OPERATOR_TOKEN: operatorToken,
    BROKER: 'metaapi',
    METAAPI_CLIENT_URL: sandbox.url,
    METAAPI_PROVISIONING_URL: sandbox.url,
    LOG_LEVEL: 'silent',
    ...environment,
  }
  const start = () => {
    const config = readConfig(settings, folder)
    if (config._tag === 'Left') throw new Error(config.left.join('; '))
    return startService(config.right, pino({ level: config.right.logLevel }))
  }
  let service = await start()
  return {
    get apiUrl() {
      return service.apiUrl
    },
    get operatorUrl() {
      return service.operatorUrl
    },
    sandbox,
    get: (path, key) => request(`${service.apiUrl}/api/v1${path}`, key === undefined ? {} : { headers: { 'X-API-Key': key } }),
    apply: (document) =>
      request(`${service.operatorUrl}/operator/v1/apply`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(document),
      }),
    restart: async () => {
      await service.close()
      service = await start()
    },
    close: async () => {
      await service.close()
      await sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Any request; a body that is JSON is parsed, any other is its text. */
export const request = async (url: string, init: RequestInit = {}): Promise<Reply> => {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}
