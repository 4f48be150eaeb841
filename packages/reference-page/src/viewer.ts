// Where the viewer's file lies: the one that is made for browsers and has everything in it.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Its entry for Node; what it exports says nothing of the file for browsers, which lies beside it.
const dist = dirname(fileURLToPath(import.meta.resolve('@scalar/api-reference')))

export const viewerFile = join(dist, 'browser', 'standalone.js')

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(join(dist, '..', 'package.json'), 'utf8'),
)

export const viewerVersion = manifest.version
