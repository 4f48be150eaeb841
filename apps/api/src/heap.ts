// How far the heap may run ahead of what is in use. Node sizes it by the machine: with much memory it lets garbage grow to several times of what lives,
// and keeps that much for good. A service that reads long histories now and then would hold half a gigabyte for the forty megabytes that it uses.
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** What a full collection leaves may grow by this share before the next one; V8 lets it grow by four times that on a machine with much memory. */
const growthPercent = 75
/** Where what is new begins its life: half of what Node gave every program before it went by the machine's memory. */
const newSpaceBytes = 16 * 1_024 * 1_024

/**
 * Bounds the heap of this process. V8 reads both settings whenever it decides how large the heap may become, so that they need no option on the
 * command line and hold however the service is started.
 */
export const boundHeap = (): void => {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
  // Not while the program loads, whose garbage is not that of its work.
  let mayGrow = false
  setGrowthFactor(mayGrow)
  // It grows at collections alone; and where it was shrunk for want of use it may grow again.
  new PerformanceObserver(() => {
    const isBelow = newSpaceSize() < newSpaceBytes
    if (isBelow === mayGrow) return
    mayGrow = isBelow
    setGrowthFactor(mayGrow)
  }).observe({ entryTypes: ['gc'] })
}

const doubling = 2
const standing = 1
const setGrowthFactor = (mayGrow: boolean): void => setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? doubling : standing}`)

const newSpaceSize = (): number => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0
