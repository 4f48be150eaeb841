// Where the data of a reply comes from and how old it is: `meta.provenance`.
import type { AccountId } from './ids.ts'
import type { Instant } from './instant.ts'

export interface Provenance {
  /** The provider's name. */
  readonly source: string
  readonly accounts: readonly AccountId[]
  /** Of several reads the oldest, since the reply is no fresher than that. */
  readonly readAt: Instant
}

/** Data of a broker. */
export interface Sourced<A, P = Provenance> {
  readonly data: A
  readonly provenance: P
}

/** @param now the time of the reply, which stands in where no account was read */
export const provenanceOf = (
  source: string,
  reads: readonly { readonly accountId: AccountId; readonly readAt: Instant }[],
  now: Instant,
): Provenance => ({
  source,
  accounts: reads.map(({ accountId }) => accountId),
  readAt: reads.reduce((oldest, { readAt }) => Math.min(oldest, readAt), now),
})
