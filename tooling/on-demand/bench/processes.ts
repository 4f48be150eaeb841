// Programs of the repository as separate processes, so that the measuring code does not run inside
// what it measures, each on a chosen processor core where the machine allows it.
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { CloseLater } from './bench.ts'

export interface Started {
  /** What the pattern found in the line that says it is ready. */
  readonly line: string
  readonly child: ChildProcess
}

interface Program {
  /** What node is started with. */
  readonly parameters: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ready: RegExp
  readonly core?: number | undefined
}

/** `taskset` replaces itself by the program and so keeps the process id. */
const pinned = (
  core: number | undefined,
  parameters: readonly string[],
): readonly [string, readonly string[]] =>
  core === undefined
    ? [process.execPath, parameters]
    : ['taskset', ['-c', String(core), process.execPath, ...parameters]]

/** Starts a program and waits for the line that says it is ready. */
export const startProgram = async (
  { parameters, environment = {}, ready, core }: Program,
  closeLater: CloseLater,
): Promise<Started> => {
  const [command, all] = pinned(core, parameters)
  const child = spawn(command, all, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  closeLater(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let printed = ''
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed = (printed + chunk.toString()).slice(-20_000)
      const match = ready.exec(printed)
      if (match?.[1] !== undefined) resolve({ line: match[1], child })
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', reject)
    void ended.then((code) => reject(new Error(`${parameters[0]} ended with ${code}: ${printed}`)))
  })
}

/** Runs a program of this folder with options as JSON, and returns the JSON that it prints. */
export const runClient = async <Printed>(
  program: string,
  options: object,
  core: number | undefined,
): Promise<Printed> => {
  const file = join(import.meta.dirname, program)
  const [command, all] = pinned(core, [file, JSON.stringify(options)])
  return JSON.parse((await promisify(execFile)(command, all)).stdout) as Printed
}

/** A bare node:http server that imports nothing else, or one of Koa. */
export const startBareServer = (
  kind: 'node' | 'koa',
  closeLater: CloseLater,
  replyFile = '',
  core?: number,
): Promise<Started> => {
  const parameters = [join(import.meta.dirname, 'bare-server.ts'), kind, replyFile]
  return startProgram({ parameters, ready: /^url (\S+)/m, core }, closeLater)
}

/** A provider with the accounts `watched-0`, `watched-1` and so on, which answers so late. */
export const startBroker = (
  token: string,
  accounts: number,
  delayMs: number,
  closeLater: CloseLater,
): Promise<Started> => {
  const program = join(import.meta.dirname, 'watch-broker.ts')
  const parameters = [program, token, String(accounts), String(delayMs)]
  return startProgram({ parameters, ready: /^url (\S+)/m }, closeLater)
}

/**
 * Moves this process to one core and reserves another for servers. Undefined where that is
 * impossible: no Linux, no `taskset`, or a single core.
 */
export const splitCores = (
  closeLater: CloseLater,
): { readonly server: number; readonly clients: number } | undefined => {
  const cores = availableParallelism()
  if (process.platform !== 'linux' || cores < 2) return undefined
  const moveTo = (list: string) =>
    execFileSync('taskset', ['-a', '-c', '-p', list, String(process.pid)], { stdio: 'ignore' })
  try {
    moveTo('0')
  } catch {
    return undefined
  }
  closeLater(async () => moveTo(`0-${cores - 1}`))
  return { clients: 0, server: 1 }
}

/** How much processor time a process has used so far, all its threads together. */
export const processorMs = async (child: ChildProcess): Promise<number> => {
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8')
  // The name, which may hold spaces, ends with a parenthesis; ticks are hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** How much memory a process holds now, in millions of bytes. */
export const residentMegabytes = async (child: ChildProcess): Promise<number> => {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024) / 1e6
}

const sampleMs = 50

/** The most that a process held at any time during the work. */
export const mostMegabytesDuring = async (
  child: ChildProcess,
  work: Promise<unknown>,
): Promise<number> => {
  let isOver = false
  const over = work.finally(() => (isOver = true))
  let most = 0
  while (!isOver) {
    most = Math.max(most, await residentMegabytes(child))
    await pause(sampleMs)
  }
  await over
  return most
}
