// A process that makes much and keeps a little of it for a while, as one that reads long histories does; prints the most bytes that its new space had.
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { boundHeap } from '../../src/heap.ts'

const isBound = process.argv.includes('bound')
if (isBound) boundHeap()

// Few enough records that a round has one collection at most.
const rounds = 2_000
const recordsPerRound = 2_000
const keptRounds = 50
const kept: object[][] = []
let most = 0
for (let round = 0; round < rounds; round += 1) {
  kept.push(Array.from({ length: recordsPerRound }, (_, number) => ({ number, text: String(number) })))
  if (kept.length > keptRounds) kept.shift()
  most = Math.max(most, getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0)
  await setImmediate()
}
process.stdout.write(`${most}\n`)
