// One order, from its record to its outcome.
import { lots, price } from './format.ts'
import { Facts, Section, ReadResult, Time } from './parts.tsx'
import { useAccounts, useReply } from './read.ts'
import { accountName, mayStillAppear, timeInForceText } from './words.ts'

const everyMs = 5_000

const time = (iso: string | undefined) => iso && <Time iso={iso} />
const priceOrNothing = (value: number | undefined) => value !== undefined && price(value)

const cancelledBy = { user: 'its owner', broker: 'the broker', halt: 'the halt' } as const

/** Fields that an order does not have are left out. */
export const OrderPage = ({ id }: { id: string }) => {
  const read = useReply('orders', 'getOrder', [id], {
    everyMs,
    isFinal: ({ data: order }) =>
      !['pending', 'open'].includes(order.status) && !mayStillAppear(order),
  })
  const accounts = useAccounts()
  return (
    <ReadResult read={read}>
      {({ data: order }) => {
        const { accountId, symbol, type, orderType, volume, positionId, rejectReason } = order
        return (
          <>
            <h1>
              Order: {symbol} {type} {orderType.replace('_', ' ')} {lots(volume)} lots
            </h1>
            <Section title="Outcome">
              <Facts
                facts={[
                  ['Account', accountName(accounts.data, accountId)],
                  ['Status', order.status.replace('_', ' ')],
                  [
                    'Why it was rejected',
                    rejectReason && `${rejectReason.message} (${rejectReason.code})`,
                  ],
                  ['Recorded', time(order.createdAt)],
                  ['Filled', time(order.filledAt)],
                  ['Cancelled', time(order.cancelledAt)],
                  ['Cancelled by', order.cancelReason && cancelledBy[order.cancelReason]],
                  ['Expired', time(order.expiredAt)],
                  ['Price', priceOrNothing(order.price)],
                  ['Price of the limit order', priceOrNothing(order.stopLimitPrice)],
                  ['Filled at', priceOrNothing(order.fillPrice)],
                  ['Filled lots', order.filledVolume !== undefined && lots(order.filledVolume)],
                  ['Stop loss', priceOrNothing(order.stopLoss)],
                  ['Take profit', priceOrNothing(order.takeProfit)],
                  ['In force', orderType !== 'market' && timeInForceText(order)],
                  [
                    'Position',
                    positionId && (
                      <a href={`/console/positions/${encodeURIComponent(positionId)}`}>
                        Look at it
                      </a>
                    ),
                  ],
                  ['Comment', order.comment],
                  ['Id of the client', order.clientId],
                  ['Broker ticket', order.brokerOrderId],
                  ['Id', order.id],
                ]}
              />
            </Section>
          </>
        )
      }}
    </ReadResult>
  )
}
