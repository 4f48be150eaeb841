// Programs as separate processes, so that what measures or kills them does not run inside of them.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface ProgramOptions {
  /** What node is started with. */
  readonly parameters: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Finds the line that it prints once it is ready; the first group is kept. */
  readonly ready: RegExp
  /** The processor core that it runs on. */
  readonly core?: number | undefined
  readonly onLine?: ((line: string) => void) | undefined
}

export interface Program {
  readonly child: ChildProcess
  /** What the pattern kept. */
  readonly ready: string
  readonly isAlive: () => boolean
  /** Ends it if it runs; SIGKILL gives it no chance to finish anything. */
  readonly end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>
  /** Sends a message, and resolves to the next one that it sends back. */
  readonly ask: <Answer>(message: string) => Promise<Answer>
}

const startMs = 60_000
const keptLines = 200

// None outlives this process.
const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** @throws with what it printed, when it ends or is silent before it is ready */
export const startProgram = async (
  stack: AsyncDisposableStack,
  { parameters, environment, ready: pattern, core, onLine }: ProgramOptions,
): Promise<Program> => {
  // taskset replaces itself by the program, and so keeps the process id.
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)]
  const [command = '', ...all] = [...pinned, process.execPath, ...parameters]
  const child = spawn(command, all, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  children.add(child)
  const exited = once(child, 'exit')
    .then(([code]) => `ended with ${code}`, String)
    .finally(() => children.delete(child))
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null
  const end: Program['end'] = async (signal) => {
    if (!isAlive()) return
    child.kill(signal)
    await exited
  }
  stack.defer(() => end('SIGTERM'))
  const ready = Promise.withResolvers<string>()
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream as NodeJS.ReadableStream).on('line', (line) => {
      lines.push(line)
      if (lines.length > keptLines) lines.shift()
      onLine?.(line)
      const found = pattern.exec(line)?.[1]
      if (found !== undefined) ready.resolve(found)
    })
  const fail = (why: string): void =>
    ready.reject(new Error(`${parameters.at(-1)} ${why}: ${lines.join('\n')}`))
  const timer = setTimeout(fail, startMs, `was not ready within ${startMs} ms`)
  void exited.then(fail)
  return {
    child,
    ready: await ready.promise.finally(() => clearTimeout(timer)),
    isAlive,
    end,
    ask: async <Answer>(message: string) => {
      const answer = once(child, 'message')
      child.send(message)
      const gone = exited.then((why) => Promise.reject(new Error(why)))
      return (await Promise.race([answer, gone]))[0] as Answer
    },
  }
}
