// One instance of the built service as a process that can be killed, measured and started again.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Measured } from './probe.ts'

export interface Instance {
  readonly apiUrl: string
  readonly operatorUrl: string
  /** Ends it if it runs; SIGKILL gives it no chance to finish anything. */
  readonly end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>
  /** Lines of its log at error and above, and whatever it printed outside its log. */
  readonly complaints: () => readonly string[]
  readonly isAlive: () => boolean
  /** Only of an instance that was started to be measured. */
  readonly measure: () => Promise<Measured>
}

const program = resolve(import.meta.dirname, '../../../apps/api/dist/main.js')
const probe = resolve(import.meta.dirname, 'probe.js')
const startMs = 60_000
const errorLevel = 50
const keptLines = 200
const keptComplaints = 20

// None outlives the run.
const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** @throws with what it printed, when it ends or is silent before it listens */
export const startInstance = async (
  environment: Readonly<Record<string, string>>,
  isMeasured: boolean,
): Promise<Instance> => {
  const child = spawn(
    process.execPath,
    [...(isMeasured ? ['--expose-gc', '--import', probe] : []), program],
    {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', isMeasured ? 'ipc' : 'ignore'],
    },
  )
  children.add(child)
  const exited = once(child, 'exit').finally(() => children.delete(child))
  const lines: string[] = []
  const complaints: string[] = []
  const listening = Promise.withResolvers<{ readonly api: string; readonly operator: string }>()
  const read = (line: string): void => {
    const entry = entryOf(line)
    lines.push(line)
    if (lines.length > keptLines) lines.shift()
    if (entry === undefined || entry.level >= errorLevel) complaints.push(line)
    if (complaints.length > keptComplaints) complaints.splice(1, 1)
    if (entry?.event === 'listening') listening.resolve(entry)
  }
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null) createInterface(stream).on('line', read)
  const fail = (why: string): void => listening.reject(new Error(`${why}: ${lines.join('\n')}`))
  const timer = setTimeout(() => fail(`the service did not listen within ${startMs} ms`), startMs)
  void exited
    .then(([code]) => fail(`the service ended with ${code}`))
    .finally(() => clearTimeout(timer))
  const { api, operator } = await listening.promise.catch(async (error: unknown) => {
    // Nobody else knows of it, and the run's folder cannot be removed under it.
    child.kill('SIGKILL')
    await exited
    throw error
  })
  clearTimeout(timer)
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null
  return {
    apiUrl: `${api}/api/v1`,
    operatorUrl: operator,
    end: async (signal) => {
      if (!isAlive()) return
      child.kill(signal)
      await exited
    },
    complaints: () => complaints,
    isAlive,
    measure: async () => {
      const answer = once(child, 'message')
      child.send('measure')
      const ended = exited.then(() => Promise.reject(new Error('the service has ended')))
      const [measured] = await Promise.race([answer, ended])
      return measured as Measured
    },
  }
}

const entryOf = (line: string): ReturnType<typeof JSON.parse> => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
