// Trading on one account: a new order or a change of what is held, beside the prices, and lists of
// what is held. Nothing is sent before it was confirmed in words.
import type { Account, Candle, Order, Position } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { PriceLine } from './candle-chart.ts'
import { OrderForm, PositionForm, shownOf, type Edits, type Priced } from './change-forms.tsx'
import { useConfirm } from './confirm.tsx'
import { numberOf, plain } from './fields.tsx'
import { lots } from './format.ts'
import { setQuery } from './location.ts'
import { OrderRows } from './order-rows.tsx'
import { emptyTicket, Estimate, OrderTicket, type TicketFields } from './order-ticket.tsx'
import { Notice, Section, Shown } from './parts.tsx'
import { digitsOf, lineAt, PriceChart, timeframes, type Timeframe } from './price-chart.tsx'
import { useAccounts } from './read.ts'
import { whyHidden, type Session } from './session.ts'
import { HaltSection, PositionList } from './trading-lists.tsx'
import { useHoldings, useMarket } from './trading-reads.ts'
import './trading.css'
import { orderName, positionName } from './words.ts'
import {
  cancelling,
  cancellingAll,
  changingLevels,
  changingOrder,
  closing,
  halting,
  liftingHalt,
  placing,
} from './writes.ts'

export const Trading = ({ session, query }: { session: Session; query: URLSearchParams }) => {
  const { me } = session
  const noOrders = whyHidden(me, 'ordering')
  const hidden = whyHidden(me, 'changing') === undefined ? undefined : noOrders
  const noAccounts = whyHidden(me, 'accounts')
  const accounts = useAccounts(session, hidden === undefined)
  const why = hidden ?? noAccounts
  if (why !== undefined)
    return (
      <>
        <h1>Trading</h1>
        <Notice>{why}</Notice>
      </>
    )
  return (
    <>
      <h1>Trading</h1>
      <Shown read={accounts}>
        {(all) => {
          const list = all.filter(({ brokerType }) => brokerType !== 'paper')
          const account =
            list.find(({ id }) => id === query.get('account')) ?? list.find(isTradable) ?? list[0]
          if (account === undefined)
            return <Notice>No account that could be traded is linked to this user.</Notice>
          return (
            <>
              <form class="filters" onSubmit={(event) => event.preventDefault()}>
                <label>
                  Account
                  <select
                    value={account.id}
                    onChange={({ currentTarget }) =>
                      setQuery({ account: currentTarget.value, position: '', order: '' })
                    }
                  >
                    {list.map(({ id, name }) => (
                      <option key={id} value={id}>
                        {name}
                      </option>
                    ))}
                  </select>
                </label>
              </form>
              {isTradable(account) ? (
                <AccountTrading key={account.id} {...{ session, account, query }} />
              ) : (
                <Notice>
                  {account.name} cannot be traded here: only demo accounts for trading can be.
                </Notice>
              )}
            </>
          )
        }}
      </Shown>
    </>
  )
}

const isTradable = ({ isDemo, purpose }: Account): boolean => isDemo && purpose === 'trading'

const AccountTrading = ({
  session,
  account,
  query,
}: {
  session: Session
  account: Account
  query: URLSearchParams
}) => {
  const { client, me, sent } = session
  const accountId = account.id
  const why = {
    ordering: whyHidden(me, 'ordering'),
    changing: whyHidden(me, 'changing'),
    halting: whyHidden(me, 'halting'),
    orders: whyHidden(me, 'orders'),
    positions: whyHidden(me, 'positions'),
    prices: whyHidden(me, 'prices'),
  }
  const [confirm, dialog] = useConfirm()
  const [ticket, setTicket] = useState<TicketFields>({ ...emptyTicket, symbol: 'EURUSD' })
  const [edits, setEdits] = useState<Edits>({})
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())

  const { positions, orders, halt } = useHoldings(session, accountId)
  const held = positions.data?.find(({ id }) => id === query.get('position'))
  const order = orders.data?.find(
    ({ id, status }) => status === 'open' && id === query.get('order'),
  )
  const chosenId = held?.id ?? order?.id
  // What was typed for one is not meant for another.
  useEffect(() => setEdits({}), [chosenId])

  const symbol = held?.symbol ?? order?.symbol ?? ticket.symbol
  const timeframe =
    (Object.keys(timeframes) as Timeframe[]).find((name) => name === query.get('candles')) ?? '15m'
  const { quote, candles, instrument, symbols } = useMarket(session, accountId, symbol, timeframe)
  const digits = instrument?.digits ?? digitsOf(candles.data ?? [])

  const side = held?.type ?? order?.type ?? ticket.type
  const onEdit = (name: Priced, text: string): void =>
    chosenId === undefined
      ? setTicket((last) => ({ ...last, [name]: text }))
      : setEdits((last) => ({ ...last, [name]: text }))
  const texts: Readonly<Record<'price' | 'stopLoss' | 'takeProfit', string>> =
    held !== undefined || order !== undefined
      ? {
          price: order === undefined ? '' : shownOf(order, edits, 'price', digits),
          stopLoss: shownOf(held ?? order ?? {}, edits, 'stopLoss', digits),
          takeProfit: shownOf(held ?? order ?? {}, edits, 'takeProfit', digits),
        }
      : { ...ticket, price: ticket.orderType === 'market' ? '' : ticket.price }
  const suggest = suggestionsOf(
    candles.data,
    side,
    order?.orderType ?? ticket.orderType,
    numberOf(texts.price),
  )
  const onSuggest =
    suggest &&
    ((name: 'price' | 'stopLoss' | 'takeProfit'): void =>
      onEdit(name, suggest(name).toFixed(digits)))
  const now = quote?.bid ?? candles.data?.at(-1)?.close
  const lines = useMemo(
    () => linesOf(texts, held?.entryPrice, now),
    [texts.price, texts.stopLoss, texts.takeProfit, held?.entryPrice, now],
  )

  const closeAll = (list: readonly Position[]): void => {
    const writes = list.map((position) => {
      const words = `Close ${positionName(position, account.name)} at market`
      return closing(client, words, position, undefined, account.currency)
    })
    confirm({
      verb: list.length === 1 ? 'Close it' : `Close these ${list.length}`,
      sentences: writes.map(({ words }) => words),
      onConfirm: () => {
        for (const write of writes) sent.run(write)
        setSelected(new Set())
      },
    })
  }
  const mayOrder = why.ordering === undefined
  return (
    <>
      <div class="desk">
        {held !== undefined && why.changing === undefined ? (
          <PositionForm
            key={held.id}
            {...{ held, edits, digits }}
            onEdit={setEdits}
            suggest={onSuggest}
            onLeave={leave}
            onChange={(levels, change) => {
              const words = `Change ${positionName(held, account.name)}: ${change}`
              confirm({
                verb: 'Change it',
                sentences: [words],
                onConfirm: () => {
                  setEdits({})
                  sent.run(changingLevels(client, words, held, levels))
                },
              })
            }}
            onClose={(volume) => {
              if (volume === undefined) return closeAll([held])
              const rest = plain(held.volume - volume, 2)
              const words = `Close ${lots(volume)} of ${positionName(held, account.name)} at market; ${lots(Number(Number(rest).toFixed(8)))} stay open`
              return confirm({
                verb: `Close ${lots(volume)}`,
                sentences: [words],
                onConfirm: () => {
                  setEdits({})
                  sent.run(closing(client, words, held, volume, account.currency))
                },
              })
            }}
          />
        ) : order !== undefined && mayOrder ? (
          <OrderForm
            key={order.id}
            {...{ held: order, edits, digits }}
            onEdit={setEdits}
            suggest={onSuggest}
            onLeave={leave}
            onChange={(terms, change) => {
              const words = `Change ${orderName(order, account.name)}: ${change}`
              confirm({
                verb: 'Change it',
                sentences: [words],
                onConfirm: () => {
                  setEdits({})
                  sent.run(changingOrder(client, words, order, terms))
                },
              })
            }}
            onCancel={() => {
              const words = `Cancel ${orderName(order, account.name)}`
              confirm({
                verb: 'Cancel the order',
                sentences: [words],
                onConfirm: () => sent.run(cancelling(client, words, order)),
              })
            }}
          />
        ) : mayOrder ? (
          <OrderTicket
            session={session}
            account={account}
            fields={ticket}
            onChange={(changes) => setTicket((last) => ({ ...last, ...changes }))}
            instrument={instrument}
            symbols={symbols}
            quote={quote}
            digits={digits}
            suggest={onSuggest}
            onPlace={(placed, words, preview) =>
              confirm({
                verb: `${placed.type === 'buy' ? 'Buy' : 'Sell'} ${lots(placed.volume)} ${placed.symbol}`,
                sentences: [words],
                detail: preview && (
                  <Estimate
                    estimate={preview.estimate}
                    currency={account.currency}
                    digits={digits}
                  />
                ),
                onConfirm: () => sent.run(placing(client, words, placed)),
              })
            }
          />
        ) : (
          <Section title="New order">
            <Notice>{why.ordering}</Notice>
          </Section>
        )}
        <Section
          title={symbol === '' ? 'Prices' : `Prices of ${symbol}`}
          aside={
            why.prices === undefined && (
              <select
                aria-label="Length of a candle"
                value={timeframe}
                onChange={({ currentTarget }) =>
                  setQuery({ candles: currentTarget.value === '15m' ? '' : currentTarget.value })
                }
              >
                {Object.keys(timeframes).map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )
          }
        >
          {why.prices !== undefined ? (
            <Notice>{why.prices}</Notice>
          ) : symbol === '' ? (
            <p class="quiet">Enter a symbol.</p>
          ) : (
            <Shown read={candles}>
              {(list) =>
                list.length === 0 ? (
                  <Notice>The broker has no candles of {symbol}.</Notice>
                ) : (
                  <>
                    <PriceChart
                      candles={list}
                      lines={lines}
                      label={`Candles of ${symbol}. The fields beside hold the same prices as the lines.`}
                      onMove={(id, price) => onEdit(id as Priced, price.toFixed(digits))}
                    />
                    <p class="quiet">
                      Bid prices.{' '}
                      {lines.some(({ isMovable }) => isMovable === true) &&
                        'Drag a line, or choose it and press the arrow keys; nothing is sent before you confirm it.'}
                    </p>
                  </>
                )
              }
            </Shown>
          )}
        </Section>
      </div>
      {why.positions === undefined ? (
        <PositionList
          read={positions}
          account={account}
          chosen={held?.id}
          whyFixed={why.changing}
          selected={selected}
          onSelect={setSelected}
          onCloseSelected={closeAll}
        />
      ) : (
        <Hidden title="Open positions">{why.positions}</Hidden>
      )}
      {why.orders === undefined ? (
        <Section
          title="Working orders"
          aside={
            mayOrder &&
            (orders.data ?? []).some(({ status }) => status === 'open') && (
              <button
                type="button"
                onClick={() => {
                  const count = (orders.data ?? []).filter(({ status }) => status === 'open').length
                  const words = `Cancel every working order on ${account.name}, now ${count}`
                  confirm({
                    verb: 'Cancel all',
                    sentences: [words],
                    onConfirm: () => sent.run(cancellingAll(client, words, account)),
                  })
                }}
              >
                Cancel all…
              </button>
            )
          }
        >
          <Shown read={orders}>
            {(list) =>
              list.length === 0 ? (
                <p class="quiet">No order is waiting for its outcome.</p>
              ) : (
                <OrderRows orders={list} chosen={order?.id} mayChange={mayOrder} />
              )
            }
          </Shown>
        </Section>
      ) : (
        <Hidden title="Working orders">{why.orders}</Hidden>
      )}
      <HaltSection
        read={halt}
        account={account}
        whyNot={why.halting}
        openCount={positions.data?.length}
        orderCount={orders.data?.filter(({ status }) => status === 'open').length}
        onHalt={({ reason, ...terms }) => {
          const words = [
            `Halt ${account.name}: it accepts no orders until the halt is lifted`,
            ...(terms.cancelOrders ? ['every working order is cancelled'] : []),
            ...(terms.closePositions ? ['every position is closed at market'] : []),
          ].join(', ')
          confirm({
            verb: 'Halt the account',
            sentences: [words],
            onConfirm: () =>
              sent.run(
                halting(client, words, account, { ...terms, ...(reason !== '' && { reason }) }),
              ),
          })
        }}
        onLift={() => {
          const words = `Lift the halt of ${account.name}: it accepts orders again`
          confirm({
            verb: 'Lift the halt',
            sentences: [words],
            onConfirm: () => sent.run(liftingHalt(client, words, account)),
          })
        }}
      />
      {dialog}
    </>
  )
}

const Hidden = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <Section title={title}>
    <Notice>{children}</Notice>
  </Section>
)

const leave = (): void => setQuery({ position: '', order: '' })

const linesOf = (
  texts: Readonly<Record<'price' | 'stopLoss' | 'takeProfit', string>>,
  entryPrice: number | undefined,
  now: number | undefined,
): readonly PriceLine[] => {
  return [
    ...lineAt('now', 'Now', 'now', now),
    ...lineAt('entry', 'Entry', 'entry', entryPrice),
    ...lineAt('price', 'Price', 'entry', numberOf(texts.price), true),
    ...lineAt('stopLoss', 'Stop loss', 'stop', numberOf(texts.stopLoss), true),
    ...lineAt('takeProfit', 'Take profit', 'target', numberOf(texts.takeProfit), true),
  ]
}

/**
 * A first place for a line on the chart, to be moved from there; undefined without candles.
 * @param price of a pending order, where it is known
 */
const suggestionsOf = (
  candles: readonly Candle[] | undefined,
  side: 'buy' | 'sell',
  orderType: Order['orderType'],
  price: number | undefined,
): ((name: 'price' | 'stopLoss' | 'takeProfit') => number) | undefined => {
  const last = candles?.at(-1)?.close
  if (candles === undefined || last === undefined) return undefined
  const recent = candles.slice(-50)
  const height =
    Math.max(...recent.map(({ high }) => high)) - Math.min(...recent.map(({ low }) => low))
  const up = side === 'buy' ? height : -height
  const from = price ?? last
  return (name) =>
    ({
      // A limit order waits for a better price, a stop order for a worse one.
      price: orderType === 'limit' ? last - up / 4 : last + up / 4,
      stopLoss: from - up / 3,
      takeProfit: from + up / 2,
    })[name]
}
