// The service's entry. The heap is bounded before anything else is loaded: V8 would let it grow for the garbage of loading, and keep that for good.
import { boundHeap } from './heap.ts'

boundHeap()
const { run } = await import('./run.ts')
await run(process.env)
