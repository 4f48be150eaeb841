// Reading the terminal's state: account information, positions, and orders that still work.
import { informationOf } from '../books/valuation.ts'
import { positionRow } from '../books/position.ts'
import { shownPositions } from '../faults/lags.ts'
import { placedRow } from '../trading/settle.ts'
import type { OrderRow } from '../rows.ts'
import type { AccountContext, Route } from './context.ts'
import { invalid, notFound, ok, type Reply } from './reply.ts'
import { checkFlag } from './validate.ts'

const base = '/users/current/accounts/:accountId'

const refreshFlag = 'refreshTerminalState'

/** Every route here may be asked for a fresh read; the sandbox's is always fresh, but for positions that are told to lag. */
const fresh =
  (read: (context: AccountContext) => Reply) =>
  (context: AccountContext): Reply => {
    const details = checkFlag(context.query, refreshFlag)
    return details.length > 0 ? invalid(details) : read(context)
  }

/** A fresh read shows what is; it is none of the reads that a lag lasts for. */
const readPositions = ({ account, core, at, lags, query }: AccountContext) => {
  const rows = account.positions.map((position) => positionRow(account.settings, core.market, position, at))
  return query.get(refreshFlag) === 'true' ? rows : shownPositions(lags, rows, at)
}

const readOrders = ({ account }: AccountContext): readonly OrderRow[] =>
  account.placed.map((order) => placedRow(order, account.settings.brokerUtcOffsetHours))

const oneOf = (rows: readonly { readonly id: string }[], id: string, what: string): Reply => {
  const row = rows.find((candidate) => candidate.id === id)
  return row === undefined ? notFound(`${what} ${id} was not found`) : ok(row)
}

export const terminalRoutes: readonly Route[] = [
  {
    name: 'account-information',
    api: 'client',
    method: 'GET',
    path: `${base}/account-information`,
    handle: fresh(({ account, core, at }) => ok(informationOf(account, core.market, at))),
  },
  { name: 'positions', api: 'client', method: 'GET', path: `${base}/positions`, handle: fresh((context) => ok(readPositions(context))) },
  {
    name: 'position',
    api: 'client',
    method: 'GET',
    path: `${base}/positions/:positionId`,
    handle: fresh((context) => oneOf(readPositions(context), context.params['positionId'] ?? '', 'Position')),
  },
  { name: 'orders', api: 'client', method: 'GET', path: `${base}/orders`, handle: fresh((context) => ok(readOrders(context))) },
  {
    name: 'order',
    api: 'client',
    method: 'GET',
    path: `${base}/orders/:orderId`,
    handle: fresh((context) => oneOf(readOrders(context), context.params['orderId'] ?? '', 'Order')),
  },
]
