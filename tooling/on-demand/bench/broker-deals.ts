// A long deal history as a broker lists it: in time order, some fifty positions open at once,
// scale-ins and partial closes among them.
import type { Deal } from '@tradeport/domain/trades'

const markets = [
  { symbol: 'EURUSD', price: 1.1, digits: 5 },
  { symbol: 'GBPUSD', price: 1.27, digits: 5 },
  { symbol: 'USDJPY', price: 151, digits: 3 },
  { symbol: 'XAUUSD', price: 2400, digits: 2 },
  { symbol: 'US30', price: 39_000, digits: 1 },
] as const

const openAtOnce = 50
const scaleInShare = 0.15
const partialCloseShare = 0.2
const pendingOrderShare = 0.1

/**
 * That many deals, the same for the same seed; numbers of positions and deals begin about
 * `firstTicket`. They are read from JSON, as they would come from a provider.
 */
export const brokerDeals = (count: number, seed: number, firstTicket: number): readonly Deal[] => {
  const random = randomFrom(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  let time = Date.UTC(2020, 0, 2)
  let ticket = firstTicket

  // A position has the number of its opening order: of one that waited for its price it is an
  // earlier one, here the odd numbers.
  const waited = new Set<number>()
  const orderNumber = (): number => {
    if (random() >= pendingOrderShare) return ticket
    let earlier = ticket - 1 - 2 * below(2_000)
    while (waited.has(earlier)) earlier -= 2
    waited.add(earlier)
    return earlier
  }
  const newPosition = () => ({
    positionId: String(orderNumber()),
    market: markets[below(markets.length)] ?? markets[0],
    isBuy: random() < 0.5,
    hundredths: 0,
  })

  const open: ReturnType<typeof newPosition>[] = []
  const deals: Deal[] = []
  while (deals.length < count) {
    time += below(20_000)
    ticket += 2 + 2 * below(5)
    const isNew =
      open.length < openAtOnce && random() < 0.5 + (openAtOnce - open.length) / openAtOnce
    if (isNew) open.push(newPosition())
    const index = isNew ? open.length - 1 : below(open.length)
    const position = open[index] as (typeof open)[0]
    const isClose = !isNew && random() >= scaleInShare
    const isPartial = isClose && position.hundredths > 1 && random() < partialCloseShare
    const most = isPartial ? position.hundredths - 1 : 100
    const hundredths = isClose && !isPartial ? position.hundredths : 1 + below(most)
    position.hundredths += isClose ? -hundredths : hundredths
    if (position.hundredths === 0) open.splice(index, 1)
    const { positionId, market, isBuy } = position
    deals.push({
      id: String(ticket + 1),
      positionId,
      side: isClose === isBuy ? 'sell' : 'buy',
      entry: isClose ? 'out' : 'in',
      symbol: market.symbol,
      volume: hundredths / 100,
      price: Number((market.price * (0.99 + random() * 0.02)).toFixed(market.digits)),
      profit: isClose ? (below(60_001) - 30_000) / 100 : 0,
      commission: -Math.round(3.5 * hundredths) / 100,
      swap: isClose && random() < 0.3 ? -below(500) / 100 : 0,
      time,
    })
  }
  return JSON.parse(JSON.stringify(deals))
}

// Marsaglia's xorshift with 32 bits: enough for a benchmark, and the same everywhere.
const randomFrom = (seed: number): (() => number) => {
  let state = seed | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
