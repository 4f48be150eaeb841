// SQL as tagged templates, with the values where they are used.
import type { AccountId, Owner } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { CommitOutcomeUnknown, isDeadlock, isRolledBack } from './failures.ts'

/** A statement, or a part of one. */
export class Sql {
  readonly text: string
  readonly bindings: Knex.RawBinding[]

  constructor(text: string, bindings: Knex.RawBinding[] = []) {
    this.text = text
    this.bindings = bindings
  }
}

/** Parts are inserted; all other values are bound as parameters. */
export const sql = (texts: TemplateStringsArray, ...values: readonly unknown[]): Sql => {
  let [text = ''] = texts
  const bindings: Knex.RawBinding[] = []
  for (const [at, value] of values.entries()) {
    const part = value instanceof Sql ? value : new Sql('?', [value as Knex.RawBinding])
    text += part.text + texts[at + 1]
    bindings.push(...part.bindings)
  }
  return new Sql(text, bindings)
}

/** Conditions that all must hold; those that are false are left out. */
export const allOf = (...conditions: readonly (Sql | false)[]): Sql =>
  conditions
    .filter((one) => one !== false)
    .reduce((all, one) => sql`${all} and ${one}`, new Sql('true'))

/** A condition: the row is the owner's. */
export const isOfOwner = ({ tenantId, userId }: Owner): Sql =>
  sql`tenant_id = ${tenantId} and user_id = ${userId}`

/** Of the table of users. */
export const isUser = ({ tenantId, userId }: Owner): Sql =>
  sql`tenant_id = ${tenantId} and id = ${userId}`

/**
 * Locks users one after another, in an order in which no two transactions wait for each other.
 * What others wrote under these locks is seen by the next statement, not by this one.
 */
export const lockUsers = (knex: Knex, owners: readonly Owner[]) =>
  query(
    knex,
    sql`select from (
        select distinct * from json_to_recordset(${JSON.stringify(owners)}::json) as owner ("tenantId" text, "userId" text)
        order by 1, 2) as owners
      cross join lateral (select from users where tenant_id = "tenantId" and id = "userId" for no key update) as own`,
  )

/** Of the table of accounts. */
export const isAccount = (owner: Owner, id: AccountId): Sql =>
  sql`${isOfOwner(owner)} and id = ${id}`

export const query = async <A = unknown>(
  knex: Knex,
  { text, bindings }: Sql,
): Promise<readonly A[]> => {
  const { rows } = await knex.raw<{ readonly rows: readonly A[] }>(text, bindings)
  return rows
}

/** The row of a statement that always returns one. */
export const queryOne = async <A>(knex: Knex, statement: Sql): Promise<A> =>
  (await query<A>(knex, statement))[0] as A

export const returnsRow = async (knex: Knex, statement: Sql): Promise<boolean> =>
  (await query(knex, statement)).length > 0

/** What a statement selects, and how its rows are read. */
export interface Selection<A> {
  readonly table: Sql
  /** For `select` and `returning`. */
  readonly columns: Sql
  /** @throws DescribedError */
  readonly read: (row: unknown) => A
}

export const readAll = async <A>(
  knex: Knex,
  statement: Sql,
  { read }: Pick<Selection<A>, 'read'>,
): Promise<readonly A[]> => (await query(knex, statement)).map(read)

export const selectFirst = async <A>(
  knex: Knex,
  statement: Sql,
  { read }: Pick<Selection<A>, 'read'>,
): Promise<O.Option<A>> => {
  const [row] = await query(knex, statement)
  return row === undefined ? O.none : O.some(read(row))
}

const names = new Map<string, string>()

/**
 * As `query`, and the server plans it once for each connection. Only for statements whose plan
 * leaves no choice (inserts, upserts): a plan that was made while a table was empty is kept when it
 * is not any more.
 */
export const queryPrepared = async <A = unknown>(
  trx: Knex.Transaction,
  { text, bindings }: Sql,
): Promise<readonly A[]> => {
  const name = names.get(text) ?? `tradeport_${names.size + 1}`
  names.set(text, name)
  const { rows } = await trx.raw<{ readonly rows: readonly A[] }>(text, bindings).options({ name })
  return rows
}

/** Two transactions that wait for each other can meet again, but not again and again. */
const deadlockAttempts = 3

/** A transaction, made again where the server ended it to resolve a deadlock. */
export const transact = async <A>(
  knex: Knex,
  work: (trx: Knex.Transaction) => Promise<A>,
): Promise<A> => {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await knex.transaction(work)
    } catch (error) {
      if (!isDeadlock(error) || attempt === deadlockAttempts) throw error
    }
}

/**
 * The same for writes that callers ask for, which must not be reported as failed if they may have
 * committed: the order may be sent, or the reply may hold a key that is shown once.
 * @throws CommitOutcomeUnknown when every statement succeeded and the commit has no answer: all of
 * it may be recorded or nothing
 */
export const transactOrUnknown = async <A>(
  knex: Knex,
  work: (trx: Knex.Transaction) => Promise<A>,
): Promise<A> => {
  let isWritten = false
  try {
    return await transact(knex, async (trx) => {
      isWritten = false
      const result = await work(trx)
      isWritten = true
      return result
    })
  } catch (error) {
    throw isWritten && !isRolledBack(error)
      ? new CommitOutcomeUnknown('the commit has no answer', { cause: error })
      : error
  }
}

/**
 * The start time of the PostgreSQL process. It differs after a restart or a failover, when recent
 * commits may be missing.
 */
export const databaseRun = sql`extract(epoch from pg_postmaster_start_time())::text`
