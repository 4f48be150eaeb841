// Encrypts secrets at rest: AES-256-GCM under the service's key, bound to the row that holds them, so that a ciphertext copied to another
// tenant's row does not open.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import * as O from 'fp-ts/lib/Option.js'

export interface Cipher {
  /** @param place where the ciphertext will stand: table, column and row */
  readonly encrypt: (place: SecretPlace, secret: string) => Uint8Array
  /** None when the ciphertext was written under another key, for another place, or was changed. */
  readonly decrypt: (place: SecretPlace, sealed: Uint8Array) => O.Option<string>
}

export interface SecretPlace {
  readonly table: string
  readonly column: string
  readonly rowId: string
}

export const cipherKeyBytes = 32

// The first byte names the key and the layout, so that a later key can stand beside this one while rows are written anew.
const keyVersion = 1
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + nonceBytes

/**
 * @param key 32 bytes
 * @throws when the key has another length; nothing of the key is in the message
 */
export const createCipher = (key: Uint8Array): Cipher => {
  if (key.length !== cipherKeyBytes) throw new Error(`the secrets key has ${key.length} bytes; it takes ${cipherKeyBytes}`)
  return {
    encrypt: (place, secret) => {
      // A nonce is never used twice: 96 random bits, one draw for every encryption.
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
      cipher.setAAD(bindingOf(place))
      return Buffer.concat([Buffer.of(keyVersion), nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    decrypt: (place, sealed) => {
      if (sealed[0] !== keyVersion || sealed.length < headBytes + tagBytes) return O.none
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, headBytes), { authTagLength: tagBytes })
      decipher.setAAD(bindingOf(place))
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      return O.tryCatch(() => Buffer.concat([decipher.update(sealed.subarray(headBytes, -tagBytes)), decipher.final()]).toString('utf8'))
    },
  }
}

// JSON keeps the parts apart whatever characters they hold.
const bindingOf = ({ table, column, rowId }: SecretPlace): Buffer => Buffer.from(JSON.stringify([keyVersion, table, column, rowId]), 'utf8')
