// Small parts of several pages.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ago, localTime, result, utcTime } from './format.ts'
import { useInterval, type Read } from './read.ts'

/** A time in the viewer's zone, with UTC on hover. */
export const Time = ({ iso }: { iso: string }) => (
  <time dateTime={iso} title={utcTime(iso)}>
    {localTime(iso)}
  </time>
)

const minute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A time with its day, also where that is today: for what is printed, and for times long ago. */
export const Moment = ({ iso }: { iso: string }) => (
  <time dateTime={iso} title={utcTime(iso)}>
    {minute.format(new Date(iso))}
  </time>
)

/** How long ago something was, kept current. */
export const Age = ({ iso }: { iso: string }) => {
  const [, setTick] = useState(0)
  useInterval(() => setTick((tick) => tick + 1), 5_000)
  return (
    <time dateTime={iso} title={utcTime(iso)}>
      {ago(iso)}
    </time>
  )
}

/** A gain or a loss: its sign says it, and its colour repeats it. */
export const Result = ({ amount, currency }: { amount: number; currency?: string | undefined }) => (
  <span class={amount > 0 ? 'gain' : amount < 0 ? 'loss' : ''}>{result(amount, currency)}</span>
)

export const Notice = ({
  kind = 'info',
  children,
}: {
  kind?: 'info' | 'warning'
  children: ComponentChildren
}) => (
  <p class={`notice ${kind}`} role={kind === 'warning' ? 'alert' : 'note'}>
    {children}
  </p>
)

export const Section = ({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
}) => (
  <section aria-label={title}>
    <header>
      <h2>{title}</h2>
      {aside !== undefined && <div class="aside">{aside}</div>}
    </header>
    {children}
  </section>
)

/** A wide table scrolls by itself, by keyboard too. */
export const Scroll = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <div class="scroll" role="group" aria-label={label} tabIndex={0}>
    {children}
  </div>
)

/** Headings of columns of text. */
export const heads = (...names: readonly string[]) =>
  names.map((name) => (
    <th key={name} scope="col">
      {name}
    </th>
  ))

/** Headings of columns of figures, which are aligned to the right. */
export const figureHeads = (...names: readonly string[]) =>
  names.map((name) => (
    <th key={name} scope="col" class="figure">
      {name}
    </th>
  ))

/** What was read, or why there is nothing to show; what failed is never shown as empty. */
export const Shown = <A,>({
  read: { data, readAt, failure },
  children,
}: {
  read: Read<A>
  children: (data: A) => ComponentChildren
}) => (
  <>
    {failure !== undefined && (
      <Notice kind="warning">
        {failure}{' '}
        {readAt !== undefined && (
          <>
            What is shown was read <Age iso={new Date(readAt).toISOString()} />.
          </>
        )}
      </Notice>
    )}
    {data !== undefined && (
      <div class={failure === undefined ? undefined : 'stale'}>{children(data)}</div>
    )}
    {data === undefined && failure === undefined && <p class="reading">Reading…</p>}
  </>
)
