// What charts of figures share: a frame with a title, what is left out, and the same as a table.
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { listen } from './listen.ts'

export const ChartFrame = ({
  title,
  note,
  table,
  children,
}: {
  title: string
  /** What it shows, and what it leaves out. */
  note: ComponentChildren
  /** The same in figures, for those who do not see it; left out where the chart is a table. */
  table?: (label: string) => ComponentChildren
  children: ComponentChildren
}) => {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <figure class="chart-frame">
      <figcaption>
        <h3>{title}</h3>
        <p class="quiet">{note}</p>
      </figcaption>
      {children}
      {table && (
        <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
          <summary>As a table</summary>
          {isOpen && table(`${title} as a table`)}
        </details>
      )}
    </figure>
  )
}

const minPrintedWidth = 600

/** The width of an element in CSS pixels, so that text in a drawing keeps its size. */
export const useWidth = (element: RefObject<Element | null>): number => {
  const [width, setWidth] = useState(720)
  useEffect(() => {
    const { current } = element
    if (current === null) return undefined
    const observer = new ResizeObserver(([entry]) => {
      // Nothing is measured while it is not shown.
      if (entry && entry.contentRect.width > 0) setWidth(entry.contentRect.width)
    })
    observer.observe(current)
    // A page that is printed from a phone is wider than its screen.
    const stopListening = listen(window, ['beforeprint', 'afterprint'], ({ type }) =>
      setWidth((last) =>
        type === 'beforeprint'
          ? Math.max(last, minPrintedWidth)
          : current.getBoundingClientRect().width,
      ),
    )
    return () => {
      observer.disconnect()
      stopListening()
    }
  }, [element])
  return width
}

/** Round values within a range, about as many as asked for. */
export const ticks = (least: number, most: number, count: number): readonly number[] => {
  const rough = (most - least) / count
  if (!(rough > 0)) return [least]
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power
  const first = Math.ceil(least / step)
  return Array.from({ length: Math.floor(most / step) - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  )
}
