// From the command to the first accepted connection, with a database that exists already: on a
// PostgreSQL server, and for information embedded. Against a process that listens and imports
// nothing.
import { closingAll, createDatabase, median, newFolder, timed } from './bench.ts'
import type { Bench, CloseLater } from './bench.ts'
import { startBareServer } from './processes.ts'
import { startService } from './service.ts'

const rounds = 9
const boundMs = 1_500
// Nothing is asked of it.
const providerUrl = 'http://127.0.0.1:1'

export const startBench: Bench = {
  name: 'start',
  needsServer: true,
  run: async (server, closeLater) => {
    const databaseUrl = await createDatabase(server, closeLater)
    const folder = await newFolder(closeLater)
    const kinds: readonly ((later: CloseLater) => Promise<unknown>)[] = [
      (later) => startService({ databaseUrl, providerUrl }, later),
      (later) => startService({ folder, providerUrl }, later),
      (later) => startBareServer('node', later),
    ]
    const times: number[][] = [[], [], []]
    // The first round makes the databases and does not count.
    for (let round = 0; round <= rounds; round += 1)
      for (const [index, start] of kinds.entries()) {
        const { ms } = await closingAll((later) => timed(() => start(later)))
        if (round > 0) times[index]?.push(ms)
      }
    const [ours = Number.NaN, embedded = Number.NaN, reference = Number.NaN] = times.map(median)
    return [
      {
        name: 'from the command to listening',
        ours,
        reference,
        target: boundMs / reference,
        against: `a process with a bare node:http server; the target is ${boundMs} ms with an existing database on a server. ${embedded.toFixed(0)} ms with an existing embedded one. Medians of ${rounds} starts in turn`,
      },
    ]
  },
}
