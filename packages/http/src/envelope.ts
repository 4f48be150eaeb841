// What every reply has in common.
import type { ErrorReply } from './errors.ts'

export const apiVersion = '1.0.0'

/** HTTPS is the proxy's, and Strict-Transport-Security with it. */
export const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}

export const errorEnvelope = ({ error }: Pick<ErrorReply, 'error'>, requestId: string): object => ({
  success: false,
  data: null,
  error: { ...error, request_id: requestId },
})

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/**
 * Whether If-None-Match names this tag, by weak comparison. Koa's own check also heeds
 * Cache-Control: no-cache, which fetch adds to such requests, and which is for caches on the way.
 */
export const matchesEtag = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((tag) => opaque(tag) === '*' || opaque(tag) === opaque(etag))
