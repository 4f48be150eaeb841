// A database of a bench's own on the PostgreSQL server that DATABASE_URL names, dropped at the end.
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'

export interface ServerDatabase {
  readonly url: string
  readonly drop: () => Promise<void>
}

/** The server, or undefined where none is named. */
export const benchServer = (): string | undefined => {
  const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL'] ?? ''
  return server === '' ? undefined : server
}

export const createDatabase = async (server: string): Promise<ServerDatabase> => {
  const name = `tradeport_bench_${randomBytes(6).toString('hex')}`
  const onServer = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: server })
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }
  await onServer(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => onServer(`drop database ${name} with (force)`) }
}
