// Statements that need more than knex gives them: ones that are planned once, and transactions
// whose commit can be lost.
import type { Knex } from 'knex'
import { UnansweredCommit } from './failures.ts'

const names = new Map<string, string>()

/**
 * As `raw`, and the server plans it once for each connection. Only for statements whose plan leaves
 * no choice (inserts, upserts): a plan that was made while a table was empty is kept when it is not
 * any more.
 */
export const prepared = (
  trx: Knex.Transaction,
  sql: string,
  bindings: readonly Knex.RawBinding[],
): Knex.Raw<{ rows: unknown[] }> => {
  const name = names.get(sql) ?? `tradeport_${names.size + 1}`
  names.set(sql, name)
  return trx.raw<{ rows: unknown[] }>(sql, bindings).options({ name })
}

/**
 * A transaction for writes of which the caller must not be told that they failed while they may
 * stand: what was to be recorded may be carried out, or may hold a key that is shown once.
 * @throws UnansweredCommit when every statement went well and the commit has no answer: all of it
 * may be recorded or nothing
 */
export const inTransaction = async <A>(
  knex: Knex,
  work: (trx: Knex.Transaction) => Promise<A>,
): Promise<A> => {
  let isWritten = false
  try {
    return await knex.transaction(async (trx) => {
      const made = await work(trx)
      isWritten = true
      return made
    })
  } catch (error) {
    throw isWritten ? new UnansweredCommit('the commit has no answer', { cause: error }) : error
  }
}
