// Makes and hashes credentials; randomness and digests are not for the pure rooms.
import type { CredentialHash } from '../access/credential.ts'

export interface Secrets {
  /** A new key with its checksum. */
  readonly newApiKey: () => string
  readonly newAccessToken: () => string
  readonly hash: (secret: string) => CredentialHash
}
