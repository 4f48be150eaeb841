// The page that shows the API's document and lets its reader try the API: Scalar's viewer from this
// machine's own files, so that a reader's browser asks nobody but the service.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { startScript } from './start-script.ts'
import { viewerFile, viewerVersion } from './viewer.ts'

/** A file as it is to be served. */
export interface PageFile {
  /** With a Content-Type. */
  readonly headers: Readonly<Record<string, string>>
  readonly read: () => Promise<string | Uint8Array>
}

/** By path, to the letter. */
export type PageFiles = Readonly<Record<`/${string}`, PageFile>>

export interface ReferencePageOptions {
  /** Where the page is; the files that it needs are below it. */
  readonly path: `/${string}`
  /** Where the document is, on the same host. */
  readonly documentPath: `/${string}`
  readonly title: string
}

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

export const createReferencePage = ({
  path,
  documentPath,
  title,
}: ReferencePageOptions): PageFiles => {
  const start = startScript(documentPath)
  const viewerPath = `${path}/viewer-${viewerVersion}.js` as const
  const startPath = `${path}/start-${digestOf(start)}.js` as const
  return {
    [path]: { headers: page, read: async () => html(title, documentPath, [viewerPath, startPath]) },
    [viewerPath]: { headers: script, read: () => readFile(viewerFile) },
    [startPath]: { headers: script, read: async () => start },
  }
}

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16)

const html = (
  title: string,
  documentPath: string,
  scripts: readonly string[],
): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escaped(title)}</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <noscript>This page needs JavaScript. The document that it shows is at ${documentPath}.</noscript>
    <div id="reference"></div>
${scripts.map((src) => `    <script src="${src}"></script>`).join('\n')}
  </body>
</html>
`

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
