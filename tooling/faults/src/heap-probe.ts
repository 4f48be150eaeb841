// Preloaded into every instance of a soak by NODE_OPTIONS, so that the service itself contains none of it. Answers each connection to a Unix socket with
// what the process holds after a forced collection.
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'

/** What an instance holds. Sizes are bytes. */
export interface Held {
  readonly pid: number
  readonly heapUsed: number
  /** Of it, what the engine makes of functions that are called often: it grows for as long as there are such that were not yet. */
  readonly code: number
  readonly rss: number
  readonly external: number
  /** Open handles and requests by kind, as Node tells them. */
  readonly resources: Readonly<Record<string, number>>
  /** Listeners of the process itself. */
  readonly listeners: number
}

const collections = 4

// What a finalizer lets go of is only collected by the next one.
const collect = async (): Promise<void> => {
  for (let done = 0; done < collections; done += 1) {
    globalThis.gc?.({ execution: 'sync', type: 'major' })
    await turn()
  }
}

const measure = async (): Promise<Held> => {
  if (globalThis.gc === undefined) throw new Error('the instance was started without --expose-gc')
  await collect()
  const { heapUsed, rss, external } = process.memoryUsage()
  const code = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => /code|trusted/.test(name))
    .reduce((sum, { space_used_size: used }) => sum + used, 0)
  const resources: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  return { pid: process.pid, heapUsed, code, rss, external, resources, listeners }
}

const answer = async (socket: Socket): Promise<void> => void socket.end(JSON.stringify(await measure()))

const folder = process.env['SOAK_PROBES']
if (folder !== undefined) {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    answer(socket).catch((error: unknown) => socket.end(JSON.stringify({ failed: String(error) })))
  })
  server.listen(join(folder, `${process.pid}.sock`))
  // The service ends as it would without it.
  server.unref()
}
