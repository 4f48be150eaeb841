// What a listener answers besides its routes, to anybody and without an envelope: probes, metrics,
// files and the page at its root.
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Middleware } from 'koa'
import type { Pages } from './app.ts'
import { isBearerOf } from './credentials.ts'
import { isHeld } from './envelope.ts'

export interface Readiness {
  /** What keeps the instance from serving, by name; empty when it can serve. */
  readonly failing: readonly string[]
  /** `alone` says that the shared limiter is unreachable; the instance serves all the same. */
  readonly limiter: 'in-process' | 'shared' | 'alone'
}

/**
 * @param readiness must not reject, and must limit how often it checks: anybody may ask, as often
 * as they like
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

// Read and compressed when it is first asked for, and kept.
const filePage = ({ headers, read }: FilePage): Middleware => {
  const versions = once(async () => {
    const body = Buffer.from(await read())
    return { plain: tagged(body), compressed: tagged(await compress(body)) }
  })
  return async (ctx) => {
    const isCompressed = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
    const { body, etag } = (await versions())[isCompressed ? 'compressed' : 'plain']
    ctx.status = 200
    ctx.set({ ...headers, ETag: etag, ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}) })
    ctx.vary('Accept-Encoding')
    if (isHeld(ctx.get('If-None-Match'), etag)) ctx.status = 304
    else ctx.body = body
    if (headers['Content-Type'] !== undefined) ctx.set('Content-Type', headers['Content-Type'])
  }
}

const tagged = (body: Buffer) => ({
  body,
  etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
})

/** Again after a failure. */
const once = <A>(make: () => Promise<A>): (() => Promise<A>) => {
  let made: Promise<A> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

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
