// Balance over time, and the drawdown beneath.
import { useEffect, useRef } from 'preact/hooks'
import type { CurveData, Point } from './chart.ts'
import { duration, money, percent } from './format.ts'
import { Result, Time } from './parts.tsx'

export const Curve = ({ curve, currency }: { curve: CurveData; currency: string | undefined }) => {
  const { points, maxDrawdown } = curve
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined)
    return <p class="quiet">No trade has been closed yet, so there is no curve.</p>
  return (
    <>
      <CurveChart curve={curve} currency={currency} />
      <dl class="facts">
        <div>
          <dt>Net profit</dt>
          <dd>
            <Result amount={last.netProfit} currency={currency} />
          </dd>
        </div>
        <div>
          <dt>Deepest drawdown</dt>
          <dd>
            {money(maxDrawdown.amount, currency)}
            {maxDrawdown.percent !== null && ` (${percent(maxDrawdown.percent)})`}
          </dd>
        </div>
        {maxDrawdown.troughAt !== null && (
          <div>
            <dt>It lasted</dt>
            <dd>
              {maxDrawdown.peakAt === null ? (
                'from the start'
              ) : (
                <>
                  from <Time iso={maxDrawdown.peakAt} />
                </>
              )}{' '}
              {maxDrawdown.recoveredAt === null ? (
                'and is not made up for yet'
              ) : (
                <>
                  to <Time iso={maxDrawdown.recoveredAt} />
                  {maxDrawdown.peakAt !== null &&
                    ` (${duration((Date.parse(maxDrawdown.recoveredAt) - Date.parse(maxDrawdown.peakAt)) / 1_000)})`}
                </>
              )}
            </dd>
          </div>
        )}
      </dl>
    </>
  )
}

const CurveChart = ({
  curve: { points },
  currency,
}: {
  curve: CurveData
  currency: string | undefined
}) => {
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = container.current
    if (element === null) return undefined
    let remove: (() => void) | undefined
    let isGone = false
    // Loaded when a curve is first shown: half of the page's size.
    const draw = async (): Promise<void> => {
      const { drawCurve } = await import('./chart.ts')
      if (!isGone) remove = drawCurve(element, { points, currency })
    }
    void draw()
    return () => {
      isGone = true
      remove?.()
    }
  }, [points, currency])
  const [first, last] = [points[0], points.at(-1)]
  const value = (point: Point | undefined): string =>
    point === undefined ? '' : money(point.balance ?? point.netProfit, currency)
  return (
    <div
      class="chart"
      role="img"
      aria-label={`Balance over time, from ${value(first)} to ${value(last)}, and drawdown beneath. The figures below sum it up.`}
      ref={container}
    />
  )
}
