// What an attempt that failed says of the mail, in words fit for a log: codes and the command that
// was answered, never a server's own text, which may repeat what it was sent.
import type { MailAnswer } from '@tradeport/domain/ports'

/** The failed attempt as an answer. Anything unknown may be tried again. */
export const answerOfFailure = (error: unknown): MailAnswer => ({
  kind: isForGood(error) ? 'refused' : 'undelivered',
  reason: describeFailure(error),
})

// The server's word on the recipient or on the mail itself is its last. On the sender, the
// credentials and what is allowed (x.7.x) it may change its mind, once the operator has mended the
// settings.
const isForGood = (error: unknown): boolean => {
  const command = textField(error, 'command')
  if (command === 'API') return textField(error, 'code') === 'EENVELOPE'
  const reply = readReply(error)
  return (
    reply !== undefined &&
    reply.code.startsWith('5') &&
    !isMendable(reply) &&
    (command === 'RCPT TO' || command === 'DATA')
  )
}

interface Reply {
  readonly code: string
  /** `5.1.1` */
  readonly status: string | undefined
}

const mendableCodes = ['503', '530', '534', '535', '538']

const isMendable = ({ code, status }: Reply): boolean =>
  mendableCodes.includes(code) || status?.split('.')[1] === '7'

const readReply = (error: unknown): Reply | undefined => {
  const [, code, status] =
    /^(\d{3})(?:[ -](\d\.\d{1,3}\.\d{1,3}))?/.exec(textField(error, 'response') ?? '') ?? []
  return code === undefined ? undefined : { code, status }
}

/** `550 5.1.1 to RCPT TO`, `ECONNREFUSED`, `ETIMEDOUT at GREETING_TIMEOUT` */
const describeFailure = (error: unknown): string => {
  const reply = readReply(error)
  const command = wordsOnly(textField(error, 'command'))
  if (reply !== undefined)
    return [reply.code, reply.status, command === undefined ? undefined : `to ${command}`]
      .filter(Boolean)
      .join(' ')
  const code = wordsOnly(textField(error, 'originalCode') ?? textField(error, 'code'))
  const at = wordsOnly(textField(error, 'timeoutType'))
  return [code ?? 'unknown failure', at === undefined ? undefined : `at ${at}`]
    .filter(Boolean)
    .join(' ')
}

const wordsOnly = (text: string | undefined): string | undefined =>
  text !== undefined && /^[A-Z0-9_-]+( [A-Z0-9_-]+)?$/.test(text) ? text : undefined

const textField = (
  error: unknown,
  field: 'code' | 'command' | 'response' | 'originalCode' | 'timeoutType',
): string | undefined => {
  const value: unknown = error instanceof Error ? Reflect.get(error, field) : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}
