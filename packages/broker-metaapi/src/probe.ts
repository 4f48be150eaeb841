// Whether the provider takes a tenant's token, for the operator's doctor: one list of accounts that
// asks for a single one, and what its reply tells of the clock.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { ClockReading, ProviderStanding } from '@tradeport/domain/operator'
import type { ProviderProbe } from '@tradeport/domain/ports'
import type { TenantId } from '@tradeport/domain/primitives'
import { isHeaderValue } from './connection.ts'
import type { MetaApiConfig } from './connection.ts'
import { errorCodeOf } from './failures.ts'

const deadlineMs = 5_000
// A Date header tells whole seconds, rounded down.
const halfSecondMs = 500

export const createProviderProbe = ({
  provisioningUrl,
  providerToken,
  clock,
}: MetaApiConfig): ProviderProbe => {
  const probe = async (tenantId: TenantId): Promise<ProviderStanding> => {
    const found = await providerToken(tenantId)()
    if (E.isLeft(found))
      return { kind: 'unavailable', reason: 'the token cannot be read from the database' }
    if (O.isNone(found.right) || !isHeaderValue(found.right.value)) return { kind: 'no_token' }
    const askedAt = clock.now()
    try {
      const response = await fetch(
        `${provisioningUrl.replace(/\/+$/, '')}/users/current/accounts?limit=1`,
        {
          headers: { accept: 'application/json', 'auth-token': found.right.value },
          // A redirect would carry the token to wherever it points.
          redirect: 'manual',
          signal: AbortSignal.timeout(deadlineMs),
        },
      )
      const answeredAt = clock.now()
      await response.body?.cancel()
      return standingOf(response, askedAt, answeredAt)
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      return {
        kind: 'unavailable',
        reason: isLate ? `no answer within ${deadlineMs} ms` : errorCodeOf(error),
      }
    }
  }
  return { probe: (tenantId) => () => probe(tenantId) }
}

const standingOf = (
  { status, headers }: Response,
  askedAt: number,
  answeredAt: number,
): ProviderStanding => {
  if (status === 200)
    return { kind: 'accepted', clock: clockOf(headers.get('date'), askedAt, answeredAt) }
  if (status === 401 || status === 403) return { kind: 'refused', status }
  // Also 429: some limits are applied before the token is looked at.
  return { kind: 'unavailable', reason: `it answered ${status}` }
}

const clockOf = (date: string | null, askedAt: number, answeredAt: number): ClockReading | null => {
  const told = Date.parse(date ?? '') + halfSecondMs
  return Number.isFinite(told) ? { askedAt, told, answeredAt, toleranceMs: halfSecondMs } : null
}
