// Changes of what the broker holds: levels and a part of a position, terms of a working order.
import type { BodyOf, Order, Position } from '@tradeport/client'
import { NumberField, numberOf, plain } from './fields.tsx'
import { lots } from './format.ts'
import { Section, Time } from './parts.tsx'
import { changeWords, kindNames, priceText } from './words.ts'

/** As they are typed, by the name of the field; a field that is not changed is left out. */
export type Edits = Readonly<Record<string, string>>

export type Priced = 'price' | 'stopLoss' | 'takeProfit' | 'stopLimitPrice'

const names: Readonly<Record<Priced, string>> = {
  price: 'Price',
  stopLimitPrice: 'Price of the limit order',
  stopLoss: 'Stop loss',
  takeProfit: 'Take profit',
}

/** The text of a field: as it was typed, else as the broker holds it. */
export const shownOf = (
  held: Partial<Record<Priced, number>>,
  edits: Edits,
  name: Priced,
  digits: number,
): string => {
  const value = held[name]
  return edits[name] ?? (value === undefined ? '' : plain(value, digits))
}

/** The changes that are typed: null removes. Undefined where one of them is no price. */
export const changesOf = (
  held: Partial<Record<Priced, number>>,
  edits: Edits,
): Partial<Record<Priced, number | null>> | undefined => {
  const changes: Partial<Record<Priced, number | null>> = {}
  for (const name of Object.keys(names) as Priced[]) {
    const text = edits[name]
    if (text === undefined) continue
    const value = numberOf(text)
    if (value !== undefined && !(value > 0)) return undefined
    if (value !== held[name]) changes[name] = value ?? null
  }
  return changes
}

export const wordsOfChanges = (
  held: Partial<Record<Priced, number>>,
  changes: Partial<Record<Priced, number | null>>,
  digits: number,
): string =>
  (Object.entries(changes) as [Priced, number | null][])
    .map(([name, to]) => changeWords(names[name].toLowerCase(), held[name], to, digits))
    .join(', ')

interface ChangeProps<Held> {
  readonly held: Held
  readonly edits: Edits
  readonly onEdit: (edits: Edits) => void
  readonly digits: number
  readonly suggest: ((name: 'price' | 'stopLoss' | 'takeProfit') => void) | undefined
  readonly onLeave: () => void
}

export const PositionForm = ({
  held,
  edits,
  onEdit,
  digits,
  suggest,
  onLeave,
  onChange,
  onClose,
}: ChangeProps<Position> & {
  onChange: (levels: BodyOf<'changePositionLevels'>, words: string) => void
  /** Undefined closes all. */
  onClose: (volume: number | undefined) => void
}) => {
  const changes = changesOf(held, edits)
  const hasChanges = changes !== undefined && Object.keys(changes).length > 0
  const volumeText = edits['volume'] ?? plain(held.volume, 2)
  const volume = numberOf(volumeText)
  const canClose = volume !== undefined && volume > 0 && volume <= held.volume
  const submit = (event: Event): void => {
    event.preventDefault()
    if (hasChanges) onChange(changes, wordsOfChanges(held, changes, digits))
  }
  return (
    <Section
      title={`${held.symbol} ${held.type} ${lots(held.volume)}`}
      aside={
        <button type="button" onClick={onLeave}>
          New order
        </button>
      }
    >
      <form class="ticket" onSubmit={submit}>
        <p class="quiet">
          Position {held.brokerPositionId}, opened <Time iso={held.openedAt} /> at{' '}
          {priceText(held.entryPrice, digits)}.
        </p>
        {(['stopLoss', 'takeProfit'] as const).map((name) => (
          <NumberField
            key={name}
            label={names[name]}
            value={shownOf(held, edits, name, digits)}
            onInput={(value) => onEdit({ ...edits, [name]: value })}
            onSuggest={suggest && (() => suggest(name))}
          />
        ))}
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
          onInput={(value) => onEdit({ ...edits, volume: value })}
        />
        <button type="submit" disabled={!canClose}>
          Close {volume === held.volume ? 'all of it' : volumeText}…
        </button>
      </form>
    </Section>
  )
}

export const OrderForm = ({
  held,
  edits,
  onEdit,
  digits,
  suggest,
  onLeave,
  onChange,
  onCancel,
}: ChangeProps<Order> & {
  onChange: (terms: BodyOf<'modifyOrder'>, words: string) => void
  onCancel: () => void
}) => {
  const changes = changesOf(held, edits)
  const expiresAt = edits['expiresAt']
  const expiry =
    expiresAt === undefined || expiresAt === '' ? undefined : new Date(expiresAt).toISOString()
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
    const parts = [
      wordsOfChanges(held, changes, digits),
      terms.expiresAt === undefined
        ? ''
        : `held until ${new Date(terms.expiresAt).toLocaleString()}`,
    ]
    onChange(terms, parts.filter((part) => part !== '').join(', '))
  }
  const fields = [
    'price',
    ...(held.orderType === 'stop_limit' ? (['stopLimitPrice'] as const) : []),
    'stopLoss',
    'takeProfit',
  ] as const
  return (
    <Section
      title={`${kindNames[held.orderType]} order: ${held.type} ${lots(held.volume)} ${held.symbol}`}
      aside={
        <button type="button" onClick={onLeave}>
          New order
        </button>
      }
    >
      <form class="ticket" onSubmit={submit}>
        {fields.map((name) => (
          <NumberField
            key={name}
            label={names[name]}
            value={shownOf(held, edits, name, digits)}
            isRequired={name === 'price' || name === 'stopLimitPrice'}
            onInput={(value) => onEdit({ ...edits, [name]: value })}
            onSuggest={suggest && name !== 'stopLimitPrice' ? () => suggest(name) : undefined}
          />
        ))}
        {held.timeInForce === 'gtd' && held.expiresAt !== undefined && (
          <div class="field">
            <label>
              Until
              <input
                type="datetime-local"
                required
                value={expiresAt ?? localInput(held.expiresAt)}
                onInput={({ currentTarget }) =>
                  onEdit({ ...edits, expiresAt: currentTarget.value })
                }
              />
            </label>
          </div>
        )}
        <button type="submit" class="primary" disabled={!hasChanges}>
          Change the order…
        </button>
        <button type="button" onClick={onCancel}>
          Cancel the order…
        </button>
      </form>
    </Section>
  )
}

/** As a field for a local time has it. */
const localInput = (iso: string): string => {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
