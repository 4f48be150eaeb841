// Loaded into the service before its program (`--import`), so that the service contains none of it:
// reports how long its event loop was held at a time, and what the process holds once all garbage
// is collected. A hold is counted in the processor time of its thread, so that a busy machine makes
// none.
import { setImmediate } from 'node:timers/promises'

export interface Measured {
  /** The longest hold since the last measurement, garbage collection included, in milliseconds. */
  readonly heldMs: number
  /** In the heap and outside of it. Of live objects alone only with `--expose-gc`. */
  readonly bytes: number
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
}, 1).unref()

const measure = async (): Promise<void> => {
  const heldMs = longest
  for (let round = 0; round < 4 && globalThis.gc !== undefined; round += 1) {
    await globalThis.gc({ execution: 'async', type: 'major' })
    // Finalizers, such as those that give back buffers, come after.
    await setImmediate()
  }
  const { heapUsed, external } = process.memoryUsage()
  const measured: Measured = { heldMs, bytes: heapUsed + external }
  process.send?.(measured)
  last = processorMs()
  longest = 0
}

process.on('message', () => void measure())
process.channel?.unref()
