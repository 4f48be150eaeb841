// The built service as one process that can be asked for its memory and its holds, and whose end and complaints are noticed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Measured } from './probe.ts'

export interface WatchedService {
  readonly apiPort: number
  readonly operatorPort: number
  readonly measure: () => Promise<Measured>
  /** Lines of its log at error and above, and whatever it said outside its log. */
  readonly complaints: () => readonly string[]
  readonly isAlive: () => boolean
  readonly stop: () => Promise<void>
}

const program = resolve(import.meta.dirname, '../../../../apps/api/dist/main.js')
const probe = resolve(import.meta.dirname, 'probe.js')
const errorLevel = 50
const keptComplaints = 20

/** @throws when it ends before it listens, with what it printed */
export const startWatchedService = async (environment: Readonly<Record<string, string>>): Promise<WatchedService> => {
  const child = spawn(process.execPath, ['--expose-gc', '--import', probe, program], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  // It does not outlive the run.
  process.once('exit', () => child.kill('SIGKILL'))
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('what the service says cannot be read')
  const complaints: string[] = []
  const complain = (line: string): void => {
    complaints.push(line)
    if (complaints.length > keptComplaints) complaints.splice(1, 1)
  }
  createInterface(stderr).on('line', complain)
  const exited = once(child, 'exit')
  const listening = new Promise<{ readonly api: string; readonly operator: string }>((found, missed) => {
    createInterface(stdout).on('line', (line) => {
      const told = parsed(line)
      if (told === undefined || told.level >= errorLevel) complain(line)
      else if (told.event === 'listening') found(told)
    })
    void exited.then(([code]) => missed(new Error(`the service ended with ${code}: ${complaints.join('\n')}`)))
  })
  const { api, operator } = await listening
  return {
    apiPort: Number(new URL(api).port),
    operatorPort: Number(new URL(operator).port),
    measure: async () => {
      const answer = once(child, 'message')
      child.send('measure')
      const [measured] = await Promise.race([answer, exited.then(() => Promise.reject(new Error('the service has ended')))])
      return measured as Measured
    },
    complaints: () => complaints,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await exited
    },
  }
}

const parsed = (line: string): ReturnType<typeof JSON.parse> => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
