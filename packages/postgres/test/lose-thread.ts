// Run as a process of its own by the tests of the embedded database's thread, which must end it:
// the thread hangs, fails or ends.
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { openEmbedded } from '../src/connection/embedded.ts'
import { openPool } from '../src/connection/pool.ts'
import { inMemory } from './harness.ts'

const log = { warn: ({ event }: { event: string }) => void process.stdout.write(`${event}\n`) }
const started = once(process, 'worker')
const { pool } = await openEmbedded({ ...inMemory, silenceMs: 1_000 }, log)
const [thread] = (await started) as [Worker]
const knex = openPool(pool, 0, log)
await knex.raw('select 1')
if (process.argv[2] === 'hangs') await knex.raw('do $$ begin loop end loop; end $$')
if (process.argv[2] === 'fails') thread.postMessage(null)
if (process.argv[2] === 'ends') await thread.terminate()
