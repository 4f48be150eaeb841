// Loaded into the measured process before its program (`--import`): how long its event loop is held
// at a time, in milliseconds of the main thread's processor time, garbage collection included. A
// wait for a processor that others use does not count.
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

// Any message asks for the longest, and begins anew.
process.on('message', () => {
  process.send?.(longest)
  longest = 0
})
process.channel?.unref()
