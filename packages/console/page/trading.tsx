// Trading on one account: a new order or a change of what is held, beside the prices, and lists of
// what is held. Nothing is sent before the user has confirmed a sentence that describes it.
import type { Account, Order, Position } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { timeframeNames, usualTimeframe } from './candles.ts'
import { HeldSection, OrderForm, PositionForm, shownOf, type Edits } from './change-forms.tsx'
import { Dialog } from './confirm.tsx'
import { AccountFilter, useChoice } from './filters.tsx'
import { lots } from './format.ts'
import { useQuery } from './location.ts'
import { OrderTable } from './order-table.tsx'
import { Estimate, newTicket, OrderTicket } from './order-ticket.tsx'
import { Notice, Section, ReadResult, Time } from './parts.tsx'
import { useAccounts, type Read } from './read.ts'
import { useSentWrites } from './sent-list.tsx'
import { useSession } from './session.ts'
import { HaltSection, PositionList } from './trading-lists.tsx'
import { linesOfTicket, PricePanel, type PriceField } from './trading-prices.tsx'
import { useHoldings, useMarket } from './trading-reads.ts'
import { unknownAccount } from './words.ts'
import { isUnresolved, type Write } from './write-tracker.ts'
import { createWrites } from './writes.ts'

export const Trading = () => {
  const query = useQuery()
  const { whyHidden } = useSession()
  const mayChange = whyHidden('changing') === undefined
  // For keys that may read accounts, and change what is held or place orders.
  const whyPageHidden = (mayChange ? undefined : whyHidden('ordering')) ?? whyHidden('accounts')
  const accounts = useAccounts()
  return (
    <>
      <h1>Trading</h1>
      <ReadResult read={{ ...accounts, hidden: whyPageHidden }}>
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
                  none={account === undefined ? 'Choose…' : undefined}
                />
              </form>
              {account !== undefined && isTradable(account) ? (
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
    </>
  )
}

const isTradable = ({ isDemo, purpose, brokerType }: Account): boolean =>
  isDemo && purpose === 'trading' && brokerType !== 'paper'

/** Says so in the question before a write that is like another whose outcome is not known yet. */
const RepeatWarning = ({ writes }: { writes: readonly Write[] }) => {
  const unresolved = useSentWrites().filter(isUnresolved)
  const isRepeated = writes.some(({ words, positionToClose }) =>
    unresolved.some(
      (one) =>
        one.words === words ||
        (positionToClose !== undefined && one.positionToClose === positionToClose),
    ),
  )
  return (
    isRepeated && (
      <Notice kind="warning">
        You have sent this, or another close of the same position, already, and its outcome is not
        known yet. This would be done in addition.
      </Notice>
    )
  )
}

/** Without data where the last read failed: what was read earlier may not be held any more. */
const withoutStaleData = <A,>(read: Read<A>): Read<A> =>
  read.failure === undefined ? read : { ...read, data: undefined }

/** What an account holds, as far as a write may depend on it. */
interface Holdings {
  readonly position: Position | undefined
  readonly order: Order | undefined
  readonly positions: readonly Position[]
  readonly orderCount: number | undefined
}

/** Writes that the user is to confirm, and what is shown beneath their sentences. */
type Asked = readonly [
  verb: string,
  writesFor: (holdings: Holdings) => Write | readonly Write[] | undefined,
  onDone?: () => void,
  detail?: ComponentChildren,
]

/** Closes once its sentences would read differently, because what is held has changed. */
const SendQuestion = ({
  asked: [verb, writesFor, onDone, detail],
  holdings,
  onClose,
}: {
  asked: Asked
  holdings: Holdings
  onClose: () => void
}) => {
  const { tracker } = useSession()
  const writes = [writesFor(holdings) ?? []].flat()
  const sentences = writes.map(({ words }) => words).join()
  const asked = useRef(sentences).current
  useEffect(() => {
    if (sentences !== asked) onClose()
  }, [sentences])
  return (
    <Dialog
      title="Send this?"
      verb={verb}
      back="Do not send"
      onClose={onClose}
      onConfirm={() => {
        for (const one of writes) tracker.run(one, onDone)
      }}
    >
      {writes.map(({ words }) => (
        <p key={words} class="sentence">
          {words}.
        </p>
      ))}
      {detail}
      <RepeatWarning writes={writes} />
    </Dialog>
  )
}

const AccountTrading = ({ account }: { account: Account }) => {
  const query = useQuery()
  const { client, whyHidden } = useSession()
  const mayOrder = whyHidden('ordering') === undefined
  const whyReadOnly = whyHidden('changing')
  const write = createWrites(client, account)
  const [ticket, setTicket] = useState(newTicket)
  const [edits, setEdits] = useState<Edits>({})
  // Clears the edits of this render: what is typed later, while a write is under way, stays.
  const clearEdits = (): void => setEdits((last) => (last === edits ? {} : last))

  const { positions, orders, halt } = useHoldings(account.id)
  const openCount = withoutStaleData(positions).data?.length
  const orderCount = withoutStaleData(orders).data?.openTotal
  // Ignore a selection that the API key may not change: the page then shows the ticket and its
  // symbol.
  const positionId = whyReadOnly === undefined ? query.get('position') : null
  const orderId = mayOrder ? query.get('order') : null
  const position = positions.data?.find(({ id }) => id === positionId)
  const order = orders.data?.orders.find(({ id, status }) => id === orderId && status === 'open')
  const held = position ?? order
  // What was typed for one is not meant for another.
  useEffect(clearEdits, [held?.id])

  const [asked, setAsked] = useState<Asked>()
  const ask = (...question: Asked): void => setAsked(question)

  const symbol = held?.symbol ?? ticket.symbol
  const timeframe = useChoice('candles', timeframeNames, usualTimeframe)
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
  const lastPrice = quote?.bid ?? candles.data?.at(-1)?.close
  const isFresh = quote?.stale === false
  const lines = useMemo(
    () => linesOfTicket(texts, position?.entryPrice, lastPrice, isFresh),
    [texts.price, texts.stopLoss, texts.takeProfit, position?.entryPrice, lastPrice, isFresh],
  )
  const editProps = { edits, digits, onEdit }
  return (
    <>
      <div class="trading">
        {position !== undefined ? (
          <PositionForm
            key={position.id}
            held={position}
            {...editProps}
            onChange={(levels) =>
              ask(
                'Change it',
                ({ position }) => position && write.changeLevels(position, levels, digits),
                clearEdits,
              )
            }
            onClose={(volume) =>
              ask(
                volume === undefined ? 'Close it' : `Close ${lots(volume)}`,
                ({ position }) => position && write.close(position, volume),
                clearEdits,
              )
            }
          />
        ) : order !== undefined ? (
          <OrderForm
            key={order.id}
            held={order}
            {...editProps}
            onChange={(terms) =>
              ask(
                'Change it',
                ({ order }) => order && write.changeOrder(order, terms, digits),
                clearEdits,
              )
            }
            onCancel={() => ask('Cancel the order', ({ order }) => order && write.cancel(order))}
          />
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
          <OrderTicket
            account={account}
            fields={ticket}
            onChange={(changes) => setTicket((last) => ({ ...last, ...changes }))}
            market={market}
            onPlace={(placed, preview) =>
              ask(
                `${placed.type === 'buy' ? 'Buy' : 'Sell'} ${lots(placed.volume)} ${placed.symbol}`,
                () => write.place(placed, digits),
                undefined,
                preview === undefined ? (
                  <Notice kind="warning">
                    This order was not checked first, so what it costs is not known.
                  </Notice>
                ) : (
                  <>
                    <Estimate
                      estimate={preview.estimate}
                      currency={account.currency}
                      digits={digits}
                    />
                    <p class="quiet">
                      Estimated at <Time iso={preview.readAt} />.
                    </p>
                  </>
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
          ask(list.length === 1 ? 'Close it' : `Close these ${list.length}`, ({ positions }) =>
            positions
              .filter(({ id }) => list.some((one) => one.id === id))
              .map((one) => write.close(one)),
          )
        }
      />
      <Section
        title="Working orders"
        aside={
          mayOrder &&
          orders.data !== undefined &&
          orders.data.openTotal > 0 && (
            <button
              type="button"
              onClick={() => ask('Cancel all', ({ orderCount }) => write.cancelAll(orderCount))}
            >
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
        whyReadOnly={whyHidden('halting')}
        onHalt={(terms) => ask('Halt the account', () => write.halt(terms))}
        onLift={() => ask('Lift the halt', write.liftHalt)}
      />
      {asked && (
        <SendQuestion
          asked={asked}
          holdings={{ position, order, positions: positions.data ?? [], orderCount }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}
