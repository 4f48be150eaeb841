// Programs of the workspace as their users start them: processes of their own, from the sources,
// which read only their environment and their arguments.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')
/** Programs start several times faster with the code that earlier ones compiled. */
const compileCache = join(tmpdir(), 'tradeport-compile-cache')

export const spawnProgram = (
  file: string,
  environment: NodeJS.ProcessEnv,
  words: readonly string[] = [],
) => {
  const child = spawn(
    process.execPath,
    [
      '--conditions=@tradeport/source',
      '--no-warnings',
      // The embedded database is not optimised for a long run, which takes seconds of CPU time.
      '--liftoff-only',
      join(root, file),
      ...words,
    ],
    {
      env: { NODE_COMPILE_CACHE: compileCache, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let [output, errors] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const exited = once(child, 'close').then(([code]) => code as number | null)
  return {
    process: child,
    /** Everything that it printed so far. */
    output: () => output,
    errors: () => errors,
    exited,
    /** The first group of what it prints; rejects when the process ends without it. */
    printed: (pattern: RegExp) =>
      new Promise<string>((found, missed) => {
        child.stdout.on('data', () => {
          const text = pattern.exec(output)?.[1]
          if (text !== undefined) found(text)
        })
        void exited.then((code) => missed(new Error(`${file} ended with ${code}: ${errors}`)))
      }),
    /** Sends SIGTERM; gives the exit code. */
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
  }
}

export const spawnService = (environment: NodeJS.ProcessEnv) => {
  const program = spawnProgram('apps/api/src/main.ts', environment)
  const listening = program
    .printed(/^(.*"event":"listening".*)\n/m)
    .then((line): { readonly api: string; readonly operator: string } => JSON.parse(line))
  // A test that is not about listening need not wait for it.
  listening.catch(() => undefined)
  return { ...program, listening }
}
