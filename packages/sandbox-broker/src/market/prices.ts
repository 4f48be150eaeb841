// Prices as a pure function of seed, symbol and time: smooth, bounded, and the same after a
// restart. A test can pin a symbol's price.
import { createRandom } from '../numbers/random.ts'
import { DAY_MS } from '../numbers/clock-text.ts'
import { pointOf, type Instrument } from './instruments.ts'

export type Quote = { readonly bid: number; readonly ask: number }

export type Prices = {
  /** The price between bid and ask, unrounded and never pinned. */
  readonly mid: (instrument: Instrument, at: number) => number
  readonly quote: (instrument: Instrument, at: number) => Quote
  /** Holds a symbol at a price. */
  readonly pin: (symbol: string, quote: Quote) => void
  readonly pinned: () => Readonly<Record<string, Quote>>
}

type Wave = { readonly amplitude: number; readonly radiansPerMs: number; readonly phase: number }

// From half a year down to five seconds. The amplitude grows with the root of the period, as a
// random walk's range does.
const PERIODS_MS = [
  180, 70, 28, 11, 4.5, 1.8, 0.7, 0.28, 0.11, 0.04, 0.015, 0.005, 0.0014, 0.0003, 0.00006,
].map((days) => days * DAY_MS)
const AMPLITUDE_OF_DAILY_MOVE = 0.4

export const createPrices = (
  seed: number,
  instruments: ReadonlyMap<string, Instrument>,
): Prices => {
  const waves = new Map<string, readonly Wave[]>()
  const pins = new Map<string, Quote>()

  const wavesOf = (instrument: Instrument): readonly Wave[] => {
    const known = waves.get(instrument.symbol)
    if (known !== undefined) return known
    const made = makeWaves(seed, instrument)
    waves.set(instrument.symbol, made)
    return made
  }

  // The same moment is asked for several times in a row: for the fill, the profit, the exchange
  // rate.
  const latest = new Map<string, { readonly at: number; readonly mid: number }>()

  const mid = (instrument: Instrument, at: number): number => {
    const known = latest.get(instrument.symbol)
    if (known !== undefined && known.at === at) return known.mid
    const made = midAt(instrument, at)
    latest.set(instrument.symbol, { at, mid: made })
    return made
  }

  const midAt = (instrument: Instrument, at: number): number => {
    const { cross } = instrument
    const [over, under] =
      cross === undefined ? [] : [instruments.get(cross.over), instruments.get(cross.under)]
    // A cross rate follows its two legs, or there would be free money in the triangle.
    if (over !== undefined && under !== undefined) return mid(over, at) / mid(under, at)
    let drift = 0
    for (const wave of wavesOf(instrument))
      drift += wave.amplitude * Math.sin(at * wave.radiansPerMs + wave.phase)
    return instrument.basePrice * (1 + drift)
  }

  return {
    mid,
    quote: (instrument, at) =>
      pins.get(instrument.symbol) ?? spreadAround(instrument, mid(instrument, at)),
    pin: (symbol, quote) => void pins.set(symbol, quote),
    pinned: () => Object.fromEntries(pins),
  }
}

const makeWaves = (seed: number, instrument: Instrument): readonly Wave[] => {
  const random = createRandom(seed, `prices/${instrument.symbol}`)
  return PERIODS_MS.map((period) => ({
    amplitude: AMPLITUDE_OF_DAILY_MOVE * instrument.dailyMove * Math.sqrt(period / DAY_MS),
    radiansPerMs: (2 * Math.PI) / (period * (0.85 + 0.3 * random.fraction())),
    phase: 2 * Math.PI * random.fraction(),
  }))
}

const spreadAround = (instrument: Instrument, mid: number): Quote => {
  const point = pointOf(instrument)
  const bidPoints = Math.round(mid / point - instrument.spreadPoints / 2)
  const inPrice = (points: number): number => Number((points * point).toFixed(instrument.digits))
  return { bid: inPrice(bidPoints), ask: inPrice(bidPoints + instrument.spreadPoints) }
}
