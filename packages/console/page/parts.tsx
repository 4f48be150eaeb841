// Small parts of several pages: times, amounts, notices, sections, tables and lists of facts.
import { createContext, type ComponentChildren } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { skipReasons, type Provenance } from './words.ts'
import { ago, localMinute, localTime, money, result, utcTime } from './format.ts'
import { useInterval, type Read } from './read.ts'

const Timed = ({ iso, text }: { iso: string; text: (iso: string) => string }) => (
  <time dateTime={iso} title={utcTime(iso)}>
    {text(iso)}
  </time>
)

/** A time in the user's zone, with UTC on hover. */
export const Time = ({ iso }: { iso: string }) => <Timed iso={iso} text={localTime} />

/** A time with its day, also where that is today: for what is printed, and for times long ago. */
export const TimeWithDay = ({ iso }: { iso: string }) => <Timed iso={iso} text={localMinute} />

/** How long ago something was, kept current. */
export const Age = ({ iso }: { iso: string }) => {
  const [, setTick] = useState(0)
  useInterval(() => setTick((tick) => tick + 1), 5_000)
  return <Timed iso={iso} text={ago} />
}

const CurrencyContext = createContext<string | undefined>(undefined)

/** Sets the currency of all amounts inside; undefined shows them without a currency. */
export const CurrencyProvider = CurrencyContext.Provider

/** Formats amounts in the currency that surrounds the component; `signed` writes the sign too. */
export const useMoney = () => {
  const currency = useContext(CurrencyContext)
  return {
    currency,
    money: (amount: number): string => money(amount, currency),
    signed: (amount: number): string => result(amount, currency),
  }
}

/** A gain or a loss: its sign says it, and its colour repeats it. */
export const Result = ({ amount, currency }: { amount: number; currency?: string | undefined }) => {
  const around = useMoney().currency
  const text = result(amount, currency ?? around)
  const isNone = text === result(0, currency ?? around)
  return <span class={isNone ? '' : amount > 0 ? 'gain' : 'loss'}>{text}</span>
}

export const Notice = ({
  kind = 'info',
  detail,
  children,
}: {
  kind?: 'info' | 'warning'
  /** Follows what is announced, and is not announced again whenever it changes. */
  detail?: ComponentChildren
  children: ComponentChildren
}) => (
  <p class={`notice ${kind}`}>
    <span role={kind === 'warning' ? 'alert' : 'note'}>{children}</span> {detail}
  </p>
)

export const Section = ({
  title,
  aside,
  whyHidden,
  children,
}: {
  title: string
  aside?: ComponentChildren
  /** Shown instead of what it contains. */
  whyHidden?: string | undefined
  children?: ComponentChildren
}) => (
  <section aria-label={title}>
    <header>
      <h2>{title}</h2>
      {aside && <div class="aside">{aside}</div>}
    </header>
    {whyHidden ? <Notice>{whyHidden}</Notice> : children}
  </section>
)

/** A wide table scrolls by itself, by keyboard too. */
export const Scroll = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="scroll" role="group" aria-label={label} tabIndex={0}>
    {children}
  </div>
)

/**
 * A column of a table: its name, what a row has in it, and how its cells are set. `row` is the
 * heading of its row. A heading is shown instead of the name, which small screens then leave out.
 */
export type Column<Row> = readonly [
  name: string,
  cell: (row: Row) => ComponentChildren,
  kind?: 'row' | 'figure' | 'words' | 'tick' | 'bar-cell' | undefined,
  heading?: ComponentChildren,
]

export const Cells = <Row,>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) =>
  columns.map(([name, cell, set, heading]) =>
    set === 'row' ? (
      <th key={name} scope="row">
        {cell(row)}
      </th>
    ) : (
      <td key={name} class={set} data-name={heading ? undefined : name}>
        {cell(row)}
      </td>
    ),
  )

/** The columns of a table; those that it does not have are left out. */
export type Columns<Row> = readonly (Column<Row> | false | undefined)[]

/** A table of figures or text. On a small screen each row is a block, in which cells have names. */
export const Table = <Row,>({
  label,
  columns: allColumns,
  rows,
  keyOf,
  classOf,
  sums = [],
  kind = '',
  none,
}: {
  label: string
  columns: Columns<Row>
  rows: readonly Row[]
  keyOf: (row: Row, index: number) => string | number
  classOf?: (row: Row) => string | undefined
  /** Rows beneath, with cells by the names of their columns. */
  sums?: readonly Readonly<Record<string, ComponentChildren>>[]
  kind?: string
  /** Shown instead of a table without rows. */
  none?: string
}) => {
  if (rows.length === 0 && none) return <p class="quiet">{none}</p>
  const columns = allColumns.filter((column) => column !== undefined && column !== false)
  return (
    <Scroll label={label}>
      <table class={`rows ${kind}`}>
        <thead>
          <tr>
            {columns.map(([name, , set, heading = name]) => (
              <th key={name} scope="col" class={set}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)} class={classOf?.(row)}>
              <Cells columns={columns} row={row} />
            </tr>
          ))}
        </tbody>
        {sums.length > 0 && (
          <tfoot>
            {sums.map((sum, index) => (
              <tr key={index}>
                <Cells
                  columns={columns.map(([name, , set]) => [
                    name,
                    () => sum[name],
                    set === 'row' ? set : 'figure',
                  ])}
                  row={sum}
                />
              </tr>
            ))}
          </tfoot>
        )}
      </table>
    </Scroll>
  )
}

/** Names with their values; one without a value is left out. */
export const Facts = ({
  facts,
  kind: listKind = 'facts',
}: {
  facts: readonly (readonly [name: string, value: ComponentChildren, kind?: string])[]
  kind?: string
}) => (
  <dl class={listKind}>
    {facts.map(
      ([name, value, kind]) =>
        value !== undefined &&
        value !== null &&
        value !== false && (
          <div key={name} class={kind}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
)

/**
 * What was read, or why there is nothing to show: what failed, or what the key may not read, is
 * never shown as empty.
 */
export const ReadResult = <A,>({
  read: { whyHidden, data, readAt, failure, retry },
  children,
}: {
  read: Read<A>
  children: (data: A) => ComponentChildren
}) => {
  if (whyHidden) return <Notice>{whyHidden}</Notice>
  return (
    <>
      {failure && (
        <Notice
          kind="warning"
          detail={
            <>
              {data !== undefined && readAt && (
                <>
                  What is shown was read <Age iso={readAt} />.{' '}
                </>
              )}
              {retry && (
                <button type="button" onClick={retry}>
                  Try again
                </button>
              )}
            </>
          }
        >
          {failure}
        </Notice>
      )}
      {data === undefined ? (
        !failure && <p class="reading">Reading…</p>
      ) : (
        <div class={failure && 'stale'}>{children(data)}</div>
      )}
    </>
  )
}

/** A section of what was read. */
export const ReadSection = <A,>({
  read,
  children,
  ...section
}: Omit<Parameters<typeof Section>[0], 'children'> & Parameters<typeof ReadResult<A>>[0]) => (
  <Section {...section}>
    <ReadResult {...{ read, children }} />
  </Section>
)

/** What the service says to know about figures. */
export const Warnings = ({
  warnings = [],
}: {
  warnings?: readonly { readonly code: string; readonly message: string }[] | undefined
}) => (
  <>
    {warnings.map(({ code, message }) => (
      <Notice key={code}>{message}</Notice>
    ))}
  </>
)

/** Positions that are in no figure, by name, with the reasons. */
export const Skipped = ({
  skipped,
  accountOf,
}: {
  skipped: Provenance['skipped']
  /** Named where they are of several accounts. */
  accountOf?: (id: string) => string
}) =>
  skipped.length > 0 && (
    <ul>
      {skipped.map(({ accountId, positionId, reason }) => (
        <li key={`${accountId}${positionId}`}>
          Position {positionId}
          {accountOf && ` of ${accountOf(accountId)}`}: {skipReasons[reason]}.
        </li>
      ))}
    </ul>
  )
