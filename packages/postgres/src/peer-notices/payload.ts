// Notices as they travel over NOTIFY: small JSON on one channel of the database.
import { parseAccountId } from '@tradeport/domain'
import type { AccountId, AffectedUsers, PeerNotice } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from '../columns.ts'
import { parsedText } from '../columns.ts'

export const noticeChannel = 'tradeport_peer_notices'

// The server takes less than 8,000 bytes.
const maxPayloadBytes = 7_900

const payload = t.union([
  t.strict({ kind: t.literal('credentials_changed'), users: t.union([t.literal('everyone'), t.readonlyArray(column.userId)]) }),
  /** `from` is the instance that tells it and has acted on it already. */
  t.strict({ kind: t.literal('account_changed'), account: parsedText<AccountId>('AccountId', parseAccountId), from: t.string }),
  /** Told by an instance to itself, to see whether it hears. */
  t.strict({ kind: t.literal('probe'), probe: t.string }),
])

export type Payload = t.TypeOf<typeof payload>

const missed: PeerNotice = { kind: 'notices_missed' }

/** What cannot be read comes from another version of the service, and could mean anything. */
export const readPayload = (text: string): Payload | typeof missed => {
  const decoded = payload.decode(parseJson(text))
  return E.isRight(decoded) ? decoded.right : missed
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** As text that the server takes: more users than that has room for are everyone. */
export const writePayload = (one: Payload): string => {
  const text = JSON.stringify(one)
  const isTooLong = one.kind === 'credentials_changed' && Buffer.byteLength(text) > maxPayloadBytes
  return isTooLong ? JSON.stringify({ ...one, users: 'everyone' } satisfies Payload) : text
}

/** Sends notices; within a transaction, if and when it commits. */
export const sendNotices = async (knex: Knex, payloads: readonly Payload[]): Promise<void> => {
  await knex.raw('select pg_notify(?, payload) from unnest(?::text[]) as payload', [noticeChannel, payloads.map(writePayload)])
}

/** Tells every instance whose credentials a document changed, within the transaction that writes it. */
export const sendCredentialsChanged = async (trx: Knex.Transaction, users: AffectedUsers): Promise<void> => {
  if (users.length > 0) await sendNotices(trx, [{ kind: 'credentials_changed', users }])
}
