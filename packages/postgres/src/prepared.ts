// Statements that the server plans once for each connection. Only for those whose plan leaves no choice (inserts, upserts): a plan that was
// made while a table was empty is kept when it is not any more.
import type { Knex } from 'knex'

const names = new Map<string, string>()

/** As `raw`. */
export const prepared = (trx: Knex.Transaction, sql: string, bindings: readonly Knex.RawBinding[]): Knex.Raw<{ rows: unknown[] }> => {
  const name = names.get(sql) ?? `tradeport_${names.size + 1}`
  names.set(sql, name)
  return trx.raw<{ rows: unknown[] }>(sql, bindings).options({ name })
}
