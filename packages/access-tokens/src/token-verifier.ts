// Access tokens by RFC 9068: signed by the issuer with a published key, for this service, and not
// expired.
import { isScope } from '@tradeport/domain/access'
import { refuse, type AsyncResult } from '@tradeport/domain/errors'
import type { Clock, TokenVerifier, VerifiedToken } from '@tradeport/domain/ports'
import { parseTenantId, parseUserId } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as t from 'io-ts'
import { decodeJwt, errors, jwtVerify } from 'jose'
import { createIssuerKeys, describeFailure, type KeysLog } from './issuer-keys.ts'

export interface TokenVerifierOptions {
  /**
   * Exactly the tokens' `iss`: an https:// URL, or http:// to this machine. Its keys are found
   * through its metadata.
   */
  readonly issuer: string
  /** What the tokens' `aud` must name. */
  readonly audience: string
  readonly clock: Clock
  readonly log: KeysLog
  /** How long keys are used before they are read again; five minutes by default. */
  readonly refreshMs?: number
}

export interface IssuerTokenVerifier extends TokenVerifier {
  /** Fails where the issuer's keys cannot be read now. */
  readonly readKeys: AsyncResult<unknown>
}

// Only signatures that a public key verifies: neither unsigned tokens nor shared secrets.
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/**
 * Reads the keys for the first token, later in the background or for a token with an unknown key.
 */
export const createTokenVerifier = ({
  issuer,
  audience,
  clock,
  log,
  refreshMs = 5 * 60_000,
}: TokenVerifierOptions): IssuerTokenVerifier => {
  const keys = createIssuerKeys({ issuer, log, refreshMs })
  const verify = async (token: string): Promise<O.Option<VerifiedToken>> => {
    try {
      const { payload } = await jwtVerify(token, keys.find, {
        algorithms,
        issuer,
        audience,
        // ID tokens of the same issuer have the type JWT.
        typ: 'at+jwt',
        requiredClaims: ['exp'],
        // The issuer's clock may be ahead. Callers compare `expiresAt` with their clock again.
        clockTolerance: 10,
        currentDate: new Date(clock.now()),
      })
      return parseClaims(payload)
    } catch (error) {
      if (error instanceof errors.JOSEError) return O.none
      throw error
    }
  }
  return {
    // Tokens of other issuers cost no request for keys.
    verify: (token) =>
      issuerOf(token) === issuer
        ? TE.tryCatch(() => verify(token), unreadKeys('tokens.verify: '))
        : TE.right(O.none),
    readKeys: TE.tryCatch(keys.read, unreadKeys('')),
  }
}

const unreadKeys = (prefix: string) => (error: unknown) =>
  refuse('ServiceUnavailable', {
    unread: 'token_keys',
    reason: prefix + describeFailure(error),
  })

const issuerOf = (token: string): string | undefined => {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

const claimsCodec = t.intersection([
  t.type({ sub: t.string, tenant: t.string, client_id: t.string, exp: t.number }),
  t.partial({ scope: t.string, jti: t.string }),
])

/** The end of the range of Date. */
const latestSeconds = 8.64e12

/** None where a claim is missing or invalid. Unknown scopes are left out. */
const parseClaims = (payload: unknown): O.Option<VerifiedToken> =>
  pipe(
    O.fromEither(claimsCodec.decode(payload)),
    // The characters of RFC 6749, appendix A.1.
    O.filter((claims) => /^[ -~]{1,256}$/.test(claims.client_id) && claims.exp <= latestSeconds),
    O.bindTo('claims'),
    O.bind('tenantId', ({ claims }) => parseTenantId(claims.tenant)),
    O.bind('userId', ({ claims }) => parseUserId(claims.sub)),
    O.map(({ claims: { client_id: applicationId, exp, scope = '', jti = '' }, ...owner }) => ({
      id: jti,
      owner,
      applicationId,
      scopes: new Set(scope.split(' ').filter(isScope)),
      expiresAt: Math.floor(exp * 1_000),
    })),
  )
