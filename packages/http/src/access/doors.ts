// Who may come in: the API's door asks for a key or token with a scope that passes, the operator's for the one token (section 5; decision 1).
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { requireScope, unauthorized } from '@tradeport/domain'
import type { Caller, Refusal, Scope } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type { UseCases } from '../use-cases.ts'
import { isAllowedFrom } from './allowlist.ts'
import { bearerToken, hasQueryCredential, presentedCredentials } from './presented-credentials.ts'

/** What a route asks of whoever calls it. */
export type Access =
  | { readonly kind: 'public' }
  | { readonly kind: 'scoped'; readonly anyOf: readonly Scope[] }
  | { readonly kind: 'operator' }

/** Whoever came in; the public and the operator are no callers. */
export type Admission = E.Either<Refusal, Caller | undefined>
export type Door = (access: Access, request: IncomingMessage, search: URLSearchParams) => Promise<Admission>

const refused: Admission = E.left(unauthorized)
const nobody: Admission = E.right(undefined)

export const createCallerDoor =
  (identifyCaller: UseCases['identifyCaller']): Door =>
  async (access, { headers, socket }, search) => {
    if (access.kind === 'public') return nobody
    if (access.kind === 'operator' || hasQueryCredential(search)) return refused
    const credential = await identifyCaller(presentedCredentials(headers))()
    if (E.isLeft(credential)) return credential
    if (!isAllowedFrom(credential.right.ipAllowlist, socket.remoteAddress)) return refused
    const passed = requireScope(credential.right.scopes, access.anyOf)
    return E.isLeft(passed) ? passed : E.right({ owner: credential.right.owner })
  }

export const createOperatorDoor = (operatorToken: string): Door => {
  const expected = digest(operatorToken)
  return (access, { headers }) => {
    const token = bearerToken(headers)
    // Digests are of one length, so that the comparison's time tells nothing of the token.
    const isOperator = access.kind === 'operator' && token !== undefined && timingSafeEqual(digest(token), expected)
    return Promise.resolve(isOperator ? nobody : refused)
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
