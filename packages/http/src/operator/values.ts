// The values of an operator's document: what each kind of field takes (operating.md's table, as the domain's types say it).
import {
  apiKeyPrefix,
  isScope,
  parseAccountId,
  parseEmailAddress,
  parseInstant,
  parseTenantId,
  parseUserId,
  scopes,
} from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import { isAllowlistEntry } from '../access/allowlist.ts'
import { nullable, numberOf, stringOf } from '../requests/json-codecs.ts'
import type { JsonCodec } from '../requests/json-codecs.ts'
import { isOrderSymbol, orderSymbolTakes } from '../requests/order-symbol.ts'

const control = /\p{Cc}/u
const visible = /^[!-~]+$/

const longestName = 255
const longestSecret = 8_192

const matching = (takes: string, isTaken: (text: string) => boolean): JsonCodec<string> => stringOf(takes, O.fromPredicate(isTaken))

/** Text that every store can hold: no control characters (a NUL above all), no half of a character. */
export const name = matching(
  `1 to ${longestName} characters without control characters`,
  (text) => text !== '' && Array.from(text).length <= longestName && !control.test(text) && text.isWellFormed(),
)

export const id = matching('1 to 128 visible ASCII characters', (text) => visible.test(text) && text.length <= 128)
export const tenantId = stringOf('a tenant id: 1 to 128 visible ASCII characters', parseTenantId)
export const userId = stringOf('a user id: 1 to 128 visible ASCII characters', parseUserId)
export const accountId = stringOf('an account id: a UUID', parseAccountId)

/** One that mail can be sent to: who is never reached would not learn of a suspension. */
export const emailAddress = stringOf('an e-mail address, without a display name', parseEmailAddress)

export const secret = matching(
  `1 to ${longestSecret} visible ASCII characters`,
  (text) => visible.test(text) && text.length <= longestSecret,
)
export const apiKey = matching(
  `${apiKeyPrefix} and 1 to 248 more visible ASCII characters`,
  (text) => text.startsWith(apiKeyPrefix) && text.length > apiKeyPrefix.length && text.length <= 256 && visible.test(text),
)
export const scope = stringOf(`a scope: one of ${scopes.join(', ')}`, O.fromPredicate(isScope))
export const allowlistEntry = matching('an IPv4 or IPv6 address, or a CIDR such as 10.0.0.0/8', isAllowlistEntry)
export const tradedSymbol = matching(orderSymbolTakes, isOrderSymbol)
export const instant = stringOf('an ISO 8601 date-time, such as 2026-01-31T09:30:00.000Z', (text) => parseInstant(text, 'start'))

export const money = numberOf('a number', () => true)
export const lots = numberOf('a number from 0', (value) => value >= 0)
export const count = numberOf('a whole number from 0', (value) => Number.isSafeInteger(value) && value >= 0)

export const choice = <A extends string>(values: readonly A[]): JsonCodec<A> =>
  stringOf(`one of ${values.join(', ')}`, (text) => O.fromNullable(values.find((value) => value === text)))

/** A field that can be left alone or unset. */
export const setting = <A>(codec: JsonCodec<A>): { readonly isRequired: false; readonly codec: JsonCodec<A | null> } => ({
  isRequired: false,
  codec: nullable(codec),
})
