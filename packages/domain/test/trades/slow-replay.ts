// The fold a second time, written from the words of the specification (2.5, 4.5) and decision 34 alone, with lists and fractions of big
// integers, slow and plain, so that the fold can be compared with it.
import type { Deal } from '../../src/trades/deal.ts'
import type { FoldedTrade } from '../../src/trades/folded-trade.ts'

export type Fraction = readonly [numerator: bigint, denominator: bigint]

export const fraction = (value: number): Fraction => {
  const [, sign = '', whole = '', decimals = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []
  const power = Number(exponent) - decimals.length
  const digits = BigInt(sign + whole + decimals)
  return power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n]
}
export const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d]
export const minus = (x: Fraction, [c, d]: Fraction): Fraction => plus(x, [-c, d])
export const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d]
export const over = ([a, b]: Fraction, [c, d]: Fraction): Fraction => (c < 0n ? [-a * d, -b * c] : [a * d, b * c])
export const compare = ([a, b]: Fraction, [c, d]: Fraction): number => (a * d === c * b ? 0 : a * d < c * b ? -1 : 1)
export const total = (fractions: readonly Fraction[]): Fraction => fractions.reduce(plus, [0n, 1n])

/** Eight hundred digits and a mark for the rest decide every rounding, for no two neighbouring doubles need more to be told apart. */
export const nearest = ([numerator, denominator]: Fraction): number => {
  if (numerator === 0n) return 0
  const size = numerator < 0n ? -numerator : numerator
  const shift = 800 + denominator.toString().length - size.toString().length
  const [top, bottom] = shift < 0 ? [size, denominator * 10n ** BigInt(-shift)] : [size * 10n ** BigInt(shift), denominator]
  const mark = top % bottom === 0n ? 0 : 1
  return Number(`${numerator < 0n ? '-' : ''}${top / bottom}${mark}e${-shift - 1}`) + 0
}

export type Replay = {
  trades: FoldedTrade[]
  skipped: { positionId: string; reason: string }[]
  open: string[]
}

const textOrder = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)

// Time, then id; an opening deal before a closing one of the same time and id; the rest only settles what no broker would send.
const dealOrder = (a: Deal, b: Deal): number =>
  (a.time ?? 0) - (b.time ?? 0) ||
  textOrder(a.id, b.id) ||
  textOrder(a.entry ?? '', b.entry ?? '') ||
  textOrder(a.side ?? '', b.side ?? '') ||
  textOrder(a.symbol ?? '', b.symbol ?? '')

export const replay = (deals: readonly Deal[]): Replay => {
  const result: Replay = { trades: [], skipped: [], open: [] }
  const closers: { trade: FoldedTrade; closer: Deal }[] = []
  const trading = deals.filter((deal) => deal.side && deal.positionId && deal.positionId !== '0')
  for (const positionId of [...new Set(trading.map((deal) => deal.positionId as string))].toSorted(textOrder)) {
    const own = trading.filter((deal) => deal.positionId === positionId).toSorted(dealOrder)
    const verdict = foldOne(positionId, own)
    if (verdict === 'open') result.open.push(positionId)
    else if (typeof verdict === 'string') result.skipped.push({ positionId, reason: verdict })
    else closers.push({ trade: verdict, closer: own.filter((deal) => deal.entry === 'out').at(-1) as Deal })
  }
  const inOrder = closers.toSorted((a, b) => a.trade.closedAt - b.trade.closedAt || textOrder(a.closer.id, b.closer.id))
  result.trades = inOrder.map(({ trade }) => trade)
  return result
}

const isReported = (volume: number | undefined): volume is number => volume !== undefined && Number.isFinite(volume) && volume > 0

const volumes = (deals: readonly Deal[]): Fraction[] => deals.map(({ volume }) => (isReported(volume) ? fraction(volume) : [0n, 1n]))

const foldOne = (positionId: string, deals: readonly Deal[]): FoldedTrade | string => {
  const opening = deals.filter((deal) => deal.entry === 'in')
  const closing = deals.filter((deal) => deal.entry === 'out')
  if (opening.length + closing.length < deals.length) return 'unsupported_deal_entry_type'
  const [first] = opening
  if (first === undefined) return 'no_open_deal'
  const opened = total(volumes(opening))
  if (opened[0] === 0n) return 'zero_open_volume'
  const reported = total(volumes(closing))
  if (compare(reported, opened) > 0) return 'closed_exceeds_opened'
  const unreported = closing.filter(({ volume }) => !isReported(volume))
  if (unreported.length === 0 && compare(reported, opened) < 0) return 'open'

  const times = deals.map((deal) => deal.time)
  if (times.some((time) => time !== undefined && Number.isNaN(new Date(time).getTime()))) return 'invalid_timestamp'
  const symbol = deals.find((deal) => deal.symbol)?.symbol
  if (symbol === undefined || times.includes(undefined)) return 'missing_symbol_or_times'
  if (deals.some(({ price }) => !price || !Number.isFinite(price))) return 'missing_price'

  const share = unreported.length === 0 ? ([0n, 1n] as const) : over(minus(opened, reported), [BigInt(unreported.length), 1n])
  const shares = closing.map(({ volume }) => (isReported(volume) ? fraction(volume) : share))
  const money = (field: 'profit' | 'commission' | 'swap'): Fraction => total(deals.map((deal) => fraction(deal[field])))
  const openedAt = first.time as number
  const closedAt = closing.at(-1)?.time as number
  return {
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
}

const weighted = (deals: readonly Deal[], weights: readonly Fraction[]): Fraction =>
  over(total(deals.map(({ price }, i) => times(fraction(price as number), weights[i] as Fraction))), total(weights))
