// Filters that several pages have: of the account and the days, kept in the address, and of events.
import type { Account } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { eventTitle, type EventType } from './events.ts'
import { Select, TypedInput } from './fields.tsx'
import { setQuery, useQuery } from './location.ts'
import { ReadResult } from './parts.tsx'
import type { Read } from './read.ts'

/** A field whose value is kept in the address. */
export const QueryInput = ({
  label,
  name,
  ...input
}: {
  label: string
  name: string
  type?: 'date'
  size?: number
}) => (
  <label>
    {label}
    <TypedInput
      {...input}
      name={name}
      value={useQuery().get(name) ?? ''}
      onDone={(text) => setQuery({ [name]: text })}
    />
  </label>
)

/** What is chosen in the address; `fallback` where that is none of the values. */
export const useChoice = <Value extends string>(
  name: string,
  values: readonly Value[],
  fallback: Value,
): Value => {
  const chosen = useQuery().get(name)
  return values.find((value) => value === chosen) ?? fallback
}

/** A choice that is kept in the address. */
export const QuerySelect = <Value extends string>({
  name,
  fallback,
  clears,
  ...select
}: Omit<Parameters<typeof Select<Value>>[0], 'onChange'> & {
  name: string
  /** Left out of the address. */
  fallback: Value
  /** Parameters that a choice removes. */
  clears?: Readonly<Record<string, ''>>
}) => (
  <Select
    {...select}
    onChange={(chosen) => setQuery({ ...clears, [name]: chosen === fallback ? '' : chosen })}
  />
)

export const AccountFilter = ({
  accounts,
  value,
  none,
}: {
  accounts: Read<readonly Account[]>
  /** Undefined: the one of the address. */
  value?: string | undefined
  /** What the choice of no account is called; undefined: there is none. */
  none: string | undefined
}) => {
  const wanted = useQuery().get('account') ?? ''
  return (
    <>
      <QuerySelect
        label="Account"
        name="account"
        value={value ?? wanted}
        fallback=""
        options={[
          ...(none ? [['', none] as const] : []),
          ...(accounts.data ?? []).map(({ id, name }) => [id, name] as const),
        ]}
        clears={{ position: '', order: '' }}
      />
      {!accounts.data && <ReadResult read={accounts}>{() => null}</ReadResult>}
    </>
  )
}

/** Days in the user's zone, both included. */
export const PeriodFilter = () => (
  <>
    <QueryInput label="Closed from" type="date" name="from" />
    <QueryInput label="to" type="date" name="to" />
  </>
)

/** Types of events, of which several can be chosen. */
export const TypeChoices = ({
  legend,
  offered,
  chosen,
  onChange,
  children,
}: {
  legend: string
  offered: readonly EventType[]
  chosen: readonly EventType[]
  onChange: (chosen: readonly EventType[]) => void
  /** A button after them. */
  children: ComponentChildren
}) => (
  <fieldset>
    <legend>{legend}</legend>
    <div class="choices">
      {offered.map((type) => (
        <label key={type} class="choice">
          <input
            type="checkbox"
            checked={chosen.includes(type)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(offered.filter((one) => (one === type ? checked : chosen.includes(one))))
            }
          />
          {eventTitle(type)}
        </label>
      ))}
      {children}
    </div>
  </fieldset>
)
