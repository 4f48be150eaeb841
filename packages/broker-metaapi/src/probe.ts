// Whether the provider accepts a tenant's token, for the operator's doctor: a list of at most one
// account, and the provider's clock from its reply. It does not wait for the gate of the token, and
// what it is answered limits nothing: it is one request each time that the operator asks.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { ProviderStanding } from '@tradeport/domain/operator'
import type { HealthReads } from '@tradeport/domain/ports'
import type { TenantId } from '@tradeport/domain/primitives'
import { isHeaderValue, type MetaApiConfig } from './connection.ts'
import { errorCodeOf } from './failures.ts'

const deadlineMs = 5_000
// A Date header is rounded down to whole seconds.
const halfSecondMs = 500

export const createProviderProbe = ({
  provisioningUrl,
  providerToken,
  clock,
}: Pick<
  MetaApiConfig,
  'provisioningUrl' | 'providerToken' | 'clock'
>): HealthReads['probeProvider'] => {
  const probe = async (tenantId: TenantId): Promise<ProviderStanding> => {
    const found = await providerToken(tenantId)()
    if (E.isLeft(found)) return { kind: 'unreadable_token' }
    if (O.isNone(found.right)) return { kind: 'no_token' }
    if (!isHeaderValue(found.right.value)) return { kind: 'invalid_token' }
    const askedAt = clock.now()
    try {
      const response = await fetch(`${provisioningUrl}/users/current/accounts?limit=1`, {
        headers: { accept: 'application/json', 'auth-token': found.right.value },
        // A redirect would carry the token to wherever it points.
        redirect: 'manual',
        signal: AbortSignal.timeout(deadlineMs),
      })
      const answeredAt = clock.now()
      await response.body?.cancel()
      const { status, headers } = response
      if (status === 401 || status === 403) return { kind: 'refused', status }
      // A 429 does not show whether the token is accepted: some limits are applied before it is
      // checked.
      if (status !== 200) return { kind: 'unavailable', reason: `it answered ${status}` }
      const reportedAt = Date.parse(headers.get('date') ?? '') + halfSecondMs
      return {
        kind: 'accepted',
        clock: Number.isFinite(reportedAt)
          ? { askedAt, reportedAt, answeredAt, toleranceMs: halfSecondMs }
          : null,
      }
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      return {
        kind: 'unavailable',
        reason: isLate ? `no answer within ${deadlineMs} ms` : errorCodeOf(error),
      }
    }
  }
  return (tenantId) => () => probe(tenantId)
}
