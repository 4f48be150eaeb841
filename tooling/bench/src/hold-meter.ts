// Loaded into the measured process before its program (`--import`): how long its event loop is held
// at a time. What counts is the processor time that the main thread takes between two turns,
// garbage collection included; a wait for a processor that others use is nobody's doing.

/** Milliseconds, the longest since it was last asked. */
export interface Holds {
  readonly processorMs: number
  readonly wallMs: number
}

const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

let longest: Holds = { processorMs: 0, wallMs: 0 }
let last: Holds = { processorMs: processorMs(), wallMs: performance.now() }

const turn = (): void => {
  const now: Holds = { processorMs: processorMs(), wallMs: performance.now() }
  longest = {
    processorMs: Math.max(longest.processorMs, now.processorMs - last.processorMs),
    wallMs: Math.max(longest.wallMs, now.wallMs - last.wallMs),
  }
  last = now
}

setInterval(turn, 1).unref()

// Any message asks for the figures and begins anew.
process.on('message', () => {
  process.send?.(longest)
  longest = { processorMs: 0, wallMs: 0 }
})
process.channel?.unref()
