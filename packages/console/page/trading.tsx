// Trading on one account: a new order or a change of what is held, beside the prices, and lists of
// what is held.
import type { Account, Order, Position } from '@tradeport/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { timeframeNames, usualTimeframe } from './candles.ts'
import { HeldSection, OrderForm, PositionForm, shownOf, type Edits } from './change-forms.tsx'
import { AccountFilter, useChoice } from './filters.tsx'
import { decimalsOf } from './format.ts'
import { useQuery } from './location.ts'
import { OrderTable } from './order-table.tsx'
import { initialTicket, OrderTicket } from './order-ticket.tsx'
import { Notice, ReadResult, ReadSection, Section } from './parts.tsx'
import { useAccounts, type Read } from './read.ts'
import { SendQuestion, type Question } from './send-question.tsx'
import { useSession } from './session.ts'
import { HaltSection, PositionList } from './trading-lists.tsx'
import { linesOfFields, PricePanel, type PriceField } from './trading-prices.tsx'
import { useHoldings, useMarket } from './trading-reads.ts'
import { unknownAccount } from './words.ts'
import { createWrites } from './writes.ts'

export const Trading = () => {
  const query = useQuery()
  const { whyHidden } = useSession()
  // For keys that may read accounts, and change what is held or place orders.
  const whyPageHidden = (whyHidden('changing') && whyHidden('ordering')) ?? whyHidden('accounts')
  const accounts = useAccounts()
  return (
    <ReadResult read={{ ...accounts, whyHidden: whyPageHidden }}>
      {(all) => {
        const wanted = query.get('account')
        const account = wanted
          ? all.find(({ id }) => id === wanted)
          : (all.find(isTradable) ?? all[0])
        if (all.length === 0)
          return <Notice>No account that could be traded is linked to this user.</Notice>
        return (
          <>
            <form class="filters">
              <AccountFilter
                accounts={accounts}
                value={account?.id ?? ''}
                none={account ? undefined : 'Choose…'}
              />
            </form>
            {account && isTradable(account) ? (
              <AccountTrading key={account.id} account={account} />
            ) : (
              <Notice>
                {account === undefined
                  ? unknownAccount(wanted ?? '')
                  : `${account.name} cannot be traded here. Only demo accounts at a broker, whose purpose is trading, can.`}
              </Notice>
            )}
          </>
        )
      }}
    </ReadResult>
  )
}

const isTradable = ({ isDemo, purpose, brokerType }: Account): boolean =>
  isDemo && purpose === 'trading' && brokerType !== 'paper'

/** Without data where the last read failed: what was read earlier may not be held any more. */
const withoutStaleData = <A,>(read: Read<A>): Read<A> =>
  read.failure ? { ...read, data: undefined } : read

/** Its prices, without those that it does not have. */
const pricesOf = (held: Position | Order | undefined): readonly number[] =>
  held === undefined
    ? []
    : [
        'entryPrice' in held ? [held.entryPrice, held.currentPrice] : held.price,
        held.stopLoss,
        held.takeProfit,
      ]
        .flat()
        .filter((price) => price !== undefined)

const AccountTrading = ({ account }: { account: Account }) => {
  const query = useQuery()
  const { client, whyHidden } = useSession()
  const mayOrder = !whyHidden('ordering')
  const whyReadOnly = whyHidden('changing')
  const write = createWrites(client, account)
  const [ticket, setTicket] = useState(initialTicket)
  const [edits, setEdits] = useState<Edits>({})
  // Clears the edits of this render: what is typed later, while a write is under way, stays.
  const clearEdits = (): void => setEdits((last) => (last === edits ? {} : last))

  const { positions, orders, halt } = useHoldings(account.id)
  const openCount = withoutStaleData(positions).data?.length
  const orderCount = withoutStaleData(orders).data?.openTotal
  // Ignore a selection that the API key may not change: the page then shows the ticket and its
  // symbol.
  const positionId = whyReadOnly ? null : query.get('position')
  const orderId = mayOrder ? query.get('order') : null
  const position = positions.data?.find(({ id }) => id === positionId)
  const order = orders.data?.orders.find(({ id, status }) => id === orderId && status === 'open')
  const held = position ?? order
  // What was typed to change one position or order is not meant for another.
  useEffect(clearEdits, [held?.id])

  const [question, ask] = useState<Question>()

  const symbol = held?.symbol ?? ticket.symbol
  const timeframe = useChoice('candles', timeframeNames, usualTimeframe)
  // The record of an order has the symbol that was sent, which may lack the broker's suffix.
  const market = useMarket(account.id, symbol, timeframe, position !== undefined)
  const { quote, candles } = market
  // Where they are not known, the prices of what is held show how many there are at least.
  const digits = market.digits || decimalsOf(pricesOf(held))

  const onEdit = (name: string, text: string): void =>
    held === undefined
      ? setTicket((last) => ({ ...last, [name]: text }))
      : setEdits((last) => ({ ...last, [name]: text }))
  const texts: Readonly<Record<PriceField, string>> =
    held === undefined
      ? { ...ticket, price: ticket.orderType === 'market' ? '' : ticket.price }
      : {
          price: order ? shownOf(order, edits, 'price', digits) : '',
          stopLoss: shownOf(held, edits, 'stopLoss', digits),
          takeProfit: shownOf(held, edits, 'takeProfit', digits),
        }
  const lastPrice = quote?.bid ?? candles.data?.at(-1)?.close
  const isFresh = quote?.stale === false
  const lines = useMemo(
    () => linesOfFields(texts, position?.entryPrice, lastPrice, isFresh, digits),
    [
      texts.price,
      texts.stopLoss,
      texts.takeProfit,
      position?.entryPrice,
      lastPrice,
      isFresh,
      digits,
    ],
  )
  const change = { edits, digits, onEdit, clearEdits, ask, write }
  return (
    <>
      <div class="trading">
        {held ? (
          <div>
            <ReadResult<unknown> read={position ? positions : orders}>
              {() =>
                position ? (
                  <PositionForm key={position.id} held={position} {...change} />
                ) : (
                  order && <OrderForm key={order.id} held={order} {...change} />
                )
              }
            </ReadResult>
          </div>
        ) : positionId !== null || orderId !== null ? (
          <HeldSection title="Change">
            <ReadResult read={withoutStaleData<unknown>(positionId !== null ? positions : orders)}>
              {() => (
                <p>
                  The {positionId !== null ? 'position' : 'order'} is not among the open ones that
                  are listed below.
                </p>
              )}
            </ReadResult>
          </HeldSection>
        ) : mayOrder ? (
          <OrderTicket fields={ticket} {...{ account, market, onEdit, ask, write }} />
        ) : (
          <Section title="New order" whyHidden={whyHidden('ordering')} />
        )}
        <PricePanel {...{ candles, symbol, timeframe, lines, digits, onEdit }} />
      </div>
      <PositionList
        read={positions}
        {...{ account, whyReadOnly, ask, write }}
        chosen={position?.id}
      />
      <ReadSection
        title="Working orders"
        read={orders}
        aside={
          mayOrder &&
          orders.data &&
          orders.data.openTotal > 0 && (
            <button
              type="button"
              onClick={() =>
                ask({
                  verb: 'Cancel all',
                  writesFor: ({ orderCount }) => write.cancelAll(orderCount),
                })
              }
            >
              Cancel all…
            </button>
          )
        }
      >
        {(working) => <OrderTable working={working} chosen={order?.id} mayChange={mayOrder} />}
      </ReadSection>
      <HaltSection
        read={halt}
        accountName={account.name}
        {...{ openCount, orderCount, ask, write }}
        whyReadOnly={whyHidden('halting')}
      />
      {question && (
        <SendQuestion
          question={question}
          holdings={{ position, order, positions: positions.data ?? [], orderCount }}
          onClose={() => ask(undefined)}
        />
      )}
    </>
  )
}
