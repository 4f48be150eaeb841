// A connection to PostgreSQL that ends when the other side falls silent.
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Client } from 'pg'
import type { ClientConfig } from 'pg'

/** How long a connection has to close in order. */
const closeTimeoutMs = 1_000
/** Linux by itself probes an idle connection after two hours, long after routers have forgotten it. */
const keepAliveDelayMs = 10_000

// What node-postgres calls it.
const silent = 'Query read timeout'

export interface TimedClientOptions extends Omit<ClientConfig, 'stream'> {
  /** Makes what stands for the socket; a socket when omitted. */
  readonly stream?: () => Duplex
  /** Throws for a statement that must not be sent. */
  readonly check?: (statement: string) => void
}

/**
 * The client of node-postgres, whose connection is destroyed when a statement has no answer within `query_timeout` milliseconds; 0 or absent: it waits for ever.
 * node-postgres by itself would only reject the statement, and every later one on the connection would wait behind it.
 */
export class TimedClient extends Client {
  readonly #stream: Duplex
  readonly #queryTimeoutMs: number
  readonly #check: (statement: string) => void
  #answeredAt = performance.now()
  #timer: NodeJS.Timeout | undefined

  constructor({
    query_timeout: queryTimeoutMs = 0,
    stream: connect = () => new Socket(),
    check = () => undefined,
    ...config
  }: TimedClientOptions) {
    const stream = connect()
    super({ ...config, keepAlive: true, keepAliveInitialDelayMillis: keepAliveDelayMs, stream: () => stream })
    this.#stream = stream
    this.#queryTimeoutMs = queryTimeoutMs
    this.#check = check
    // Emitted when the server has answered everything.
    this.on('drain', () => {
      clearTimeout(this.#timer)
      this.#answeredAt = performance.now()
    })
    this.on('end', () => clearTimeout(this.#timer))
  }

  /** When the server last answered, by the monotonic clock. */
  get answeredAt(): number {
    return this.#answeredAt
  }

  /** Whether the server answers within so many milliseconds. */
  async answersWithin(timeoutMs: number): Promise<boolean> {
    const answer = super.query('select 1')
    this.#destroyAfter(timeoutMs, silent)
    return answer.then(
      () => true,
      () => false,
    )
  }

  // `never` fits all of the overloads of node-postgres, whose arguments are passed through.
  override query(...args: [never]): never {
    try {
      this.#check(textOf(args[0]))
    } catch (error) {
      return refusal(error, args.at(-1)) as never
    }
    if (this.#queryTimeoutMs > 0) this.#destroyAfter(this.#queryTimeoutMs, silent)
    return super.query(...args)
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | void {
    this.#destroyAfter(closeTimeoutMs)
    return callback === undefined ? super.end() : super.end(callback)
  }

  #destroyAfter(timeoutMs: number, reason?: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#stream.destroy(reason === undefined ? undefined : new Error(reason)), timeoutMs).unref()
  }
}

const textOf = (query: string | { readonly text: string }): string => (typeof query === 'string' ? query : query.text)

/** As node-postgres reports a failed statement: to the callback, where there is one. */
const refusal = (error: unknown, callback: unknown): Promise<never> | undefined => {
  if (typeof callback !== 'function') return Promise.reject(error)
  process.nextTick(callback, error)
  return undefined
}
