// Encrypts secrets at rest: AES-256-GCM under the service's current key, bound to the row that
// holds them, so that a ciphertext copied to another tenant's row does not open. What an earlier
// key has sealed opens as long as that key is given too.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import * as O from 'fp-ts/lib/Option.js'

export interface Cipher {
  /** @param place where the ciphertext will stand: table, column and row */
  readonly encrypt: (place: SecretPlace, secret: string) => Uint8Array
  /**
   * None when the ciphertext was written under a key that is not given, for another place, or was
   * changed.
   */
  readonly decrypt: (place: SecretPlace, sealed: Uint8Array) => O.Option<string>
  /** How everything begins that is sealed under the current key, and nothing else. */
  readonly currentHead: Uint8Array
}

export interface SecretPlace {
  readonly table: string
  readonly column: string
  readonly rowId: string
}

const cipherKeyBytes = 32

/** The first byte, which names the layout. */
const layout = 2
const keyIdBytes = 8
const nonceBytes = 12
const tagBytes = 16

interface Key {
  readonly bytes: Uint8Array
  /** Tells keys apart and says nothing of them. */
  readonly id: Buffer
}

/**
 * @param current 32 bytes
 * @param previous keys that open and do not seal, 32 bytes each
 * @throws when a key has another length; nothing of it is in the message
 */
export const createCipher = (current: Uint8Array, previous: readonly Uint8Array[] = []): Cipher => {
  const sealing = keyOf(current)
  const keys = [sealing, ...previous.map(keyOf)]
  const currentHead = headOf(sealing)
  return {
    currentHead,
    encrypt: (place, secret) => {
      // A nonce is never used twice: 96 random bits, one draw for every encryption.
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', sealing.bytes, nonce, {
        authTagLength: tagBytes,
      })
      cipher.setAAD(bindingOf(place))
      return Buffer.concat([
        currentHead,
        nonce,
        cipher.update(secret, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
    },
    decrypt: (place, sealed) => {
      const key = keys.find(
        (one) => Buffer.compare(headOf(one), sealed.subarray(0, headBytes)) === 0,
      )
      return key === undefined ? O.none : open(key, place, sealed.subarray(headBytes))
    },
  }
}

const headBytes = 1 + keyIdBytes

const headOf = ({ id }: Key): Uint8Array => Buffer.concat([Buffer.of(layout), id])

const keyOf = (bytes: Uint8Array): Key => {
  if (bytes.length !== cipherKeyBytes)
    throw new Error(`the secrets key has ${bytes.length} bytes; it takes ${cipherKeyBytes}`)
  return {
    bytes,
    id: createHmac('sha256', bytes)
      .update('tradeport.secrets-key-id')
      .digest()
      .subarray(0, keyIdBytes),
  }
}

/** @param sealed nonce, ciphertext and tag */
const open = ({ bytes }: Key, place: SecretPlace, sealed: Uint8Array): O.Option<string> => {
  if (sealed.length < nonceBytes + tagBytes) return O.none
  const decipher = createDecipheriv('aes-256-gcm', bytes, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(bindingOf(place))
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return O.tryCatch(() =>
    Buffer.concat([
      decipher.update(sealed.subarray(nonceBytes, -tagBytes)),
      decipher.final(),
    ]).toString('utf8'),
  )
}

// JSON keeps the parts apart whatever characters they hold.
const bindingOf = ({ table, column, rowId }: SecretPlace): Buffer =>
  Buffer.from(JSON.stringify([layout, table, column, rowId]), 'utf8')
