// The operator's log, and why a database method failed: the driver's code and the constraint's
// name, never a statement or its values.
import { refuse, type AsyncResult, type ServiceUnavailable } from '@tradeport/domain/errors'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'

export interface LogEvent {
  readonly event: string
  readonly reason: string
}

/** A pino logger fits. Nothing that is written here holds a secret or a statement's values. */
export interface Log {
  readonly warn: (event: LogEvent) => void
}

export const silentLog: Log = { warn: () => undefined }

/** A failure whose message is fit for a log as it is: it holds no value. */
export class DescribedError extends Error {
  override readonly name = 'DescribedError'
}

/** The disk has no room for what a statement writes. */
export class DiskFull extends DescribedError {}

/** All statements of a transaction succeeded, and its commit has no answer: it may be committed. */
export class CommitOutcomeUnknown extends Error {
  override readonly name = 'CommitOutcomeUnknown'
}

// The drivers give these no code. Nothing else of a message is repeated, since it can hold a
// statement's values.
const knownPhrases = [
  'Connection terminated',
  'timeout expired',
  'Unable to acquire a connection',
  'connection error and is not queryable',
  'Timeout acquiring a connection',
  'Query read timeout',
] as const

/** Every failure of a database method: the service cannot read or write its records. */
export const toServiceUnavailable =
  (operation: string) =>
  (error: unknown): ServiceUnavailable =>
    error instanceof CommitOutcomeUnknown
      ? refuse('ServiceUnavailable', {
          reason: `${operation}: the commit has no answer: ${describeFailure(error.cause)}`,
          outcome: 'unknown',
        })
      : refuse('ServiceUnavailable', { reason: `${operation}: ${describeFailure(error)}` })

/** A task whose every exception is ServiceUnavailable. */
export const databaseTask = <A>(operation: string, run: () => Promise<A>): AsyncResult<A> =>
  TE.tryCatch(run, toServiceUnavailable(operation))

/**
 * A port's methods as plain async functions. One that can refuse returns an Either, which is
 * recognised by its `_tag` when it runs.
 */
type AsyncMethods<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (
    ...args: infer Args
  ) => TE.TaskEither<infer Refusal, infer A>
    ? (
        ...args: Args
      ) => Promise<
        [Exclude<Refusal, ServiceUnavailable>] extends [never] ? A : E.Either<Refusal, A>
      >
    : never
}

/**
 * A port from async functions: whatever they throw is ServiceUnavailable, described by the port's
 * name and the method's.
 */
export const databasePort = <Port extends object>(
  name: string,
  methods: AsyncMethods<Port>,
): Port =>
  Object.fromEntries(
    Object.entries<(...args: unknown[]) => Promise<unknown>>(methods as never).map(
      ([method, run]) => [
        method,
        (...args: unknown[]) =>
          TE.flatMapEither((result: unknown) => (isEither(result) ? result : E.right(result)))(
            databaseTask(`${name}.${method}`, () => run(...args)),
          ),
      ],
    ),
  ) as Port

const isEither = (value: unknown): value is E.Either<unknown, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  '_tag' in value &&
  (value._tag === 'Left' || value._tag === 'Right')

/**
 * The failure in a few words: `23505 on api_keys_hash_key`, `ECONNREFUSED`, `timeout expired`,
 * `57P03: the database system is starting up`.
 */
export const describeFailure = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown failure'
  if (error instanceof DescribedError) return error.message
  const code = textField(error, 'code')
  const constraint = textField(error, 'constraint')
  if (code !== undefined && ofStatement.test(code))
    return `${code}: ${withoutStatement(error.message)}`
  if (code !== undefined && namesNoValue.test(code)) return `${code}: ${error.message}`
  if (code === readOnlyCode) return `${code}: ${readOnlyText}`
  if (code !== undefined && preparedElsewhere.includes(code))
    return `${code}: a pooler gives a connection to several sessions; DATABASE_URL must lead to the PostgreSQL server itself, or to a pooler in session mode`
  if (isServerDiskFull(error)) return `${code}: the disk of the database is full; free space on it`
  if (code !== undefined) return constraint === undefined ? code : `${code} on ${constraint}`
  return knownPhrases.find((phrase) => error.message.includes(phrase)) ?? error.name
}

/** Of a write in a read-only transaction; after a failover the former primary answers so. */
export const readOnlyCode = '25006'
export const readOnlyText =
  'the PostgreSQL server is read-only: DATABASE_URL must lead to the primary'

/** The message can only name the database, a schema or table of it, or the role. */
const namesNoValue = /^(?:08|28|3D|3F|42501|53300|55000)/
/** Of statements that are prepared once for a connection. */
const preparedElsewhere = ['42P05', '26000']
/** A statement that the server ended, or ended with its connection. */
const ofStatement = /^57/

/** A message without the statement that knex puts in front of the driver's. */
export const withoutStatement = (message: string): string =>
  message.replace(/^(Connection Error: )?.* - /s, '$1')

const textField = (error: Error, field: 'code' | 'constraint'): string | undefined => {
  const value: unknown = Reflect.get(error, field)
  return typeof value === 'string' && value !== '' ? value : undefined
}

const hasCode = (error: unknown, codes: RegExp): boolean =>
  error instanceof Error && codes.test(textField(error, 'code') ?? '')

/**
 * Whether the server reported an error, of which it rolls back everything. Not where it ended the
 * connection (08, 57P) or does not know itself (40003).
 */
export const isRolledBack = (error: unknown): boolean =>
  hasCode(error, /^(?!08|57P|40003)[0-9P][0-9A-Z]{4}$/)

/** Whether the server ended the transaction because it and another one waited for each other. */
export const isDeadlock = (error: unknown): boolean => hasCode(error, /^40P01$/)

/** Whether the server ended the statement because another transaction held a row for too long. */
export const isLockTimeout = (error: unknown): boolean => hasCode(error, /^55P03$/)

export const isServerDiskFull = (error: unknown): boolean => hasCode(error, /^53100$/)

/**
 * Whether the database refused a statement's values, so that the same statement would be refused
 * again and nothing of it was written: a value out of bounds, a row touched twice, a broken
 * constraint.
 */
export const isDataFault = (error: unknown): boolean => hasCode(error, /^2[123].{3}$/)
