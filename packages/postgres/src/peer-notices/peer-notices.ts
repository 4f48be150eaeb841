// What instances tell each other, over the database that they share.
import { randomUUID } from 'node:crypto'
import type { AccountId, Clock, PeerNotice, PeerNotices } from '@tradeport/domain'
import type { Database } from '../database.ts'
import { inBatches } from '../in-batches.ts'
import { silentLog } from '../log.ts'
import type { Log } from '../log.ts'
import { tellingOnce } from '../repeating.ts'
import { startListening } from './listening.ts'
import { readPayload, sendNotices } from './payload.ts'

export interface StartedPeerNotices extends PeerNotices {
  /** Sends what is still to be told and hangs up. The database is closed after it. */
  readonly stop: () => Promise<void>
}

interface Parts {
  readonly database: Pick<Database, 'knex' | 'server'>
  readonly clock: Clock
  readonly log?: Log
}

const telling = { lanes: 1, maxSize: 100 }

/** Begins to listen; it does not wait until it does. */
export const startPeerNotices = ({ database, clock, log = silentLog }: Parts): StartedPeerNotices =>
  database.server === null ? noticesOfOne(clock) : noticesOfMany({ ...database, server: database.server }, clock, log)

/** An embedded database is one process's, which hears of nothing that it does not do itself. */
const noticesOfOne = (clock: Clock): StartedPeerNotices => ({
  tellAccountChanged: () => undefined,
  subscribe: () => undefined,
  confirmedAt: clock.now,
  stop: async () => undefined,
})

const noticesOfMany = (
  { knex, server }: { readonly knex: Database['knex']; readonly server: NonNullable<Database['server']> },
  clock: Clock,
  log: Log,
): StartedPeerNotices => {
  const self = randomUUID()
  const subscribers: ((notice: PeerNotice) => void)[] = []
  const untold = tellingOnce('peer_notice_untold', log)
  const underWay = new Set<Promise<void>>()

  const give = (notice: PeerNotice): void => {
    for (const receive of subscribers) receive(notice)
  }
  const receive = (text: string): void => {
    const payload = readPayload(text)
    if (payload.kind === 'probe') listening.probeArrived(payload.probe)
    else if (payload.kind !== 'account_changed') give(payload)
    else if (payload.from !== self) give({ kind: 'account_changed', accountId: payload.account })
  }
  const listening = startListening({
    server,
    clock,
    log,
    receive,
    sendProbe: (probe) => sendNotices(knex, [{ kind: 'probe', probe }]),
    missed: () => give({ kind: 'notices_missed' }),
  })
  const tell = inBatches(telling, async (accounts: readonly AccountId[]) => {
    await sendNotices(
      knex,
      [...new Set(accounts)].map((account) => ({ kind: 'account_changed', account, from: self })),
    )
    return accounts
  })

  return {
    tellAccountChanged: (accountId) => {
      const told = tell(accountId).then(untold.forget, untold.tell)
      underWay.add(told)
      void told.finally(() => underWay.delete(told))
    },
    subscribe: (receiver) => {
      subscribers.push(receiver)
    },
    confirmedAt: listening.confirmedAt,
    stop: async () => {
      await Promise.all(underWay)
      await listening.stop()
    },
  }
}
