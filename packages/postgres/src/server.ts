// What a PostgreSQL server is and where.
import type { PoolOptions } from './pool.ts'

export interface ServerOptions {
  /** postgres:// or postgresql://; may hold a password, which is never repeated. */
  readonly url: string
  /** The most connections at once; 10 when omitted. */
  readonly poolSize?: number
  /** 8,000 when omitted; 0: none. Migrations have none. */
  readonly statementTimeoutMs?: number
  /** How the server lists these connections; `tradeport` when omitted. */
  readonly applicationName?: string
}

const oldestServerVersion = 14

/** @throws when the URL is none of PostgreSQL */
export const poolOfServer = ({ url, poolSize = 10, applicationName = 'tradeport' }: ServerOptions): PoolOptions => {
  requirePostgresUrl(url)
  return { connection: { connectionString: url, application_name: applicationName }, size: { min: 0, max: poolSize } }
}

/** @throws when the server is older than this service can use */
export const requireServerVersion = (versionNumber: number): void => {
  const major = Math.floor(versionNumber / 10_000)
  if (major >= oldestServerVersion) return
  throw new Error(`the PostgreSQL server has version ${major}; version ${oldestServerVersion} or newer is required`)
}

// The URL is not repeated, and the parser's own error, which holds it, is not passed on.
const requirePostgresUrl = (url: string): void => {
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') throw new Error('the database URL is not a postgres:// URL')
}
