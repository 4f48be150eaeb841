// Two instances on one database and one Redis of their own, each of which a test can make fail.
import { randomBytes } from 'node:crypto'
import { createTcpProxy } from '@tradeport/testkit'
import type { AccountOptions } from '@tradeport/sandbox-broker'
import { Client } from 'pg'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFrom, startTestService, type TestServiceOptions } from './service.ts'

const serverUrl = process.env['TEST_DATABASE_URL']
const redisUrl = process.env['TEST_REDIS_URL']

export const areServersThere = serverUrl !== undefined && redisUrl !== undefined
export const serversTitle = areServersThere ? '' : ' (TEST_DATABASE_URL and TEST_REDIS_URL not set)'

export type TwoInstances = Awaited<ReturnType<typeof startTwoInstances>>

export const startTwoInstances = async (
  accounts: readonly AccountOptions[],
  { environment, ...options }: TestServiceOptions = {},
) => {
  const database = await createServerDatabase()
  const redis = await createTcpProxy({ target: redisUrl ?? '' })
  const redisSpace = new URL(redis.url)
  redisSpace.searchParams.set('keyPrefix', `tradeport-test-${randomBytes(6).toString('hex')}:`)
  const servers = {
    DATABASE_URL: database.url,
    REDIS_URL: redisSpace.href,
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...environment,
  }
  // Redis has as long to answer as a busy machine may take, and goes by the clock of the test.
  const times = { redis: { clock: 'caller', timeoutMs: 10_000 }, ...options } as const
  const one = await startTestService(accounts, { ...times, environment: servers })
  const otherFolder = join(tmpdir(), `tradeport-${randomBytes(6).toString('hex')}`)
  const onLogLine = (line: string) => one.logged.push(JSON.parse(line))
  const startOther = () =>
    startFrom({ ...one.environment, DATA_DIR: otherFolder }, { ...times, onLogLine })
  let other = await startOther()
  return {
    ...one,
    instances: [
      one,
      {
        get apiUrl() {
          return other.apiUrl
        },
        get operatorUrl() {
          return other.operatorUrl
        },
      },
    ] as const,
    database,
    redis,
    /** DATA_DIR of the second instance, which nothing creates. */
    otherFolder,
    restartOther: async () => {
      await other.close()
      other = await startOther()
    },
    close: async () => {
      await one.sandbox.close()
      await other.close()
      await one.close()
      await redis.close()
      await database.drop()
      await rm(otherFolder, { recursive: true, force: true })
    },
  }
}

/** A database on the server that nobody else uses. */
const createServerDatabase = async () => {
  const name = `tradeport_test_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl ?? '')
  url.pathname = `/${name}`
  const onServer = (statement: string) => queryOn(serverUrl ?? '', statement)
  await onServer(`create database ${name}`)
  return {
    url: url.href,
    query: (statement: string) => queryOn(url.href, statement),
    /** Ends all connections and refuses new ones. */
    cut: async () => {
      await onServer(`alter database ${name} allow_connections false`)
      await onServer(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      )
    },
    mend: () => onServer(`alter database ${name} allow_connections true`),
    drop: () => onServer(`drop database ${name} with (force)`),
  }
}

const queryOn = async (connectionString: string, statement: string) => {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
