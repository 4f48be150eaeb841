// The keys that an issuer publishes. Known keys stay in use while its server is unavailable. A
// token with an unknown key has them read again. Such reads are shared, and start at least a second
// apart, so that a token may wait.
import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'

/** A pino logger fits. No token is logged. */
export interface KeysLog {
  readonly warn: (event: { readonly event: string; readonly reason: string }) => void
}

interface IssuerKeysOptions {
  readonly issuer: string
  readonly log: KeysLog
  readonly refreshMs: number
}

/** The keys cannot be read or used; the message is for the log. */
class UnreadableKeys extends Error {
  override readonly name = 'UnreadableKeys'
}
class NotFound extends UnreadableKeys {}

const readIntervalMs = 1_000
const answerTimeoutMs = 5_000
const maxAnswerCharacters = 1_048_576

export interface IssuerKeys {
  /**
   * Finds the key that a token's header names. Rejects with a JOSEError if the issuer has no such
   * key, or several; with another error if the keys could not be read.
   */
  readonly find: JWTVerifyGetKey
  /** Reads the keys, and uses them from then on. Rejects if they cannot be read. */
  readonly read: () => Promise<unknown>
}

export const createIssuerKeys = ({ issuer, log, refreshMs }: IssuerKeysOptions): IssuerKeys => {
  let known: JWTVerifyGetKey | undefined
  let lastReadStartedAt = -Infinity
  let reading: Promise<JWTVerifyGetKey> | undefined

  const readPaced = async (): Promise<JWTVerifyGetKey> => {
    await setTimeout(Math.max(0, lastReadStartedAt + readIntervalMs - performance.now()))
    lastReadStartedAt = performance.now()
    known = await readKeys(issuer)
    return known
  }
  const read = (): Promise<JWTVerifyGetKey> => {
    reading ??= readPaced().finally(() => {
      reading = undefined
    })
    return reading
  }

  const find: JWTVerifyGetKey = async (...token) => {
    if (known !== undefined && performance.now() - lastReadStartedAt >= refreshMs)
      read().catch((error: unknown) =>
        log.warn({ event: 'issuer_keys', reason: describeFailure(error) }),
      )
    // A read that is under way may have begun before the key was published: a new one may have it.
    for (const keys of [known, reading])
      try {
        if (keys !== undefined) return await findKey(await keys, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      }
    return findKey(await read(), token)
  }
  return { find, read }
}

/** The failure in a few words for a log, without a token or an address. */
export const describeFailure = (error: unknown): string => {
  if (error instanceof UnreadableKeys) return error.message
  if (!(error instanceof Error)) return 'unknown failure'
  const cause: unknown = error.cause ?? error
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
    ? cause.code
    : error.name
}

// That a published key is unusable does not mean that the token is bad.
const findKey = async (
  keys: JWTVerifyGetKey,
  token: Parameters<JWTVerifyGetKey>,
): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> => {
  try {
    return await keys(...token)
  } catch (error) {
    if (
      error instanceof errors.JWKSNoMatchingKey ||
      error instanceof errors.JWKSMultipleMatchingKeys
    )
      throw error
    throw new UnreadableKeys('the key that a token names is unusable', { cause: error })
  }
}

const metadata = t.type({ issuer: t.string, jwks_uri: t.string })

const readKeys = async (issuer: string): Promise<JWTVerifyGetKey> => {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  // OpenID Connect Discovery, or RFC 8414.
  const found = await readJson(`${origin}${path}/.well-known/openid-configuration`).catch(
    (error: unknown) => {
      if (error instanceof NotFound)
        return readJson(`${origin}/.well-known/oauth-authorization-server${path}`)
      throw error
    },
  )
  const decoded = metadata.decode(found)
  if (E.isLeft(decoded)) throw new UnreadableKeys('the metadata lacks issuer or jwks_uri')
  const { issuer: named, jwks_uri: uri } = decoded.right
  if (named !== issuer)
    throw new UnreadableKeys('the issuer in the metadata is not exactly OAUTH_ISSUER')
  // Whoever can change the keys in transit can sign anything: https, except from the issuer itself.
  const url = URL.parse(uri)
  if (url?.protocol !== 'https:' && url?.origin !== origin)
    throw new UnreadableKeys('jwks_uri is neither an https:// URL nor on the host of the issuer')
  const keys = (await readJson(uri)) as JSONWebKeySet
  try {
    const found = createLocalJWKSet(keys)
    if (keys.keys.length > 0) return found
  } catch (cause) {
    throw new UnreadableKeys('jwks_uri returned no set of keys', { cause })
  }
  throw new UnreadableKeys('jwks_uri returned an empty set of keys')
}

const readJson = async (url: string): Promise<unknown> => {
  const response = await fetch(url, {
    headers: { Accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(answerTimeoutMs),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    const Failure = response.status === 404 ? NotFound : UnreadableKeys
    throw new Failure(`the issuer answers ${response.status}`)
  }
  let text = ''
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part
    if (text.length > maxAnswerCharacters)
      throw new UnreadableKeys(
        `the issuer answers with more than ${maxAnswerCharacters} characters`,
      )
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UnreadableKeys('the issuer answers with something that is not JSON', { cause })
  }
}
