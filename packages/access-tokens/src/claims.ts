// What a token's claims say in the domain's words (RFC 9068, 2.2): sub is the user, and scope is
// separated by spaces.
import { isScope } from '@tradeport/domain/access'
import { parseTenantId, parseUserId } from '@tradeport/domain/primitives'
import type { VerifiedToken } from '@tradeport/domain/ports'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'

const claims = t.intersection([
  t.strict({ sub: t.string, tenant: t.string, client_id: t.string, exp: t.number }),
  t.exact(t.partial({ scope: t.string, jti: t.string })),
])

// What a client may be called (RFC 6749, appendix A.1), within reason.
const applicationIdForm = /^[ -~]{1,256}$/

/**
 * None where a claim is missing or could not be what it stands for. Scopes that are not known here
 * are left out.
 */
export const tokenOfClaims = (payload: unknown): O.Option<VerifiedToken> => {
  const decoded = O.fromEither(claims.decode(payload))
  return pipe(
    O.Do,
    O.bind('claims', () => decoded),
    O.bind('tenantId', ({ claims: { tenant } }) => parseTenantId(tenant)),
    O.bind('userId', ({ claims: { sub } }) => parseUserId(sub)),
    O.bind('applicationId', ({ claims: { client_id: id } }) =>
      applicationIdForm.test(id) ? O.some(id) : O.none,
    ),
    O.map(({ claims: { exp, scope = '', jti = '' }, tenantId, userId, applicationId }) => ({
      id: jti,
      owner: { tenantId, userId },
      applicationId,
      scopes: new Set(scope.split(' ').filter(isScope)),
      expiresAt: Math.floor(exp * 1_000),
    })),
  )
}
