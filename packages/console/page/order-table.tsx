// Working orders: how they are read, and their table, of one account or of all.
import type { Client, Order } from '@tradeport/client'
import { lots } from './format.ts'
import { Table, Time, type Columns } from './parts.tsx'
import { orderTypeNames, priceFormatFor, timeInForceText } from './words.ts'

/** Those that wait for their outcome and those that the broker holds: fifty of each at most. */
export const readWorkingOrders = async (
  client: Client,
  filter: { readonly accountId?: string },
  signal: AbortSignal,
) => {
  const read = (status: 'pending' | 'open') =>
    client.listOrders({ ...filter, status, limit: 50 }, { signal })
  // In this order, so that an order that becomes open meanwhile is in both and not in neither.
  const pending = await read('pending')
  const open = await read('open')
  const orders = new Map([...pending.data, ...open.data].map((order) => [order.id, order]))
  const repeated = pending.data.length + open.data.length - orders.size
  return {
    orders: [...orders.values()],
    total: pending.meta.pagination.total + open.meta.pagination.total - repeated,
    openTotal: open.meta.pagination.total,
  }
}

const pricesOf = ({ price, stopLimitPrice, stopLoss, takeProfit }: Order) =>
  priceFormatFor(price, stopLimitPrice, stopLoss, takeProfit)

export const OrderTable = ({
  working: { orders, total },
  accountOf,
  chosen,
  mayChange,
}: {
  working: Awaited<ReturnType<typeof readWorkingOrders>>
  /** The account's name in a column; undefined leaves the column out. */
  accountOf?: (id: string) => string
  chosen?: string | undefined
  mayChange: boolean
}) => {
  const columns: Columns<Order> = [
    [
      'Symbol',
      ({ id, accountId, symbol, status }) => {
        const isChangeable = mayChange && status === 'open'
        return (
          <a
            href={
              isChangeable
                ? `/console/trading?account=${accountId}&order=${encodeURIComponent(id)}`
                : `/console/orders/${encodeURIComponent(id)}`
            }
            aria-current={id === chosen ? 'true' : undefined}
            title={isChangeable ? 'Change or cancel it' : 'Look at it'}
          >
            {symbol}
          </a>
        )
      },
      'row',
    ],
    accountOf && ['Account', ({ accountId }) => accountOf(accountId)],
    ['Order', ({ type, orderType }) => `${type} ${orderTypeNames[orderType].toLowerCase()}`],
    [
      'Lots',
      ({ volume, filledVolume = 0 }) => (
        <>
          {lots(volume)}
          {filledVolume > 0 && <div class="quiet">{lots(filledVolume)} filled</div>}
        </>
      ),
      'figure',
    ],
    [
      'Price',
      (order) => (
        <>
          {order.price === undefined ? 'market' : pricesOf(order)(order.price)}
          {order.stopLimitPrice !== undefined && (
            <div class="quiet">then limit {pricesOf(order)(order.stopLimitPrice)}</div>
          )}
        </>
      ),
      'figure',
    ],
    ['Stop loss', (order) => pricesOf(order)(order.stopLoss), 'figure'],
    ['Take profit', (order) => pricesOf(order)(order.takeProfit), 'figure'],
    ['Status', ({ status }) => (status === 'open' ? 'at the broker' : 'outcome not known yet')],
    ['In force', (order) => (order.orderType === 'market' ? '–' : timeInForceText(order))],
    ['Created', ({ createdAt }) => <Time iso={createdAt} />],
  ]
  return (
    <>
      <Table
        label="Working orders"
        none="No order is open or pending."
        columns={columns}
        rows={orders}
        keyOf={({ id }) => id}
        classOf={({ id }) => (id === chosen ? 'chosen' : undefined)}
      />
      {total > orders.length && (
        <p class="quiet">
          {orders.length} of {total} are shown.
        </p>
      )}
    </>
  )
}
