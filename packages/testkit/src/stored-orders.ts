// Plain orders, claims and replies to fill stores with.
import type { IdempotencyClaim, StoredReply } from '@tradeport/domain/access'
import type { Account } from '@tradeport/domain/accounts'
import type { OrderId, OrderRequest, PendingOrder } from '@tradeport/domain/orders'
import type { Owner, Instant } from '@tradeport/domain/primitives'
import { newAccountId, newHash } from './stored-records.ts'

/** For tests in which it does not matter who asks. */

let lastOrder = 0

/**
 * One that no other order of this run has, neither whole nor in its first half, which brokers keep.
 * Later ones are greater.
 */
export const newOrderId = (): OrderId =>
  `ord_${String((lastOrder += 1))
    .padStart(10, '0')
    .padEnd(20, '0')}` as OrderId

/** A pending market order, 0.1 lots of EURUSD, on an account that nothing else is known of. */
export const newOrder = (
  owner: Owner,
  createdAt: Instant,
  request: Partial<OrderRequest> = {},
): PendingOrder => ({
  id: newOrderId(),
  owner,
  request: {
    accountId: newAccountId(),
    symbol: 'EURUSD',
    side: 'buy',
    orderType: 'market',
    volume: 0.1,
    ...request,
  },
  status: 'pending',
  createdAt,
  updatedAt: createdAt,
})

export const newOrderOn = (
  { owner, id }: Account,
  createdAt: Instant,
  request: Partial<OrderRequest> = {},
): PendingOrder => newOrder(owner, createdAt, { accountId: id, ...request })

/** A claim of an attempt of its own, to a key of its own for a request of its own. */
export const newClaim = (fields: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
  key: `key-${newHash()}`,
  requestHash: newHash(),
  id: `attempt-${newHash()}`,
  ...fields,
})

export const newReply = (fields: Partial<StoredReply> = {}): StoredReply => ({
  body: JSON.stringify({ data: newHash() }),
  isSecret: false,
  ...fields,
})
