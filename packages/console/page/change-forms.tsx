// Changes of what the broker holds: levels and a part of a position, terms of a working order.
import type { BodyOf, Order, Position } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { NumberField, asTyped, UntilField } from './fields.tsx'
import { localSecond, lots, parseTyped } from './format.ts'
import { setQuery } from './location.ts'
import { Section, Time } from './parts.tsx'
import type { PriceField } from './trading-prices.tsx'
import { orderTypeNames, priceText } from './words.ts'

/** As they are typed, by the name of the field; a field that is not changed is left out. */
export type Edits = Readonly<Record<string, string>>

type ChangeableField = PriceField | 'stopLimitPrice'
/** What the broker holds of them. */
type CurrentPrices = Partial<Record<ChangeableField, number>>
/** Null removes. */
type FieldChanges = Partial<Record<ChangeableField, number | null>>

const labels: Readonly<Record<ChangeableField, string>> = {
  price: 'Price',
  stopLimitPrice: 'Price of the limit order',
  stopLoss: 'Stop loss',
  takeProfit: 'Take profit',
}

/** The text of a field: as it was typed, else as the broker holds it. */
export const shownOf = (
  held: CurrentPrices,
  edits: Edits,
  name: ChangeableField,
  digits: number,
): string => {
  const value = held[name]
  return edits[name] ?? (value === undefined ? '' : asTyped(value, digits))
}

/** The changes that are typed; undefined where one of them is no price. */
const changesOf = (held: CurrentPrices, edits: Edits, digits: number): FieldChanges | undefined => {
  const changes: FieldChanges = {}
  for (const name of Object.keys(labels) as ChangeableField[]) {
    const text = edits[name]
    if (text === undefined) continue
    const value = parseTyped(text, digits)
    if (value !== undefined && !(value > 0)) return undefined
    if (value !== held[name]) changes[name] = value ?? null
  }
  return changes
}

const wordsOfChanges = (
  held: CurrentPrices,
  changes: FieldChanges,
  digits: number,
): readonly string[] => {
  const text = (price: number): string => priceText(price, digits)
  return (Object.entries(changes) as [ChangeableField, number | null][]).map(([name, to]) => {
    const from = held[name]
    const label = labels[name].toLowerCase()
    if (to === null) return `${label} ${text(from ?? 0)} removed`
    return `${label} ${from === undefined ? 'set' : `from ${text(from)}`} to ${text(to)}`
  })
}

interface ChangeProps<Held> {
  readonly held: Held
  readonly edits: Edits
  readonly onEdit: (name: string, text: string) => void
  readonly digits: number
}

/** A form for what is held, with a way back to a new order. */
export const HeldSection = ({
  title,
  children,
}: {
  title: string
  children: ComponentChildren
}) => (
  <Section
    title={title}
    aside={
      <button type="button" onClick={() => setQuery({ position: '', order: '' })}>
        New order
      </button>
    }
  >
    {children}
  </Section>
)

export const PriceFields = ({
  names,
  digits,
  priceLabel = labels.price,
  textOf,
  onEdit,
}: {
  names: readonly ChangeableField[]
  digits: number
  priceLabel?: string
  textOf: (name: ChangeableField) => string
  onEdit: (name: ChangeableField, text: string) => void
}) =>
  names.map((name) => (
    <NumberField
      key={name}
      label={name === 'price' ? priceLabel : labels[name]}
      value={textOf(name)}
      digits={digits}
      isRequired={name === 'price' || name === 'stopLimitPrice'}
      onInput={(text) => onEdit(name, text)}
    />
  ))

export const PositionForm = ({
  held,
  edits,
  onEdit,
  digits,
  onChange,
  onClose,
}: ChangeProps<Position> & {
  onChange: (levels: BodyOf<'changePositionLevels'>, words: string) => void
  /** Undefined closes all. */
  onClose: (volume: number | undefined) => void
}) => {
  const changes = changesOf(held, edits, digits)
  const hasChanges = changes !== undefined && Object.keys(changes).length > 0
  const volumeText = edits['volume'] ?? asTyped(held.volume, 2)
  const volume = parseTyped(volumeText)
  const canClose = volume !== undefined && volume > 0 && volume <= held.volume
  return (
    <HeldSection title={`${held.symbol} ${held.type} ${lots(held.volume)}`}>
      <form
        class="ticket"
        onSubmit={(event) => {
          event.preventDefault()
          if (hasChanges) onChange(changes, wordsOfChanges(held, changes, digits).join(', '))
        }}
      >
        <p class="quiet">
          Position {held.brokerPositionId}, opened <Time iso={held.openedAt} /> at{' '}
          {priceText(held.entryPrice, digits)}.
        </p>
        <PriceFields
          names={['stopLoss', 'takeProfit']}
          digits={digits}
          textOf={(name) => shownOf(held, edits, name, digits)}
          onEdit={onEdit}
        />
        <button type="submit" class="primary" disabled={!hasChanges}>
          Change the levels…
        </button>
      </form>
      <form
        class="ticket apart"
        onSubmit={(event) => {
          event.preventDefault()
          if (canClose) onClose(volume === held.volume ? undefined : volume)
        }}
      >
        <NumberField
          label="Lots to close"
          value={volumeText}
          isRequired
          hint={`at most ${lots(held.volume)}`}
          onInput={(text) => onEdit('volume', text)}
        />
        <button type="submit" disabled={!canClose}>
          Close {volume === held.volume ? 'all of it' : volumeText}…
        </button>
      </form>
    </HeldSection>
  )
}

export const OrderForm = ({
  held,
  edits,
  onEdit,
  digits,
  onChange,
  onCancel,
}: ChangeProps<Order> & {
  onChange: (terms: BodyOf<'modifyOrder'>, words: string) => void
  onCancel: () => void
}) => {
  const changes = changesOf(held, edits, digits)
  const expiresAt = edits['expiresAt']
  const expiry = expiresAt ? new Date(expiresAt).toISOString() : undefined
  const { price, stopLimitPrice, ...levels } = changes ?? {}
  // A price cannot be removed.
  const isWhole = changes !== undefined && price !== null && stopLimitPrice !== null
  const terms: BodyOf<'modifyOrder'> = {
    ...levels,
    ...(typeof price === 'number' && { price }),
    ...(typeof stopLimitPrice === 'number' && { stopLimitPrice }),
    ...(expiry !== undefined && expiry !== held.expiresAt && { expiresAt: expiry }),
  }
  const hasChanges = isWhole && Object.keys(terms).length > 0
  const submit = (event: Event): void => {
    event.preventDefault()
    if (!hasChanges) return
    const words = wordsOfChanges(held, changes, digits)
    const until = terms.expiresAt && `held until ${localSecond(terms.expiresAt)}`
    onChange(terms, [...words, ...(until ? [until] : [])].join(', '))
  }
  return (
    <HeldSection
      title={`${orderTypeNames[held.orderType]} order: ${held.type} ${lots(held.volume)} ${held.symbol}`}
    >
      <form class="ticket" onSubmit={submit}>
        <PriceFields
          names={[
            'price',
            ...(held.orderType === 'stop_limit' ? (['stopLimitPrice'] as const) : []),
            'stopLoss',
            'takeProfit',
          ]}
          digits={digits}
          textOf={(name) => shownOf(held, edits, name, digits)}
          onEdit={onEdit}
        />
        {held.timeInForce === 'gtd' && held.expiresAt !== undefined && (
          <UntilField
            value={expiresAt ?? localInput(held.expiresAt)}
            onInput={(text) => onEdit('expiresAt', text)}
          />
        )}
        <button type="submit" class="primary" disabled={!hasChanges}>
          Change the order…
        </button>
        <button type="button" onClick={onCancel}>
          Cancel the order…
        </button>
      </form>
    </HeldSection>
  )
}

/** As a field for a local time has it. */
const localInput = (iso: string): string => {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
