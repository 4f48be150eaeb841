// The service as its operator starts it: a process of its own, from the sources, configured by its
// environment alone.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Environment } from '../../src/config.ts'
import { secretWatch } from './secret-watch.ts'

/** The line of the log by which an operator's tools find the service. */
export interface Listening {
  readonly event: 'listening'
  readonly api: string
  readonly operator: string
}

export interface ChildService {
  readonly process: ChildProcess
  /** Rejects when the process ends without it. */
  readonly listening: Promise<Listening>
  /** Everything that it printed so far. */
  readonly output: () => string
  readonly errors: () => string
  /** Sends SIGTERM, once; gives the exit code. */
  readonly stop: () => Promise<number | null>
  readonly exited: Promise<number | null>
}

/** Children start several times faster with the code that earlier ones compiled. */
const compileCache = join(tmpdir(), 'tradeport-compile-cache')
const main = resolve(import.meta.dirname, '../../src/main.ts')

export const spawnService = (environment: Environment): ChildService => {
  // From this process's own environment only where programs are.
  const child = spawn(process.execPath, ['--conditions=@tradeport/source', '--no-warnings', main], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
    secretWatch.hear('the error output of a process', chunk.toString())
  })
  createInterface(child.stdout).on('line', hearLine)
  const exited = once(child, 'close').then(([code]) => code as number | null)
  const listening = new Promise<Listening>((found, missed) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const line = output
        .split('\n')
        .slice(0, -1)
        .find((text) => text.includes('"event":"listening"'))
      if (line !== undefined) found(JSON.parse(line))
    })
    void exited.then((code) =>
      missed(new Error(`it ended with ${code} before it listened: ${errors}`)),
    )
  })
  // A test that is not about listening need not wait for it.
  listening.catch(() => undefined)
  return {
    process: child,
    listening,
    output: () => output,
    errors: () => errors,
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
    exited,
  }
}

// Lines of the log are JSON. The others are the welcome of the demo, which shows its key to whoever
// starts it.
const hearLine = (line: string): void => {
  if (line.startsWith('{')) secretWatch.hear('the log of a process', line)
  else secretWatch.know('the key of the demo', /tp_live_[\w-]+/.exec(line)?.[0])
}
