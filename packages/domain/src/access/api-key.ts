// The format of API keys. Generated keys end in a checksum, so that a made-up key is refused
// without reading the database.
import { crc32 } from 'node:zlib'

export const apiKeyPrefix = 'tp_live_'

const shortestSecret = 24
const longestSecret = 248

/** What `isApiKey` accepts, for error messages and documentation. */
export const apiKeyRequirement =
  `${apiKeyPrefix} followed by ${shortestSecret} to ${longestSecret} visible ASCII characters; if those are exactly 40 letters and digits, ` +
  'the last six must be the checksum of a generated key'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 34
const checksumLength = 6

const secretForm = new RegExp(`^[!-~]{${shortestSecret},${longestSecret}}$`)
const generatedForm = /^[0-9A-Za-z]{40}$/

/**
 * A new key: the prefix, 34 random characters and six of checksum, all in base62.
 * @param randomBelow a cryptographically random whole number from 0 to below its argument
 */
export const generateApiKey = (randomBelow: (limit: number) => number): string => {
  const random = Array.from(
    { length: randomLength },
    () => base62[randomBelow(base62.length)],
  ).join('')
  return apiKeyPrefix + random + checksum(random)
}

/**
 * Whether the service can have issued or accepted this text as an API key. Keys that the operator
 * chose carry no checksum, unless they look generated.
 */
export const isApiKey = (text: string): boolean => {
  if (!text.startsWith(apiKeyPrefix)) return false
  const secret = text.slice(apiKeyPrefix.length)
  if (!secretForm.test(secret)) return false
  return (
    !generatedForm.test(secret) ||
    secret.slice(randomLength) === checksum(secret.slice(0, randomLength))
  )
}

// Six base62 digits hold any 32-bit number.
const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < checksumLength; place += 1) {
    digits = base62.charAt(rest % base62.length) + digits
    rest = Math.floor(rest / base62.length)
  }
  return digits
}
