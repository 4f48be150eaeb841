// The charts of the trades of a filter, and their robust statistics.
import type { DataOf } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Groups, useGroups, type Filter, type Group } from './breakdown.tsx'
import { QuerySelect, useChoice } from './filters.tsx'
import { number, percent, userZone } from './format.ts'
import { Notice, Section, ReadResult, useMoney } from './parts.tsx'
import { ChartFrame } from './chart-frame.tsx'
import { Distribution, Months, WeekHours } from './trade-charts.tsx'
import { withCalculationLimit, useRead } from './read.ts'
import { Figures, Interval } from './statistics.tsx'

/** Besides the user's own: UTC, and those of large markets. */
const zones = [
  ...new Set([
    userZone,
    'UTC',
    'Europe/London',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Tokyo',
    'Australia/Sydney',
  ]),
]

const GroupsChart = ({
  read,
  children,
}: {
  read: ReturnType<typeof useGroups>
  children: (groups: readonly Group[]) => ComponentChildren
}) => (
  <div>
    <ReadResult read={read}>
      {({ groups }) =>
        groups.length === 0 ? (
          <p class="quiet">No closed trade matches the filters.</p>
        ) : (
          children(groups)
        )
      }
    </ReadResult>
  </div>
)

export const TradeCharts = ({ filter }: { filter: Filter }) => {
  const zone = useChoice('zone', zones, userZone)
  return (
    <Section
      title="When money was made, and how much at once"
      aside={
        <QuerySelect
          label="hours and months in"
          name="zone"
          value={zone}
          options={zones.map((one) => [one, one === userZone ? `${one} (yours)` : one])}
          fallback={userZone}
        />
      }
    >
      <div class="charts">
        <GroupsChart read={useGroups(filter, 'month', zone)}>
          {(groups) => <Months {...{ groups, zone }} />}
        </GroupsChart>
        <GroupsChart read={useGroups(filter, 'weekday_hour', zone)}>
          {(groups) => <WeekHours {...{ groups, zone }} />}
        </GroupsChart>
        <GroupsChart read={useGroups(filter, 'result', userZone)}>
          {(groups) => <Distribution groups={groups} />}
        </GroupsChart>
        <GroupsChart read={useGroups(filter, 'holding', userZone)}>
          {(groups) => (
            <ChartFrame
              title="Holding time"
              note="Net profit by the time from the first opening to the last closing deal."
            >
              <Groups groups={groups} by="holding" />
            </ChartFrame>
          )}
        </GroupsChart>
      </div>
    </Section>
  )
}

const resamples = 10_000

/** On demand, because it takes the service seconds. With another filter use another key. */
export const ResampledIntervals = ({ filter }: { filter: Filter }) => {
  const [asked, setAsked] = useState(0)
  const read = useRead(
    'insights',
    String(asked),
    asked === 0
      ? undefined
      : withCalculationLimit(async (client, signal) => {
          const options = { signal, timeoutMs: 60_000 }
          return (await client.getRobustStatistics({ ...filter, resamples }, options)).data
        }),
  )
  return (
    <Section title="How else it could have come out">
      <p class="quiet">
        Draws {number(resamples)} histories at random from these trades, each as long as the real
        one, and looks at how far their figures lie apart. It makes no assumption about how results
        are distributed, so its intervals differ somewhat from those above. It treats each trade as
        independent of the others, which grids and martingales are not, and knows no loss that did
        not happen: few trades without the rare large ones look better than they are.
      </p>
      <button
        type="button"
        disabled={asked > 0 && !read.data && !read.failure}
        onClick={() => setAsked((last) => last + 1)}
      >
        {asked === 0 ? 'Compute' : 'Compute again'}
      </button>
      {asked > 0 && (
        <ReadResult read={read}>
          {(statistics) => <RobustFigures statistics={statistics} />}
        </ReadResult>
      )}
    </Section>
  )
}

const RobustFigures = ({
  statistics: { trades, intervals, probabilityOfLoss },
}: {
  statistics: DataOf<'getRobustStatistics'>
}) => {
  const { money, signed } = useMoney()
  if (intervals === null || probabilityOfLoss === null)
    return (
      <Notice>{number(trades)} trades are too few: histories are drawn from 10 trades on.</Notice>
    )
  const rows = [
    ['Average trade', intervals.expectancy, signed, 0, 'no gain'],
    ['Win rate', intervals.winRate, percent, undefined, ''],
    ['Profit factor', intervals.profitFactor, number, 1, 'breaks even at'],
    ['Sharpe ratio', intervals.sharpeRatio, number, 0, 'no gain'],
    [
      'Deepest drawdown, the same trades in another order',
      intervals.maxDrawdown,
      money,
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
      <Figures
        rows={rows.map(([name, { estimate, lower, upper }, text, reference, words]) => [
          name,
          undefined,
          estimate === null ? 'none' : text(estimate),
          estimate === null || lower === null || upper === null ? (
            'No interval: there are too few losing trades, or trades that differ.'
          ) : (
            <Interval bounds={{ lower, upper }} {...{ estimate, reference, words, text }} />
          ),
        ])}
      />
      <p class="quiet">
        From {number(trades)} trades, at 95 %. The same trades always give the same figures.
      </p>
    </>
  )
}
