// Trading on one account: a new order or a change of what is held, beside the prices, and lists of
// what is held. Nothing is sent before it was confirmed in words.
import type { Account } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { timeframes, type Timeframe } from './candles.ts'
import { HeldSection, OrderForm, PositionForm, shownOf, type Edits } from './change-forms.tsx'
import { useConfirm } from './confirm.tsx'
import { Select } from './fields.tsx'
import { lots } from './format.ts'
import { setQuery, useQuery } from './location.ts'
import { OrderTable } from './order-table.tsx'
import { Estimate, newTicket, OrderTicket } from './order-ticket.tsx'
import { Notice, Section, ReadResult } from './parts.tsx'
import { useAccounts } from './read.ts'
import type { Write } from './sent.ts'
import { useSession } from './session.ts'
import { HaltSection, PositionList } from './trading-lists.tsx'
import { linesOfTicket, PricePanel, type PriceField } from './trading-prices.tsx'
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
      <ReadResult read={{ ...accounts, hidden: why }}>
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
      </ReadResult>
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
    onDone?: () => void,
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
        for (const one of writes) sent.run(one, onDone)
      },
    })

  const [ticket, setTicket] = useState(newTicket)
  const [edits, setEdits] = useState<Edits>({})
  const forget = (): void => setEdits({})

  const { positions, orders, halt } = useHoldings(account.id)
  // Counts of an earlier read are not those of now.
  const openCount = positions.failure === undefined ? positions.data?.length : undefined
  const orderCount = orders.failure === undefined ? orders.data?.openTotal : undefined
  // Ignore a selection that the key may not change: the page then shows the ticket and its symbol.
  const positionId = whyReadOnly === undefined ? query.get('position') : null
  const orderId = mayOrder ? query.get('order') : null
  const position = positions.data?.find(({ id }) => id === positionId)
  const order = orders.data?.orders.find(({ id, status }) => id === orderId && status === 'open')
  const held = position ?? order
  // What was typed for one is not meant for another.
  useEffect(forget, [held?.id])
  // A sentence is not sent once it is not true any more.
  useEffect(() => confirm(undefined), [held?.id, position?.volume])

  const symbol = held?.symbol ?? ticket.symbol
  const timeframe =
    (Object.keys(timeframes) as Timeframe[]).find((name) => name === query.get('candles')) ?? '15m'
  const market = useMarket(account.id, symbol.toUpperCase(), timeframe)
  const { quote, candles, digits } = market

  const onEdit = (name: string, text: string): void =>
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
  const last = quote?.bid ?? candles.data?.at(-1)?.close
  const isNow = quote?.stale === false
  const lines = useMemo(
    () => linesOfTicket(texts, position?.entryPrice, last, isNow),
    [texts.price, texts.stopLoss, texts.takeProfit, position?.entryPrice, last, isNow],
  )
  const ofHeld = { edits, digits, onEdit }
  return (
    <>
      <div class="trading">
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
        ) : positionId !== null || orderId !== null ? (
          <HeldSection title="Change">
            {(positionId !== null ? positions.data : orders.data) === undefined ? (
              <p class="reading">Reading…</p>
            ) : (
              <p>
                The {positionId !== null ? 'position' : 'order'} is not open any more. What the
                broker holds now is listed below.
              </p>
            )}
          </HeldSection>
        ) : mayOrder ? (
          <OrderTicket
            account={account}
            fields={ticket}
            onChange={(changes) => setTicket((last) => ({ ...last, ...changes }))}
            market={market}
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
        {...{ account, whyReadOnly }}
        chosen={position?.id}
        onCloseSelected={(list) =>
          ask(
            list.length === 1 ? 'Close it' : `Close these ${list.length}`,
            list.map((one) => write.close(one)),
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
        <ReadResult read={orders}>
          {(working) => <OrderTable working={working} chosen={order?.id} mayChange={mayOrder} />}
        </ReadResult>
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
