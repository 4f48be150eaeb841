// Makes and hashes credentials with the platform's randomness and SHA-256.
import { hash, randomBytes } from 'node:crypto'
import { apiKeyPrefix } from '@tradeport/domain'
import type { CredentialHash, Secrets } from '@tradeport/domain'

const secretBytes = 32

export const newSecret = (): string => randomBytes(secretBytes).toString('base64url')

export const createSecrets = (): Secrets => ({
  newApiKey: () => `${apiKeyPrefix}${newSecret()}`,
  newAccessToken: newSecret,
  hash: (secret) => hash('sha256', secret) as CredentialHash,
})
