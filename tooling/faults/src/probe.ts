// Loaded into an instance before its program (`--import`, with `--expose-gc`), so that the service
// contains none of it: reports what the process holds once all garbage is collected, and how long
// its event loop was held at a time. A hold is counted in the processor time of its thread, so that
// a busy machine makes none.
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'

/** Sizes are bytes. */
export interface Measured {
  readonly pid: number
  readonly heap: number
  /**
   * Part of the heap: functions that V8 compiled because they are called often, which goes on for a
   * long while.
   */
  readonly code: number
  /** Outside the heap, held by what is in it: buffers and the embedded database. */
  readonly external: number
  readonly resident: number
  /** Open handles and requests by kind. */
  readonly resources: Readonly<Record<string, number>>
  /** Listeners of the process itself. */
  readonly listeners: number
  /** The longest since the last measurement, in milliseconds. */
  readonly heldMs: number
}

const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

let longest = 0
let last = processorMs()
setInterval(() => {
  const now = processorMs()
  longest = Math.max(longest, now - last)
  last = now
}, 5).unref()

const measure = async (): Promise<void> => {
  const heldMs = longest
  for (let round = 0; round < 4; round += 1) {
    await globalThis.gc?.({ execution: 'async', type: 'major' })
    // Finalizers, such as those that give back buffers, come after.
    await setImmediate()
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  const code = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => /code|trusted/.test(name))
    .reduce((sum, { space_used_size: used }) => sum + used, 0)
  const resources: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  const measured: Measured = {
    pid: process.pid,
    heap: heapUsed,
    code,
    external,
    resident: rss,
    resources,
    listeners,
    heldMs,
  }
  process.send?.(measured)
  last = processorMs()
  longest = 0
}

process.on('message', () => void measure())
process.channel?.unref()
