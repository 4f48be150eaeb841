// The log: pino's JSON lines without secrets. Of an error it holds only the kind, the code and the
// places in the code, because a driver's message holds a statement's values and a client's message
// the headers that it sent. Fields whose name ends in that of a secret, also in the plural, are
// redacted at any depth, and API keys anywhere.
import { apiKeyPrefix } from '@tradeport/domain/access'
import { pino } from 'pino'
import type { DestinationStream, LogFn, Logger } from 'pino'
import type { LogLevel } from './config.ts'

const redacted = '[redacted]'
const maxDepth = 5
const maxFrames = 12
const errorName = /^[A-Za-z][\w$]{0,59}$/
const errorCode = /^[A-Z0-9_]{1,40}$/
// `    at place (file:///src/file.ts:1:2)`, and nothing that an error's message could bring along.
const stackLine =
  /^ {4}at (?:[\w$.<>#[\] ]{1,120} \()?(?:file:\/\/|node:|\/)[\w./@+~%-]+:\d+:\d+\)?$/
const secretNames = [
  'token',
  'secret',
  'password',
  'apikey',
  'authorization',
  'cookie',
  'secretskey',
  'databaseurl',
  'redisurl',
  'smtpurl',
] as const
const apiKeys = new RegExp(`${apiKeyPrefix}[\\w-]+`, 'g')

/** @param destination standard output when left out */
export const createLog = (
  level: LogLevel,
  destination: DestinationStream = pino.destination(1),
): Logger =>
  pino(
    {
      level,
      formatters: { log: (fields) => withoutSecrets(fields, maxDepth) as Record<string, unknown> },
      hooks: {
        logMethod,
        streamWrite: (line) => line.replaceAll(apiKeys, `${apiKeyPrefix}${redacted}`),
      },
    },
    destination,
  )

/**
 * Ends the process at an uncaught error with a line of the log; Node would print all of the error.
 */
export const endWhenUncaught = (log: Logger): void => {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception; exiting')
    process.exit(1)
  })
}

// Pino uses an error's message for a line without one.
function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn): void {
  const [fields, message] = args as [unknown, unknown?]
  const isOfError =
    fields instanceof Error || (typeof fields === 'object' && fields !== null && 'err' in fields)
  if (isOfError && message === undefined)
    method.call(this, fields instanceof Error ? { err: fields } : fields, 'unexpected error')
  else method.apply(this, args)
}

const withoutSecrets = (value: unknown, depth: number): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return describeError(value)
  if (depth === 0) return redacted
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth - 1))
  const shown: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(value))
    shown[name] = isSecretName(name) ? redacted : withoutSecrets(field, depth - 1)
  return shown
}

const isSecretName = (name: string): boolean => {
  const plain = name
    .replaceAll(/[^A-Za-z]/g, '')
    .toLowerCase()
    .replace(/s$/, '')
  return secretNames.some((secret) => plain.endsWith(secret))
}

interface DescribedError {
  readonly type: string
  readonly code?: string
  readonly stack: readonly string[]
  readonly cause?: DescribedError
}

const describeError = (error: Error, depth = 3): DescribedError => {
  const code: unknown = Reflect.get(error, 'code')
  return {
    type: errorName.test(error.name) ? error.name : 'Error',
    ...(typeof code === 'string' && errorCode.test(code) ? { code } : {}),
    stack: stackFrames(error),
    ...(error.cause instanceof Error && depth > 0
      ? { cause: describeError(error.cause, depth - 1) }
      : {}),
  }
}

// The message comes first, and may look like lines of the stack.
const stackFrames = ({ stack = '', message }: Error): readonly string[] => {
  const messageAt = stack.indexOf(message)
  return stack
    .slice(messageAt < 0 ? 0 : messageAt + message.length)
    .split('\n')
    .filter((line) => stackLine.test(line))
    .slice(0, maxFrames)
    .map((line) => line.trim())
}
