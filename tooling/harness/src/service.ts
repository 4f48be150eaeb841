// The built service as a process of its own, and the provider that it trades with.
import { extname, join, resolve } from 'node:path'
import { startSandbox, type Sandbox, type SandboxOptions } from '@tradeport/sandbox-broker'
import { startProgram, type Program, type ProgramOptions } from './program.ts'
import { operatorToken, providerToken } from './users.ts'
import { newFolder } from './waiting.ts'

/** A simulated provider in this process. */
export const startProvider = async (
  stack: AsyncDisposableStack,
  options: SandboxOptions,
): Promise<Sandbox> => {
  const sandbox = await startSandbox({ tokens: [providerToken], ...options })
  stack.defer(sandbox.close)
  return sandbox
}

export interface ServiceOptions extends Pick<ProgramOptions, 'environment' | 'core' | 'onLine'> {
  readonly providerUrl: string
  /** '' or left out for the embedded database. */
  readonly databaseUrl?: string
  /** Of the embedded database. */
  readonly folder?: string
  /** What node is given before the program. */
  readonly nodeOptions?: readonly string[]
}

export interface Service extends Program {
  /** The address of the API with its prefix. */
  readonly api: string
  readonly operator: string
}

const program = resolve(import.meta.dirname, '../../../apps/api/dist/main.js')

/** Node options of a service that answers every message with what it has `Measured`. */
export const probed = ['--import', join(import.meta.dirname, `probe${extname(import.meta.url)}`)]

export const startService = async (
  stack: AsyncDisposableStack,
  { providerUrl, databaseUrl = '', folder, nodeOptions = [], environment, ...rest }: ServiceOptions,
): Promise<Service> => {
  const started = await startProgram(stack, {
    ...rest,
    parameters: [...nodeOptions, program],
    environment: {
      PORT: '0',
      OPERATOR_PORT: '0',
      DATABASE_URL: databaseUrl,
      REDIS_URL: '',
      DATA_DIR: folder ?? (await newFolder(stack)),
      OPERATOR_TOKEN: operatorToken,
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
      BROKER: 'metaapi',
      METAAPI_CLIENT_URL: providerUrl,
      METAAPI_PROVISIONING_URL: providerUrl,
      METAAPI_MARKET_DATA_URL: providerUrl,
      NODE_ENV: 'production',
      ...environment,
    },
    ready: /^(\{.*"event":"listening".*\})$/,
  })
  const { api, operator }: { api: string; operator: string } = JSON.parse(started.ready)
  return { ...started, api: `${api}/api/v1`, operator }
}
