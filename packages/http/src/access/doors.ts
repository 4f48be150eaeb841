// Who may come in: the API's door asks for a key or token within its limits and with a scope that passes, the operator's for the one token
// (section 5; 8.1; decision 1).
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { programOf, requireScope, unauthorized } from '@tradeport/domain'
import type { CallingProgram, Clock, Credential, EndpointLimit, RateLimiter, RateVerdict, Refusal, Scope } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type { UseCases } from '../use-cases.ts'
import { isAllowedFrom } from './allowlist.ts'
import { callerAddress } from './caller-address.ts'
import type { TrustedProxies } from './caller-address.ts'
import { bearerToken, hasQueryCredential, presentedCredentials } from './presented-credentials.ts'

/** What a route asks of whoever calls it. */
export type Access =
  | { readonly kind: 'public' }
  | { readonly kind: 'scoped'; readonly anyOf: readonly Scope[] }
  | { readonly kind: 'operator' }

/** What a door looks at of a route. */
export interface GuardedRoute {
  readonly access: Access
  readonly limit: EndpointLimit | undefined
}

export interface Admission {
  /** Whoever came in; the public and the operator are no callers. */
  readonly outcome: E.Either<Refusal, CallingProgram | undefined>
  /** What every reply tells of the limits, also one that refuses; undefined where the request counts against none. */
  readonly rate?: RateVerdict
}
export type Door = (route: GuardedRoute, request: IncomingMessage, search: URLSearchParams) => Promise<Admission>

export interface CallerDoorOptions {
  readonly identifyCaller: UseCases['identifyCaller']
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly trustedProxies: TrustedProxies
}

const refused: Admission = { outcome: E.left(unauthorized) }
const refusedOperator: Admission = { outcome: E.left({ ...unauthorized, isOperators: true }) }
const nobody: Admission = { outcome: E.right(undefined) }

export const createCallerDoor = ({ identifyCaller, limiter, clock, trustedProxies }: CallerDoorOptions): Door => {
  const identify = async (request: IncomingMessage): Promise<E.Either<Refusal, Credential>> => {
    const credential = await identifyCaller(presentedCredentials(request.headers))()
    if (E.isLeft(credential) || credential.right.ipAllowlist.length === 0) return credential
    return isAllowedFrom(credential.right.ipAllowlist, callerAddress(trustedProxies, request)) ? credential : E.left(unauthorized)
  }

  return async ({ access, limit }, request, search) => {
    if (access.kind === 'operator' || (access.kind === 'scoped' && hasQueryCredential(search))) return refused
    const credential = await identify(request)
    // Where none is asked for, what is no good credential is as good as none (decision 9).
    if (E.isLeft(credential)) return access.kind === 'public' ? nobody : { outcome: credential }
    const decided = limiter.decide(credential.right, limit, clock.now())
    const rate = decided instanceof Promise ? await decided : decided
    if (rate.refusal !== null) return { outcome: E.left(rate.refusal), rate }
    if (access.kind === 'public') return { ...nobody, rate }
    const passed = requireScope(credential.right.scopes, access.anyOf)
    return { outcome: E.isLeft(passed) ? passed : E.right(callerOf(credential.right)), rate }
  }
}

const callerOf = (credential: Credential): CallingProgram => ({ owner: credential.owner, program: programOf(credential) })

export const createOperatorDoor = (operatorToken: string): Door => {
  const isOperator = isBearerOf(operatorToken)
  return ({ access }, { headers }) => Promise.resolve(access.kind === 'operator' && isOperator(headers) ? nobody : refusedOperator)
}

/** Whether a request brings this very token. */
export const isBearerOf = (expectedToken: string): ((headers: IncomingMessage['headers']) => boolean) => {
  const expected = digest(expectedToken)
  return (headers) => {
    const token = bearerToken(headers)
    // Digests are of one length, so that the comparison's time tells nothing of the token.
    return token !== undefined && timingSafeEqual(digest(token), expected)
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
