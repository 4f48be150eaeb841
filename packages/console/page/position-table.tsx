// Open positions: how they are read, and their table, of one account or of all.
import type { Account, Client, Position } from '@tradeport/client'
import { lots, money, sumOf } from './format.ts'
import { Result, Table, Time, type Column, type Columns } from './parts.tsx'
import { totalResult } from './positions.ts'
import { priceFormatFor } from './words.ts'

export const readPositions = (client: Client, accountId: string, signal: AbortSignal) =>
  Array.fromAsync(client.listPositions.each({ accountId }, { signal }))

export interface PositionRow {
  readonly position: Position
  readonly account: Pick<Account, 'name'> & Partial<Pick<Account, 'currency'>>
  /** Whether it is known from an earlier read only. */
  readonly isStale?: boolean
}

/** A column of prices, each with as many decimals as the longest price of its position. */
const priceColumn = (
  name: string,
  field: 'entryPrice' | 'currentPrice' | 'stopLoss' | 'takeProfit',
): Column<PositionRow> => [
  name,
  ({ position }) => {
    const { entryPrice, currentPrice, stopLoss, takeProfit } = position
    return priceFormatFor(entryPrice, currentPrice, stopLoss, takeProfit)(position[field])
  },
  'figure',
]

export const PositionTable = ({
  held,
  isOfSeveral = false,
  isSummed,
  chosen,
  mayChange = false,
  tick,
}: {
  held: readonly PositionRow[]
  /** Whether they may be of several accounts, which are then named. */
  isOfSeveral?: boolean
  /** Whether all are known, so that they can be summed up. */
  isSummed: boolean
  chosen?: string | undefined
  mayChange?: boolean
  /** A column of check boxes, before all others. */
  tick?: Column<PositionRow> | undefined
}) => {
  const amounts = [
    ['Price result', ({ unrealizedPnl }: Position) => unrealizedPnl],
    ['Swap', ({ swap }: Position) => swap],
    ['Commission', ({ commission }: Position) => commission],
  ] as const
  const columns: Columns<PositionRow> = [
    tick,
    [
      'Symbol',
      ({ position }) =>
        mayChange ? (
          <a
            href={`/console/trading?account=${position.accountId}&position=${encodeURIComponent(position.id)}`}
            aria-current={position.id === chosen ? 'true' : undefined}
            title="Change its levels or close it"
          >
            {position.symbol}
          </a>
        ) : (
          position.symbol
        ),
      'row',
    ],
    isOfSeveral && ['Account', ({ account }) => account.name],
    ['Side', ({ position }) => position.type],
    ['Lots', ({ position }) => lots(position.volume), 'figure'],
    priceColumn('Entry', 'entryPrice'),
    priceColumn('Now', 'currentPrice'),
    ...amounts.map(([name, figure]): Column<PositionRow> => [
      name,
      ({ position, account }) => money(figure(position), account.currency),
      'figure',
    ]),
    [
      'Result',
      ({ position, account }) => (
        <>
          <Result amount={totalResult(position)} currency={account.currency} />
          {position.realizedPnl !== 0 && (
            <div class="quiet">
              {money(position.realizedPnl, account.currency)} by partial closes
            </div>
          )}
        </>
      ),
      'figure',
    ],
    priceColumn('Stop loss', 'stopLoss'),
    priceColumn('Take profit', 'takeProfit'),
    isOfSeveral && ['Opened', ({ position }) => <Time iso={position.openedAt} />],
  ]
  const sums = [...Map.groupBy(held, ({ account }) => account.currency)]
    .filter(([, some]) => isSummed && some.length > 1)
    .map(([currency, some]) => {
      const positions = some.map(({ position }) => position)
      return {
        Symbol: `All in ${currency}`,
        ...Object.fromEntries(
          amounts.map(([name, figure]) => [name, money(sumOf(positions, figure), currency)]),
        ),
        Result: <Result amount={sumOf(positions, totalResult)} currency={currency} />,
      }
    })
  return (
    <>
      <Table
        label="Open positions"
        columns={columns}
        rows={held}
        keyOf={({ position }) => position.id}
        classOf={({ position, isStale }) =>
          isStale === true ? 'stale' : position.id === chosen ? 'chosen' : undefined
        }
        sums={sums}
      />
      <p class="quiet">
        Result is what a position has made as a whole: price result, swap and commission, and what
        its partial closes have made. The broker may have booked some of that already: a commission
        charged at the opening is in the balance.
      </p>
    </>
  )
}
