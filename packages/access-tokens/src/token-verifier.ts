// Access tokens as RFC 9068 has them: signed by the issuer with a key that it publishes, for this
// service, and in time.
import { tokenKeysUnavailable } from '@tradeport/domain/errors'
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type { Clock, TokenVerifier, VerifiedToken } from '@tradeport/domain/ports'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { decodeJwt, errors, jwtVerify } from 'jose'
import type { JWTVerifyOptions } from 'jose'
import { tokenOfClaims } from './claims.ts'
import { createIssuerKeys, describeFailure } from './issuer-keys.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { Log } from './log.ts'

export interface TokenVerifierOptions {
  /** Exactly as the tokens' `iss` has it: an https:// URL, or http:// to this machine. Its keys are found by its metadata. */
  readonly issuer: string
  /** What the tokens' `aud` must name. */
  readonly audience: string
  readonly clock: Clock
  readonly log: Log
  /**
   * After how long the keys are read anew, so that one which the issuer withdrew is no longer
   * believed; five minutes when left out.
   */
  readonly refreshMs?: number
}

// Signatures that are checked with a public key alone: a token that is unsigned, or signed with a
// secret, is none of the issuer's.
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

/**
 * How far the issuer's clock may be ahead. A token that has expired is never taken: whoever uses it
 * looks at that again, to the millisecond.
 */
const clockToleranceSeconds = 10

/**
 * Reads the keys when it is first asked, and after that in the background or for a token that names
 * one it does not know.
 */
export const createTokenVerifier = ({
  issuer,
  audience,
  clock,
  log,
  refreshMs = 5 * 60_000,
}: TokenVerifierOptions): TokenVerifier => {
  const keys = createIssuerKeys({ issuer, log, refreshMs })
  const demands: JWTVerifyOptions = {
    algorithms,
    issuer,
    audience,
    // An ID token of the same issuer says JWT, and is no access token.
    typ: 'at+jwt',
    requiredClaims: ['exp'],
    clockTolerance: clockToleranceSeconds,
  }
  return {
    verify: (token) =>
      issuerOf(token) === issuer
        ? TE.tryCatch(
            () => verify(token, keys, { ...demands, currentDate: new Date(clock.now()) }),
            toUnavailable,
          )
        : TE.right(O.none),
  }
}

const verify = async (
  token: string,
  keys: IssuerKeys,
  demands: JWTVerifyOptions,
): Promise<O.Option<VerifiedToken>> => {
  try {
    return tokenOfClaims((await jwtVerify(token, keys.find, demands)).payload)
  } catch (error) {
    if (error instanceof errors.JOSEError) return O.none
    throw error
  }
}

/** Who the token says it is of, believed only as far as that others' tokens need no keys. */
const issuerOf = (token: string): string | undefined => {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

const toUnavailable = (error: unknown): ServiceUnavailable =>
  tokenKeysUnavailable(`tokens.verify: ${describeFailure(error)}`)
