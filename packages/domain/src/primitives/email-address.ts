// An address that mail can be sent to, and that cannot be anything else: a list, a name or a second
// header.
import * as O from 'fp-ts/lib/Option.js'
import type { Brand } from './brand.ts'

/** One mailbox, without a display name. */
export type EmailAddress = Brand<string, 'EmailAddress'>

// Quoted local parts and address literals exist and are nobody's; leaving them out leaves no
// special character to be careful with.
const atom = String.raw`[^\s\p{Cc}\p{Cf}@<>()\[\]\\,;:"]+`
const pattern = new RegExp(`^${atom}@${atom}$`, 'u')

const longestLocalPart = 64
const longestAddress = 254

/**
 * Reads `local@domain`; anything else, and what no mail server would take for its length, is none.
 */
export const parseEmailAddress = (text: string): O.Option<EmailAddress> =>
  pattern.test(text) &&
  text.isWellFormed() &&
  text.indexOf('@') <= longestLocalPart &&
  text.length <= longestAddress
    ? O.some(text as EmailAddress)
    : O.none
