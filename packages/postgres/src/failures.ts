// Why a database method failed, in words fit for a log: the driver's code and the constraint's name, never a statement or its values.
import { outcomeUnknown, serviceUnavailable } from '@tradeport/domain'
import type { ServiceUnavailable } from '@tradeport/domain'

/** A stored row that its codec refuses; the message names the places and leaves out what stands there. */
export class UndecodableRow extends Error {
  override readonly name = 'UndecodableRow'
}

/** A value that must not be stored, because it could not be read again. */
export class UnstorableValue extends Error {
  override readonly name = 'UnstorableValue'
}

/** Notices that were sent do not arrive. */
export class UnheardNotices extends Error {
  override readonly name = 'UnheardNotices'
  constructor() {
    super('notices do not arrive: DATABASE_URL must lead to the server itself, or to a pooler that keeps a session for each connection')
  }
}

/** Nothing more is written to the embedded database. */
export class DiskAlmostFull extends Error {
  override readonly name = 'DiskAlmostFull'
  constructor(reservedMb: number) {
    super(`the disk of DATA_DIR has less than ${reservedMb} MB left, so that nothing is written to the database any more; free space on it`)
  }
}

/** A transaction whose statements all went well, and whose commit has no answer: it may stand. */
export class UnansweredCommit extends Error {
  override readonly name = 'UnansweredCommit'
}

// The drivers give these no code. Their own words are looked for and nothing else is repeated, since a message can hold a statement's values.
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

/** The failure in a few words: `23505 on api_keys_hash_key`, `ECONNREFUSED`, `timeout expired`. */
export const describeFailure = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown failure'
  if (isOwn(error)) return error.message
  const code = textField(error, 'code')
  const constraint = textField(error, 'constraint')
  if (code === diskFull) return `${code}: the disk of the database is full; free space on it`
  if (code !== undefined) return constraint === undefined ? code : `${code} on ${constraint}`
  return knownPhrases.find((phrase) => error.message.includes(phrase)) ?? error.name
}

const isOwn = (error: Error): boolean =>
  error instanceof UndecodableRow || error instanceof UnstorableValue || error instanceof UnheardNotices || error instanceof DiskAlmostFull

const diskFull = '53100'

const textField = (error: Error, field: 'code' | 'constraint'): string | undefined => {
  const value: unknown = Reflect.get(error, field)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Whether the database refused what a statement says, so that the same statement would be refused again and nothing of it was written. */
export const isDataFault = (error: unknown): boolean => {
  const code = error instanceof Error ? (textField(error, 'code') ?? '') : ''
  return dataFaultClasses.includes(code.slice(0, 2)) && code.length === sqlStateLength
}

// A value out of bounds, a row touched twice, a broken constraint.
const dataFaultClasses = ['21', '22', '23']
const sqlStateLength = 5
