// Whose request it is: an access token where one is sent, stored here or signed by the issuer, else an API key. Anything that does not prove it is
// 401 without saying why (5 rules 2, 3 and 6; decision 12).
import { pipe } from 'fp-ts/lib/function.js'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isInJwtForm, isUsable } from '../access/credential.ts'
import type { Credential } from '../access/credential.ts'
import { unauthorized } from '../errors.ts'
import type { ServiceUnavailable, Unauthorized } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { CredentialStore } from '../ports/credential-store.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { TokenVerifier, VerifiedToken } from '../ports/token-verifier.ts'

/** What the headers hold; undefined where the header is absent. */
export interface PresentedCredentials {
  readonly apiKey: string | undefined
  readonly accessToken: string | undefined
}

interface Ports {
  readonly credentials: CredentialStore
  /** Absent where tokens of no issuer are taken. */
  readonly tokens?: TokenVerifier | undefined
  readonly secrets: Pick<Secrets, 'hash'>
  readonly clock: Clock
}

type Found = TE.TaskEither<ServiceUnavailable, O.Option<Credential>>

export const identifyCaller =
  (ports: Ports) =>
  ({ apiKey, accessToken }: PresentedCredentials): TE.TaskEither<Unauthorized | ServiceUnavailable, Credential> => {
    if (accessToken !== undefined) return usable(ports)(findToken(ports)(accessToken))
    if (apiKey !== undefined) return usable(ports)(ports.credentials.findApiKey(ports.secrets.hash(apiKey)))
    return TE.left(unauthorized)
  }

// A token that the operator stored is found whatever it looks like.
const findToken =
  (ports: Ports) =>
  (text: string): Found => {
    const findStored = (): Found => ports.credentials.findAccessToken(ports.secrets.hash(text))
    if (ports.tokens === undefined || !isInJwtForm(text)) return findStored()
    return pipe(ports.tokens.verify(text), TE.flatMap(O.match(findStored, credentialOf(ports))))
  }

const anywhere: Credential['ipAllowlist'] = []

const credentialOf =
  ({ credentials }: Ports) =>
  (token: VerifiedToken): Found =>
    pipe(
      credentials.findUserPlan(token.owner),
      TE.map(O.map(({ plan }) => ({ ...token, kind: 'access_token', plan, ipAllowlist: anywhere, enabled: true }))),
    )

// On the way of every request: written out, because each step of a pipe costs as much as what is done here.
const usable =
  ({ clock }: Ports) =>
  (find: Found): TE.TaskEither<Unauthorized | ServiceUnavailable, Credential> =>
  async () => {
    const found = await find()
    if (E.isLeft(found)) return found
    const credential = found.right
    return O.isSome(credential) && isUsable(credential.value, clock.now()) ? E.right(credential.value) : E.left(unauthorized)
  }
