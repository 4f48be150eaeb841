// GET /orders: the caller's orders, newest first, in pages that hold still while orders arrive (4.2; decision 29).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { CallingProgram } from '../access/credential.ts'
import type { AccountNotFound, ServiceUnavailable } from '../errors.ts'
import type { Order } from '../orders/order.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Clock } from '../ports/clock.ts'
import type { OrdersQuery, OrderStore } from '../ports/order-store.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Page } from '../primitives/pages.ts'
import { findAccount } from './steps/find-account.ts'

interface Ports {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly orders: Pick<OrderStore, 'list'>
  readonly clock: Clock
}

export const listOrders =
  (ports: Ports) =>
  ({ owner, program }: CallingProgram, query: OrdersQuery): TE.TaskEither<AccountNotFound | ServiceUnavailable, Page<Order>> =>
    pipe(
      requireNamedAccount(ports)(owner, query.accountId),
      TE.flatMap(() => ports.orders.list(owner, program, query, ports.clock.now())),
    )

const requireNamedAccount =
  (ports: Ports) =>
  (owner: Owner, accountId: OrdersQuery['accountId']): TE.TaskEither<AccountNotFound | ServiceUnavailable, unknown> =>
    accountId === undefined ? TE.right(undefined) : findAccount(ports)(owner, accountId)
