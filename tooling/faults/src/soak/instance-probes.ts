// What the instances hold, asked of the module that is preloaded into them.
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { Held } from './probe.ts'

/** For the instances' environment. */
export const probeEnvironment = (folder: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--expose-gc --import=${pathToFileURL(resolve(import.meta.dirname, 'probe.js')).href}`,
  SOAK_PROBES: folder,
})

/** In the order in which the instances were started. */
export const readProbes = async (folder: string): Promise<readonly Held[]> => {
  const held: Held[] = []
  // One after the other: each collection takes a core for itself.
  for (const socket of await socketsIn(folder)) held.push((await askProbe(join(folder, socket), '')) as Held)
  return held
}

/** @returns where they lie */
export const writeSnapshots = async (folder: string, into: string, name: string): Promise<readonly string[]> => {
  const paths: string[] = []
  for (const [index, socket] of (await socketsIn(folder)).entries()) {
    const path = join(into, `${name}-${index + 1}.heapsnapshot`)
    await askProbe(join(folder, socket), path)
    paths.push(path)
  }
  return paths
}

const socketsIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sock')).toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))

const askProbe = async (path: string, line: string): Promise<unknown> => {
  const socket = connect(path)
  socket.write(`${line}\n`)
  const said = JSON.parse(await text(socket))
  if (said.failed !== undefined) throw new Error(`an instance cannot be measured: ${said.failed}`)
  return said
}
