// A database on the PostgreSQL server that TEST_DATABASE_URL names, for tests of several instances, which an embedded database cannot have.
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'

export const serverUrl = process.env['TEST_DATABASE_URL']

export const serverTitle = serverUrl === undefined ? 'on a PostgreSQL server (TEST_DATABASE_URL not set)' : 'on a PostgreSQL server'

export interface ServerDatabase {
  readonly url: string
  /** Rows of a statement, over a connection of its own. */
  readonly query: (statement: string) => Promise<readonly unknown[]>
  /** Hangs up on everybody and takes no new connection. */
  readonly cut: () => Promise<void>
  readonly mend: () => Promise<void>
  readonly drop: () => Promise<void>
}

/** Nobody else uses it. */
export const createServerDatabase = async (): Promise<ServerDatabase> => {
  const name = `tradeport_test_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl ?? '')
  url.pathname = `/${name}`
  await queryOn(serverUrl ?? '', `create database ${name}`)
  return {
    url: url.href,
    query: (statement) => queryOn(url.href, statement),
    cut: async () => {
      await queryOn(serverUrl ?? '', `alter database ${name} allow_connections false`)
      await queryOn(serverUrl ?? '', `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    },
    mend: async () => {
      await queryOn(serverUrl ?? '', `alter database ${name} allow_connections true`)
    },
    drop: async () => {
      await queryOn(serverUrl ?? '', `drop database ${name} with (force)`)
    },
  }
}

const queryOn = async (connectionString: string, statement: string): Promise<readonly unknown[]> => {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
