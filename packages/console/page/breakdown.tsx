// Statistics of groups of trades: which symbol, month or hour won and which lost.
import type { DataOf, QueryOf } from '@tradeport/client'
import { QuerySelect, useChoice } from './filters.tsx'
import { capitalised, number, percent, userZone, weekdayName } from './format.ts'
import { Result, ReadSection, Table, useMoney } from './parts.tsx'
import { useData } from './read.ts'
import { fewNote, worstFirst } from './statistics.tsx'

type Query = QueryOf<'getTradeBreakdown'>
export type Group = DataOf<'getTradeBreakdown'>['groups'][number]
/** Of the trades that are shown. */
export type Filter = Omit<Query, 'by' | 'timeZone'>

const groupings = ['symbol', 'side', 'weekday', 'hour'] as const satisfies readonly Query['by'][]

const units: Readonly<Record<string, string>> = { m: 'min', h: 'h', d: 'd', w: 'wk' }

const nameOf = (by: Query['by'], key: string): string => {
  if (by === 'weekday') return weekdayName(key, 'long')
  if (by === 'hour') return `${key.padStart(2, '0')}:00`
  if (by === 'holding')
    return key
      .replace('_', ' to ')
      .replace('under to', 'under')
      .replace('over to', 'over')
      .replaceAll(/(\d+)([mhdw])/g, (_, count: string, unit: string) => `${count} ${units[unit]}`)
  return key
}

/** The trades of a filter in groups. */
export const useGroups = (filter: Filter, by: Query['by'], timeZone: string) =>
  useData('insights', 'getTradeBreakdown', [{ ...filter, by, timeZone }])

export const Breakdown = ({ filter }: { filter: Filter }) => {
  const by = useChoice('by', groupings, 'symbol')
  // As the times of the page are.
  const breakdown = useGroups(filter, by, userZone)
  return (
    <ReadSection
      title="Breakdown"
      aside={
        <QuerySelect
          label="by"
          name="by"
          value={by}
          options={groupings.map((one) => [one, one])}
          fallback="symbol"
        />
      }
      read={breakdown}
    >
      {({ groups }) => <Groups {...{ groups, by }} />}
    </ReadSection>
  )
}

export const Groups = ({ groups, by }: { groups: readonly Group[]; by: Query['by'] }) => {
  const { signed } = useMoney()
  const name = by === 'holding' ? 'Holding time' : capitalised(by)
  // Symbols have no order of their own: what lost most comes first.
  const shown = by === 'symbol' ? worstFirst(groups) : groups
  const largest = Math.max(...groups.map(({ netProfit }) => Math.abs(netProfit))) || 1
  return (
    <>
      {groups.some(({ enough }) => !enough) && <p class="quiet">{fewNote}</p>}
      <Table
        label={`By ${name.toLowerCase()}`}
        none="No closed trade matches the filters."
        rows={shown}
        keyOf={({ key }) => key}
        classOf={({ enough }) => (enough ? undefined : 'few')}
        columns={[
          [name, ({ key }) => nameOf(by, key), 'row'],
          ['Trades', ({ totalTrades }) => number(totalTrades), 'figure'],
          ['Win rate', ({ winRate }) => percent(winRate), 'figure'],
          [
            '95 % interval of the average trade',
            ({ confidenceIntervals: { averageTrade } }) =>
              averageTrade === null
                ? '–'
                : `${signed(averageTrade.lower)} to ${signed(averageTrade.upper)}`,
            'figure',
          ],
          ['Net profit', ({ netProfit }) => <Result amount={netProfit} />, 'figure'],
          [
            'bar',
            ({ netProfit }) => <ResultBar share={(100 * netProfit) / largest} />,
            'bar-cell',
            <span class="sr-only">Net profit as a bar</span>,
          ],
        ]}
      />
    </>
  )
}

/** @param share percent of the half of its width, to the left below 0 */
const ResultBar = ({ share }: { share: number }) => (
  <svg class="result-bar" viewBox="-100 0 200 8" preserveAspectRatio="none" aria-hidden="true">
    <rect
      class={share < 0 ? 'loss' : 'gain'}
      x={Math.min(0, share)}
      y="0"
      width={Math.abs(share)}
      height="8"
    />
  </svg>
)
