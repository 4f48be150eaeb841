// From the command to the first connection that is taken, with a database that is there already: on a PostgreSQL server, and for information embedded.
// Against a process that listens and imports nothing.
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench, Outcome } from './bench.ts'
import { median, needsServer } from './bench.ts'
import { startMeasuredService } from './measured-service.ts'
import { startProgram, stopPrograms } from './processes.ts'
import { benchServer, createDatabase } from './server-database.ts'

const rounds = 9
const boundMs = 1_500
// Nothing is asked of it.
const providerUrl = 'http://127.0.0.1:1'

const run = async (): Promise<Outcome> => {
  const server = benchServer()
  if (server === undefined) return needsServer
  const { url: databaseUrl, drop } = await createDatabase(server)
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-bench-'))
  try {
    const onServer = (children: ChildProcess[]) =>
      startMeasuredService({ folder: join(folder, 'server'), databaseUrl, providerUrl, children })
    const embedded = (children: ChildProcess[]) => startMeasuredService({ folder: join(folder, 'embedded'), providerUrl, children })
    // Makes the databases.
    await timeStart(onServer)
    await timeStart(embedded)
    const times: { readonly oursMs: number; readonly embeddedMs: number; readonly referenceMs: number }[] = []
    for (let round = 0; round < rounds; round += 1) {
      times.push({ oursMs: await timeStart(onServer), embeddedMs: await timeStart(embedded), referenceMs: await timeStart(startBare) })
    }
    const oursMs = median(times.map((time) => time.oursMs))
    const referenceMs = median(times.map((time) => time.referenceMs))
    const embeddedMs = median(times.map((time) => time.embeddedMs))
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
  } finally {
    await rm(folder, { recursive: true, force: true })
    await drop()
  }
}

export const startBench: Bench = { name: 'start', run }

const startBare = (children: ChildProcess[]): Promise<unknown> =>
  startProgram([join(import.meta.dirname, 'bare-server.js'), 'node'], {}, /^url (\S+)/m, children)

const timeStart = async (start: (children: ChildProcess[]) => Promise<unknown>): Promise<number> => {
  const children: ChildProcess[] = []
  try {
    const began = performance.now()
    await start(children)
    return performance.now() - began
  } finally {
    await stopPrograms(children)
  }
}
