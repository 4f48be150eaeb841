// The service, the simulated provider and the command line as processes of their own, which read
// only their environment and their arguments.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')
/** Programs start several times faster with the code that earlier ones compiled. */
const compileCache = join(tmpdir(), 'tradeport-compile-cache')
export const token = 'operator-token-for-tests'

const spawnNode = (file: string, words: readonly string[], env: NodeJS.ProcessEnv) => {
  const child = spawn(
    process.execPath,
    ['--conditions=@tradeport/source', '--no-warnings', join(root, file), ...words],
    { env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCache, ...env } },
  )
  const printed = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (printed.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (printed.err += chunk.toString()))
  return { child, printed, exited: once(child, 'close') as Promise<[number | null]> }
}

/** Starts a program and waits until `readyIn` finds in its output that it is ready. */
const startProgram = async <A>(
  file: string,
  env: NodeJS.ProcessEnv,
  readyIn: (output: string) => A | undefined,
) => {
  const { child, printed, exited } = spawnNode(file, [], env)
  const ready = await new Promise<A>((found, missed) => {
    child.stdout.on('data', () => {
      const value = readyIn(printed.out)
      if (value !== undefined) found(value)
    })
    void exited.then(([code]) => missed(new Error(`${file} ended with ${code}: ${printed.err}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
  }
  return { ready, log: () => printed.out, stop }
}

export type StartedService = Awaited<ReturnType<typeof startService>>

/** The demo, on free ports, unless the environment says otherwise. */
export const startService = async (env: NodeJS.ProcessEnv = {}) => {
  const folder = env['DATA_DIR'] ?? (await mkdtemp(join(tmpdir(), 'tradeport-cli-')))
  const { ready, log, stop } = await startProgram(
    'apps/api/src/main.ts',
    { PORT: '0', OPERATOR_PORT: '0', DATA_DIR: folder, ...env },
    (output): { readonly api: string; readonly operator: string } | undefined => {
      const line = /^.*"event":"listening".*\}$/m.exec(output)?.[0]
      return line === undefined ? undefined : JSON.parse(line)
    },
  )
  return {
    folder,
    apiUrl: ready.api,
    environment: { OPERATOR_URL: ready.operator, OPERATOR_TOKEN: token },
    log,
    stop: async () => {
      await stop()
      if (env['DATA_DIR'] === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A simulated provider with one account, `demo`, for the token sandbox-token. */
export const startSandbox = () =>
  startProgram(
    'packages/sandbox-broker/src/bin.ts',
    process.env,
    (output) => /^url +(\S+)\n/.exec(output)?.[1],
  )

export interface Called {
  readonly exit: number | null
  readonly out: string
  readonly err: string
}

/**
 * @param words as they are typed: an argument with a space in it stands in single quotes
 * @param isRead whether anybody reads its standard output
 */
export const call = async (
  words: string,
  env: NodeJS.ProcessEnv,
  input = '',
  isRead = true,
): Promise<Called> => {
  const typed = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
  const { child, printed, exited } = spawnNode('apps/cli/src/main.ts', typed, env)
  if (!isRead) child.stdout.destroy()
  // A command that does not read it may have ended before it is written.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [exit] = await exited
  return { exit, ...printed }
}
