// Loaded into an instance before its program (`--import`, with `--expose-gc`), so that the service
// contains none of it: reports what the process holds once all garbage is collected, and how long
// its event loop was held at a time. A hold is counted in the processor time of its thread, so that
// a busy machine makes none.
import { setImmediate } from 'node:timers/promises'

/** Sizes are bytes. */
export interface Measured {
  readonly heap: number
  /** Outside the heap, held by what is in it: buffers and the embedded database. */
  readonly external: number
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
  const { heapUsed: heap, external } = process.memoryUsage()
  const measured: Measured = { heap, external, heldMs }
  process.send?.(measured)
  last = processorMs()
  longest = 0
}

process.on('message', () => void measure())
process.channel?.unref()
