// Changes of what the broker holds: levels and a part of a position, terms of a working order.
import type { BodyOf, Order, Position } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { NumberField, asTyped, isoOfLocal, UntilField } from './fields.tsx'
import { lotDigits, lots, parseTyped } from './format.ts'
import { setQuery } from './location.ts'
import {
  changeableNames,
  type ChangeableField,
  type CurrentPrices,
  type FieldChanges,
} from './order-words.ts'
import { Section, Time } from './parts.tsx'
import type { Ask } from './send-question.tsx'
import { orderTypeNames, priceText } from './words.ts'
import type { Writes } from './writes.ts'

/** The typed texts by field; a field that was not changed is absent. */
export type Edits = Readonly<Record<string, string>>

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
  for (const name of Object.keys(changeableNames) as ChangeableField[]) {
    const text = edits[name]
    if (text === undefined) continue
    const value = parseTyped(text, digits)
    if (value !== undefined && !(value > 0)) return undefined
    if (value !== held[name]) changes[name] = value ?? null
  }
  return changes
}

interface ChangeProps<Held> {
  readonly held: Held
  readonly edits: Edits
  readonly onEdit: (name: string, text: string) => void
  readonly clearEdits: () => void
  readonly digits: number
  readonly ask: Ask
  readonly write: Writes
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
  priceLabel = changeableNames.price,
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
      label={name === 'price' ? priceLabel : changeableNames[name]}
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
  clearEdits,
  digits,
  ask,
  write,
}: ChangeProps<Position>) => {
  const changes = changesOf(held, edits, digits)
  const hasChanges = changes && Object.keys(changes).length > 0
  const volumeText = edits['volume'] ?? asTyped(held.volume, 2)
  const volume = parseTyped(volumeText, lotDigits)
  const canClose = volume !== undefined && volume > 0 && volume <= held.volume
  /** Undefined closes all. */
  const part = volume === held.volume ? undefined : volume
  return (
    <HeldSection title={`${held.symbol} ${held.type} ${lots(held.volume)}`}>
      <form
        class="ticket"
        onSubmit={() => {
          if (hasChanges)
            ask({
              verb: 'Change it',
              writesFor: ({ position }) =>
                position && write.changeLevels(position, changes, digits),
              onDone: clearEdits,
            })
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
        onSubmit={() => {
          if (canClose)
            ask({
              verb: part === undefined ? 'Close it' : `Close ${lots(part)}`,
              writesFor: ({ position }) => position && write.close(position, part),
              onDone: clearEdits,
            })
        }}
      >
        <NumberField
          label="Lots to close"
          value={volumeText}
          digits={lotDigits}
          isRequired
          hint={`at most ${lots(held.volume)}`}
          onInput={(text) => onEdit('volume', text)}
        />
        <button type="submit" disabled={!canClose}>
          Close {part === undefined ? 'all of it' : volumeText}…
        </button>
      </form>
    </HeldSection>
  )
}

export const OrderForm = ({
  held,
  edits,
  onEdit,
  clearEdits,
  digits,
  ask,
  write,
}: ChangeProps<Order>) => {
  const changes = changesOf(held, edits, digits)
  const expiresAt = edits['expiresAt']
  const expiry = expiresAt && isoOfLocal(expiresAt)
  const { price, stopLimitPrice, ...levels } = changes ?? {}
  // A price cannot be removed.
  const isWhole = changes && price !== null && stopLimitPrice !== null && (!expiresAt || expiry)
  const terms: BodyOf<'modifyOrder'> = {
    ...(typeof price === 'number' && { price }),
    ...(typeof stopLimitPrice === 'number' && { stopLimitPrice }),
    ...levels,
    ...(expiry && expiry !== held.expiresAt && { expiresAt: expiry }),
  }
  const hasChanges = isWhole && Object.keys(terms).length > 0
  const submit = (): void => {
    if (hasChanges)
      ask({
        verb: 'Change it',
        writesFor: ({ order }) => order && write.changeOrder(order, terms, digits),
        onDone: clearEdits,
      })
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
        {held.timeInForce === 'gtd' && held.expiresAt && (
          <UntilField
            value={expiresAt ?? localInput(held.expiresAt)}
            onInput={(text) => onEdit('expiresAt', text)}
          />
        )}
        <button type="submit" class="primary" disabled={!hasChanges}>
          Change the order…
        </button>
        <button
          type="button"
          onClick={() =>
            ask({
              verb: 'Cancel the order',
              writesFor: ({ order }) => order && write.cancel(order),
            })
          }
        >
          Cancel the order…
        </button>
      </form>
    </HeldSection>
  )
}

/** In the format of a field for a local time. */
const localInput = (iso: string): string => {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
