// Whose request it is: an access token where one is sent, stored here or signed by the issuer, else
// an API key. A credential that is unknown, expired, revoked or not allowed from there is 401 without
// a reason, and failed credentials are limited per address.
import { pipe } from 'fp-ts/lib/function.js'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isApiKey } from '../access/api-key.ts'
import {
  isInJwtForm,
  isUsable,
  scopes,
  type Credential,
  type CredentialHash,
  type Scope,
  type ScopedCaller,
} from '../access/credential.ts'
import type { LimitStanding } from '../access/rate-limits.ts'
import { refuse, type AsyncResult } from '../errors.ts'
import type { CallerAddress, Ports, TokenVerifier } from '../ports/index.ts'
import type { Owner } from '../primitives/ids.ts'
import { wholeSeconds } from '../primitives/instant.ts'
import { createTurns } from './steps/turns.ts'

/**
 * The credentials in the headers, undefined where the header is absent, and where the request comes
 * from.
 */
export interface PresentedCredentials {
  readonly apiKey: string | undefined
  readonly accessToken: string | undefined
  /** Of the caller, not of a trusted proxy. */
  readonly address: CallerAddress
  /** Whether an accepted request is checked again: its address is neither limited nor counted. */
  readonly isRepeated?: boolean
  /** Whether the address is in an allowlist. */
  readonly isAllowedBy: (allowlist: Credential['ipAllowlist']) => boolean
}

interface CallerPorts extends Pick<Ports, 'credentials' | 'addressLimits' | 'secrets' | 'clock'> {
  /** Absent where tokens of no issuer are accepted. */
  readonly tokens?: TokenVerifier | undefined
}

type Identification = AsyncResult<Credential, 'Unauthorized' | 'RateLimitExceeded'>

/**
 * Only refused credentials count against an address: neither missing ones do, nor those that could
 * not be looked up, as where the database cannot be read.
 */
export const identifyCaller = (ports: CallerPorts) => {
  const { addressLimits, clock } = ports
  // Bounds how many guesses that come at once pass before their failures are counted.
  const inTurn = createTurns({ atOnce: 16, waiting: 1_000, what: 'credentials of the address' })
  return ({
    apiKey,
    accessToken,
    address,
    isRepeated = false,
    isAllowedBy,
  }: PresentedCredentials): Identification =>
    async () => {
      const secret = accessToken ?? apiKey
      if (secret === undefined) return E.left(refuse('Unauthorized'))
      const hash = ports.secrets.hash(secret)
      const countAndRefuse = () => {
        if (!isRepeated) addressLimits.recordFailed(hash, address, clock.now())
        return E.left(refuse('Unauthorized'))
      }
      const lookUp: Identification = async () => {
        const found = await (
          accessToken === undefined
            ? ports.credentials.findApiKey(hash)
            : findToken(ports, secret, hash)
        )()
        if (E.isLeft(found)) return found
        const now = clock.now()
        const credential = O.toUndefined(found.right)
        if (!credential || !isUsable(credential, now) || !isAllowedBy(credential.ipAllowlist))
          return countAndRefuse()
        addressLimits.recordAccepted(hash, address, now)
        return E.right(credential)
      }
      // What was accepted from the address within the last minute is looked up at once.
      const unlessLimited = async (next: Identification): ReturnType<Identification> => {
        const now = clock.now()
        if (isRepeated || addressLimits.wasAccepted(hash, address, now)) return lookUp()
        const waitMs = addressLimits.waitMs(address, now)
        if (waitMs === 0) return next()
        const retryAfterSeconds = wholeSeconds(waitMs)
        return E.left(
          refuse('RateLimitExceeded', { exceeded: { scope: 'address' }, retryAfterSeconds }),
        )
      }
      return unlessLimited(async () =>
        accessToken === undefined && !isApiKey(secret)
          ? countAndRefuse()
          : // Asked again in its turn: the address may have become limited meanwhile.
            inTurn(addressLimits.groupOf(address), () => unlessLimited(lookUp))(),
      )
    }
}

/** A caller with the whole credential and what is left of its limits. */
export interface DescribedCaller extends ScopedCaller {
  readonly credential: Credential
  /** After this request was counted. */
  readonly limits: readonly LimitStanding[]
}

/** GET /me: the caller's credential as it is now, with what it may do and how often. */
export interface CallerDescription {
  readonly owner: Owner
  readonly credential: Pick<Credential, 'kind' | 'id' | 'expiresAt' | 'plan'>
  /** Those of the credential, in the order of `scopes`. */
  readonly scopes: readonly Scope[]
  readonly limits: readonly LimitStanding[]
  readonly capabilities: readonly string[]
}

/** @param capabilities those that are enabled */
export const getMe =
  (capabilities: readonly string[]) =>
  ({ owner, credential, limits }: DescribedCaller): AsyncResult<CallerDescription> =>
    TE.right({
      owner,
      credential,
      scopes: scopes.filter((scope) => credential.scopes.has(scope)),
      limits,
      capabilities,
    })

// A token that the operator stored is found whatever it looks like.
const findToken = (
  { credentials, tokens }: CallerPorts,
  token: string,
  hash: CredentialHash,
): AsyncResult<O.Option<Credential>> =>
  pipe(
    tokens === undefined || !isInJwtForm(token) ? TE.right(O.none) : tokens.verify(token),
    TE.flatMap(
      O.match(
        () => credentials.findAccessToken(hash),
        (verified) =>
          pipe(
            credentials.findUserPlan(verified.owner),
            TE.map(
              O.map(({ plan }) => ({
                ...verified,
                kind: 'access_token',
                plan,
                // From any address.
                ipAllowlist: [],
                enabled: true,
              })),
            ),
          ),
      ),
    ),
  )
