// One connection that listens, beside the pool, for as long as the service runs. It is known to hear everything: an answer on it says that every
// notice that was committed before the question has arrived. A connection that is lost is made again.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Clock, Instant } from '@tradeport/domain'
import type { Client } from 'pg'
import { UnheardNotices } from '../failures.ts'
import type { Log } from '../log.ts'
import { tellingOnce } from '../repeating.ts'
import type { ServerOptions } from '../server.ts'
import { TimedClient } from '../timed-client.ts'
import { noticeChannel } from './payload.ts'

/** How often the connection is asked whether it still hears. */
const heartbeatMs = 300
const answerTimeoutMs = 2_000
const connectTimeoutMs = 5_000
const probeTimeoutMs = 2_000
const firstRetryMs = 50
const maxRetryMs = 5_000

interface Parts {
  readonly server: ServerOptions
  readonly clock: Clock
  readonly log: Log
  /** Is given every payload in the order of the commits. */
  readonly receive: (payload: string) => void
  /** Sends a probe over another connection: one that hears what it says itself may be a pooler's that hears nothing else. */
  readonly sendProbe: (probe: string) => Promise<void>
  /** Whatever was committed up to now may not have been received. */
  readonly missed: () => void
}

export interface Listening {
  /** Of a payload that turns out to be a probe. */
  readonly probeArrived: (probe: string) => void
  /** Whatever was committed before has been received or told as missed; -Infinity before the first time. */
  readonly confirmedAt: () => Instant
  readonly stop: () => Promise<void>
}

/** Begins to listen and goes on until it is stopped. */
export const startListening = ({ server, clock, log, receive, sendProbe, missed }: Parts): Listening => {
  const failures = tellingOnce('peer_notices', log)
  const stopping = new AbortController()
  let confirmedAt = -Infinity
  let retryMs = firstRetryMs
  let awaited: { readonly probe: string; readonly arrived: () => void } | undefined

  const hearProbe = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const probe = randomUUID()
    awaited = { probe, arrived: resolve }
    await sendProbe(probe)
    await Promise.race([promise, setTimeout(probeTimeoutMs, undefined, { ref: false }).then(() => Promise.reject(new UnheardNotices()))])
  }

  /** Ends by a rejection, when the connection is gone. */
  const listenOn = async (client: Client, gone: AbortSignal): Promise<never> => {
    client.on('notification', ({ payload = '' }) => receive(payload))
    await unlessAborted(gone, client.connect())
    const listenedAt = clock.now()
    await unlessAborted(gone, client.query(`listen ${noticeChannel}`))
    await unlessAborted(gone, hearProbe())
    missed()
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

  const listenOnce = async (): Promise<void> => {
    const client = newClient(server)
    const gone = AbortSignal.any([stopping.signal, lossOf(client)])
    try {
      await listenOn(client, gone)
    } catch (error) {
      if (!stopping.signal.aborted) failures.tell(gone.aborted ? gone.reason : error)
    }
    await client.end()
  }

  const listen = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await listenOnce()
      await setTimeout(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      retryMs = Math.min(2 * retryMs, maxRetryMs)
    }
  }

  const listening = listen()
  return {
    probeArrived: (probe) => {
      if (awaited?.probe === probe) awaited.arrived()
    },
    confirmedAt: () => confirmedAt,
    stop: async () => {
      stopping.abort()
      await listening
    },
  }
}

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
