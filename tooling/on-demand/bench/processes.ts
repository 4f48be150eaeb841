// The processes beside the service: bare servers, clients and providers, each on a chosen processor
// core where the machine allows it, and what a process uses.
import { execFileSync, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startProgram, type Program } from '@tradeport/harness'
import type { Load, LoadOptions } from './load.ts'
import type { ProviderOptions } from './provider.ts'

const own = (program: string): string => join(import.meta.dirname, program)
const ready = /^url (\S+)/

/** A bare server that answers with the file's object. */
export const startBareServer = (
  stack: AsyncDisposableStack,
  which: string,
  replyFile: string,
  core: number | undefined,
): Promise<Program> =>
  startProgram(stack, { parameters: [own('bare-server.ts'), which, replyFile], ready, core })

/** A provider as a process. */
export const startProviderProcess = (
  stack: AsyncDisposableStack,
  options: ProviderOptions,
): Promise<Program> => {
  const parameters = ['--conditions=@tradeport/source', own('provider.ts'), JSON.stringify(options)]
  return startProgram(stack, { parameters, ready })
}

/**
 * Sends requests from a process of its own for some seconds.
 * @throws where one with a key that exists is not answered with 200, unless they are hostile
 */
export const runLoad = async (
  stack: AsyncDisposableStack,
  options: LoadOptions,
  core: number | undefined,
): Promise<Load> => {
  const parameters = [own('load.ts'), JSON.stringify(options)]
  const { ready: printed } = await startProgram(stack, { parameters, ready: /^(\{.*)/, core })
  const load: Load = JSON.parse(printed)
  const isGood = load.failed === 0 && Object.keys(load.statuses).join() === '200'
  if (options.keys !== undefined && options.isHostile !== true && !isGood)
    throw new Error(`not every request was answered with 200: ${printed}`)
  return load
}

/**
 * Moves this process to one core and reserves another for servers. Undefined where that is
 * impossible: no Linux, or a single core.
 */
export const splitCores = (
  stack: AsyncDisposableStack,
): { readonly server: number; readonly clients: number } | undefined => {
  const cores = availableParallelism()
  if (process.platform !== 'linux' || cores < 2) return undefined
  const moveTo = (list: string) =>
    execFileSync('taskset', ['-a', '-c', '-p', list, String(process.pid)], { stdio: 'ignore' })
  moveTo('0')
  stack.defer(() => void moveTo(`0-${cores - 1}`))
  return { clients: 0, server: 1 }
}

/** How much processor time a process has used so far, all its threads together. */
export const processorMs = async (child: ChildProcess): Promise<number> => {
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8')
  // The name, which may hold spaces, ends with a parenthesis; ticks are hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** The most memory that a process held at any time during the work, in millions of bytes. */
export const mostMegabytesDuring = async (
  child: ChildProcess,
  work: Promise<unknown>,
): Promise<number> => {
  let isOver = false
  const over = work.finally(() => (isOver = true))
  let most = 0
  while (!isOver) {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
    most = Math.max(most, (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024) / 1e6)
    await pause(50)
  }
  await over
  return most
}
