// Fields of forms that hold figures as they are typed.
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { decimalsOf, isAmbiguous, parseTyped } from './format.ts'

/** A value as it would be typed. */
export const asTyped = (value: number, digits: number): string =>
  value.toFixed(Math.max(digits, decimalsOf([value])))

const faultOf = (text: string, digits: number): string | undefined => {
  const value = parseTyped(text, digits)
  if (value === undefined || value > 0) return undefined
  return isAmbiguous(text, digits)
    ? `"${text}" can be read in two ways: leave out what separates the thousands, or write other than three decimals.`
    : `It must be a number above 0; got "${text}".`
}

/**
 * Text that counts once its field is left. Until then what is typed stays, whatever is rendered
 * meanwhile.
 */
export const TypedInput = ({
  value,
  onDone,
  ...input
}: {
  value: string
  onDone: (text: string) => void
  name?: string
  type?: 'date'
  size?: number
  required?: boolean
}) => {
  const [typed, setTyped] = useState<string>()
  return (
    <input
      {...input}
      autocomplete="off"
      spellcheck={false}
      value={typed ?? value}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onChange={({ currentTarget }) => onDone(currentTarget.value.trim())}
      onBlur={() => setTyped(undefined)}
    />
  )
}

/** A price or a volume. */
export const NumberField = ({
  label,
  value,
  onInput,
  isRequired = false,
  digits,
  hint,
}: {
  label: string
  value: string
  onInput: (value: string) => void
  isRequired?: boolean
  /** The decimals that are usual. */
  digits: number
  hint?: ComponentChildren
}) => {
  const fault = faultOf(value, digits)
  const note = useId()
  return (
    <div class="field">
      <label>
        {label}
        <input
          type="text"
          inputMode="decimal"
          autocomplete="off"
          required={isRequired}
          value={value}
          aria-invalid={fault ? 'true' : undefined}
          aria-describedby={fault || hint ? note : undefined}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      </label>
      {value.trim() !== '' && !isRequired && (
        <button type="button" onClick={() => onInput('')}>
          None<span class="sr-only"> (remove the {label.toLowerCase()})</span>
        </button>
      )}
      {(fault || hint) && (
        <small id={note} class={fault ? 'loss' : 'quiet'}>
          {fault ?? hint}
        </small>
      )}
    </div>
  )
}

/** Several choices beside each other, one of which is made. */
export const Choice = <Value extends string>({
  legend,
  name,
  options,
  value,
  onChange,
}: {
  legend: string
  name: string
  options: readonly (readonly [Value, ComponentChildren])[]
  value: Value
  onChange: (value: Value) => void
}) => (
  <fieldset class={`options ${name}`}>
    <legend class="sr-only">{legend}</legend>
    {options.map(([option, text]) => (
      <label key={option} class={option}>
        <input
          type="radio"
          name={name}
          value={option}
          checked={option === value}
          onChange={() => onChange(option)}
        />
        <span>{text}</span>
      </label>
    ))}
  </fieldset>
)

/** A list to choose from, with its label. */
export const Select = <Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: ComponentChildren
  value: Value
  options: readonly (readonly [Value, string])[]
  onChange: (value: Value) => void
}) => (
  <label>
    {label}{' '}
    <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  </label>
)

/** The time until which an order holds, as a field for a local time has it. */
export const UntilField = ({
  value,
  onInput,
}: {
  value: string
  onInput: (value: string) => void
}) => (
  <div class="field">
    <label>
      Until
      <input
        type="datetime-local"
        required
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  </div>
)

/** The time of such a field as ISO 8601; undefined where it is none, such as one in the year 20271. */
export const isoOfLocal = (value: string): string | undefined => {
  const at = new Date(value)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
