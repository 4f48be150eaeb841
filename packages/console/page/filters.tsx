// Filters that several pages have: of the account and the days, kept in the address, and of events.
import type { Account } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { eventTitle, type EventType } from './events.ts'
import { Select } from './fields.tsx'
import { setQuery, useQuery } from './location.ts'
import { ReadResult } from './parts.tsx'
import type { Read } from './read.ts'

export const changeFilter = ({
  currentTarget: { name, value },
}: {
  currentTarget: HTMLInputElement
}): void => setQuery({ [name]: value.trim() })

export const AccountFilter = ({
  accounts,
  none,
}: {
  accounts: Read<readonly Account[]>
  /** What the choice of no account is called. */
  none: string
}) => (
  <>
    <label>
      Account{' '}
      <Select
        value={useQuery().get('account') ?? ''}
        options={[['', none], ...(accounts.data ?? []).map(({ id, name }) => [id, name] as const)]}
        onChange={(account) => setQuery({ account })}
      />
    </label>
    {accounts.data === undefined && <ReadResult read={accounts}>{() => null}</ReadResult>}
  </>
)

/** A time on a day in the viewer's zone, as ISO 8601; undefined where the text is no day. */
export const momentOf = (
  day: string,
  time: '00:00:00.000' | '23:59:59.999',
): string | undefined => {
  const at = new Date(`${day}T${time}`)
  // February 30th is read as March 2nd.
  return /^\d{4}-\d\d-\d\d$/.test(day) && at.getDate() === Number(day.slice(-2))
    ? at.toISOString()
    : undefined
}

/** Days in the viewer's zone, both included. */
export const PeriodFilter = () => {
  const query = useQuery()
  return (
    <>
      <label>
        Closed from
        <input type="date" name="from" value={query.get('from') ?? ''} onChange={changeFilter} />
      </label>
      <label>
        to
        <input type="date" name="to" value={query.get('to') ?? ''} onChange={changeFilter} />
      </label>
    </>
  )
}

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
