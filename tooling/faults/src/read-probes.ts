// Reads what the instances hold from the module that is preloaded into them.
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { Held } from './heap-probe.ts'

/** For the instances' environment. */
export const probeEnvironment = (folder: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--expose-gc --import=${pathToFileURL(resolve(import.meta.dirname, 'heap-probe.js')).href}`,
  SOAK_PROBES: folder,
})

/** In the order in which the instances were started. */
export const readProbes = async (folder: string): Promise<readonly Held[]> => {
  const held: Held[] = []
  // One after the other: each collection takes a core for itself.
  for (const socket of await socketsIn(folder)) held.push((await readProbe(join(folder, socket))) as Held)
  return held
}

const socketsIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sock')).toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))

const readProbe = async (path: string): Promise<unknown> => {
  const socket = connect(path)
  const said = JSON.parse(await text(socket))
  if (said.failed !== undefined) throw new Error(`an instance cannot be measured: ${said.failed}`)
  return said
}
