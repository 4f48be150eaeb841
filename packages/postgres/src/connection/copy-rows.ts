// Inserts rows with `COPY … FROM STDIN`, which takes a server half as long as an insert from JSON.
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { Knex } from 'knex'
import { Query, type Client, type Connection } from 'pg'
import { toText } from './columns.ts'
import type { Sql } from './sql.ts'

/** What node-postgres has for copying, and does not describe in its types. */
interface CopyConnection extends Connection {
  readonly sendCopyFromChunk: (bytes: Uint8Array) => void
  readonly endCopyFrom: () => void
  readonly sendCopyFail: (reason: string) => void
}

/** Null stands for no value, as does undefined. */
export type CopyValue = string | number | boolean | null | undefined

export interface TableRows {
  /** The table with its columns: `deals (id, kind)`. */
  readonly target: Sql
  /** The values in the order of the columns; made while the server inserts those before them. */
  readonly rows: Iterable<readonly CopyValue[]>
}

/**
 * Inserts into one table after the other.
 * @throws DescribedError where PostgreSQL cannot store a text, and whatever `rows` throws
 */
export const copyRows = async (
  trx: Knex.Transaction,
  tables: readonly TableRows[],
): Promise<void> => {
  const client = (await trx.client.acquireConnection()) as Client
  const commands = tables.map(({ target }) => `copy ${target.text} from stdin`).join(';')
  // As knex does for its own statements: the pool may refuse it.
  trx.client.emit('query', { sql: commands, bindings: [] })
  let sending: Promise<unknown> | undefined
  const copied = new Promise<void>((resolve, reject) => {
    const statement = Object.assign(new Query(commands), {
      submit: (connection: CopyConnection): void => {
        sending = sendRows(connection, commands, tables)
      },
      handleCopyInResponse: () => undefined,
      callback: (error: Error | null) => (error === null ? resolve() : reject(error)),
    })
    client.query(statement)
  })
  // Nothing else may use the connection until all is sent: the server skips it after a failure.
  await copied.catch(async (error: unknown) => {
    throw (await sending) ?? error
  })
}

/** Resolves to why rows could not be made, which has the statement fail. */
const sendRows = async (
  connection: CopyConnection,
  commands: string,
  tables: readonly TableRows[],
): Promise<unknown> => {
  const { stream } = connection
  // The embedded database reads no later message as part of a statement.
  if (!(stream instanceof Socket)) stream.cork()
  connection.query(commands)
  try {
    for (const { rows } of tables) {
      for (const text of copyTexts(rows)) {
        connection.sendCopyFromChunk(Buffer.from(text))
        // Other requests come between two chunks.
        await setImmediate()
      }
      connection.endCopyFrom()
    }
    return undefined
  } catch (error) {
    connection.sendCopyFail('the rows cannot be made')
    return error
  } finally {
    stream.uncork()
  }
}

/** Rows that are sent at once, so that the server begins before the last of them is made. */
const rowsInChunk = 500

function* copyTexts(rows: TableRows['rows']): Generator<string> {
  let text = ''
  let count = 0
  for (const row of rows) {
    let separator = ''
    for (const value of row) {
      text += separator + copyValue(value)
      separator = '\t'
    }
    text += '\n'
    count += 1
    if (count % rowsInChunk === 0) {
      yield toText(text)
      text = ''
    }
  }
  yield toText(text)
}

const none = String.raw`\N`
const special = /[\\\t\n\r]/

const copyValue = (value: CopyValue): string => {
  if (value === null || value === undefined) return none
  if (typeof value !== 'string') return String(value)
  // Few texts need it, and to replace nothing in all of them takes longer than all the rest.
  return special.test(value) ? value.replaceAll(/[\\\t\n\r]/g, String.raw`\$&`) : value
}
