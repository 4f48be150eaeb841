// Notices between instances, over LISTEN and NOTIFY of the database that they share. One connection
// beside the pool listens for as long as the service runs. An answer on it proves that every notice
// that was committed before the question has arrived. A lost connection is made again.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { AffectedUsers } from '@tradeport/domain/operator'
import type { Clock, PeerNotice, PeerNotices } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import * as Json from 'fp-ts/lib/Json.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { Client } from 'pg'
import { ids, nullable } from './columns.ts'
import { inBatches } from './batches.ts'
import type { Database, ServerOptions } from './database.ts'
import { DescribedError, readOnlyText, silentLog, type Log } from './failures.ts'
import { TimedClient } from './pool.ts'
import { createFailureLog } from './repeating.ts'
import { query, sql } from './sql.ts'

export interface StartedPeerNotices extends PeerNotices {
  /** Sends the outstanding notices and disconnects. The database is closed after it. */
  readonly stop: () => Promise<void>
}

interface Dependencies {
  readonly database: Pick<Database, 'knex' | 'server'>
  readonly clock: Clock
  readonly log?: Log
}

/** Begins to listen; it does not wait until it does. */
export const startPeerNotices = ({
  database: { knex, server },
  clock,
  log = silentLog,
}: Dependencies): StartedPeerNotices =>
  server === null ? embeddedNotices(clock) : serverNotices(knex, server, clock, log)

/** An embedded database has one process, so there is nobody to notify. */
const embeddedNotices = (clock: Clock): StartedPeerNotices => ({
  notify: () => undefined,
  subscribe: () => undefined,
  confirmedAt: clock.now,
  stop: async () => undefined,
})

const channel = 'tradeport_peer_notices'
/** The server accepts less than 8,000. */
const maxPayloadBytes = 7_900
/** How often the connection is checked. */
const heartbeatMs = 300
const answerTimeoutMs = 2_000
const connectTimeoutMs = 5_000
const probeTimeoutMs = 2_000
const firstRetryMs = 50
const maxRetryMs = 5_000

/** Sent by an instance to itself, to check that notices arrive. */
const probe = 'probe'

const payloadCodec = t.strict({
  /** The instance that has acted on it already. */
  from: nullable(t.string),
  notice: t.union([
    t.strict({
      kind: t.literal('credentials_changed'),
      users: t.union([t.literal('everyone'), t.readonlyArray(ids.user)]),
    }),
    t.strict({ kind: t.literal('account_changed'), accountId: ids.account }),
    t.strict({
      kind: t.literal('events_recorded'),
      owner: t.strict({ tenantId: ids.tenant, userId: ids.user }),
    }),
  ]),
})

type Payload = t.TypeOf<typeof payloadCodec>

/**
 * Within a transaction they are sent if and when it commits. Such commits of all transactions on the
 * server wait for one another.
 */
const send = (knex: Knex, payloads: readonly string[]) =>
  query(
    knex,
    sql`select pg_notify(${channel}, payload) from unnest(${payloads}::text[]) as payload`,
  )

const textOf = (notice: Payload['notice'], from: Payload['from']): string =>
  JSON.stringify({ from, notice } satisfies Payload)

/**
 * Notifies every instance of whose credentials a document changed, within the transaction that
 * writes it. More users than a payload has room for are everyone.
 */
export const sendCredentialsChanged = async (
  trx: Knex.Transaction,
  users: AffectedUsers,
): Promise<void> => {
  if (users.length === 0) return
  const fitting = [users, 'everyone' as const]
    .map((whose) => textOf({ kind: 'credentials_changed', users: whose }, null))
    .find((text) => Buffer.byteLength(text) <= maxPayloadBytes)
  await send(trx, [fitting!])
}

const serverNotices = (
  knex: Knex,
  server: ServerOptions,
  clock: Clock,
  log: Log,
): StartedPeerNotices => {
  const self = randomUUID()
  const subscribers: ((notice: PeerNotice) => void)[] = []
  const listenFailures = createFailureLog('peer_notices', log)
  const sendFailures = createFailureLog('peer_notice_unsent', log)
  const stopping = new AbortController()
  let client: Client | undefined
  let confirmedAt = -Infinity
  let retryMs = firstRetryMs
  let lastSent = Promise.resolve()

  const publish = (notice: PeerNotice) => {
    for (const subscriber of subscribers) subscriber(notice)
  }

  // What cannot be read comes from another version of the service, and could mean anything.
  const onNotification = (text: string) => {
    if (text === probe) return
    const decoded = E.flatMap((value) => payloadCodec.decode(value))(Json.parse(text))
    if (E.isLeft(decoded)) publish({ kind: 'notices_missed' })
    else if (decoded.right.from !== self) publish(decoded.right.notice)
  }

  // Sent over another connection: one that only receives its own NOTIFY is probably behind a
  // transaction pooler. A notice of another instance is as good.
  const awaitProbe = async (connection: Client) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    connection.once('notification', () => resolve())
    await send(knex, [probe])
    const isLate = setTimeout(probeTimeoutMs, true, { ref: false, signal: stopping.signal })
    if (await Promise.race([promise, isLate]))
      throw new DescribedError(
        'notices do not arrive: DATABASE_URL must lead to the server itself, or to a pooler that keeps a session for each connection',
      )
  }

  /** Ends by a rejection, when the connection is lost. */
  const listenOn = async (connection: Client): Promise<never> => {
    connection.on('notification', ({ payload = '' }) => onNotification(payload))
    // The next query on the connection reports the loss.
    connection.on('error', () => undefined)
    await connection.connect()
    await requireWritable(connection)
    const listenedAt = clock.now()
    await connection.query(`listen ${channel}`)
    await awaitProbe(connection)
    publish({ kind: 'notices_missed' })
    confirmedAt = listenedAt
    retryMs = firstRetryMs
    listenFailures.reset()
    for (;;) {
      await setTimeout(heartbeatMs, undefined, { signal: stopping.signal })
      const askedAt = clock.now()
      await requireWritable(connection)
      confirmedAt = askedAt
    }
  }

  const listen = async () => {
    while (!stopping.signal.aborted) {
      client = new TimedClient({
        connectionString: server.url,
        application_name: 'tradeport peer notices',
        connectionTimeoutMillis: connectTimeoutMs,
        query_timeout: answerTimeoutMs,
      })
      await listenOn(client).catch((error: unknown) => {
        if (!stopping.signal.aborted) listenFailures.report(error)
      })
      await client.end()
      await setTimeout(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      retryMs = Math.min(2 * retryMs, maxRetryMs)
    }
  }

  const sendSoon = inBatches({ concurrency: 1, maxSize: 100 }, async (texts: readonly string[]) => {
    await send(knex, [...new Set(texts)])
    return texts
  })

  const listening = listen()
  return {
    notify: (notice) => {
      // Notices are sent in order, so the last one is sent after all others.
      lastSent = sendSoon(textOf(notice, self)).then(sendFailures.reset, sendFailures.report)
    },
    subscribe: (receiver) => {
      subscribers.push(receiver)
    },
    confirmedAt: () => confirmedAt,
    stop: async () => {
      await lastSent
      stopping.abort()
      await client?.end()
      await listening
    },
  }
}

/**
 * After a switchover the old primary may go on as a read-only server, on which nobody sends notices
 * any more.
 */
const requireWritable = async (connection: Client): Promise<void> => {
  const { rows } = await connection.query<{ readonly transaction_read_only: string }>(
    'show transaction_read_only',
  )
  if (rows[0]?.transaction_read_only !== 'off') throw new DescribedError(readOnlyText)
}
