// One instance of the built service as a process that can be killed and started again.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'

export interface Instance {
  readonly apiUrl: string
  readonly operatorUrl: string
  /** SIGKILL: it gets no chance to end anything. */
  readonly kill: () => Promise<void>
  readonly stop: () => Promise<void>
  readonly signal: (signal: NodeJS.Signals) => void
  /** The last that it printed. */
  readonly logged: () => string
}

const program = resolve(import.meta.dirname, '../../../apps/api/dist/main.js')
const startMs = 60_000

// None outlives the run.
const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** @throws when it ends or says nothing before it listens, with what it printed */
export const startInstance = (environment: Readonly<Record<string, string>>): Promise<Instance> => {
  const child = spawn(process.execPath, [program], { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  child.once('exit', () => children.delete(child))
  let printed = ''
  return new Promise((resolvePromise, reject) => {
    const timer = setTimeout(() => reject(new Error(`the service did not listen within ${startMs} ms: ${printed}`)), startMs)
    const read = (chunk: Buffer): void => {
      printed = (printed + chunk.toString()).slice(-20_000)
      const line = /^\{.*"event":"listening".*\}$/m.exec(printed)?.[0]
      if (line === undefined) return
      clearTimeout(timer)
      const { api, operator } = JSON.parse(line) as { api: string; operator: string }
      resolvePromise({
        apiUrl: `${api}/api/v1`,
        operatorUrl: operator,
        kill: () => end(child, 'SIGKILL'),
        stop: () => end(child, 'SIGTERM'),
        signal: (signal) => void child.kill(signal),
        logged: () => printed,
      })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`the service ended with ${code}: ${printed}`))
    })
  })
}

const end = async (child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolvePromise) => child.once('exit', resolvePromise))
  child.kill(signal)
  await ended
}
