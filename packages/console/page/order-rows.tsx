// Working orders as a table, of one account or of all.
import type { Order } from '@tradeport/client'
import { lots } from './format.ts'
import { figureHeads, heads, Scroll, Time } from './parts.tsx'
import { kindNames, sameDigits, untilOf } from './words.ts'

export const OrderRows = ({
  orders,
  accountOf,
  chosen,
  mayChange,
}: {
  orders: readonly Order[]
  /** The account's name in a column; undefined leaves the column out. */
  accountOf?: ((id: string) => string) | undefined
  chosen?: string | undefined
  mayChange: boolean
}) => (
  <Scroll label="Working orders">
    <table>
      <thead>
        <tr>
          <th scope="col">Symbol</th>
          {accountOf !== undefined && <th scope="col">Account</th>}
          {heads('Order')}
          {figureHeads('Lots', 'Price', 'Stop loss', 'Take profit')}
          {heads('Status', 'Holds', 'Created')}
        </tr>
      </thead>
      <tbody>
        {orders.map((order) => {
          const { id, symbol, type, orderType, volume, filledVolume = 0, status } = order
          const isHeld = status === 'open'
          const { price, stopLimitPrice, stopLoss, takeProfit } = order
          const format = sameDigits(price, stopLimitPrice, stopLoss, takeProfit)
          return (
            <tr key={id} class={id === chosen ? 'chosen' : undefined}>
              <th scope="row">
                <a
                  href={
                    isHeld && mayChange
                      ? `/console/trading?account=${order.accountId}&order=${encodeURIComponent(id)}`
                      : `/console/orders/${encodeURIComponent(id)}`
                  }
                  aria-current={id === chosen ? 'true' : undefined}
                  title={isHeld && mayChange ? 'Change or cancel it' : 'Look at it'}
                >
                  {symbol}
                </a>
              </th>
              {accountOf !== undefined && <td>{accountOf(order.accountId)}</td>}
              <td class={type}>
                {type} {kindNames[orderType].toLowerCase()}
              </td>
              <td class="figure">
                {lots(volume)}
                {filledVolume > 0 && <div class="quiet">{lots(filledVolume)} filled</div>}
              </td>
              <td class="figure">
                {price === undefined ? 'market' : format(price)}
                {stopLimitPrice !== undefined && (
                  <div class="quiet">then limit {format(stopLimitPrice)}</div>
                )}
              </td>
              <td class="figure">{format(stopLoss)}</td>
              <td class="figure">{format(takeProfit)}</td>
              <td>{isHeld ? 'at the broker' : 'outcome not known yet'}</td>
              <td>{orderType === 'market' ? '–' : untilOf(order)}</td>
              <td>
                <Time iso={order.createdAt} />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </Scroll>
)
