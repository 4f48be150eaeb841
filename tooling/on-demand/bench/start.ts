// From the command to the line that the service listens, with an existing database: on a PostgreSQL
// server, and for information embedded.
import { newFolder, startService, type ServiceOptions } from '@tradeport/harness'
import { bounded, inTurn, median, msOf, type Bench } from './bench.ts'

const rounds = 9
const boundMs = 1_500
// It is never called.
const providerUrl = 'http://127.0.0.1:1'

const msToStart = async (database: Partial<ServiceOptions>): Promise<number> => {
  await using stack = new AsyncDisposableStack()
  return await msOf(() => startService(stack, { providerUrl, ...database }))
}

export const bench: Bench = async ({ stack, newDatabase }) => {
  const databaseUrl = await newDatabase()
  const folder = await newFolder(stack)
  // The first round makes the databases and does not count.
  const { onServer, embedded } = await inTurn(rounds, {
    onServer: () => msToStart({ databaseUrl }),
    embedded: () => msToStart({ folder }),
  })
  return [
    bounded(
      'from the command to listening',
      median(onServer),
      boundMs,
      `with an existing database on a server; ${median(embedded).toFixed(0)} ms with an existing embedded one. Medians of ${rounds} starts in turn`,
    ),
  ]
}
