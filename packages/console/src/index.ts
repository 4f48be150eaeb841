// The built console, as files for whoever serves them.
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

// The same folder from src and from dist.
const built = new URL('../dist/page/', import.meta.url)

/** Everything that the page may do: its own files, and requests to the service that serves it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const page = {
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    // It names the other files, which change with every version.
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': policy,
  },
  read: (): Promise<Uint8Array> => readFile(new URL('index.html', built)),
}

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The paths at which the page decides by itself what it shows. */
const pagePaths = [
  '/console',
  '/console/trades',
  '/console/trades/:id',
  '/console/trading',
  '/console/report',
  '/console/orders/:id',
  '/console/positions/:id',
  '/console/events',
  '/console/webhooks',
  '/console/webhooks/:id',
] as const

/**
 * The page and the files that it loads.
 * @throws when the page has not been built
 */
export const createConsole = () => {
  const assets = readdirSync(new URL('assets/', built)).map((name) => [
    `/console/assets/${name}`,
    {
      headers: {
        'Content-Type': contentTypes[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
        // The name holds a hash of the content.
        'Cache-Control': 'public, max-age=31536000, immutable',
      },
      read: () => readFile(new URL(`assets/${name}`, built)),
    },
  ])
  return Object.fromEntries([...pagePaths.map((path) => [path, page]), ...assets]) as Record<
    `/${string}`,
    typeof page
  >
}
