// What a listener answers in addition to its routes, to everybody and without an envelope: probes,
// metrics, files and the page at its root.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { LimiterStatus } from '@tradeport/domain/operator'
import type { Middleware } from 'koa'
import { matchesEtag } from './errors.ts'
import { isBearerOf } from './credentials.ts'

export type Pages = Readonly<Record<`/${string}`, Middleware>>

export interface Readiness {
  /** Names of the checks that fail; empty when the instance can serve. */
  readonly failing: readonly string[]
  /** `alone` says that the shared limiter is unreachable; the instance still serves. */
  readonly limiter: LimiterStatus
}

/**
 * @param readiness must not reject, and must limit how often it checks: everybody may ask at any
 * rate
 */
export const probePages = (readiness: () => Promise<Readiness>): Pages => ({
  '/healthz': (ctx) => {
    ctx.body = { alive: true }
  },
  '/readyz': async (ctx) => {
    const { failing, limiter } = await readiness()
    ctx.status = failing.length === 0 ? 200 : 503
    ctx.body = { ready: failing.length === 0, failing, limiter }
  },
})

export interface MetricsSource {
  readonly contentType: string
  /** In Prometheus' format. */
  readonly text: () => Promise<string>
}

/** @param token null asks for none */
export const metricsPage = ({ contentType, text }: MetricsSource, token: string | null): Pages => {
  const mayRead = token === null ? () => true : isBearerOf(token)
  return {
    '/metrics': async (ctx) => {
      if (mayRead(ctx.req.headers)) {
        ctx.set('Content-Type', contentType)
        ctx.body = await text()
      } else {
        ctx.status = 401
        ctx.set('WWW-Authenticate', 'Bearer')
        ctx.body = 'Send the token of METRICS_TOKEN as Authorization: Bearer.\n'
      }
    },
  }
}

/** A file that is the same for everybody. */
export interface FilePage {
  /** With a Content-Type, and how long caches may keep it as Cache-Control. */
  readonly headers: Readonly<Record<string, string>>
  readonly read: () => Promise<string | Uint8Array>
}

const compress = promisify(gzip)

export const filePages = (files: Readonly<Record<`/${string}`, FilePage>>): Pages =>
  Object.fromEntries(Object.entries(files).map(([path, file]) => [path, filePage(file)]))

// Read and compressed when it is first requested, and kept.
const filePage = ({ headers, read }: FilePage): Middleware => {
  let versions: ReturnType<typeof load> | undefined
  const load = async () => {
    const body = Buffer.from(await read())
    return { identity: withEtag(body), gzip: withEtag(await compress(body)) }
  }
  return async (ctx) => {
    const encoding = ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity'
    versions ??= load()
    // After a failure the next request reads it again.
    versions.catch(() => (versions = undefined))
    const { body, etag } = (await versions)[encoding]
    ctx.status = 200
    ctx.set({ ...headers, ETag: etag })
    if (encoding === 'gzip') ctx.set('Content-Encoding', encoding)
    ctx.vary('Accept-Encoding')
    if (matchesEtag(ctx.get('If-None-Match'), etag)) ctx.status = 304
    else ctx.body = body
  }
}

const withEtag = (body: Buffer) => ({
  body,
  etag: `"${hash('sha256', body, 'base64url')}"`,
})

/** @param links by path */
export const indexPage = (links: Readonly<Record<string, string>>): Pages => ({
  '/': (ctx) => {
    const items = Object.entries(links).map(
      ([path, name]) => `<li><a href="${path}">${name}</a></li>`,
    )
    ctx.type = 'html'
    ctx.body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tradeport</title><h1>Tradeport</h1><ul>${items.join('')}</ul></html>\n`
  },
})
