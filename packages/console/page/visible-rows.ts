// Long tables: only the rows near the window are in the document.
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { listen } from './listen.ts'

/** Up to this many rows are all in the document, so that the browser's search finds them. */
const maxUnwindowedRows = 200
/** Rows kept above and below the window. The shown range moves in steps of as many rows. */
const margin = 20

/** @param body of a table with rows of one height */
export const useVisibleRows = (body: RefObject<HTMLTableSectionElement | null>, count: number) => {
  const [{ from, to, height }, setRange] = useState({ from: 0, to: maxUnwindowedRows, height: 0 })
  const isLong = count > maxUnwindowedRows
  useEffect(() => {
    if (!isLong) return undefined
    const measure = (): void => {
      const row = body.current?.querySelector('tr:not([aria-hidden])')
      if (!body.current || !row) return
      const size = row.getBoundingClientRect().height
      const top = -body.current.getBoundingClientRect().top
      const first = Math.floor(Math.max(0, top) / size / margin) * margin
      const shown = Math.ceil(innerHeight / size)
      const next = { from: Math.max(0, first - margin), to: first + shown + 2 * margin }
      setRange((last) =>
        last.from === next.from && last.to === next.to && last.height === size
          ? last
          : { ...next, height: size },
      )
    }
    measure()
    // Browsers dispatch each of them once for a frame at most.
    return listen(window, ['scroll', 'resize'], measure)
  }, [body, isLong])
  if (!isLong) return { isLong, from: 0, to: count, before: 0, after: 0 }
  const [start, end] = [Math.min(from, count), Math.min(to, count)]
  /** `before` and `after` are the heights of the rows that are left out, in CSS pixels. */
  return { isLong, from: start, to: end, before: start * height, after: (count - end) * height }
}
