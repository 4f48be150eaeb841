// Secrets that are stored sealed under the service's key, and sealed anew when that key changes.
import * as O from 'fp-ts/lib/Option.js'
import { parseRecordId, parseWebhookId } from '../primitives/ids.ts'
import { allParsed, type CursorCodec } from './listing.ts'

/** In the order in which they are sealed anew. */
export const secretKinds = [
  'provider_token',
  'webhook_secret',
  'previous_webhook_secret',
  'kept_reply',
] as const
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
  /** The last one of the batch; undefined where none is left. */
  readonly last: SealedSecret | undefined
}

/** How many secrets were sealed under which key. */
export interface SecretCounts {
  readonly current: number
  /** Under an earlier key that the service was given. */
  readonly earlier: number
  /** Under a key that the service was not given. */
  readonly unknown: number
}

/** By kind, then id. */
export const secretCursor: CursorCodec<SealedSecret, SealedSecret> = {
  placeOf: ({ kind, id }) => [kind, id],
  parsePlace: ([kind = '', id = '']) =>
    allParsed({
      kind: O.fromNullable(secretKinds.find((one) => one === kind)),
      id: kind.endsWith('webhook_secret') ? parseWebhookId(id) : parseRecordId(id),
    }),
}
