// Opens databases and stores for a test: on the embedded database always, and on a server in a
// database of its own where TEST_DATABASE_URL names one.
import { randomBytes } from 'node:crypto'
import type { Stores } from '@tradeport/testkit'
import { Client } from 'pg'
import { describe } from 'vitest'
import {
  createAccountStore,
  createCipher,
  createCredentialStore,
  createOperatorStore,
  createProviderTokens,
  createWebhookStore,
  openDatabase,
  type Database,
  type Log,
  type Pulse,
} from '../src/index.ts'

export const serverUrl = process.env['TEST_DATABASE_URL']

export const serverTitle =
  serverUrl === undefined
    ? 'on a PostgreSQL server (TEST_DATABASE_URL not set)'
    : 'on a PostgreSQL server'

export interface OpenedDatabase {
  readonly database: Database
  /** Another instance's pool on the same database; the same one where it is embedded. */
  readonly elsewhere: Database
  readonly close: () => Promise<void>
}

export type Open = () => Promise<OpenedDatabase>

const from = process.env['TEST_EMPTY_DATABASE']

/**
 * An empty database, as support/global-setup.ts makes it. PGlite takes its time on a busy machine.
 */
export const inMemory = {
  inMemory: true,
  statementTimeoutMs: 120_000,
  ...(from !== undefined && { from }),
} as const

export const openEmbedded: Open = async () => {
  const database = await openDatabase(inMemory)
  return { database, elsewhere: database, close: database.close }
}

export const openServer: Open = async () => {
  const { url, drop } = await createServerDatabase()
  const [database, elsewhere] = await Promise.all([openDatabase({ url }), openDatabase({ url })])
  return {
    database,
    elsewhere,
    close: async () => {
      await Promise.all([database.close(), elsewhere.close()])
      await drop()
    },
  }
}

/** Declares the same tests for the embedded database and for a server. */
export const onEachDatabase = (
  declare: (open: Open, title: 'embedded' | 'server') => void,
): void => {
  describe('on the embedded database', () => {
    declare(openEmbedded, 'embedded')
  })
  describe.skipIf(serverUrl === undefined)(serverTitle, () => {
    declare(openServer, 'server')
  })
}

export interface EmptyServerDatabase {
  readonly url: string
  readonly drop: () => Promise<void>
}

/** A database on the server that nobody else uses. */
export const createServerDatabase = async (): Promise<EmptyServerDatabase> => {
  const name = `tradeport_test_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl ?? '')
  url.pathname = `/${name}`
  await runOnServer(`create database ${name}`)
  return { url: url.href, drop: () => runOnServer(`drop database ${name} with (force)`) }
}

export const runOnServer = async (statement: string): Promise<void> => {
  const client = new Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Milliseconds that no test lasts. */
export const never = 2_000_000_000

export const testKey = new Uint8Array(32).fill(7)

export const testCipher = createCipher(testKey)

/** For jobs whose upkeep no test observes. */
export const pulse: Pulse = { beat: () => undefined, end: () => undefined, silentFor: () => [] }

export const silent: Log = { warn: () => undefined }

export const storesOn = ({ knex }: Pick<Database, 'knex'>, log: Log = silent): Stores => ({
  accounts: createAccountStore({ knex }),
  credentials: createCredentialStore({ knex }),
  operator: createOperatorStore({ knex, cipher: testCipher }),
  providerTokens: createProviderTokens({ knex, cipher: testCipher, log }),
})

export const webhooksOn = ({ knex }: Pick<Database, 'knex'>) =>
  createWebhookStore({ knex, cipher: testCipher })

export const stopwatch = { elapsedMs: () => performance.now() }
