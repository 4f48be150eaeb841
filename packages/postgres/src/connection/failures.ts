// Why a database method failed, in words fit for a log: the driver's code and the constraint's
// name, never a statement or its values.
import { outcomeUnknown, serviceUnavailable } from '@tradeport/domain/errors'
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type * as E from 'fp-ts/lib/Either.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'

/** A failure whose message is fit for a log as it is: it holds no value. */
export class DescribedError extends Error {
  override readonly name = 'DescribedError'
}

/** A transaction whose statements all went well, and whose commit has no answer: it may stand. */
export class UnansweredCommit extends Error {
  override readonly name = 'UnansweredCommit'
}

// The drivers give these no code. Their own words are looked for and nothing else is repeated,
// since a message can hold a statement's values.
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
    error instanceof UnansweredCommit
      ? outcomeUnknown(`${operation}: the commit has no answer: ${describeFailure(error.cause)}`)
      : serviceUnavailable(`${operation}: ${describeFailure(error)}`)

/** A database method by its name. Whatever it throws is ServiceUnavailable. */
export const attempt = <A>(
  operation: string,
  run: () => Promise<A>,
): TE.TaskEither<ServiceUnavailable, A> => TE.tryCatch(run, toServiceUnavailable(operation))

/** A database method that can refuse. */
export const attemptEither = <E, A>(
  operation: string,
  run: () => Promise<E.Either<E, A>>,
): TE.TaskEither<ServiceUnavailable | E, A> =>
  pipe(attempt(operation, run), TE.flatMapEither(identity<E.Either<ServiceUnavailable | E, A>>))

/** The failure in a few words: `23505 on api_keys_hash_key`, `ECONNREFUSED`, `timeout expired`. */
export const describeFailure = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown failure'
  if (error instanceof DescribedError) return error.message
  const code = textField(error, 'code')
  const constraint = textField(error, 'constraint')
  if (code === diskFull) return `${code}: the disk of the database is full; free space on it`
  if (code !== undefined) return constraint === undefined ? code : `${code} on ${constraint}`
  return knownPhrases.find((phrase) => error.message.includes(phrase)) ?? error.name
}

const diskFull = '53100'

const textField = (error: Error, field: 'code' | 'constraint'): string | undefined => {
  const value: unknown = Reflect.get(error, field)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * Whether the database refused what a statement says, so that the same statement would be refused
 * again and nothing of it was written.
 */
export const isDataFault = (error: unknown): boolean =>
  error instanceof Error && dataFaults.test(textField(error, 'code') ?? '')

// A value out of bounds, a row touched twice, a broken constraint.
const dataFaults = /^2[123].{3}$/
