// Encrypts secrets at rest: AES-256-GCM under the service's current key, bound to the row that
// holds them, so that a ciphertext copied to another tenant's row cannot be decrypted. Ciphertexts
// of an earlier key can be decrypted as long as that key is given too.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { SecretKind } from '@tradeport/domain/operator'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { DescribedError } from '../connection/failures.ts'

export interface Cipher {
  /** @param rowId of the row that will hold the ciphertext */
  readonly encrypt: (kind: SecretKind, rowId: string, secret: string) => Uint8Array
  /**
   * None when the ciphertext was written under a key that is not given, for another place, or was
   * changed.
   */
  readonly decrypt: (kind: SecretKind, rowId: string, sealed: Uint8Array) => O.Option<string>
  /**
   * The first bytes of every ciphertext of a key, and of no other: of the current key, then of the
   * earlier ones.
   */
  readonly heads: readonly Uint8Array[]
}

/** What a store that seals secrets needs. */
export interface SealingDependencies {
  readonly knex: Knex
  readonly cipher: Cipher
}

/** Where each kind of secret is stored, and its name in messages. */
export const secretPlaces = {
  provider_token: {
    table: 'tenants',
    column: 'provider_token',
    label: 'the provider token of tenant',
  },
  webhook_secret: { table: 'webhooks', column: 'secret', label: 'the secret of webhook' },
  previous_webhook_secret: {
    table: 'webhooks',
    column: 'previous_secret',
    label: 'the previous secret of webhook',
  },
  kept_reply: { table: 'idempotency_keys', column: 'sealed_reply_body', label: 'the kept reply' },
} as const satisfies Record<SecretKind, object>

/** @throws DescribedError where no key of the service decrypts it */
export const openSecret = (
  cipher: Cipher,
  kind: SecretKind,
  id: string,
  sealed: Uint8Array,
): string => {
  const secret = cipher.decrypt(kind, id, sealed)
  if (O.isNone(secret))
    throw new DescribedError(
      `${secretPlaces[kind].label} ${id} cannot be decrypted; was it written under another secrets key?`,
    )
  return secret.value
}

const algorithm = 'aes-256-gcm'

/** The first byte, which names the layout. */
const layout = 2
const keyIdBytes = 8
const headBytes = 1 + keyIdBytes
const nonceBytes = 12
const tagBytes = 16

interface Key {
  readonly bytes: Uint8Array
  /** Distinguishes keys and reveals nothing of them. */
  readonly head: Buffer
}

/**
 * @param current 32 bytes
 * @param previous keys that only decrypt, 32 bytes each
 */
export const createCipher = (current: Uint8Array, previous: readonly Uint8Array[] = []): Cipher => {
  const sealing = keyOf(current)
  const keys = [sealing, ...previous.map(keyOf)]
  return {
    heads: keys.map(({ head }) => head),
    encrypt: (kind, rowId, secret) => {
      // 96 random bits for every encryption: a nonce is never used twice.
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, sealing.bytes, nonce, { authTagLength: tagBytes })
      cipher.setAAD(bindingOf(kind, rowId))
      return Buffer.concat([
        sealing.head,
        nonce,
        cipher.update(secret, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
    },
    decrypt: (kind, rowId, sealed) => {
      const key = keys.find(({ head }) => head.equals(sealed.subarray(0, headBytes)))
      if (key === undefined || sealed.length < headBytes + nonceBytes + tagBytes) return O.none
      const textStart = headBytes + nonceBytes
      const decipher = createDecipheriv(
        algorithm,
        key.bytes,
        sealed.subarray(headBytes, textStart),
        { authTagLength: tagBytes },
      )
      decipher.setAAD(bindingOf(kind, rowId))
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      return O.tryCatch(() =>
        Buffer.concat([
          decipher.update(sealed.subarray(textStart, -tagBytes)),
          decipher.final(),
        ]).toString('utf8'),
      )
    },
  }
}

const keyOf = (bytes: Uint8Array): Key => {
  const id = createHmac('sha256', bytes).update('tradeport.secrets-key-id').digest()
  return { bytes, head: Buffer.concat([Buffer.of(layout), id.subarray(0, keyIdBytes)]) }
}

// JSON keeps the parts apart whatever characters they hold.
const bindingOf = (kind: SecretKind, rowId: string): Buffer => {
  const { table, column } = secretPlaces[kind]
  return Buffer.from(JSON.stringify([layout, table, column, rowId]), 'utf8')
}
