// A registry of packages on this machine, which holds what is installed here: an install from it
// needs no network, and finds the versions that are tested.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Registry {
  readonly url: string
  readonly close: () => Promise<void>
}

/** @param folders of installed packages */
export const startRegistry = async (folders: readonly string[]): Promise<Registry> => {
  const packages = new Map(
    (await Promise.all(folders.map(readPackage))).map((one) => [one.manifest.name, one]),
  )
  const server = createServer(({ url: path = '/', headers }, response) => {
    const name = decodeURIComponent(path.slice(1)).replace(/\.tgz$/, '')
    const found = packages.get(name)
    if (found === undefined) return void response.writeHead(404).end()
    if (path.endsWith('.tgz')) return void response.end(found.tarball)
    response.setHeader('Content-Type', 'application/json')
    response.end(
      JSON.stringify(documentOf(found, `http://${headers.host}/${encodeURIComponent(name)}.tgz`)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface InstalledPackage {
  readonly manifest: { readonly name: string; readonly version: string }
  readonly tarball: Buffer
}

const readPackage = async (folder: string): Promise<InstalledPackage> => {
  const made = await mkdtemp(join(tmpdir(), 'tradeport-registry-'))
  try {
    // In a tarball everything lies in a folder of this name.
    await cp(folder, join(made, 'package'), {
      recursive: true,
      dereference: true,
      filter: (path) => path !== join(folder, 'node_modules'),
    })
    await run('tar', ['-czf', join(made, 'package.tgz'), '-C', made, 'package'])
    const manifest: InstalledPackage['manifest'] = JSON.parse(
      await readFile(join(folder, 'package.json'), 'utf8'),
    )
    return { manifest, tarball: await readFile(join(made, 'package.tgz')) }
  } finally {
    await rm(made, { recursive: true })
  }
}

const documentOf = ({ manifest, tarball }: InstalledPackage, tarballUrl: string) => ({
  name: manifest.name,
  'dist-tags': { latest: manifest.version },
  versions: {
    [manifest.version]: {
      ...manifest,
      dist: {
        tarball: tarballUrl,
        integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
      },
    },
  },
})
