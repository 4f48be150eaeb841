// Loaded into the service's process before its program (`--import`, with `--expose-gc`): what it holds in memory once all garbage is collected, and how
// long its event loop was held at a time. A hold is told in the processor time of its thread, so that a busy machine makes none.
import { setImmediate } from 'node:timers/promises'

export interface Measured {
  readonly heapBytes: number
  /** Outside the heap, held by what is in it: buffers and the embedded database. */
  readonly externalBytes: number
  readonly rssBytes: number
  /** Of TCP, to whomever. */
  readonly connections: number
  /** The longest since this was asked last, in milliseconds. */
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
  const connections = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  const measured: Measured = { heapBytes: heapUsed, externalBytes: external, rssBytes: rss, connections, heldMs }
  process.send?.(measured)
  last = processorMs()
  longest = 0
}

process.on('message', () => void measure())
process.channel?.unref()
