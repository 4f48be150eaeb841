// The pictures of the trades of a filter, and their robust statistics.
import type { DataOf, QueryOf } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Groups } from './breakdown.tsx'
import { money, number, percent, result } from './format.ts'
import { setQuery } from './location.ts'
import { Notice, Section, Shown } from './parts.tsx'
import { Picture } from './picture.tsx'
import { Distribution, Months, WeekHours, type Group, type Grouping } from './pictures.tsx'
import { inTurn, useRead } from './read.ts'
import { sentenceOf, type Session } from './session.ts'
import { Interval } from './statistics.tsx'

type Filter = Omit<QueryOf<'getTradeBreakdown'>, 'by' | 'timeZone'>

interface InsightProps {
  readonly session: Session
  readonly filter: Filter
  readonly currency: string | undefined
}

const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Besides the viewer's own: UTC, and those of large markets. */
const zones = [
  ...new Set([
    viewerZone,
    'UTC',
    'Europe/London',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Tokyo',
    'Australia/Sydney',
  ]),
]

const useGroups = ({ session: { client }, filter }: InsightProps, by: Grouping, timeZone: string) =>
  useRead(
    JSON.stringify([by, filter, timeZone]),
    inTurn(
      async (signal) =>
        (await client.getTradeBreakdown({ ...filter, by, timeZone }, { signal })).data.groups,
    ),
  )

export const Pictures = ({ query, ...props }: InsightProps & { query: URLSearchParams }) => {
  const { currency } = props
  const zone = zones.find((one) => one === query.get('zone')) ?? viewerZone
  const reads = {
    months: useGroups(props, 'month', zone),
    hours: useGroups(props, 'weekday_hour', zone),
    holding: useGroups(props, 'holding', viewerZone),
    results: useGroups(props, 'result', viewerZone),
  }
  const shown = (
    name: keyof typeof reads,
    picture: (groups: readonly Group[]) => ComponentChildren,
  ): ComponentChildren => (
    <div>
      <Shown read={reads[name]}>
        {(groups) =>
          groups.length === 0 ? (
            <p class="quiet">No closed trade matches the filters.</p>
          ) : (
            picture(groups)
          )
        }
      </Shown>
    </div>
  )
  return (
    <Section
      title="When money was made, and how much at once"
      aside={
        <label>
          hours and months in{' '}
          <select
            value={zone}
            onChange={({ currentTarget: { value } }) =>
              setQuery({ zone: value === viewerZone ? '' : value })
            }
          >
            {zones.map((one) => (
              <option key={one} value={one}>
                {one}
                {one === viewerZone && ' (yours)'}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <div class="pictures">
        {shown('months', (groups) => (
          <Months {...{ groups, currency, zone }} />
        ))}
        {shown('hours', (groups) => (
          <WeekHours {...{ groups, currency, zone }} />
        ))}
        {shown('results', (groups) => (
          <Distribution {...{ groups, currency }} />
        ))}
        {shown('holding', (groups) => (
          <Picture
            title="Holding time"
            note="Net profit by the time from the first opening to the last closing deal."
          >
            <Groups groups={groups} by="holding" name="Holding time" currency={currency} />
          </Picture>
        ))}
      </div>
    </Section>
  )
}

type RobustStatistics = DataOf<'getRobustStatistics'>

const resamples = 10_000

type Progress =
  | { readonly state: 'idle' }
  | { readonly state: 'reading'; readonly since: number }
  | { readonly state: 'failed'; readonly message: string }
  | { readonly state: 'done'; readonly statistics: RobustStatistics }

/** On demand, because it takes the service seconds. With another filter use another key. */
export const Robust = ({ session: { client }, filter, currency }: InsightProps) => {
  const [progress, setProgress] = useState<Progress>({ state: 'idle' })
  const running = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const start = async (): Promise<void> => {
    const controller = new AbortController()
    running.current = controller
    const { signal } = controller
    setProgress({ state: 'reading', since: Date.now() })
    const outcome = await inTurn((own) =>
      client.getRobustStatistics({ ...filter, resamples }, { signal: own }),
    )(signal).then(
      ({ data }): Progress => ({ state: 'done', statistics: data }),
      (error: unknown): Progress => ({ state: 'failed', message: sentenceOf(error) }),
    )
    if (!signal.aborted) setProgress(outcome)
  }
  const stop = (): void => {
    running.current?.abort()
    setProgress({ state: 'idle' })
  }
  return (
    <Section title="How else it could have come out">
      <p class="quiet">
        Draws {number(resamples)} histories at random from these trades, each as long as the real
        one, and looks at how far their figures lie apart. It makes no assumption about how results
        are distributed, so its intervals differ somewhat from those above. It treats each trade as
        independent of the others, which grids and martingales are not.
      </p>
      {progress.state === 'reading' ? (
        <p role="status">
          <progress aria-label="Drawing histories" /> Drawing <Seconds since={progress.since} />{' '}
          <button type="button" onClick={stop}>
            Stop
          </button>
        </p>
      ) : (
        <button type="button" onClick={() => void start()}>
          {progress.state === 'done' ? 'Compute again' : 'Compute'}
        </button>
      )}
      {progress.state === 'failed' && <Notice kind="warning">{progress.message}</Notice>}
      {progress.state === 'done' && (
        <RobustFigures statistics={progress.statistics} currency={currency} />
      )}
    </Section>
  )
}

const Seconds = ({ since }: { since: number }) => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return <>for {Math.max(0, Math.round((now - since) / 1_000))} s</>
}

const RobustFigures = ({
  statistics: { trades, intervals, probabilityOfLoss },
  currency,
}: {
  statistics: RobustStatistics
  currency: string | undefined
}) => {
  if (intervals === null || probabilityOfLoss === null)
    return (
      <Notice>{number(trades)} trades are too few: histories are drawn from 10 trades on.</Notice>
    )
  const amount = (value: number): string => result(value, currency)
  const rows = [
    ['Average trade', intervals.expectancy, amount, 0, 'no gain'],
    ['Win rate', intervals.winRate, percent, undefined, ''],
    ['Profit factor', intervals.profitFactor, number, 1, 'breaks even at'],
    ['Sharpe ratio', intervals.sharpeRatio, number, 0, 'no gain'],
    [
      'Deepest drawdown, the same trades in another order',
      intervals.maxDrawdown,
      (value: number): string => money(value, currency),
      undefined,
      '',
    ],
  ] as const
  return (
    <>
      <p class="verdict">
        {probabilityOfLoss === 0
          ? 'None of the drawn histories lost money.'
          : `${percent(100 * probabilityOfLoss)} of the drawn histories lost money.`}
      </p>
      <dl class="figures">
        {rows.map(([name, { estimate, lower, upper }, text, reference, words]) => (
          <div class="figure-card" key={name}>
            <dt>{name}</dt>
            <dd>
              <span class="value">{estimate === null ? 'none' : text(estimate)}</span>
              {estimate === null || lower === null || upper === null ? (
                <span class="quiet">No interval: there are too few losing trades.</span>
              ) : (
                <Interval
                  bounds={{ lower, upper }}
                  estimate={estimate}
                  reference={reference}
                  words={words}
                  text={text}
                />
              )}
            </dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        From {number(trades)} trades, at 95 %. The same trades always give the same figures.
      </p>
    </>
  )
}
