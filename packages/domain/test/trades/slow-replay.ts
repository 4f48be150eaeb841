// The fold a second time, written from the rules alone with lists and fractions of big integers,
// slow and plain, to compare the fold with.
import { compareTickets } from '../../src/primitives/tickets.ts'
import { compareDealOrder, type Deal } from '../../src/trades/deal.ts'
import type { foldDeals, FoldedPosition, FoldedTrade, SkipReason } from '../../src/trades/fold.ts'

export type Fraction = readonly [numerator: bigint, denominator: bigint]

export const fraction = (value: number): Fraction => {
  const [, sign = '', whole = '', decimals = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []
  const power = Number(exponent) - decimals.length
  const digits = BigInt(sign + whole + decimals)
  return power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n]
}
export const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d]
export const minus = (x: Fraction, [c, d]: Fraction): Fraction => plus(x, [-c, d])
export const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d]
export const over = ([a, b]: Fraction, [c, d]: Fraction): Fraction =>
  c < 0n ? [-a * d, -b * c] : [a * d, b * c]
export const compare = ([a, b]: Fraction, [c, d]: Fraction): number =>
  a * d === c * b ? 0 : a * d < c * b ? -1 : 1
export const total = (fractions: readonly Fraction[]): Fraction => fractions.reduce(plus, [0n, 1n])

/** Eight hundred digits, and one for the rest, distinguish any two neighbouring doubles. */
export const nearest = ([numerator, denominator]: Fraction): number => {
  if (numerator === 0n) return 0
  const size = numerator < 0n ? -numerator : numerator
  const shift = 800 + denominator.toString().length - size.toString().length
  const [top, bottom] =
    shift < 0
      ? [size, denominator * 10n ** BigInt(-shift)]
      : [size * 10n ** BigInt(shift), denominator]
  const mark = top % bottom === 0n ? 0 : 1
  return Number(`${numerator < 0n ? '-' : ''}${top / bottom}${mark}e${-shift - 1}`) + 0
}

const isReadable = (time: number | undefined): time is number =>
  time !== undefined && !Number.isNaN(new Date(time).getTime())

export const replay = (deals: readonly Deal[]): ReturnType<typeof foldDeals> => {
  const trading = deals.filter((deal) => deal.side && deal.positionId && deal.positionId !== '0')
  const ids = [...new Set(trading.map((deal) => deal.positionId as string))]
  const found = ids
    .toSorted(compareTickets)
    .map((id) =>
      foldOne(id, trading.filter((deal) => deal.positionId === id).toSorted(compareDealOrder)),
    )
  const closed = found.flatMap((one) => (one.status === 'closed' ? [one] : []))
  return {
    trades: closed
      .toSorted(
        (a, b) =>
          a.trade.closedAt - b.trade.closedAt || compareTickets(a.closingDealId, b.closingDealId),
      )
      .map(({ trade }) => trade),
    skipped: found.flatMap((one) => (one.status === 'skipped' ? [one.position] : [])),
  }
}

const isReported = (volume: number | undefined): volume is number =>
  volume !== undefined && Number.isFinite(volume) && volume > 0

const volumes = (deals: readonly Deal[]): Fraction[] =>
  deals.map(({ volume }) => (isReported(volume) ? fraction(volume) : [0n, 1n]))

const foldOne = (positionId: string, deals: readonly Deal[]): FoldedPosition => {
  const skipped = (reason: SkipReason): FoldedPosition => ({
    status: 'skipped',
    position: { positionId, reason },
  })
  const opening = deals.filter((deal) => deal.entry === 'in')
  const closing = deals.filter((deal) => deal.entry === 'out')
  if (opening.length + closing.length < deals.length) return skipped('unsupported_deal_entry_type')
  const [first] = opening
  if (first === undefined) return skipped('no_open_deal')
  const opened = total(volumes(opening))
  if (opened[0] === 0n) return skipped('zero_open_volume')
  const reported = total(volumes(closing))
  if (compare(reported, opened) > 0) return skipped('closed_exceeds_opened')
  const unreported = closing.filter(({ volume }) => !isReported(volume))
  const symbol = deals.find((deal) => deal.symbol)?.symbol
  if (unreported.length === 0 && compare(reported, opened) < 0) return { status: 'open' }

  const times = deals.map((deal) => deal.time)
  if (times.some((time) => time !== undefined && !isReadable(time)))
    return skipped('invalid_timestamp')
  if (symbol === undefined || times.includes(undefined)) return skipped('missing_symbol_or_times')
  if (deals.some(({ price }) => !price || !Number.isFinite(price))) return skipped('missing_price')

  const share =
    unreported.length === 0
      ? ([0n, 1n] as const)
      : over(minus(opened, reported), [BigInt(unreported.length), 1n])
  const shares = closing.map(({ volume }) => (isReported(volume) ? fraction(volume) : share))
  const money = (field: 'profit' | 'commission' | 'swap'): Fraction =>
    total(deals.map((deal) => fraction(deal[field])))
  const openedAt = first.time as number
  const last = closing.at(-1) as Deal
  const closedAt = last.time as number
  const trade: FoldedTrade = {
    positionId,
    symbol,
    side: first.side as 'buy' | 'sell',
    volume: nearest(opened),
    entryPrice: nearest(weighted(opening, volumes(opening))),
    exitPrice: nearest(weighted(closing, shares)),
    profit: nearest(money('profit')),
    commission: nearest(money('commission')),
    swap: nearest(money('swap')),
    netProfit: nearest(plus(plus(money('profit'), money('commission')), money('swap'))),
    openedAt,
    closedAt,
    holdingTime: Math.floor((closedAt - openedAt) / 1000),
    ...(unreported.length > 0 && { volumeEstimated: true as const }),
  }
  return { status: 'closed', trade, closingDealId: last.id }
}

const weighted = (deals: readonly Deal[], weights: readonly Fraction[]): Fraction =>
  over(
    total(deals.map(({ price }, i) => times(fraction(price || 0), weights[i] as Fraction))),
    total(weights),
  )
