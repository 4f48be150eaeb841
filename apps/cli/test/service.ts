// The service and the command line as their users start them: processes of their own, told what to
// do by words and environment alone.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')
const fromSources = [
  '--conditions=@tradeport/source',
  '--experimental-strip-types',
  '--no-warnings',
]

/** Starts a program and waits until what it has written says that it is ready. */
const startProgram = async <A>(
  file: string,
  environment: NodeJS.ProcessEnv,
  readyIn: (output: string) => A | undefined,
) => {
  const child = spawn(process.execPath, [...fromSources, join(root, file)], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close')
  let output = ''
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ready = await new Promise<A>((found, missed) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const value = readyIn(output)
      if (value !== undefined) found(value)
    })
    void exited.then(([code]) => missed(new Error(`${file} ended with ${code}: ${errors}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
  }
  return { ready, log: () => output, stop }
}

export interface StartedService {
  readonly folder: string
  readonly operatorUrl: string
  readonly apiUrl: string
  readonly log: () => string
  readonly stop: () => Promise<void>
}

/** The demo, on free ports, unless the environment says otherwise. */
export const startService = async (
  environment: Readonly<Record<string, string>> = {},
  kept?: string,
): Promise<StartedService> => {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'tradeport-cli-')))
  const { ready, log, stop } = await startProgram(
    'apps/api/src/main.ts',
    { PATH: process.env['PATH'], PORT: '0', OPERATOR_PORT: '0', DATA_DIR: folder, ...environment },
    (output): { readonly api: string; readonly operator: string } | undefined => {
      const line = output
        .split('\n')
        .find((text) => text.includes('"event":"listening"') && text.endsWith('}'))
      return line === undefined ? undefined : JSON.parse(line)
    },
  )
  return {
    folder,
    operatorUrl: ready.operator,
    apiUrl: ready.api,
    log,
    stop: async () => {
      await stop()
      if (kept === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface StartedSandbox {
  readonly url: string
  /** One request to the sandbox's own control routes. */
  readonly control: (path: string, body: object) => Promise<void>
  readonly stop: () => Promise<void>
}

/** A simulated provider with one account, `demo`, for the token sandbox-token. */
export const startSandbox = async (): Promise<StartedSandbox> => {
  const { ready: url, stop } = await startProgram(
    'packages/sandbox-broker/src/bin.ts',
    process.env,
    (output) => /^url +(\S+)\n/.exec(output)?.[1],
  )
  return {
    url,
    control: async (path, body) => {
      const { ok, status } = await fetch(`${url}/sandbox/v1${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      if (!ok) throw new Error(`the sandbox answered ${status} to ${path}`)
    },
    stop,
  }
}

export interface Called {
  readonly exit: number | null
  readonly out: string
  readonly err: string
}

export interface CallOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
  readonly folder?: string
}

/** Calls the command line as it was built, and waits for its end. */
export const call = async (
  words: readonly string[],
  { environment = {}, input = '', folder }: CallOptions = {},
): Promise<Called> => {
  const child = spawn(process.execPath, [join(root, 'apps/cli/dist/main.js'), ...words], {
    env: {
      PATH: process.env['PATH'],
      ...(folder === undefined ? {} : { INIT_CWD: folder }),
      ...environment,
    },
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  // A command that reads none of it may be gone before it is written.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [exit] = (await once(child, 'close')) as [number | null]
  return { exit, out, err }
}
