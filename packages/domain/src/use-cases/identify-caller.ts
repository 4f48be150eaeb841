// Whose request it is: an access token where one is sent, else an API key; anything that does not prove it is 401 without saying why (5 rules 2, 3 and 6).
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isUsable } from '../access/credential.ts'
import type { Credential } from '../access/credential.ts'
import { unauthorized } from '../errors.ts'
import type { ServiceUnavailable, Unauthorized } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { CredentialStore } from '../ports/credential-store.ts'
import type { Secrets } from '../ports/secrets.ts'

/** What the headers hold; undefined where the header is absent. */
export interface PresentedCredentials {
  readonly apiKey: string | undefined
  readonly accessToken: string | undefined
}

interface Ports {
  readonly credentials: CredentialStore
  readonly secrets: Pick<Secrets, 'hash'>
  readonly clock: Clock
}

export const identifyCaller =
  (ports: Ports) =>
  ({ apiKey, accessToken }: PresentedCredentials): TE.TaskEither<Unauthorized | ServiceUnavailable, Credential> => {
    if (accessToken !== undefined) return usable(ports)(ports.credentials.findAccessToken(ports.secrets.hash(accessToken)))
    if (apiKey !== undefined) return usable(ports)(ports.credentials.findApiKey(ports.secrets.hash(apiKey)))
    return TE.left(unauthorized)
  }

const usable =
  ({ clock }: Ports) =>
  (found: ReturnType<CredentialStore['findApiKey']>): TE.TaskEither<Unauthorized | ServiceUnavailable, Credential> =>
    pipe(found, TE.map(O.filter((credential) => isUsable(credential, clock.now()))), TE.flatMap(TE.fromOption(() => unauthorized)))
