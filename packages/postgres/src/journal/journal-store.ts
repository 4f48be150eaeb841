// The journal in PostgreSQL. Every statement names the tenant; accounts are looked up under their
// user.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { JournalState } from '@tradeport/domain/journal'
import type { Journal, JournalClaim, JournalLost } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { orNull, toNumeric, toTimestamptz } from '../connection/columns.ts'
import { toServiceUnavailable } from '../connection/failures.ts'
import type { EventRecorder } from '../events/events.ts'
import { dealColumns, dealOfRow } from './deal-row.ts'
import type { DealRow } from './deal-row.ts'
import {
  claimOfRow,
  claimed,
  journalColumns,
  journalOf,
  leaseEnd,
  movedMoney,
  stateOfRow,
} from './journal-row.ts'
import { journalLost, writeJournal } from './write-journal.ts'

interface Parts {
  readonly knex: Knex
  /** Left out where no events are recorded. */
  readonly recorder?: EventRecorder | undefined
}

const attempt = <A>(name: string, run: () => Promise<A>) =>
  TE.tryCatch(run, toServiceUnavailable(`journal.${name}`))

const attemptClaimed = <A>(name: string, run: () => Promise<E.Either<JournalLost, A>>) =>
  pipe(attempt(name, run), TE.flatMapEither(identity))

export const createJournal = (parts: Parts): Journal => {
  const { knex } = parts
  return {
    find: (account) => attempt('find', () => findState(knex, account)),
    claim: (account) => attempt('claim', () => claimJournal(knex, account)),
    renew: (claim) => attemptClaimed('renew', () => updateClaimed(knex, claim, {})),
    release: (claim) => attempt('release', () => releaseClaim(knex, claim)),
    dealsFrom: (account, from) =>
      attempt('dealsFrom', async () => {
        const rows: readonly DealRow[] = await keptDeals(knex, account).where('time_ms', '>=', from)
        return rows.map(dealOfRow)
      }),
    write: (claim, change) => attemptClaimed('write', () => writeJournal(parts, claim, change)),
    check: (claim, balance, at) =>
      attemptClaimed('check', () =>
        checkBalance(knex, claim, toNumeric(balance), toTimestamptz(at)),
      ),
    setReread: (claim, { rereadAt, disagreements }) =>
      attemptClaimed('setReread', () =>
        updateClaimed(knex, claim, { reread_at: orNull(toTimestamptz)(rereadAt), disagreements }),
      ),
    want: (account, at) => attempt('want', () => wantRead(knex, account, toTimestamptz(at))),
    closingDeals: (account, orderId, from) =>
      attempt('closingDeals', async () => {
        const rows: readonly DealRow[] = await keptDeals(knex, account)
          .where('time_ms', '>=', from)
          .where({ order_id: orderId })
          .whereIn('entry', ['out', 'inout', 'out_by'])
          .orderByRaw('time_ms, length(id), id')
        return rows.map(dealOfRow)
      }),
  }
}

const findState = async (knex: Knex, account: BrokerAccount): Promise<O.Option<JournalState>> => {
  const rows: readonly unknown[] = await linkedJournal(knex, account).select(
    knex.raw(journalColumns),
  )
  return O.map(stateOfRow)(O.fromNullable(rows[0]))
}

/** The account's journal, unless that is of another account at the provider or of another user. */
const linkedJournal = (knex: Knex, account: BrokerAccount): Knex.QueryBuilder =>
  journalOf(knex, account)
    .where({ 'journals.provider_account_id': account.providerAccountId })
    .whereExists(
      knex('accounts').where({
        id: account.accountId,
        tenant_id: account.owner.tenantId,
        user_id: account.owner.userId,
      }),
    )

const keptDeals = (knex: Knex, account: BrokerAccount): Knex.QueryBuilder =>
  knex('deals')
    .where({ tenant_id: account.owner.tenantId, account_id: account.accountId })
    .whereExists(linkedJournal(knex, account))
    .select(dealColumns)

const fromLinked =
  'from accounts where id = ? and tenant_id = ? and user_id = ? and provider_account_id = ?'

const linkOf = ({ accountId, owner, providerAccountId }: BrokerAccount) => [
  accountId,
  owner.tenantId,
  owner.userId,
  providerAccountId,
]

const claimJournal = async (
  knex: Knex,
  account: BrokerAccount,
): Promise<O.Option<JournalClaim>> => {
  const { rows } = await knex.raw<{
    rows: { readonly provider_account_id: string; readonly token: string }[]
  }>(
    `insert into journals (tenant_id, account_id, provider_account_id, linked_at, token, leased_until)
     select tenant_id, id, provider_account_id, created_at, gen_random_uuid(), ${leaseEnd} ${fromLinked}
     on conflict (tenant_id, account_id) do update set token = excluded.token, leased_until = excluded.leased_until
     where journals.leased_until is null or journals.leased_until <= now()
     returning ${journalColumns}`,
    linkOf(account),
  )
  const [row] = rows
  if (row === undefined) return O.none
  const isOfLink = row.provider_account_id === account.providerAccountId
  return O.some(claimOfRow(account, isOfLink ? row : await beginAnew(knex, account, row.token)))
}

// The account was linked to another one at the provider since, and nobody wrote down when: deals
// from before now are no events.
const beginAnew = (knex: Knex, account: BrokerAccount, token: string): Promise<unknown> =>
  knex.transaction(async (trx) => {
    const [row]: unknown[] = await journalOf(trx, account)
      .where({ token })
      .update({
        provider_account_id: account.providerAccountId,
        linked_at: trx.raw(`date_trunc('milliseconds', now())`),
        first_read_offset: null,
        synced_at: null,
        deals: 0,
        latest_deal_at: null,
        checked_at: null,
        difference: null,
        reread_at: null,
        disagreements: 0,
        revision: trx.raw('revision + 1'),
      })
      .returning(trx.raw(journalColumns))
    for (const table of ['deals', 'trades'])
      await trx(table)
        .where({ tenant_id: account.owner.tenantId, account_id: account.accountId })
        .delete()
    return row
  })

/** Renews the claim as well. */
const updateClaimed = async (
  knex: Knex,
  claim: JournalClaim,
  change: object,
): Promise<E.Either<JournalLost, void>> => {
  const updated = await claimed(knex, claim).update({ ...change, leased_until: knex.raw(leaseEnd) })
  return updated > 0 ? E.right(undefined) : E.left(journalLost)
}

const releaseClaim = async (knex: Knex, { account, token }: JournalClaim): Promise<void> => {
  await journalOf(knex, account).where({ token }).update({ token: null, leased_until: null })
}

const wantRead = async (knex: Knex, account: BrokerAccount, at: string): Promise<void> => {
  await knex.raw(
    `insert into journals (tenant_id, account_id, provider_account_id, linked_at, wanted_at, last_wanted_at)
     select tenant_id, id, provider_account_id, created_at, ?::timestamptz, ?::timestamptz ${fromLinked}
     on conflict (tenant_id, account_id) do update set wanted_at = least(journals.wanted_at, excluded.wanted_at),
       last_wanted_at = greatest(journals.last_wanted_at, excluded.last_wanted_at)`,
    [at, at, ...linkOf(account)],
  )
}

const checkBalance = async (
  knex: Knex,
  claim: JournalClaim,
  balance: string,
  at: string,
): Promise<E.Either<JournalLost, number>> => {
  const [row]: { readonly difference: string }[] = await claimed(knex, claim)
    .update({
      checked_at: at,
      difference: knex.raw('round(?::numeric - ?, 8)', [balance, movedMoney(knex, claim)]),
      leased_until: knex.raw(leaseEnd),
    })
    .returning('difference')
  return row === undefined ? E.left(journalLost) : E.right(Number(row.difference))
}
