// Encrypts secrets at rest: AES-256-GCM under the service's current key, bound to the row that holds them, so that a ciphertext copied to another
// tenant's row does not open. What an earlier key has sealed opens as long as that key is given too, and is told from the rest by the key's id.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import * as O from 'fp-ts/lib/Option.js'

export interface Cipher {
  /** @param place where the ciphertext will stand: table, column and row */
  readonly encrypt: (place: SecretPlace, secret: string) => Uint8Array
  /** None when the ciphertext was written under a key that is not given, for another place, or was changed. */
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

// The first byte names the layout. In the first one there was no key id: whichever key opens it was the one.
const withoutKeyId = 1
const withKeyId = 2
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
  const currentHead = Buffer.concat([Buffer.of(withKeyId), sealing.id])
  return {
    currentHead,
    encrypt: (place, secret) => {
      // A nonce is never used twice: 96 random bits, one draw for every encryption.
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', sealing.bytes, nonce, { authTagLength: tagBytes })
      cipher.setAAD(bindingOf(withKeyId, place))
      return Buffer.concat([currentHead, nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    decrypt: (place, sealed) => {
      const layout = sealed[0]
      if (layout === withoutKeyId) return firstOpened(keys, (key) => open(key, layout, place, sealed.subarray(1)))
      if (layout !== withKeyId) return O.none
      const id = sealed.subarray(1, 1 + keyIdBytes)
      const named = keys.filter((key) => Buffer.compare(key.id, id) === 0)
      return firstOpened(named, (key) => open(key, layout, place, sealed.subarray(1 + keyIdBytes)))
    },
  }
}

const keyOf = (bytes: Uint8Array): Key => {
  if (bytes.length !== cipherKeyBytes) throw new Error(`the secrets key has ${bytes.length} bytes; it takes ${cipherKeyBytes}`)
  return { bytes, id: createHmac('sha256', bytes).update('tradeport.secrets-key-id').digest().subarray(0, keyIdBytes) }
}

/** @param sealed nonce, ciphertext and tag */
const open = ({ bytes }: Key, layout: number, place: SecretPlace, sealed: Uint8Array): O.Option<string> => {
  if (sealed.length < nonceBytes + tagBytes) return O.none
  const decipher = createDecipheriv('aes-256-gcm', bytes, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(bindingOf(layout, place))
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return O.tryCatch(() => Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString('utf8'))
}

const firstOpened = (keys: readonly Key[], open: (key: Key) => O.Option<string>): O.Option<string> => {
  for (const key of keys) {
    const opened = open(key)
    if (O.isSome(opened)) return opened
  }
  return O.none
}

// JSON keeps the parts apart whatever characters they hold.
const bindingOf = (layout: number, { table, column, rowId }: SecretPlace): Buffer =>
  Buffer.from(JSON.stringify([layout, table, column, rowId]), 'utf8')
