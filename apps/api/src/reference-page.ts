// The page that shows the API's document and lets its reader try the API: Scalar's viewer from this
// machine's own files, so that a reader's browser asks nobody but the service. Scalar stays at
// 1.65.1: the versions after it ship their source maps, 30 MB and more that every `pnpm start`
// would install.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { apiPrefix, type FilePage } from '@tradeport/http'

/** Where the page is; the files that it needs are below it. */
const path = '/docs'
/** Where the document is, on the same host. */
const documentPath = `${apiPrefix}/openapi.json`

/**
 * Everything that the page may do: nothing that leads to another host. The viewer writes styles
 * into the page, and inlines its pictures.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Each version of a script has a path of its own. */
const script = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Cache-Control': 'public, max-age=31536000, immutable',
}
const page = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'public, max-age=60',
  'Content-Security-Policy': policy,
}

/** Of the viewer: without everything in it that would ask another host or send a reader there. */
const settings = {
  // Of another host, as are telemetry, the client's button, the developer's tools, the agent and
  // the assistants' connector.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  // A key that is typed in is kept nowhere.
  persistAuth: false,
  authentication: { preferredSecurityScheme: 'apiKey' },
  documentDownloadType: 'json',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
}

// The viewer's entry is for Node; its one file for browsers lies beside it.
const dist = dirname(fileURLToPath(import.meta.resolve('@scalar/api-reference')))
const viewer: { readonly version: string } = JSON.parse(
  readFileSync(join(dist, '..', 'package.json'), 'utf8'),
)

const start = `Scalar.createApiReference('#reference', ${JSON.stringify({ url: documentPath, ...settings })})\n`
const digest = createHash('sha256').update(start).digest('hex').slice(0, 16)
const viewerPath = `${path}/viewer-${viewer.version}.js` as const
const startPath = `${path}/start-${digest}.js` as const

const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tradeport API</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <noscript>This page needs JavaScript. The document that it shows is at ${documentPath}.</noscript>
    <div id="reference"></div>
    <script src="${viewerPath}"></script>
    <script src="${startPath}"></script>
  </body>
</html>
`

/** The page, the viewer and the script that starts it, by path. */
export const referencePage: Readonly<Record<`/${string}`, FilePage>> = {
  [path]: { headers: page, read: async () => html },
  [viewerPath]: { headers: script, read: () => readFile(join(dist, 'browser', 'standalone.js')) },
  [startPath]: { headers: script, read: async () => start },
}
