// Programs of the repository as processes of their own, so that what is measured shares a processor with nothing that measures it.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'

export interface Started {
  /** What the pattern caught of the line that says it is ready. */
  readonly line: string
  readonly child: ChildProcess
}

/** Starts a program and waits for the line that says it is ready. */
export const startProgram = async (
  parameters: readonly string[],
  environment: Readonly<Record<string, string>>,
  ready: RegExp,
  children: ChildProcess[],
): Promise<Started> => {
  const child = spawn(process.execPath, parameters, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
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
    child.once('exit', (code) => reject(new Error(`${parameters[0]} ended with ${code}: ${printed}`)))
  })
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
