// Of the process itself: its CPU, memory, event loop and garbage collector, under prom-client's
// usual names. There is one process, whatever runs in it.
import { collectDefaultMetrics, Registry } from 'prom-client'

let registry: Registry | undefined

export const processRegistry = (): Registry => {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}
