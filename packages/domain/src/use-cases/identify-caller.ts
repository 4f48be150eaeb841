// Whose request it is: an access token where one is sent, stored here or signed by the issuer, else
// an API key. A credential that proves nothing is 401 without a reason, and failed credentials are
// limited per address.
import { pipe } from 'fp-ts/lib/function.js'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isApiKey } from '../access/api-key.ts'
import { isInJwtForm, isUsable } from '../access/credential.ts'
import type { Credential, CredentialHash } from '../access/credential.ts'
import { rateLimitExceeded, unauthorized } from '../errors.ts'
import type { RateLimitExceeded, ServiceUnavailable, Unauthorized } from '../errors.ts'
import type { CallerAddress } from '../ports/address-limits.ts'
import type { Ports } from '../ports/ports.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { TokenVerifier, VerifiedToken } from '../ports/token-verifier.ts'
import { wholeSeconds } from '../primitives/instant.ts'

/**
 * The credentials in the headers, undefined where the header is absent, and where the request comes
 * from.
 */
export interface PresentedCredentials {
  readonly apiKey: string | undefined
  readonly accessToken: string | undefined
  /** Of the caller, not of a trusted proxy. */
  readonly address: CallerAddress
}

interface CallerPorts extends Pick<Ports, 'credentials' | 'addressLimits' | 'clock'> {
  /** Absent where tokens of no issuer are accepted. */
  readonly tokens?: TokenVerifier | undefined
  readonly secrets: Pick<Secrets, 'hash'>
}

type Found = TE.TaskEither<ServiceUnavailable, O.Option<Credential>>

/**
 * A request without a credential counts against no address, and so does one whose credential could
 * not be looked up.
 */
export const identifyCaller =
  (ports: CallerPorts) =>
  ({
    apiKey,
    accessToken,
    address,
  }: PresentedCredentials): TE.TaskEither<
    Unauthorized | ServiceUnavailable | RateLimitExceeded,
    Credential
  > =>
  async () => {
    const { addressLimits, clock } = ports
    const secret = accessToken ?? apiKey
    if (secret === undefined) return E.left(unauthorized)
    const hash = ports.secrets.hash(secret)
    if (!addressLimits.wasAccepted(hash, clock.now())) {
      const waitMs = addressLimits.waitMs(address, clock.now())
      if (waitMs > 0) return E.left(rateLimitExceeded({ scope: 'address' }, wholeSeconds(waitMs)))
      if (accessToken === undefined && !isApiKey(secret)) return refuse(ports, hash, address)
    }
    const found = await (
      accessToken === undefined
        ? ports.credentials.findApiKey(hash)
        : findToken(ports, secret, hash)
    )()
    if (E.isLeft(found)) return found
    const now = clock.now()
    if (O.isSome(found.right) && isUsable(found.right.value, now)) {
      addressLimits.recordAccepted(hash, now)
      return E.right(found.right.value)
    }
    return refuse(ports, hash, address)
  }

const refuse = (
  { addressLimits, clock }: CallerPorts,
  hash: CredentialHash,
  address: CallerAddress,
): E.Either<Unauthorized, never> => {
  addressLimits.recordFailed(hash, address, clock.now())
  return E.left(unauthorized)
}

// A token that the operator stored is found whatever it looks like.
const findToken = (ports: CallerPorts, token: string, hash: CredentialHash): Found => {
  const findStored = (): Found => ports.credentials.findAccessToken(hash)
  if (ports.tokens === undefined || !isInJwtForm(token)) return findStored()
  return pipe(ports.tokens.verify(token), TE.flatMap(O.match(findStored, credentialOf(ports))))
}

const anywhere: Credential['ipAllowlist'] = []

const credentialOf =
  ({ credentials }: CallerPorts) =>
  (token: VerifiedToken): Found =>
    pipe(
      credentials.findUserPlan(token.owner),
      TE.map(
        O.map(({ plan }) => ({
          ...token,
          kind: 'access_token',
          plan,
          ipAllowlist: anywhere,
          enabled: true,
        })),
      ),
    )
