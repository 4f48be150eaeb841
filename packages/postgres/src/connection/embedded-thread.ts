// Starts the worker thread of the embedded database and gives clients of node-postgres a stream to
// it. When the thread ends or hangs, the process must end, because only that thread can reach the
// data.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { Duplex } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { WorkerData, WorkerOptions, WorkerReply, WorkerRequest } from './embedded-worker.ts'
import { describeFailure } from './failures.ts'

export interface EmbeddedThread {
  /**
   * The stream of one client. Only the newest is served: connecting a new client abandons the work
   * of the one before.
   */
  readonly connect: () => Duplex
  /** Closes the database once everything that was sent is done. */
  readonly close: () => Promise<void>
}

export interface ThreadOptions extends WorkerOptions {
  /** The longest time without any reply while requests are pending. */
  readonly silenceMs: number
  /** The thread is gone or hangs. Must end the process. */
  readonly lost: (reason: string) => void
}

// `.ts` where Node reads the sources and `.js` in the built package: the compiler changes the
// extensions of imports only.
const workerFile = new URL(`./embedded-worker${extname(import.meta.url)}`, import.meta.url)

// V8 compiles wrappers for calls from WebAssembly to JavaScript that are made often. Threads share a
// wrapper, and V8 13.6 may free it twice, which ends the process. It compiles none before so many
// calls.
setFlagsFromString('--wasm-wrapper-tiering-budget=2000000000')

// @types/node does not declare it.
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly compile: (bytes: Uint8Array) => Promise<WorkerData['pgliteWasmModule']>
  }
}
/** Compiled once, since it takes seconds of CPU time. */
let pgliteModule: Promise<WorkerData['pgliteWasmModule']> | undefined
const compilePglite = async (): Promise<WorkerData['pgliteWasmModule']> => {
  const { resolve } = createRequire(import.meta.url)
  const folder = dirname(resolve('@electric-sql/pglite'))
  return WebAssembly.compile(await readFile(join(folder, 'pglite.wasm')))
}

/** A worker whose database is open. Rejects with what the thread throws. */
const openWorker = async (options: WorkerOptions): Promise<Worker> => {
  pgliteModule ??= compilePglite()
  const workerData: WorkerData = { ...options, pgliteWasmModule: await pgliteModule }
  const worker = new Worker(workerFile, { workerData })
  await once(worker, 'message')
  return worker
}

const ticks = 20

/** @throws when the database cannot be opened */
export const startEmbeddedThread = async ({
  silenceMs,
  lost,
  ...options
}: ThreadOptions): Promise<EmbeddedThread> => {
  const worker = await openWorker(options).catch((cause: unknown) => {
    throw new Error(
      `the embedded database cannot be opened: ${describeFailure(cause)} (${options.dataDir})`,
      { cause },
    )
  })

  let unanswered = 0
  let silentTicks = 0
  let isClosing = false
  let last: { readonly connection: number; readonly stream: Duplex } | undefined

  const send = (request: WorkerRequest) => {
    unanswered += 1
    worker.postMessage(request)
  }
  worker.on('message', ({ connection, bytes }: WorkerReply) => {
    silentTicks = 0
    if (bytes === undefined) unanswered -= 1
    else if (connection === last?.connection && !last.stream.destroyed)
      last.stream.push(Buffer.from(bytes.buffer))
  })

  // Ticks, not a clock: while the machine is suspended neither thread does anything, and the clock
  // may go on.
  const watchdog = setInterval(() => {
    silentTicks = unanswered === 0 ? 0 : silentTicks + 1
    if (silentTicks > ticks)
      lost(
        `the embedded database has not answered for ${silenceMs / 1_000} s, as it does where its disk is full`,
      )
  }, silenceMs / ticks).unref()
  worker.on('error', (error) =>
    lost(`the thread of the embedded database failed: ${describeFailure(error)}`),
  )
  worker.on('exit', () => {
    clearInterval(watchdog)
    if (!isClosing) lost('the thread of the embedded database ended')
  })

  return {
    connect: () => {
      const connection = (last?.connection ?? 0) + 1
      const stream = new ThreadStream((bytes) => send({ connection, bytes }))
      last = { connection, stream }
      return stream
    },
    close: async () => {
      isClosing = true
      const exit = once(worker, 'exit')
      send({ connection: null })
      await exit
    },
  }
}

/**
 * Has the methods of a socket that node-postgres needs. Each write holds whole protocol messages;
 * corked writes are sent as one.
 */
class ThreadStream extends Duplex {
  readonly #send: (bytes: Uint8Array) => void

  constructor(send: (bytes: Uint8Array) => void) {
    super()
    this.#send = send
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'))
    return this
  }

  setNoDelay = (): this => this
  setKeepAlive = (): this => this
  ref = (): this => this
  unref = (): this => this

  override _read(): void {
    // Replies are pushed as they come.
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // A copy, or the whole underlying ArrayBuffer would be cloned.
    this.#send(new Uint8Array(bytes))
    done()
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'utf8', done)
  }

  override _final(done: () => void): void {
    done()
    this.destroy()
  }
}
