// The operator's documents in PostgreSQL: one transaction each, one at a time over all instances.
import { usersAffectedBy } from '@tradeport/domain'
import type { OperatorChanges, OperatorKeys, OperatorRecords, OperatorStore, ValidationError } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import type { Cipher } from './cipher.ts'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import { sendCredentialsChanged } from './peer-notices/payload.ts'
import { readRecords } from './operator-reads.ts'
import { putRecords, removeRecords } from './operator-writes.ts'
import { inTransaction } from './transacting.ts'

interface Parts extends Pick<Database, 'knex'> {
  readonly cipher: Cipher
}

type Decide<A> = (records: OperatorRecords) => E.Either<ValidationError, A>

export const createOperatorStore = ({ knex, cipher }: Parts): OperatorStore => ({
  apply: <A extends { readonly changes: OperatorChanges }>(keys: OperatorKeys, decide: Decide<A>) =>
    pipe(
      TE.tryCatch(() => applyDocument(knex, cipher, keys, decide), toServiceUnavailable('operator.apply')),
      TE.flatMap((decision) => TE.fromEither(decision)),
    ),
})

/** @throws UnansweredCommit when the document may stand, and the keys that it made, which are told once */
const applyDocument = <A extends { readonly changes: OperatorChanges }>(
  knex: Knex,
  cipher: Cipher,
  keys: OperatorKeys,
  decide: Decide<A>,
): Promise<E.Either<ValidationError, A>> =>
  inTransaction(knex, async (trx) => {
    await trx.raw(`select pg_advisory_xact_lock(hashtextextended('tradeport.operator.apply', 0))`)
    const records = await readRecords(trx, keys)
    const decision = decide(records)
    if (E.isLeft(decision)) return decision
    await removeRecords(trx, decision.right.changes)
    await putRecords(trx, cipher, decision.right.changes)
    await sendCredentialsChanged(trx, usersAffectedBy(decision.right.changes, records))
    return decision
  })
