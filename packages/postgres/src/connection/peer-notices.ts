// What instances tell each other, over LISTEN and NOTIFY of the database that they share. One
// connection listens beside the pool for as long as the service runs. It is known to hear
// everything: an answer on it says that every notice that was committed before the question has
// arrived. A lost connection is made again.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { AffectedUsers } from '@tradeport/domain/operator'
import type { Clock, PeerNotice, PeerNotices } from '@tradeport/domain/ports'
import type { AccountId } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as Json from 'fp-ts/lib/Json.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { Client } from 'pg'
import { inBatches } from './batches.ts'
import * as column from './columns.ts'
import type { Database, ServerOptions } from './database.ts'
import { DescribedError } from './failures.ts'
import { silentLog } from './log.ts'
import type { Log } from './log.ts'
import { TimedClient } from './pool.ts'
import { tellingOnce } from './repeating.ts'

export interface StartedPeerNotices extends PeerNotices {
  /** Sends what is still to be told and hangs up. The database is closed after it. */
  readonly stop: () => Promise<void>
}

interface Parts {
  readonly database: Pick<Database, 'knex' | 'server'>
  readonly clock: Clock
  readonly log?: Log
}

/** Begins to listen; it does not wait until it does. */
export const startPeerNotices = ({
  database: { knex, server },
  clock,
  log = silentLog,
}: Parts): StartedPeerNotices =>
  server === null ? noticesOfOne(clock) : noticesOfMany(knex, server, clock, log)

/** An embedded database is one process's, which hears of nothing that it does not do itself. */
const noticesOfOne = (clock: Clock): StartedPeerNotices => ({
  tellAccountChanged: () => undefined,
  subscribe: () => undefined,
  confirmedAt: clock.now,
  stop: async () => undefined,
})

const channel = 'tradeport_peer_notices'
/** The server takes less than 8,000. */
const maxPayloadBytes = 7_900
/** How often the connection is asked whether it still hears. */
const heartbeatMs = 300
const answerTimeoutMs = 2_000
const connectTimeoutMs = 5_000
const probeTimeoutMs = 2_000
const firstRetryMs = 50
const maxRetryMs = 5_000

const payloadCodec = t.union([
  t.strict({
    kind: t.literal('credentials_changed'),
    users: t.union([t.literal('everyone'), t.readonlyArray(column.userId)]),
  }),
  /** `from` is the instance that sends it and has acted on it already. */
  t.strict({ kind: t.literal('account_changed'), account: column.accountId, from: t.string }),
  /** Sent by an instance to itself, to see whether it hears. */
  t.strict({ kind: t.literal('probe'), probe: t.string }),
])

type Payload = t.TypeOf<typeof payloadCodec>

// More users than a payload has room for are everyone.
const writePayload = (payload: Payload): string => {
  const text = JSON.stringify(payload)
  const isTooLong =
    payload.kind === 'credentials_changed' && Buffer.byteLength(text) > maxPayloadBytes
  return isTooLong ? JSON.stringify({ ...payload, users: 'everyone' } satisfies Payload) : text
}

/** Within a transaction they are sent if and when it commits. */
const send = async (knex: Knex, payloads: readonly Payload[]): Promise<void> => {
  await knex.raw('select pg_notify(?, payload) from unnest(?::text[]) as payload', [
    channel,
    payloads.map(writePayload),
  ])
}

/**
 * Tells every instance whose credentials a document changed, within the transaction that writes it.
 */
export const sendCredentialsChanged = async (
  trx: Knex.Transaction,
  users: AffectedUsers,
): Promise<void> => {
  if (users.length > 0) await send(trx, [{ kind: 'credentials_changed', users }])
}

const noticesOfMany = (
  knex: Knex,
  server: ServerOptions,
  clock: Clock,
  log: Log,
): StartedPeerNotices => {
  const self = randomUUID()
  const subscribers: ((notice: PeerNotice) => void)[] = []
  const unsent = tellingOnce('peer_notice_untold', log)
  const underWay = new Set<Promise<void>>()
  const failures = tellingOnce('peer_notices', log)
  const stopping = new AbortController()
  let confirmedAt = -Infinity
  let retryMs = firstRetryMs
  let awaited: { readonly probe: string; readonly arrived: () => void } | undefined

  const give = (notice: PeerNotice): void => {
    for (const receive of subscribers) receive(notice)
  }

  // What cannot be read comes from another version of the service, and could mean anything.
  const receive = (text: string): void => {
    const decoded = pipe(
      Json.parse(text),
      E.flatMap((value) => payloadCodec.decode(value)),
    )
    if (E.isLeft(decoded)) return give({ kind: 'notices_missed' })
    const payload = decoded.right
    if (payload.kind === 'credentials_changed') give(payload)
    else if (payload.kind === 'probe' && payload.probe === awaited?.probe) awaited.arrived()
    else if (payload.kind === 'account_changed' && payload.from !== self)
      give({ kind: 'account_changed', accountId: payload.account })
  }

  // Sent over another connection: one that only receives its own NOTIFY is probably behind a
  // transaction pooler.
  const hearProbe = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const probe = randomUUID()
    awaited = { probe, arrived: resolve }
    await send(knex, [{ kind: 'probe', probe }])
    await Promise.race([
      promise,
      setTimeout(probeTimeoutMs, undefined, { ref: false }).then(() =>
        Promise.reject(new DescribedError(unheard)),
      ),
    ])
  }

  /** Ends by a rejection, when the connection is gone. */
  const listenOn = async (client: Client, gone: AbortSignal): Promise<never> => {
    client.on('notification', ({ payload = '' }) => receive(payload))
    await unlessAborted(gone, client.connect())
    const listenedAt = clock.now()
    await unlessAborted(gone, client.query(`listen ${channel}`))
    await unlessAborted(gone, hearProbe())
    give({ kind: 'notices_missed' })
    confirmedAt = listenedAt
    retryMs = firstRetryMs
    failures.forget()
    for (;;) {
      await setTimeout(heartbeatMs, undefined, { signal: gone })
      const askedAt = clock.now()
      await unlessAborted(gone, client.query('select 1'))
      confirmedAt = askedAt
    }
  }

  const listen = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const client = newClient(server)
      const gone = AbortSignal.any([stopping.signal, lossOf(client)])
      await listenOn(client, gone).catch((error: unknown) => {
        if (!stopping.signal.aborted) failures.tell(gone.aborted ? gone.reason : error)
      })
      await client.end()
      await setTimeout(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      retryMs = Math.min(2 * retryMs, maxRetryMs)
    }
  }

  const tell = inBatches({ lanes: 1, maxSize: 100 }, async (accounts: readonly AccountId[]) => {
    await send(
      knex,
      [...new Set(accounts)].map((account) => ({ kind: 'account_changed', account, from: self })),
    )
    return accounts
  })

  const listening = listen()
  return {
    tellAccountChanged: (accountId) => {
      const told = tell(accountId).then(unsent.forget, unsent.tell)
      underWay.add(told)
      void told.finally(() => underWay.delete(told))
    },
    subscribe: (receiver) => {
      subscribers.push(receiver)
    },
    confirmedAt: () => confirmedAt,
    stop: async () => {
      await Promise.all(underWay)
      stopping.abort()
      await listening
    },
  }
}

const unheard =
  'notices do not arrive: DATABASE_URL must lead to the server itself, or to a pooler that keeps a session for each connection'

const newClient = ({ url, applicationName = 'tradeport' }: ServerOptions): Client =>
  new TimedClient({
    connectionString: url,
    application_name: `${applicationName} peer notices`,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: answerTimeoutMs,
  })

const lossOf = (client: Client): AbortSignal => {
  const lost = new AbortController()
  client.on('error', (error) => lost.abort(error))
  client.on('end', () => lost.abort(new Error('Connection terminated')))
  return lost.signal
}

/** Leaves nothing with the signal, which lives for as long as the connection does. */
const unlessAborted = <A>(signal: AbortSignal, work: Promise<A>): Promise<A> =>
  new Promise<A>((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
