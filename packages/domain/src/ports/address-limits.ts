// Limits failed credentials per client address, so that guessing is slow and costs no database
// read.
import type { CredentialHash } from '../access/credential.ts'
import type { Instant } from '../primitives/instant.ts'

/** The caller's IP address as text; undefined where the connection is already gone. */
export type CallerAddress = string | undefined

export interface AddressLimits {
  /**
   * Whether the credential was accepted within the last minute: it is then looked up whatever else
   * its address sends.
   */
  readonly wasAccepted: (hash: CredentialHash, now: Instant) => boolean
  /** How long until the address may try another credential, in milliseconds; 0 if it may now. */
  readonly waitMs: (address: CallerAddress, now: Instant) => number
  readonly recordAccepted: (hash: CredentialHash, now: Instant) => void
  readonly recordFailed: (hash: CredentialHash, address: CallerAddress, now: Instant) => void
}
