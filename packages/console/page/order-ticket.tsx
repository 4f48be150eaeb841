// A new order: its terms as they are typed, and what the service and the broker say of them.
import type { Account, BrokerInstrument, DataOf, NewOrder, Quote } from '@tradeport/client'
import { useEffect } from 'preact/hooks'
import { Choice, NumberField, Select, UntilField } from './fields.tsx'
import { lots, money, number, numberOf, percent } from './format.ts'
import { Section, Shown, Time } from './parts.tsx'
import { useRead } from './read.ts'
import { useSession } from './session.ts'
import type { PriceField } from './trading-prices.tsx'
import { orderTypeNames, priceText } from './words.ts'

/** As it is typed. */
export interface TicketFields {
  readonly symbol: string
  readonly type: 'buy' | 'sell'
  readonly orderType: NewOrder['orderType']
  readonly volume: string
  readonly price: string
  readonly stopLimitPrice: string
  readonly timeInForce: 'gtc' | 'day' | 'gtd'
  /** In the viewer's zone, as its field has it. */
  readonly expiresAt: string
  readonly stopLoss: string
  readonly takeProfit: string
}

export const newTicket: TicketFields = {
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: '0.10',
  price: '',
  stopLimitPrice: '',
  timeInForce: 'gtc',
  expiresAt: '',
  stopLoss: '',
  takeProfit: '',
}

/** The order, or what is missing of it. */
const orderOf = (fields: TicketFields, accountId: string): NewOrder | string => {
  const { symbol, type, orderType, timeInForce } = fields
  const isPending = orderType !== 'market'
  const volume = numberOf(fields.volume)
  const price = isPending ? numberOf(fields.price) : undefined
  const stopLimitPrice = orderType === 'stop_limit' ? numberOf(fields.stopLimitPrice) : undefined
  const [stopLoss, takeProfit] = [numberOf(fields.stopLoss), numberOf(fields.takeProfit)]
  if (symbol === '') return 'Enter a symbol.'
  if (volume === undefined) return 'Enter the lots.'
  if (isPending && price === undefined) return 'Enter the price.'
  if (orderType === 'stop_limit' && stopLimitPrice === undefined)
    return 'Enter the price of the limit order.'
  const typed = [volume, price, stopLimitPrice, stopLoss, takeProfit]
  if (typed.some((value) => value !== undefined && !(value > 0)))
    return 'Correct the marked fields.'
  const expiresAt = new Date(fields.expiresAt)
  const isDated = isPending && timeInForce === 'gtd'
  if (isDated && Number.isNaN(expiresAt.getTime())) return 'Enter until when it holds.'
  return {
    accountId,
    symbol,
    type,
    orderType,
    volume,
    ...(price !== undefined && { price, timeInForce }),
    ...(stopLimitPrice !== undefined && { stopLimitPrice }),
    ...(isDated && { expiresAt: expiresAt.toISOString() }),
    ...(stopLoss !== undefined && { stopLoss }),
    ...(takeProfit !== undefined && { takeProfit }),
  }
}

const holds = [
  ['gtc', 'until cancelled'],
  ['day', 'for the day'],
  ['gtd', 'until a time'],
] as const

type Preview = DataOf<'previewOrder'>

const [debounceMs, everyMs] = [350, 10_000]

/** The preview of what is typed. The last one, of other terms, stays until the next one is read. */
const usePreview = (order: NewOrder | string) => {
  const key = JSON.stringify(order)
  const read = useRead(
    'ordering',
    'preview',
    typeof order === 'string'
      ? undefined
      : async (client, signal) => ({
          order,
          ...(await client.previewOrder(order, { signal })).data,
        }),
    { everyMs },
  )
  useEffect(() => {
    const timer = setTimeout(read.refresh, debounceMs)
    return () => clearTimeout(timer)
  }, [key])
  return read
}

interface OrderTicketProps {
  readonly account: Account
  readonly fields: TicketFields
  readonly onChange: (changes: Partial<TicketFields>) => void
  readonly instrument: BrokerInstrument | undefined
  readonly symbols: readonly string[]
  readonly quote: Quote | undefined
  readonly digits: number
  /** Fills in a level from the chart; undefined without one. */
  readonly suggest: ((name: PriceField) => void) | undefined
  readonly onPlace: (order: NewOrder, preview: Preview | undefined) => void
}

export const OrderTicket = ({
  account,
  fields,
  onChange,
  instrument,
  symbols,
  quote,
  digits,
  suggest,
  onPlace,
}: OrderTicketProps) => {
  const { me, whyHidden } = useSession()
  const hasPending = me.capabilities.includes('pending-orders')
  const hasPrices = whyHidden('prices') === undefined
  const order = orderOf(fields, account.id)
  const { data: previewed, readAt, failure } = usePreview(order)
  const isOfOrder = JSON.stringify(previewed?.order) === JSON.stringify(order)
  const isCurrent = isOfOrder && failure === undefined
  const preview = isCurrent ? previewed : undefined
  const isPending = fields.orderType !== 'market'
  /** It has its place before the first one arrives, so that no button moves under a finger. */
  const priceOf = (price: number | undefined) =>
    hasPrices &&
    (price === undefined ? (
      <b class={fields.symbol === '' ? undefined : 'connecting'}>–</b>
    ) : (
      <b>{priceText(price, digits)}</b>
    ))
  const submit = (event: Event): void => {
    event.preventDefault()
    if (typeof order === 'string' || preview?.allowed === false) return
    onPlace(order, preview)
  }
  const text =
    (name: keyof TicketFields) =>
    (value: string): void =>
      onChange({ [name]: value })
  return (
    <Section title="New order">
      <form class="ticket" onSubmit={submit}>
        <div class="pair">
          <div class="field">
            <label>
              Symbol
              <input
                list="symbols"
                autocomplete="off"
                spellcheck={false}
                required
                value={fields.symbol}
                onChange={({ currentTarget }) =>
                  onChange({ symbol: currentTarget.value.trim().toUpperCase() })
                }
              />
            </label>
            <datalist id="symbols">
              {symbols.map((symbol) => (
                <option key={symbol} value={symbol} />
              ))}
            </datalist>
          </div>
          <NumberField
            label="Lots"
            value={fields.volume}
            isRequired
            onInput={text('volume')}
            hint={instrument && `${instrument.minVolume} to ${instrument.maxVolume}`}
          />
        </div>
        <Choice
          legend="Side"
          name="side"
          value={fields.type}
          onChange={(type) => onChange({ type })}
          options={[
            ['sell', <>Sell {priceOf(quote?.bid)}</>],
            ['buy', <>Buy {priceOf(quote?.ask)}</>],
          ]}
        />
        {hasPending ? (
          <Choice
            legend="Kind of order"
            name="kind"
            value={fields.orderType}
            onChange={(orderType) => onChange({ orderType })}
            options={(['market', 'limit', 'stop', 'stop_limit'] as const).map((kind) => [
              kind,
              orderTypeNames[kind],
            ])}
          />
        ) : (
          <p class="quiet">
            Market orders only: this service does not have the capability pending-orders switched
            on.
          </p>
        )}
        {isPending && (
          <NumberField
            label={fields.orderType === 'limit' ? 'Limit price' : 'Stop price'}
            value={fields.price}
            isRequired
            onInput={text('price')}
            onSuggest={suggest && (() => suggest('price'))}
          />
        )}
        {fields.orderType === 'stop_limit' && (
          <NumberField
            label="Price of the limit order"
            value={fields.stopLimitPrice}
            isRequired
            onInput={text('stopLimitPrice')}
          />
        )}
        {(
          [
            ['Stop loss', 'stopLoss'],
            ['Take profit', 'takeProfit'],
          ] as const
        ).map(([label, name]) => (
          <NumberField
            key={name}
            label={label}
            value={fields[name]}
            onInput={text(name)}
            onSuggest={suggest && (() => suggest(name))}
          />
        ))}
        {isPending && (
          <>
            <div class="field">
              <label>
                Holds
                <Select
                  value={fields.timeInForce}
                  options={holds.filter(([one]) => one !== 'day' || account.brokerType !== 'mt4')}
                  onChange={(timeInForce) => onChange({ timeInForce })}
                />
              </label>
            </div>
            {fields.timeInForce === 'gtd' && (
              <UntilField
                value={fields.expiresAt}
                onInput={(expiresAt) => onChange({ expiresAt })}
              />
            )}
          </>
        )}
        {hasPrices && quote?.stale === true && (
          <p class="quiet">
            Not quoted since <Time iso={quote.time} />: an order may get another price.
          </p>
        )}
        <button
          type="submit"
          class="primary"
          disabled={typeof order === 'string' || preview?.allowed === false}
        >
          {fields.type === 'buy' ? 'Buy' : 'Sell'} {fields.volume} {fields.symbol}…
        </button>
      </form>
      {typeof order === 'string' ? (
        <p class="quiet">{order}</p>
      ) : (
        <div class={`preview ${isCurrent ? '' : 'stale'}`} aria-busy={!isCurrent}>
          <Shown
            read={{
              failure,
              readAt,
              data: isOfOrder || failure === undefined ? previewed : undefined,
            }}
          >
            {(shown) => (
              <PreviewShown
                preview={shown}
                {...{ order: shown.order, isOfOrder, instrument, account, digits }}
              />
            )}
          </Shown>
        </div>
      )}
    </Section>
  )
}

interface PreviewShownProps {
  readonly preview: Preview
  /** What it is of, and whether that is what is typed now. */
  readonly order: NewOrder
  readonly isOfOrder: boolean
  readonly account: Account
  readonly instrument: BrokerInstrument | undefined
  readonly digits: number
}

export const Estimate = ({
  estimate,
  currency,
  digits,
}: {
  estimate: Preview['estimate']
  currency: string
  digits: number
}) => {
  const rows = [
    ['Price', estimate.price, (value: number) => priceText(value, digits)],
    ['Spread', estimate.spread, (value: number) => priceText(value, digits)],
    ['Margin', estimate.margin, (value: number) => money(value, currency)],
    ['Margin level with it', estimate.marginLevelAfter, (value: number) => percent(value, 0)],
    ['Loss at the stop', estimate.riskAmount, (value: number) => money(value, currency)],
    ['Gain at the target', estimate.rewardAmount, (value: number) => money(value, currency)],
  ] as const
  return (
    <dl class="estimate">
      {rows.map(([name, value, shown]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === null ? '–' : shown(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Why checks did not pass. Several checks that lack the same reading give one reason. */
const reasonsOf = (checks: Preview['checks']): readonly string[] => [
  ...new Set(
    checks.map(({ name, message }) => {
      // The service's sentence names the route that lifts it.
      if (name === 'halt') return 'The account is halted and accepts no orders.'
      return message ?? `It cannot be said ${openWords[name] ?? name}.`
    }),
  ),
]

const PreviewShown = ({
  preview,
  order,
  isOfOrder,
  account,
  instrument,
  digits,
}: PreviewShownProps) => {
  const { allowed, checks, estimate } = preview
  const failed = checks.filter(({ passed }) => passed === false)
  const open = checks.filter(({ passed }) => passed === null)
  const passed = checks.filter((check) => check.passed === true)
  const words = wordsOf(order, instrument, estimate, digits)
  return (
    <>
      <Estimate estimate={estimate} currency={account.currency} digits={digits} />
      <p class={`verdict ${allowed ? 'gain' : 'loss'}`} role="status">
        {!isOfOrder
          ? 'Checking what is typed now…'
          : allowed
            ? open.length === 0
              ? `All ${checks.length} checks pass.`
              : `${passed.length} of ${checks.length} checks pass; ${open.length} cannot be said.`
            : `It would be refused: ${failed.length} of ${checks.length} checks ${failed.length === 1 ? 'fails' : 'fail'}.`}
      </p>
      {failed.length + open.length > 0 && (
        <ul class="checks">
          {[failed, open].map((some) =>
            reasonsOf(some).map((reason) => (
              <li key={reason} class={some === failed ? 'failed' : 'open'}>
                {reason}
              </li>
            )),
          )}
        </ul>
      )}
      {passed.length > 0 && (
        <details>
          <summary>What passes</summary>
          <ul class="checks">
            {passed.map(({ name }) => (
              <li key={name} class="passed">
                {words[name]}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

type Check = Preview['checks'][number]['name']

/** What a check that passed has found. */
const wordsOf = (
  { type, symbol, volume, stopLoss, takeProfit }: NewOrder,
  instrument: BrokerInstrument | undefined,
  { price }: Preview['estimate'],
  digits: number,
): Readonly<Record<Check, string>> => {
  const size = `${lots(volume)} lots`
  const level = (name: string, value: number | undefined): string =>
    value === undefined
      ? `There is no ${name} that could be too close.`
      : `The ${name} ${priceText(value, digits)} is on the right side of the price${price === null ? '' : `, ${number(Math.abs(value - price), digits)} from ${priceText(price, digits)}`}.`
  return {
    levels: 'Stop and target are on the right sides.',
    volume_per_order: `${size} are within the limit of one order.`,
    account_purpose: 'The account is for trading.',
    demo_account: 'The account is a demo account.',
    halt: 'The account is not halted.',
    provider_account: 'The account is connected to its broker.',
    order_type: 'The platform has this kind of order.',
    provider_token: 'The service may use the broker.',
    challenge: 'No failed challenge locks the account.',
    desk_limits: 'It is within the limits of the trading desk.',
    trader_limits: 'It is within the limits of the trader.',
    approval: `${size} need no approval.`,
    orders_per_day: "It is within the day's number of orders.",
    open_orders: 'It is within the number of open orders.',
    symbol: `The broker has ${instrument?.symbol ?? symbol}.`,
    trade_mode: `The broker accepts ${type} orders for it.`,
    market_open: 'The market is open.',
    volume_minimum: `${size} are at least ${instrument === undefined ? "the broker's minimum" : instrument.minVolume}.`,
    volume_maximum: `${size} are at most ${instrument === undefined ? "the broker's maximum" : instrument.maxVolume}.`,
    volume_step: `${size} are a multiple of ${instrument === undefined ? "the broker's step" : instrument.volumeStep}.`,
    stop_loss: level('stop', stopLoss),
    take_profit: level('target', takeProfit),
  }
}

const openWords: Partial<Record<Check, string>> = {
  trade_mode: 'whether the broker accepts orders for it',
  market_open: "whether the market is open: the time zone of the broker's hours is not known",
  volume_minimum: 'whether the volume is large enough',
  volume_maximum: 'whether the volume is small enough',
  volume_step: 'whether the volume has a step of the broker',
  stop_loss: 'whether the stop is far enough from the price',
  take_profit: 'whether the target is far enough from the price',
}
