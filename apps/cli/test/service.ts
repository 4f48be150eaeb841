// The service and the command line as their users start them: processes of their own, told what to do by words and environment alone.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')
const fromSources = ['--conditions=@tradeport/source', '--experimental-strip-types', '--no-warnings']

export interface StartedService {
  readonly folder: string
  readonly operatorUrl: string
  readonly apiUrl: string
  readonly log: () => string
  readonly stop: () => Promise<void>
}

/** The demo, on free ports, unless the environment says otherwise. */
export const startService = async (environment: Readonly<Record<string, string>> = {}, kept?: string): Promise<StartedService> => {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'tradeport-cli-')))
  const child = spawn(process.execPath, [...fromSources, join(root, 'apps/api/src/main.ts')], {
    env: { PATH: process.env['PATH'], PORT: '0', OPERATOR_PORT: '0', DATA_DIR: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close')
  let output = ''
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const listening = await new Promise<{ readonly api: string; readonly operator: string }>((found, missed) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const line = output.split('\n').find((text) => text.includes('"event":"listening"') && text.endsWith('}'))
      if (line !== undefined) found(JSON.parse(line))
    })
    void exited.then(([code]) => missed(new Error(`the service ended with ${code}: ${errors}`)))
  })
  return {
    folder,
    operatorUrl: listening.operator,
    apiUrl: listening.api,
    log: () => output,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
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
  const child = spawn(process.execPath, [...fromSources, join(root, 'packages/sandbox-broker/src/bin.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'close')
  let output = ''
  const url = await new Promise<string>((found, missed) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const [, started] = /^url +(\S+)\n/.exec(output) ?? []
      if (started !== undefined) found(started)
    })
    void exited.then(([code]) => missed(new Error(`the sandbox ended with ${code}: ${output}`)))
  })
  return {
    url,
    control: async (path, body) => {
      const { ok, status } = await fetch(`${url}/sandbox/v1${path}`, { method: 'POST', body: JSON.stringify(body) })
      if (!ok) throw new Error(`the sandbox answered ${status} to ${path}`)
    },
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
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
export const call = async (words: readonly string[], { environment = {}, input = '', folder }: CallOptions = {}): Promise<Called> => {
  const child = spawn(process.execPath, [join(root, 'apps/cli/dist/main.js'), ...words], {
    env: { PATH: process.env['PATH'], ...(folder === undefined ? {} : { INIT_CWD: folder }), ...environment },
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
