// The worker thread in which PGlite runs, since it computes on the thread that calls it. It speaks
// the PostgreSQL protocol over messages: each request is a chunk of whole protocol messages, which
// are answered by any number of chunks and a last reply without bytes.
import { on } from 'node:events'
import { openAsBlob } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'

export interface WorkerOptions {
  readonly dataDir: string
  /** A file with a dumped data directory to begin with. */
  readonly from?: string
}

export type WorkerData = WorkerOptions & Required<Pick<PGliteOptions, 'pgliteWasmModule'>>

/**
 * `connection` is the number of the client's connection; a request without one closes the database.
 */
export type WorkerRequest =
  | { readonly connection: number; readonly bytes: Uint8Array }
  | { readonly connection: null }

/** The first reply, to connection 0, says that the database is open. */
export interface WorkerReply {
  readonly connection: number
  /** Absent once the request is answered. */
  readonly bytes?: Uint8Array<ArrayBuffer>
}

const port = parentPort
if (port === null) throw new Error('this module runs in a worker thread')

const reply = (connection: number, bytes?: Uint8Array<ArrayBuffer>): void =>
  bytes === undefined
    ? port.postMessage({ connection })
    : port.postMessage({ connection, bytes }, [bytes.buffer])

const requests = on(port, 'message') as AsyncIterable<[WorkerRequest]>
const { from, ...options } = workerData as WorkerData
const pglite = await PGlite.create({
  ...options,
  ...(from !== undefined && { loadDataDir: await openAsBlob(from) }),
})

// Not execProtocolRaw, which keeps what it parses of every answer. The bytes stand in PGlite's
// memory, which the next statement overwrites.
const execute = (
  bytes: Uint8Array,
  answer: (bytes: Uint8Array<ArrayBuffer>) => void,
): Promise<void> =>
  pglite.execProtocolRawStream(bytes, { onRawData: (raw) => answer(new Uint8Array(raw)) })

const queryMessage = (statement: string): Uint8Array => {
  const message = Buffer.from(`Q0000${statement}\0`)
  message.writeInt32BE(message.length - 1, 1)
  return message
}
const sync = Uint8Array.from([0x53, 0, 0, 0, 4])

/**
 * What the client before left in the session, which is the only one: part of a statement, a
 * transaction, settings and prepared statements.
 */
const resetSession = async (): Promise<void> => {
  for (const message of [sync, queryMessage('rollback'), queryMessage('discard all')])
    await execute(message, () => undefined)
}

// AuthenticationOk and ReadyForQuery. There is nobody to authenticate.
const welcome = (): Uint8Array<ArrayBuffer> =>
  Uint8Array.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])

reply(0)
let current = 0
for await (const [request] of requests) {
  const { connection } = request
  if (connection === null) break
  if (connection === current) await execute(request.bytes, (bytes) => reply(connection, bytes))
  else {
    // A connection's first bytes are the start-up message.
    current = connection
    await resetSession()
    reply(connection, welcome())
  }
  reply(connection)
}
await pglite.close()
