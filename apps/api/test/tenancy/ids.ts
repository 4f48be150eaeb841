// The ids that a caller can send, by what they identify and by whose they are. One of another's comes with a twin: an id of the same form that never was, with
// which everything must be answered alike.
import * as fc from 'fast-check'
import type { Person } from './world.ts'

/** What an id identifies. */
export type IdKind = 'account' | 'order' | 'position' | 'webhook' | 'delivery' | 'cursor' | 'idempotency key' | 'client id'

export interface SentId {
  readonly whose: 'own' | 'foreign' | 'absent' | 'malformed'
  readonly text: string
  /** undefined where the id is not another's, or nothing that there is could be told apart from nothing. */
  readonly twin: string | undefined
}

const neverUuid = '7e57acc0-0000-4000-8000-000000000099'
const neverOrder = 'ord_neverneverneverneve0'
const neverTicket = '99999999999'
const malformed = [
  'x',
  '0',
  '%',
  ':',
  'null',
  '__proto__',
  '*',
  '../accounts',
  "' or '1'='1",
  '\u0000',
  '\u{1f511}',
  neverUuid.replaceAll('-', ''),
  `{${neverUuid}}`,
  `${neverUuid}:`,
  `:${neverTicket}`,
  `${neverUuid}:${neverTicket}:${neverTicket}`,
  'ord_',
  'x'.repeat(300),
]

/** Ids of one kind as `asker` may send them when `other` is somebody else. */
export const idsOf = (kind: IdKind, asker: Person, other: Person): fc.Arbitrary<SentId> => {
  const foreign = foreignIds(kind, asker, other)
  return fc.oneof(
    { weight: 6, arbitrary: spelled(foreign) },
    { weight: 2, arbitrary: plain('own', ownIds(kind, asker)) },
    { weight: 1, arbitrary: plain('absent', foreign.flatMap(([, absent]) => (absent === undefined ? [] : [absent])).concat(neverUuid)) },
    { weight: 1, arbitrary: plain('malformed', malformed) },
  )
}

const plain = (whose: SentId['whose'], texts: readonly string[]): fc.Arbitrary<SentId> =>
  fc.constantFrom(...texts).map((text) => ({ whose, text, twin: undefined }))

/** One of another's, and its twin. */
type ForeignId = readonly [foreign: string, absent: string | undefined]

const spelled = (ids: readonly ForeignId[]): fc.Arbitrary<SentId> =>
  fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...spellings)).map(([[foreign, absent], spell]) => ({
    whose: 'foreign',
    text: spell(foreign),
    twin: absent === undefined ? undefined : spell(absent),
  }))

// As it is most of the time: what is spelled otherwise is mostly no id at all.
const spellings: readonly ((id: string) => string)[] = [
  ...Array<(id: string) => string>(4).fill((id) => id),
  (id) => id.toUpperCase(),
  (id) => ` ${id}`,
  (id) => `${id} `,
  (id) => `${id}0`,
  (id) => encodeURIComponent(id),
]

const foreignIds = (kind: IdKind, asker: Person, other: Person): readonly ForeignId[] => {
  // The broker numbers each account's positions upwards: a number that the asker's account has not come to yet may be its own a moment later.
  const newest = Math.max(...asker.tickets.map(Number))
  const foreignTickets = other.tickets.filter((ticket) => !asker.tickets.includes(ticket) && Number(ticket) < newest)
  switch (kind) {
    case 'account':
      return [[other.account, neverUuid]]
    case 'order':
      return other.orders.map((id) => [id, neverOrder])
    case 'webhook':
      return other.webhooks.map((id) => [id, neverUuid])
    case 'delivery':
      return other.webhooks.map((id) => [id, neverUuid])
    case 'position':
      return [
        ...other.tickets.map((ticket) => [`${other.account}:${ticket}`, `${neverUuid}:${ticket}`] as const),
        ...asker.tickets.map((ticket) => [`${other.account}:${ticket}`, `${neverUuid}:${ticket}`] as const),
        ...foreignTickets.map((ticket) => [`${asker.account}:${ticket}`, `${asker.account}:${neverTicket}`] as const),
        ...foreignTickets.map((ticket) => [ticket, neverTicket] as const),
        [other.account, neverUuid],
      ]
    case 'cursor':
      // A cursor is a place in a list, not a record: there is none that never was.
      return other.cursors.map((cursor) => [cursor, undefined])
    case 'idempotency key':
      // A caller who sends another's key makes it one of their own as well.
      return [[other.idempotencyKey, undefined]]
    case 'client id':
      return [[other.clientId, 'client of nobody']]
  }
}

const ownIds = (kind: IdKind, asker: Person): readonly string[] => {
  switch (kind) {
    case 'account':
      return [asker.account]
    case 'order':
      return asker.orders
    case 'webhook':
      return asker.webhooks
    case 'delivery':
      return [neverUuid]
    case 'position':
      return asker.tickets.map((ticket) => `${asker.account}:${ticket}`)
    case 'cursor':
      return asker.cursors
    case 'idempotency key':
      return [asker.idempotencyKey]
    case 'client id':
      return [asker.clientId]
  }
}
