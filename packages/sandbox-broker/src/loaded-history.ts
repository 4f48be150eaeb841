// The positions that a loaded history leaves open: those with complete deals, in symbols that the
// sandbox quotes.
import { amountIn, type Account, newPosition, type Position, timeOf } from './account.ts'
import { decimal, type Decimal, sum, toCents, zero } from './numbers.ts'
import type { DealRow } from './rows.ts'

type Trade = {
  readonly entry: 'in' | 'out'
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly volume: Decimal
  readonly price: Decimal
  readonly at: number
  readonly row: DealRow
}

export const derivePositions = (account: Account): Position[] => {
  const rows = new Map<string, DealRow[]>()
  for (const { row } of account.deals.all()) {
    const id = row['positionId']
    if (typeof id !== 'string' || id === '' || id === '0') continue
    rows.set(id, [...(rows.get(id) ?? []), row])
  }
  const positions = [...rows].flatMap(([id, deals]) => derivePosition(account, id, deals) ?? [])
  return positions.toSorted((a, b) => a.openedAt - b.openedAt)
}

const derivePosition = (
  account: Account,
  id: string,
  deals: readonly DealRow[],
): Position | undefined => {
  const trades = deals.map(readTrade)
  const clean = trades.filter((trade) => trade !== undefined)
  const ins = clean.filter((trade) => trade.entry === 'in')
  const outs = clean.filter((trade) => trade.entry === 'out')
  const first = ins[0]
  if (first === undefined || clean.length < deals.length) return undefined
  const { symbol } = first
  const { settings, market } = account
  const instrument = market.instruments.get(symbol)
  const opened = sum(ins.map((trade) => trade.volume))
  const volume = opened.minus(sum(outs.map((trade) => trade.volume)))
  if (instrument === undefined || volume.lte(zero)) return undefined
  const worth = sum(ins.map((trade) => trade.price.times(trade.volume)))
  const entryCommission = sum(ins.map((trade) => amountIn(trade.row['commission'])))
  const open = toCents(entryCommission.times(volume).div(opened), settings.currencyDigits)
  const position = newPosition(
    {
      id,
      side: first.side,
      symbol,
      instrument,
      volume,
      openPrice: worth.div(opened).round(10),
      magic: Number(first.row['magic'] ?? 0),
      comment: text(first.row['comment']),
      clientId: text(first.row['clientId']),
      reason: 'POSITION_REASON_UNKNOWN',
      stopLoss: undefined,
      takeProfit: undefined,
    },
    first.at,
  )
  // The sandbox has no prices for the time of the history, so swap counts from its end.
  position.swapUntil = Math.max(...clean.map((trade) => trade.at))
  position.entryCommission = open
  position.realizedProfit = sum(outs.map((trade) => amountIn(trade.row['profit'])))
  position.realizedSwap = sum(clean.map((trade) => amountIn(trade.row['swap'])))
  position.realizedCommission = entryCommission
    .minus(open)
    .plus(sum(outs.map((trade) => amountIn(trade.row['commission']))))
  return position
}

const readTrade = (row: DealRow): Trade | undefined => {
  const { type, entryType, volume, price, symbol, time } = row
  const at = timeOf(time)
  if (type !== 'DEAL_TYPE_BUY' && type !== 'DEAL_TYPE_SELL') return undefined
  if (entryType !== 'DEAL_ENTRY_IN' && entryType !== 'DEAL_ENTRY_OUT') return undefined
  if (
    typeof volume !== 'number' ||
    typeof price !== 'number' ||
    typeof symbol !== 'string' ||
    Number.isNaN(at)
  )
    return undefined
  return {
    symbol,
    entry: entryType === 'DEAL_ENTRY_IN' ? 'in' : 'out',
    side: type === 'DEAL_TYPE_BUY' ? 'buy' : 'sell',
    volume: decimal(volume),
    price: decimal(price),
    at,
    row,
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
