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
const dealsPerPage = 1000

type Open = {
  positionId: string
  market: (typeof markets)[number]
  side: 'buy' | 'sell'
  hundredths: number
}

/**
 * That many deals, the same for the same seed; numbers of positions and deals begin about
 * `firstTicket`. Each page is read from JSON, as it would come from a provider.
 */
export const brokerDeals = (count: number, seed = 1, firstTicket = 33_000_000): readonly Deal[] => {
  const random = randomFrom(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const open: Open[] = []
  const deals: Deal[] = []
  let page: Deal[] = []
  let time = Date.UTC(2020, 0, 2)
  let ticket = firstTicket

  const write = (
    { positionId, market, side }: Open,
    entry: 'in' | 'out',
    hundredths: number,
  ): void => {
    const isClose = entry === 'out'
    page.push({
      id: String(ticket + 1),
      positionId,
      side: isClose === (side === 'buy') ? 'sell' : 'buy',
      entry,
      symbol: market.symbol,
      volume: hundredths / 100,
      price: Number((market.price * (0.99 + random() * 0.02)).toFixed(market.digits)),
      profit: isClose ? (below(60_001) - 30_000) / 100 : 0,
      commission: -Math.round(3.5 * hundredths) / 100,
      swap: isClose && random() < 0.3 ? -below(500) / 100 : 0,
      time,
    })
  }

  // A position has the number of its opening order: of one that waited for its price it is an
  // earlier one, here the odd numbers.
  const waited = new Set<number>()
  const orderNumber = (): string => {
    if (random() >= pendingOrderShare) return String(ticket)
    let earlier = ticket - 1 - 2 * below(2_000)
    while (waited.has(earlier)) earlier -= 2
    waited.add(earlier)
    return String(earlier)
  }

  while (deals.length < count) {
    time += below(20_000)
    ticket += 2 + 2 * below(5)
    if (open.length < openAtOnce && random() < 0.5 + (openAtOnce - open.length) / openAtOnce) {
      const market = markets[below(markets.length)] ?? markets[0]
      const position: Open = {
        positionId: orderNumber(),
        market,
        side: random() < 0.5 ? 'buy' : 'sell',
        hundredths: 0,
      }
      const hundredths = 1 + below(100)
      open.push({ ...position, hundredths })
      write(position, 'in', hundredths)
    } else {
      const index = below(open.length)
      const position = open[index] as Open
      if (random() < scaleInShare) {
        const hundredths = 1 + below(100)
        position.hundredths += hundredths
        write(position, 'in', hundredths)
      } else {
        const isPartial = position.hundredths > 1 && random() < partialCloseShare
        const hundredths = isPartial ? 1 + below(position.hundredths - 1) : position.hundredths
        position.hundredths -= hundredths
        write(position, 'out', hundredths)
        if (position.hundredths === 0) open.splice(index, 1)
      }
    }
    if (page.length === dealsPerPage || deals.length + page.length === count) {
      for (const deal of JSON.parse(JSON.stringify(page)) as Deal[]) deals.push(deal)
      page = []
    }
  }
  return deals
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
