// From the command to the first accepted connection, with a database that exists already: on a
// PostgreSQL server, and for information embedded. Against a process that listens and imports
// nothing.
import { newFolder, startService } from '@tradeport/harness'
import { inTurn, median, msOf, type Bench } from './bench.ts'
import { startBareServer } from './processes.ts'

const rounds = 9
const boundMs = 1_500
// Nothing is asked of it.
const providerUrl = 'http://127.0.0.1:1'

const msToStart = async (start: (stack: AsyncDisposableStack) => unknown): Promise<number> => {
  await using stack = new AsyncDisposableStack()
  return await msOf(() => start(stack))
}

export const bench: Bench = async ({ stack, newDatabase }) => {
  const databaseUrl = await newDatabase()
  const folder = await newFolder(stack)
  // The first round makes the databases and does not count.
  const { onServer, embedded, bare } = await inTurn(rounds, {
    onServer: () => msToStart((own) => startService(own, { databaseUrl, providerUrl })),
    embedded: () => msToStart((own) => startService(own, { folder, providerUrl })),
    bare: () => msToStart((own) => startBareServer(own, 'node')),
  })
  const reference = median(bare)
  return [
    {
      name: 'from the command to listening',
      ours: median(onServer),
      reference,
      target: boundMs / reference,
      against: `a process with a bare node:http server; the target is ${boundMs} ms with an existing database on a server. ${median(embedded).toFixed(0)} ms with an existing embedded one. Medians of ${rounds} starts in turn`,
    },
  ]
}
