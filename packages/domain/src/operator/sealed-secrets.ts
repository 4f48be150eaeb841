// Secrets that are stored sealed under the service's key, and what becomes of them when that key is
// changed for another.
import * as O from 'fp-ts/lib/Option.js'
import { parseRecordId, parseWebhookId } from '../primitives/ids.ts'

/** In the order in which they are sealed anew. */
export const secretKinds = ['provider_token', 'webhook_secret', 'kept_reply'] as const
export type SecretKind = (typeof secretKinds)[number]

/**
 * Which secret: of the tenant, of the webhook, or in the reply kept for the claim of an idempotency
 * key, with this id.
 */
export interface SealedSecret {
  readonly kind: SecretKind
  readonly id: string
}

export interface ResealedBatch {
  /** How many are sealed under the current key now, and were not before. */
  readonly resealed: number
  /** Those that no key opens, left as they were. */
  readonly unreadable: readonly SealedSecret[]
  /** The last one that was looked at; undefined where nothing is left to look at. */
  readonly last: SealedSecret | undefined
}

/** How many secrets the current key has sealed, and how many others there are. */
export interface SecretsCensus {
  readonly current: number
  readonly others: number
}

export const placeOfSecret = ({ kind, id }: SealedSecret): readonly string[] => [kind, id]

export const parseSecretPlace = ([
  kind = '',
  id = '',
  ...others
]: readonly string[]): O.Option<SealedSecret> => {
  const parsed: O.Option<string> =
    kind === 'webhook_secret' ? parseWebhookId(id) : parseRecordId(id)
  const known = secretKinds.find((one) => one === kind)
  return known === undefined || others.length > 0 || O.isNone(parsed)
    ? O.none
    : O.some({ kind: known, id: parsed.value })
}
