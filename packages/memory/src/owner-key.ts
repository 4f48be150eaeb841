// What a cached value of a user is kept under.
import type { Owner } from '@tradeport/domain/primitives'

/** The length keeps two owners apart whatever their ids hold. */
export const ownerKey = ({ tenantId, userId }: Owner): string =>
  `${tenantId.length} ${tenantId} ${userId}`
