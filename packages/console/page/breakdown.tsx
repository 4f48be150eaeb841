// Statistics of groups of trades: which symbol, month or hour won and which lost.
import type { DataOf, QueryOf } from '@tradeport/client'
import { number, percent, result } from './format.ts'
import { setQuery } from './location.ts'
import { figureHeads, Result, Scroll, Section, Shown } from './parts.tsx'
import { inTurn, useRead } from './read.ts'
import type { Session } from './session.ts'

type Query = QueryOf<'getTradeBreakdown'>
type Group = DataOf<'getTradeBreakdown'>['groups'][number]

const groupings = [
  ['symbol', 'Symbol'],
  ['side', 'Side'],
  ['weekday', 'Weekday'],
  ['hour', 'Hour'],
] as const satisfies readonly (readonly [Query['by'], string])[]

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const units: Readonly<Record<string, string>> = { m: 'min', h: 'h', d: 'd', w: 'wk' }

const nameOf = (by: Query['by'], key: string): string => {
  if (by === 'weekday') return weekdays[Number(key) - 1] ?? key
  if (by === 'hour') return `${key.padStart(2, '0')}:00`
  if (by === 'holding')
    return key
      .replace('_', ' to ')
      .replace('under to', 'under')
      .replace('over to', 'over')
      .replaceAll(/(\d+)([mhdw])/g, (_, count: string, unit: string) => `${count} ${units[unit]}`)
  return key
}

export const Breakdown = ({
  session: { client },
  query,
  filter,
  currency,
}: {
  session: Session
  query: URLSearchParams
  filter: Omit<Query, 'by' | 'timeZone'>
  currency: string | undefined
}) => {
  const [by, name] = groupings.find(([one]) => one === query.get('by')) ?? groupings[0]
  // As the times of the page are.
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const breakdown = useRead(
    JSON.stringify([by, filter]),
    inTurn(
      async (signal) =>
        (await client.getTradeBreakdown({ ...filter, by, timeZone }, { signal })).data.groups,
    ),
  )
  return (
    <Section
      title="Breakdown"
      aside={
        <label>
          by{' '}
          <select
            value={by}
            onChange={({ currentTarget }) => setQuery({ by: currentTarget.value })}
          >
            {groupings.map(([value, text]) => (
              <option key={value} value={value}>
                {text.toLowerCase()}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <Shown read={breakdown}>{(groups) => <Groups {...{ groups, by, name, currency }} />}</Shown>
    </Section>
  )
}

export const Groups = ({
  groups,
  by,
  name,
  currency,
}: {
  groups: readonly Group[]
  by: Query['by']
  name: string
  currency: string | undefined
}) => {
  if (groups.length === 0) return <p class="quiet">No closed trade matches the filters.</p>
  // Symbols have no order of their own: what lost most comes first.
  const shown =
    by === 'symbol' ? groups.toSorted((one, other) => one.netProfit - other.netProfit) : groups
  const largest = Math.max(...groups.map(({ netProfit }) => Math.abs(netProfit))) || 1
  return (
    <>
      <Scroll label={`By ${name.toLowerCase()}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{name}</th>
              {figureHeads(
                'Trades',
                'Win rate',
                '95 % interval of the average trade',
                'Net profit',
              )}
              <th scope="col">
                <span class="sr-only">Net profit as a bar</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ key, enough, confidenceIntervals, ...group }) => (
              <tr key={key} class={enough ? undefined : 'few'}>
                <th scope="row">{nameOf(by, key)}</th>
                <td class="figure">{number(group.totalTrades)}</td>
                <td class="figure">{percent(group.winRate)}</td>
                <td class="figure">
                  {confidenceIntervals.averageTrade === null
                    ? '–'
                    : `${result(confidenceIntervals.averageTrade.lower, currency)} to ${result(confidenceIntervals.averageTrade.upper, currency)}`}
                </td>
                <td class="figure">
                  <Result amount={group.netProfit} currency={currency} />
                </td>
                <td class="bar-cell">
                  <svg
                    class="result-bar"
                    viewBox="-100 0 200 8"
                    preserveAspectRatio="none"
                    aria-hidden="true"
                  >
                    <rect
                      class={group.netProfit < 0 ? 'loss' : 'gain'}
                      x={Math.min(0, (100 * group.netProfit) / largest)}
                      y="0"
                      width={(100 * Math.abs(group.netProfit)) / largest}
                      height="8"
                    />
                  </svg>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {groups.some(({ enough }) => !enough) && (
        <p class="quiet">Grey: fewer than 30 trades, too few to tell skill from luck.</p>
      )}
    </>
  )
}
