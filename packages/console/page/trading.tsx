// Trading on one account: a new order or a change of what is held, beside the prices, and lists of
// what is held. Nothing is sent before it was confirmed in words.
import type { Account } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { OrderForm, PositionForm, shownOf, type Edits } from './change-forms.tsx'
import { useConfirm } from './confirm.tsx'
import { Select } from './fields.tsx'
import { lots, numberOf } from './format.ts'
import { setQuery, useQuery } from './location.ts'
import { OrderTable } from './order-table.tsx'
import { Estimate, newTicket, OrderTicket } from './order-ticket.tsx'
import { Notice, Section, Shown } from './parts.tsx'
import { digitsOf, timeframes, type Timeframe } from './price-chart.tsx'
import { useAccounts } from './read.ts'
import type { Write } from './sent.ts'
import { useSession } from './session.ts'
import { HaltSection, PositionList } from './trading-lists.tsx'
import { linesOf, PricePanel, suggestionsOf, type PriceField } from './trading-prices.tsx'
import { useHoldings, useMarket } from './trading-reads.ts'
import { createWrites } from './writes.ts'

export const Trading = () => {
  const query = useQuery()
  const { whyHidden } = useSession()
  const mayChange = whyHidden('changing') === undefined
  const why = (mayChange ? undefined : whyHidden('ordering')) ?? whyHidden('accounts')
  const accounts = useAccounts()
  return (
    <>
      <h1>Trading</h1>
      <Shown read={{ ...accounts, hidden: why }}>
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
                  <Select
                    value={account.id}
                    options={list.map(({ id, name }) => [id, name])}
                    onChange={(id) => setQuery({ account: id, position: '', order: '' })}
                  />
                </label>
              </form>
              {isTradable(account) ? (
                <AccountTrading key={account.id} account={account} />
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

const AccountTrading = ({ account }: { account: Account }) => {
  const query = useQuery()
  const { client, sent, whyHidden } = useSession()
  const mayOrder = whyHidden('ordering') === undefined
  const whyReadOnly = whyHidden('changing')
  const write = createWrites(client, account)
  const [confirm, dialog] = useConfirm()
  const ask = (
    verb: string,
    writes: readonly Write[],
    then?: () => void,
    detail?: ComponentChildren,
  ): void =>
    confirm({
      title: 'Send this?',
      verb,
      back: 'Do not send',
      content: (
        <>
          {writes.map(({ words }) => (
            <p key={words} class="sentence">
              {words}.
            </p>
          ))}
          {detail}
        </>
      ),
      onConfirm: () => {
        for (const one of writes) sent.run(one)
        then?.()
      },
    })

  const [ticket, setTicket] = useState(newTicket)
  const [edits, setEdits] = useState<Edits>({})
  const forget = (): void => setEdits({})
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())

  const { positions, orders, halt } = useHoldings(account.id)
  // Counts of an earlier read are not those of now.
  const openCount = positions.failure === undefined ? positions.data?.length : undefined
  const orderCount = orders.failure === undefined ? orders.data?.openTotal : undefined
  // Only what the key may change: beside an order ticket the prices are those of its symbol.
  const position =
    whyReadOnly === undefined
      ? positions.data?.find(({ id }) => id === query.get('position'))
      : undefined
  const order = mayOrder
    ? orders.data?.orders.find(({ id, status }) => id === query.get('order') && status === 'open')
    : undefined
  const held = position ?? order
  // What was typed for one is not meant for another.
  useEffect(forget, [held?.id])

  const symbol = held?.symbol ?? ticket.symbol
  const timeframe =
    (Object.keys(timeframes) as Timeframe[]).find((name) => name === query.get('candles')) ?? '15m'
  const market = useMarket(account.id, symbol, timeframe)
  const { quote, candles, instrument, symbols } = market
  const digits = instrument?.digits ?? digitsOf(candles.data ?? [])

  const onEdit = (name: PriceField, text: string): void =>
    held === undefined
      ? setTicket((last) => ({ ...last, [name]: text }))
      : setEdits((last) => ({ ...last, [name]: text }))
  const texts: Readonly<Record<PriceField, string>> =
    held === undefined
      ? { ...ticket, price: ticket.orderType === 'market' ? '' : ticket.price }
      : {
          price: order === undefined ? '' : shownOf(order, edits, 'price', digits),
          stopLoss: shownOf(held, edits, 'stopLoss', digits),
          takeProfit: shownOf(held, edits, 'takeProfit', digits),
        }
  const suggested = suggestionsOf(
    candles.data,
    held?.type ?? ticket.type,
    order?.orderType ?? ticket.orderType,
    numberOf(texts.price),
  )
  const suggest =
    suggested && ((name: PriceField): void => onEdit(name, suggested[name].toFixed(digits)))
  const last = quote?.bid ?? candles.data?.at(-1)?.close
  const isNow = quote?.stale === false
  const lines = useMemo(
    () => linesOf(texts, position?.entryPrice, last, isNow),
    [texts.price, texts.stopLoss, texts.takeProfit, position?.entryPrice, last, isNow],
  )
  const ofHeld = { edits, digits, suggest, onEdit: setEdits }
  return (
    <>
      <div class="desk">
        {position !== undefined ? (
          <PositionForm
            key={position.id}
            held={position}
            {...ofHeld}
            onChange={(levels, change) =>
              ask('Change it', [write.changeLevels(position, levels, change)], forget)
            }
            onClose={(volume) =>
              ask(
                volume === undefined ? 'Close it' : `Close ${lots(volume)}`,
                [write.close(position, volume)],
                forget,
              )
            }
          />
        ) : order !== undefined ? (
          <OrderForm
            key={order.id}
            held={order}
            {...ofHeld}
            onChange={(terms, change) =>
              ask('Change it', [write.changeOrder(order, terms, change)], forget)
            }
            onCancel={() => ask('Cancel the order', [write.cancel(order)])}
          />
        ) : mayOrder ? (
          <OrderTicket
            account={account}
            fields={ticket}
            onChange={(changes) => setTicket((last) => ({ ...last, ...changes }))}
            {...{ instrument, symbols, quote, digits, suggest }}
            onPlace={(placed, preview) =>
              ask(
                `${placed.type === 'buy' ? 'Buy' : 'Sell'} ${lots(placed.volume)} ${placed.symbol}`,
                [write.place(placed, digits)],
                undefined,
                preview === undefined ? (
                  <Notice kind="warning">It was not checked: what it costs is not known.</Notice>
                ) : (
                  <Estimate
                    estimate={preview.estimate}
                    currency={account.currency}
                    digits={digits}
                  />
                ),
              )
            }
          />
        ) : (
          <Section title="New order" whyHidden={whyHidden('ordering')} />
        )}
        <PricePanel {...{ candles, symbol, timeframe, lines, digits, onEdit }} />
      </div>
      <PositionList
        read={positions}
        {...{ account, whyReadOnly, selected }}
        chosen={position?.id}
        onSelect={setSelected}
        onCloseSelected={(list) =>
          ask(
            list.length === 1 ? 'Close it' : `Close these ${list.length}`,
            list.map((one) => write.close(one)),
            () => setSelected(new Set()),
          )
        }
      />
      <Section
        title="Working orders"
        aside={
          mayOrder &&
          orders.data !== undefined &&
          orders.data.openTotal > 0 && (
            <button type="button" onClick={() => ask('Cancel all', [write.cancelAll(orderCount)])}>
              Cancel all…
            </button>
          )
        }
      >
        <Shown read={orders}>
          {(working) => <OrderTable working={working} chosen={order?.id} mayChange={mayOrder} />}
        </Shown>
      </Section>
      <HaltSection
        read={halt}
        accountName={account.name}
        {...{ openCount, orderCount }}
        onHalt={(terms) => ask('Halt the account', [write.halt(terms)])}
        onLift={() => ask('Lift the halt', [write.liftHalt()])}
      />
      {dialog}
    </>
  )
}
