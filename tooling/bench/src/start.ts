// From the command to the first connection that is taken, with a database that is there already: on
// a PostgreSQL server, and for information embedded. Against a process that listens and imports
// nothing.
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Bench, Outcome } from './bench.ts'
import { median, newFolder, onServer } from './bench.ts'
import { startMeasuredService } from './measured-service.ts'
import { startProgram, stopPrograms } from './processes.ts'
import { createDatabase } from './server-database.ts'

const rounds = 9
const boundMs = 1_500
// Nothing is asked of it.
const providerUrl = 'http://127.0.0.1:1'

const run = (): Promise<Outcome> =>
  onServer(async (server, closeLater) => {
    const { url: databaseUrl, drop } = await createDatabase(server)
    closeLater(drop)
    const folder = await newFolder(closeLater)
    const served = (children: ChildProcess[]) =>
      startMeasuredService({ folder: join(folder, 'server'), databaseUrl, providerUrl, children })
    const embedded = (children: ChildProcess[]) =>
      startMeasuredService({ folder: join(folder, 'embedded'), providerUrl, children })
    const kinds = [served, embedded, startBare]
    // Makes the databases.
    for (const start of kinds) await timeStart(start)
    const times: number[][] = [[], [], []]
    for (let round = 0; round < rounds; round += 1)
      for (const [index, start] of kinds.entries()) times[index]?.push(await timeStart(start))
    const [oursMs = Number.NaN, embeddedMs = Number.NaN, referenceMs = Number.NaN] =
      times.map(median)
    return [
      {
        name: 'from the command to listening',
        ratio: oursMs / referenceMs,
        target: boundMs / referenceMs,
        oursMs,
        referenceMs,
        reference:
          `a process with a bare node:http server that imports nothing else; the target is ${boundMs} ms with an existing database on a server. ` +
          `${embeddedMs.toFixed(0)} ms with an existing embedded one. Medians of ${rounds} starts in turn`,
      },
    ]
  })

export const startBench: Bench = { name: 'start', run }

const startBare = (children: ChildProcess[]): Promise<unknown> =>
  startProgram([join(import.meta.dirname, 'bare-server.js'), 'node'], {}, /^url (\S+)/m, children)

const timeStart = async (
  start: (children: ChildProcess[]) => Promise<unknown>,
): Promise<number> => {
  const children: ChildProcess[] = []
  try {
    const began = performance.now()
    await start(children)
    return performance.now() - began
  } finally {
    await stopPrograms(children)
  }
}
