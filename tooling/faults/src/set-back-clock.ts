// Loaded into each thread of an instance before anything else: at each SIGUSR2 its clock, and that
// of the embedded database in its thread, goes back by an hour. Timers and performance.now, which
// go by another clock, go on.
import { BroadcastChannel } from 'node:worker_threads'

const RealDate = Date
const hourMs = 60 * 60_000
let behindMs = 0

const now = (): number => RealDate.now() - behindMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given: unknown[], newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) =>
    name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown),
})

const setBack = (): void => {
  behindMs += hourMs
}
// Only the main thread hears of signals.
const threads = new BroadcastChannel('set-back-clock')
threads.addEventListener('message', setBack)
threads.unref()
process.on('SIGUSR2', () => {
  setBack()
  threads.postMessage(null)
})
