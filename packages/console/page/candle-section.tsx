// A section with candles, which are drawn by a library that is loaded when they are first shown.
import type { Candle } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { lazy } from './lazy.tsx'
import { Notice, ReadSection } from './parts.tsx'
import type { PriceChartProps } from './price-chart.tsx'
import type { Read } from './read.ts'

const PriceChart = lazy(async () => (await import('./price-chart.tsx')).PriceChart)

export const CandleSection = ({
  title,
  aside,
  read,
  none,
  note,
  ...chart
}: Omit<PriceChartProps, 'candles'> & {
  title: string
  aside: ComponentChildren
  read: Read<readonly Candle[]>
  /** Shown where the broker has no candles. */
  none: string
  /** Shown beneath the candles. */
  note: ComponentChildren
}) => (
  <ReadSection {...{ title, aside, read }}>
    {(candles) =>
      candles.length === 0 ? (
        <Notice>{none}</Notice>
      ) : (
        <>
          <PriceChart {...chart} candles={candles} />
          <p class="quiet">{note}</p>
        </>
      )
    }
  </ReadSection>
)
