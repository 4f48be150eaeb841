// An address that mail can be sent to, and that cannot be anything else: a list, a name or a second
// header.
import * as O from 'fp-ts/lib/Option.js'
import type { Brand } from './ids.ts'

/** One mailbox, without a display name. */
export type EmailAddress = Brand<string, 'EmailAddress'>

// Quoted local parts and address literals are valid, and nobody has one: without them no special
// character has to be escaped.
const atom = String.raw`[^\s\p{Cc}\p{Cf}@<>()\[\]\\,;:"]+`
const pattern = new RegExp(`^${atom}@${atom}$`, 'u')

const longestLocalPart = 64
const longestAddress = 254

/**
 * Reads `local@domain`. None for anything else, and for what is too long for any mail server.
 */
export const parseEmailAddress = (text: string): O.Option<EmailAddress> =>
  pattern.test(text) &&
  text.isWellFormed() &&
  text.indexOf('@') <= longestLocalPart &&
  text.length <= longestAddress
    ? O.some(text as EmailAddress)
    : O.none
