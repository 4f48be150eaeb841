// Programs of the repository as separate processes, so that the measuring code does not run inside
// what it measures, each on a chosen processor core where the machine allows it.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface Started {
  /** What the pattern caught of the line that says it is ready. */
  readonly line: string
  readonly child: ChildProcess
}

/**
 * The command with `taskset` in front of it, which runs the program in its own process and so keeps
 * the process id.
 */
const pinned = (
  core: number | undefined,
  program: string,
  parameters: readonly string[],
): readonly [string, readonly string[]] =>
  core === undefined
    ? [program, parameters]
    : ['taskset', ['-c', String(core), program, ...parameters]]

/** Starts a program and waits for the line that says it is ready. */
export const startProgram = async (
  parameters: readonly string[],
  environment: Readonly<Record<string, string>>,
  ready: RegExp,
  children: ChildProcess[],
  core?: number,
): Promise<Started> => {
  const [command, all] = pinned(core, process.execPath, parameters)
  const child = spawn(command, all, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  children.push(child)
  let printed = ''
  return new Promise((resolvePromise, reject) => {
    const read = (chunk: Buffer): void => {
      printed = (printed + chunk.toString()).slice(-20_000)
      const match = ready.exec(printed)
      if (match?.[1] !== undefined) resolvePromise({ line: match[1], child })
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', reject)
    child.once('exit', (code) =>
      reject(new Error(`${parameters[0]} ended with ${code}: ${printed}`)),
    )
  })
}

/** Runs a program to its end and returns what it printed. */
export const runProgram = async (
  program: string,
  parameters: readonly string[],
  core?: number,
): Promise<string> => {
  const [command, all] = pinned(core, program, parameters)
  return (await execute(command, all)).stdout
}

/** Ends them, the last that was started first. */
export const stopPrograms = async (children: readonly ChildProcess[]): Promise<void> => {
  for (const child of children.toReversed()) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = new Promise((resolvePromise) => child.once('exit', resolvePromise))
    child.kill('SIGTERM')
    await ended
  }
}

export interface CoreSplit {
  /** Only for the server under load. */
  readonly server: number
  /** For the load generators, the simulated provider and this process. */
  readonly clients: number
  /** Lets this process use every core again. */
  readonly release: () => Promise<void>
}

/**
 * Moves this process to one core and reserves another for servers. Undefined where that is
 * impossible: no Linux, no `taskset`, or a single core.
 */
export const splitCores = async (): Promise<CoreSplit | undefined> => {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '')
  const allowed = /^Cpus_allowed_list:\s+(\S+)$/m.exec(status)?.[1] ?? ''
  const [clients, server] = coresIn(allowed)
  if (clients === undefined || server === undefined) return undefined
  const isMoved = await moveTo(String(clients)).then(
    () => true,
    () => false,
  )
  return isMoved
    ? { server, clients, release: async () => void (await moveTo(allowed)) }
    : undefined
}

const moveTo = (cores: string) => execute('taskset', ['-a', '-c', '-p', cores, String(process.pid)])

/** Of a list as Linux writes it: `0-2,5` is 0, 1, 2 and 5. */
const coresIn = (list: string): readonly number[] =>
  list.split(',').flatMap((range) => {
    const [first = '', last = first] = range.split('-')
    return first === ''
      ? []
      : Array.from(
          { length: Number(last) - Number(first) + 1 },
          (_, index) => Number(first) + index,
        )
  })

/**
 * The processor time that a process has used, in milliseconds; undefined where the system does not
 * list it in /proc.
 */
export const processorMs = async (pid: number | undefined): Promise<number | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The fields after the program's name, which may contain spaces: user and system time are the
  // 12th and 13th, in hundredths of a second.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields === undefined ? undefined : 10 * (Number(fields[11]) + Number(fields[12]))
}
