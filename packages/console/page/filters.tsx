// Filters that several pages have, each kept in the address under its name.
import { setQuery } from './location.ts'

export const changeFilter = ({
  currentTarget: { name, value },
}: {
  currentTarget: HTMLInputElement | HTMLSelectElement
}): void => setQuery({ [name]: value.trim() })

export const AccountFilter = ({
  query,
  accounts,
  none,
}: {
  query: URLSearchParams
  accounts: readonly { readonly id: string; readonly name: string }[]
  /** What the choice of no account is called. */
  none: string
}) => (
  <label>
    Account{' '}
    <select name="account" value={query.get('account') ?? ''} onChange={changeFilter}>
      <option value="">{none}</option>
      {accounts.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  </label>
)

/** Days in the viewer's zone, both included. */
export const PeriodFilter = ({ query }: { query: URLSearchParams }) => (
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
