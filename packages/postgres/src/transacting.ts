// A transaction for writes of which the caller must not be told that they failed while they may stand: what was to be recorded may be carried out,
// or may hold a key that is told once.
import type { Knex } from 'knex'
import { UnansweredCommit } from './failures.ts'

/** @throws UnansweredCommit when every statement went well and the commit has no answer: all of it may be recorded or nothing */
export const inTransaction = async <A>(knex: Knex, work: (trx: Knex.Transaction) => Promise<A>): Promise<A> => {
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
