// The keys that an issuer publishes. Those that are known go on proving tokens while its server is
// away; one that a token names and that is not known is looked for, at most once in a second over
// all tokens.
import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { createLocalJWKSet, errors } from 'jose'
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'
import type { Log } from './log.ts'

export interface IssuerKeys {
  /**
   * The key that a token's header names. Rejects with a JOSEError when the issuer has none such,
   * with another error when that cannot be told.
   */
  readonly find: JWTVerifyGetKey
}

interface Parts {
  readonly issuer: string
  readonly log: Log
  readonly refreshMs: number
}

/** The keys cannot be read; the message is for the log. */
class UnreadableKeys extends Error {
  override readonly name = 'UnreadableKeys'
}

const pauseMs = 1_000
const answerTimeoutMs = 5_000

export const createIssuerKeys = ({ issuer, log, refreshMs }: Parts): IssuerKeys => {
  let known: JWTVerifyGetKey | undefined
  let begunAt = -Infinity
  let reading: Promise<JWTVerifyGetKey> | undefined

  const readPaced = async (): Promise<JWTVerifyGetKey> => {
    await setTimeout(Math.max(0, begunAt + pauseMs - performance.now()))
    begunAt = performance.now()
    known = await readKeys(issuer)
    return known
  }
  const read = (): Promise<JWTVerifyGetKey> => {
    reading ??= readPaced().finally(() => {
      reading = undefined
    })
    return reading
  }
  const refresh = (): void => {
    read().catch((error: unknown) =>
      log.warn({ event: 'issuer_keys', reason: describeFailure(error) }),
    )
  }

  return {
    find: async (header, token) => {
      if (known === undefined) return keyIn(await read(), header, token)
      if (performance.now() - begunAt >= refreshMs) refresh()
      try {
        return await keyIn(known, header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
        return keyIn(await read(), header, token)
      }
    },
  }
}

/** The failure in a few words, fit for a log: nothing of a token, and no address. */
export const describeFailure = (error: unknown): string => {
  if (error instanceof UnreadableKeys) return error.message
  if (!(error instanceof Error)) return 'unknown failure'
  const cause: unknown = error.cause ?? error
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
    ? cause.code
    : error.name
}

// A key that is there and cannot be used says nothing of the token.
const keyIn = async (
  keys: JWTVerifyGetKey,
  ...named: Parameters<JWTVerifyGetKey>
): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> => {
  try {
    return await keys(...named)
  } catch (error) {
    if (
      error instanceof errors.JWKSNoMatchingKey ||
      error instanceof errors.JWKSMultipleMatchingKeys
    )
      throw error
    throw new UnreadableKeys('the key that a token names is no usable public key', { cause: error })
  }
}

const readKeys = async (issuer: string): Promise<JWTVerifyGetKey> => {
  const keys = await readJson(await findKeysUrl(issuer))
  try {
    return createLocalJWKSet(keys as JSONWebKeySet)
  } catch (cause) {
    throw new UnreadableKeys('what stands at jwks_uri is no set of keys', { cause })
  }
}

const metadata = t.type({ issuer: t.string, jwks_uri: t.string })

/** By the metadata of OpenID Connect Discovery, or of RFC 8414 where there is none. */
const findKeysUrl = async (issuer: string): Promise<URL> => {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const found = await readJson(new URL(`${origin}${path}/.well-known/openid-configuration`)).catch(
    () => readJson(new URL(`${origin}/.well-known/oauth-authorization-server${path}`)),
  )
  const decoded = metadata.decode(found)
  if (E.isLeft(decoded)) throw new UnreadableKeys('the metadata has no issuer and jwks_uri')
  if (decoded.right.issuer !== issuer)
    throw new UnreadableKeys('the metadata is of another issuer than OAUTH_ISSUER, to the letter')
  return keysUrlOf(decoded.right.jwks_uri, origin)
}

// Whoever can change the keys on their way can sign whatever they like.
const keysUrlOf = (text: string, issuerOrigin: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && (url.protocol === 'https:' || url.origin === issuerOrigin)) return url
  throw new UnreadableKeys('jwks_uri is neither an https:// URL nor on the host of the issuer')
}

const readJson = async (url: URL): Promise<unknown> => {
  const response = await fetch(url, {
    headers: { Accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(answerTimeoutMs),
  })
  if (response.status === 200) return response.json()
  await response.body?.cancel()
  throw new UnreadableKeys(`the issuer answers ${response.status}`)
}
