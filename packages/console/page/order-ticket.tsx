// A new order: its terms as they are typed, and what the service and the broker say of them.
import type { Account, DataOf, NewOrder } from '@tradeport/client'
import { useEffect, useRef } from 'preact/hooks'
import { PriceFields } from './change-forms.tsx'
import { Choice, isoOfLocal, NumberField, Select, UntilField, TypedInput } from './fields.tsx'
import { lotDigits, lots, money, parseTyped, percent } from './format.ts'
import { Facts, Notice, ReadResult, Section, Time } from './parts.tsx'
import { useRead } from './read.ts'
import type { Ask } from './send-question.tsx'
import { useSession } from './session.ts'
import type { useMarket } from './trading-reads.ts'
import { orderTypeNames, priceText } from './words.ts'
import type { Writes } from './writes.ts'

/** The fields of a ticket as they are typed, before anything is. */
export const initialTicket = {
  symbol: 'EURUSD',
  type: 'buy' as NewOrder['type'],
  orderType: 'market' as NewOrder['orderType'],
  volume: '0.10',
  price: '',
  stopLimitPrice: '',
  timeInForce: 'gtc' as NonNullable<NewOrder['timeInForce']>,
  /** In the user's zone, as its field has it. */
  expiresAt: '',
  stopLoss: '',
  takeProfit: '',
}

type TicketFields = Readonly<typeof initialTicket>

/** The order, or a sentence that says what is missing. */
const orderOf = (fields: TicketFields, accountId: string, digits: number): NewOrder | string => {
  const { symbol, type, orderType, timeInForce } = fields
  const isPending = orderType !== 'market'
  const volume = parseTyped(fields.volume, lotDigits)
  const priceOf = (text: string): number | undefined => parseTyped(text, digits)
  const price = isPending ? priceOf(fields.price) : undefined
  const stopLimitPrice = orderType === 'stop_limit' ? priceOf(fields.stopLimitPrice) : undefined
  const [stopLoss, takeProfit] = [priceOf(fields.stopLoss), priceOf(fields.takeProfit)]
  if (symbol === '') return 'Enter a symbol.'
  if (volume === undefined) return 'Enter the lots.'
  if (isPending && price === undefined) return 'Enter the price.'
  if (orderType === 'stop_limit' && stopLimitPrice === undefined)
    return 'Enter the price of the limit order.'
  const typed = [volume, price, stopLimitPrice, stopLoss, takeProfit]
  if (typed.some((value) => value !== undefined && !(value > 0)))
    return 'Correct the marked fields.'
  const expiresAt = isoOfLocal(fields.expiresAt)
  const isDated = isPending && timeInForce === 'gtd'
  if (isDated && expiresAt === undefined) return 'Enter until when it holds.'
  return {
    accountId,
    symbol,
    type,
    orderType,
    volume,
    ...(price !== undefined && { price, timeInForce }),
    ...(stopLimitPrice !== undefined && { stopLimitPrice }),
    ...(isDated && expiresAt && { expiresAt }),
    ...(stopLoss !== undefined && { stopLoss }),
    ...(takeProfit !== undefined && { takeProfit }),
  }
}

const timesInForce = [
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
  const seen = useRef(key)
  useEffect(() => {
    if (seen.current === key) return undefined
    seen.current = key
    const timer = setTimeout(read.refresh, debounceMs)
    return () => clearTimeout(timer)
  }, [key])
  return read
}

/** The service accepts no more in one order. */
const mostLots = 10

export const OrderTicket = ({
  account,
  fields,
  onEdit,
  market: { instrument, quote, digits },
  ask,
  write,
}: {
  account: Account
  fields: TicketFields
  onEdit: (name: keyof TicketFields, text: string) => void
  market: ReturnType<typeof useMarket>
  ask: Ask
  write: Writes
}) => {
  const { me, whyHidden } = useSession()
  const hasPrices = !whyHidden('prices')
  const order = orderOf(fields, account.id, digits)
  const { data: previewed, readAt, failure } = usePreview(order)
  const isOfOrder = JSON.stringify(previewed?.order) === JSON.stringify(order)
  const isCurrent = isOfOrder && failure === undefined
  const preview = isCurrent ? previewed : undefined
  const canSend = typeof order !== 'string' && preview?.allowed !== false
  const verb = fields.type === 'buy' ? 'Buy' : 'Sell'
  const isPending = fields.orderType !== 'market'
  /** A dash holds the place of a price that has not arrived, so that no button moves then. */
  const quotedPrice = (price: number | undefined) =>
    hasPrices &&
    (price === undefined ? (
      <b class={fields.symbol === '' ? undefined : 'connecting'}>–</b>
    ) : (
      <b>{priceText(price, digits)}</b>
    ))
  const submit = (): void => {
    if (!canSend) return
    ask({
      verb: `${verb} ${lots(order.volume)} ${order.symbol}`,
      writesFor: () => write.place(order, digits),
      detail:
        preview && readAt ? (
          <>
            <Estimate estimate={preview.estimate} currency={account.currency} digits={digits} />
            <p class="quiet">
              Estimated at <Time iso={readAt} />.
            </p>
          </>
        ) : (
          <Notice kind="warning">
            This order was not checked first, so what it costs is not known.
          </Notice>
        ),
    })
  }
  return (
    <Section title="New order">
      <form class="ticket" onSubmit={submit}>
        <div class="pair">
          <div class="field">
            <label>
              Symbol
              <TypedInput
                required
                value={fields.symbol}
                onDone={(text) => onEdit('symbol', text.toUpperCase())}
              />
            </label>
          </div>
          <NumberField
            label="Lots"
            value={fields.volume}
            digits={lotDigits}
            isRequired
            onInput={(text) => onEdit('volume', text)}
            hint={
              instrument && `${instrument.minVolume} to ${Math.min(instrument.maxVolume, mostLots)}`
            }
          />
        </div>
        <Choice
          legend="Side"
          name="side"
          value={fields.type}
          onChange={(type) => onEdit('type', type)}
          options={[
            ['sell', <>Sell {quotedPrice(quote?.bid)}</>],
            ['buy', <>Buy {quotedPrice(quote?.ask)}</>],
          ]}
        />
        {me.capabilities.includes('pending-orders') ? (
          <Choice
            legend="Kind of order"
            name="kind"
            value={fields.orderType}
            onChange={(kind) => onEdit('orderType', kind)}
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
        <PriceFields
          names={[
            ...(isPending ? (['price'] as const) : []),
            ...(fields.orderType === 'stop_limit' ? (['stopLimitPrice'] as const) : []),
            'stopLoss',
            'takeProfit',
          ]}
          digits={digits}
          priceLabel={fields.orderType === 'limit' ? 'Limit price' : 'Stop price'}
          textOf={(name) => fields[name]}
          onEdit={onEdit}
        />
        {isPending && (
          <>
            <div class="field">
              <Select
                label="In force"
                value={fields.timeInForce}
                options={timesInForce.filter(
                  ([one]) => one !== 'day' || account.brokerType !== 'mt4',
                )}
                onChange={(one) => onEdit('timeInForce', one)}
              />
            </div>
            {fields.timeInForce === 'gtd' && (
              <UntilField value={fields.expiresAt} onInput={(text) => onEdit('expiresAt', text)} />
            )}
          </>
        )}
        {hasPrices && quote?.stale === true && (
          <p class="quiet">
            Not quoted since <Time iso={quote.time} />: an order may get another price.
          </p>
        )}
        <button type="submit" class="primary" disabled={!canSend}>
          {verb} {fields.volume} {fields.symbol}…
        </button>
      </form>
      {typeof order === 'string' ? (
        <p class="quiet">{order}</p>
      ) : (
        <div class={`preview ${isCurrent ? '' : 'stale'}`} aria-busy={!isCurrent}>
          <ReadResult
            read={{
              failure,
              readAt,
              data: isOfOrder || !failure ? previewed : undefined,
            }}
          >
            {({ estimate, ...shown }) => (
              <>
                <Estimate {...{ estimate, digits }} currency={account.currency} />
                <Checks {...shown} isOfOrder={isOfOrder} isCurrent={isCurrent} />
              </>
            )}
          </ReadResult>
        </div>
      )}
    </Section>
  )
}

const Estimate = ({
  estimate,
  currency,
  digits,
}: {
  estimate: Preview['estimate']
  currency: string
  digits: number
}) => {
  const inPrice = (value: number): string => priceText(value, digits)
  const inMoney = (value: number): string => money(value, currency)
  const rows = [
    ['Price', estimate.price, inPrice],
    ['Spread', estimate.spread, inPrice],
    ['Margin', estimate.margin, inMoney],
    ['Margin level with it', estimate.marginLevelAfter, (value: number) => percent(value, 0)],
    ['Loss at the stop loss', estimate.riskAmount, inMoney],
    ['Gain at the take profit', estimate.rewardAmount, inMoney],
  ] as const
  return (
    <Facts
      kind="estimate"
      facts={rows.map(([name, value, text]) => [name, value === null ? '–' : text(value)])}
    />
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

const Checks = ({
  allowed,
  checks,
  isOfOrder,
  isCurrent,
}: Pick<Preview, 'allowed' | 'checks'> & {
  /** Whether they are of what is typed now. */
  isOfOrder: boolean
  /** Whether the last attempt to read them succeeded too. */
  isCurrent: boolean
}) => {
  const failed = checks.filter(({ passed }) => passed === false)
  const open = checks.filter(({ passed }) => passed === null)
  const passedCount = checks.length - failed.length - open.length
  return (
    <>
      <p class={`verdict ${!isCurrent ? '' : allowed ? 'gain' : 'loss'}`} role="status">
        {!isCurrent
          ? isOfOrder
            ? 'It cannot be checked now.'
            : 'Checking what is typed now…'
          : allowed
            ? open.length === 0
              ? `All ${checks.length} checks pass.`
              : `${passedCount} of ${checks.length} checks pass; ${open.length} cannot be said.`
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
    </>
  )
}

const openWords: Partial<Record<Preview['checks'][number]['name'], string>> = {
  trade_mode: 'whether the broker accepts orders for it',
  market_open: "whether the market is open: the time zone of the broker's hours is not known",
  volume_minimum: 'whether the volume is large enough',
  volume_maximum: 'whether the volume is small enough',
  volume_step: 'whether the volume has a step of the broker',
  price: 'whether the price is on its side of the market',
  stop_loss: 'whether the stop loss is far enough from the price',
  take_profit: 'whether the take profit is far enough from the price',
  margin: 'whether enough margin is free',
}
