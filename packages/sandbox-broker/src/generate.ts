// Generates a history: a random plan of trades from the seed, executed one fill after another by
// the code of real trades, so that deals, balance and open positions agree.
import type { Account, OrderOrigin, Position, Side } from './account.ts'
import { enterBalanceDeal, fillClose, fillMarketOrder } from './fills.ts'
import type { Instrument } from './market.ts'
import { createRandom, dayMs, decimal, type Decimal, type Random, toNumber } from './numbers.ts'
import { entryPriceOf, exitPriceOf, opposite } from './positions.ts'

export type GeneratePlan = {
  readonly trades: number
  readonly openPositions: number
  /** Epoch milliseconds. */
  readonly since: number
  readonly until: number
  readonly instruments: readonly Instrument[]
  readonly startBalance: number
}

type Step = { readonly at: number; readonly run: () => void }

/** When, and a volume in hundredths of a lot. */
type Part = { readonly at: number; readonly steps: number }

/** One trade on paper, whose last exit takes what is left. */
type Plan = {
  readonly number: number
  readonly instrument: Instrument
  readonly side: Side
  readonly entry: Part
  readonly exits: readonly Part[]
}

type Slot = { readonly from: number; readonly to: number }

const weekMs = 7 * dayMs
const tradingWeekMs = 5 * dayMs
/** The first Monday since the epoch. */
const firstMonday = 4 * dayMs
const laneCount = 12
/**
 * The last twentieth of the time, at most five days, in which the positions that stay open are
 * opened.
 */
const tailShare = 0.05
const longestTailMs = 5 * dayMs
const partialCloseShare = 0.25
const luckyShare = 0.56

export const generateHistory = (account: Account, seed: number, plan: GeneratePlan): void => {
  // A stream for each: how many numbers a closed trade draws depends on prices, and so on the date,
  // on which open positions and transfers must not depend.
  const drawing = (stream: string): Maker => ({
    account,
    random: createRandom(seed, `${stream}/${account.settings.id}`),
  })
  const tail =
    tradingMs(plan.until) -
    Math.min(longestTailMs, (tradingMs(plan.until) - tradingMs(plan.since)) * tailShare)
  enterBalanceDeal(
    { account, at: plan.since },
    decimal(plan.startBalance),
    'Deposit',
    'DEAL_TYPE_BALANCE',
  )
  const steps = [
    ...closedTrades(drawing('history'), plan, tail),
    ...openTrades(drawing('open'), plan, tail),
    ...transfers(drawing('transfers'), plan, tail),
  ]
  // Steps of the same moment keep the order in which they were planned.
  for (const step of steps.toSorted((a, b) => a.at - b.at)) step.run()
}

type Maker = { readonly account: Account; readonly random: Random }

/** A lane holds one trade at a time, of any symbol. */
const closedTrades = (maker: Maker, plan: GeneratePlan, tail: number): readonly Step[] => {
  const { random } = maker
  const counts = Array.from({ length: laneCount }, () => 0)
  for (let index = 0; index < plan.trades; index++) {
    const lane = random.whole(0, laneCount - 1)
    counts[lane] = (counts[lane] ?? 0) + 1
  }
  let number = 0
  const start = tradingMs(plan.since)
  return counts.flatMap((count) => {
    const width = (tail - start) / count
    return Array.from({ length: count }, (_, index) => {
      const trade = planTrade(maker, random.pick(plan.instruments), ++number, {
        from: start + index * width,
        to: start + (index + 1) * width,
      })
      return stepsOf(maker, trade)
    }).flat()
  })
}

const openTrades = (maker: Maker, plan: GeneratePlan, tail: number): readonly Step[] => {
  const { random } = maker
  const end = tradingMs(plan.until)
  // Not used: without it, every seed would have other open positions than those in the pictures.
  random.whole(0, plan.instruments.length - 1)
  return Array.from({ length: plan.openPositions }, (_, index) => {
    const instrument = random.pick(plan.instruments)
    const at = realTime(tail + (end - tail) * (0.05 + 0.9 * random.fraction()))
    const side = random.chance(0.5) ? 'buy' : 'sell'
    const trade: Plan = {
      number: plan.trades + index + 1,
      instrument,
      side,
      entry: { at, steps: sizeOf(maker, instrument, at) },
      exits: [],
    }
    return stepsOf(maker, trade, random.chance(0.5))
  }).flat()
}

/** Deposits and withdrawals at random. */
const transfers = (
  { account, random }: Maker,
  plan: GeneratePlan,
  tail: number,
): readonly Step[] => {
  const start = tradingMs(plan.since)
  return Array.from({ length: Math.min(6, Math.floor(plan.trades / 100)) }, () => {
    const at = realTime(start + (tail - start) * (0.1 + 0.85 * random.fraction()))
    const amount = Math.max(
      10,
      Math.round((plan.startBalance * (0.02 + 0.1 * random.fraction())) / 10) * 10,
    )
    const isWithdrawal = random.chance(0.6)
    const run = (): void => {
      const isOut = isWithdrawal && account.balance.gt(2 * amount)
      enterBalanceDeal(
        { account, at },
        decimal(isOut ? -amount : amount),
        isOut ? 'Withdrawal' : 'Deposit',
        'DEAL_TYPE_BALANCE',
      )
    }
    return { at, run }
  })
}

const planTrade = (maker: Maker, instrument: Instrument, number: number, slot: Slot): Plan => {
  const { random } = maker
  const width = slot.to - slot.from
  const opened = slot.from + width * 0.4 * random.fraction()
  const held = Math.min(
    (slot.to - opened) * 0.95,
    2 * 60_000 * Math.exp(random.fraction() * Math.log(2_880)),
  )
  const from = realTime(opened)
  const to = Math.max(realTime(opened + held), from + 1)
  // Weekends between the two are no time to trade either.
  const within = (share: number): number =>
    Math.min(to, Math.max(from + 1, realTime(opened + held * share)))
  const steps = sizeOf(maker, instrument, from)
  const exits: Part[] = []
  if (steps >= 2 && random.chance(partialCloseShare)) {
    let left = steps
    for (let more = random.whole(1, 3); more > 0 && left >= 2; more--) {
      const part = Math.max(1, Math.floor(left * (0.2 + 0.5 * random.fraction())))
      exits.push({ at: within(0.4 + 0.5 * random.fraction()), steps: part })
      left -= part
    }
  }
  exits.push({ at: to, steps: Infinity })
  return {
    number,
    instrument,
    side: sideOf(maker, instrument, from, to),
    entry: { at: from, steps },
    exits: exits.toSorted((a, b) => a.at - b.at || a.steps - b.steps),
  }
}

/** A little more often the side that the price favours. */
const sideOf = (
  { account: { market }, random }: Maker,
  instrument: Instrument,
  from: number,
  to: number,
): Side => {
  const rises = market.prices.mid(instrument, to) > market.prices.mid(instrument, from)
  const isRight = random.chance(luckyShare)
  return rises === isRight ? 'buy' : 'sell'
}

/** Hundredths of a lot worth between two and forty thousand of the account's currency. */
const sizeOf = ({ account, random }: Maker, instrument: Instrument, at: number): number => {
  const { market } = account
  const worth = 2_000 * Math.exp(random.fraction() * Math.log(20))
  const rate = toNumber(market.rate(instrument.profitCurrency, account.settings.currency, at))
  const lots = worth / (instrument.contractSize * market.prices.mid(instrument, at) * rate)
  return Math.max(1, Math.min(500, Math.round(lots * 100)))
}

const stepsOf = (maker: Maker, plan: Plan, withLevels = false): readonly Step[] => {
  const { account, random } = maker
  const { instrument, side } = plan
  const magic = plan.number % 3 === 0 ? 0 : 1_000 + (plan.number % 3)
  const opening: OrderOrigin = {
    reason: magic === 0 ? 'CLIENT' : 'EXPERT',
    magic,
    ...(magic !== 0 && { clientId: `GEN_${plan.number}_1` }),
  }
  const byLevel = random.chance(0.3)
  let position: Position | undefined

  const { at: openedAt, steps: openedSteps } = plan.entry
  const open = (): void => {
    const { positionId } = fillMarketOrder(
      { account, at: openedAt },
      {
        instrument,
        side,
        volume: lots(openedSteps),
        origin: opening,
        ...(withLevels && farLevels(maker, instrument, side, openedAt)),
      },
    )
    position = account.positions.find((candidate) => candidate.id === positionId)
  }
  const exits = plan.exits.map(({ at, steps }) => ({
    at,
    run: () => {
      // A partial close on MT4 changes the ticket, not the record.
      if (position === undefined) throw new Error(`Trade ${plan.number} has nothing to close`)
      const price = exitPriceOf({ account, at }, position)
      const isWin = (side === 'buy') === price.gt(position.openPrice)
      const isLast = steps === Infinity
      const isByLevel = isLast && byLevel
      if (isByLevel) position[isWin ? 'takeProfit' : 'stopLoss'] = price
      fillClose({ account, at }, position, isLast ? position.volume : lots(steps), {
        reason: isByLevel ? (isWin ? 'TP' : 'SL') : opening.reason,
        magic,
      })
    },
  }))
  return [{ at: openedAt, run: open }, ...exits]
}

/** Levels some ten ordinary days away. */
const farLevels = ({ account }: Maker, instrument: Instrument, side: Side, at: number) => {
  const price = entryPriceOf({ account, at }, instrument, opposite(side))
  const distance = price.times(instrument.dailyMove * 10)
  const level = (up: boolean): Decimal =>
    (up ? price.plus(distance) : price.minus(distance)).round(instrument.digits)
  return { stopLoss: level(side === 'sell'), takeProfit: level(side === 'buy') }
}

const lots = (steps: number): Decimal => decimal(steps).div(100)

/** Milliseconds of trading time up to a moment: weekends do not count. */
const tradingMs = (at: number): number => {
  const sinceMonday = at - firstMonday
  const week = Math.floor(sinceMonday / weekMs)
  return week * tradingWeekMs + Math.min(sinceMonday - week * weekMs, tradingWeekMs)
}

/** The moment, in whole milliseconds, at which so much trading time has passed. */
const realTime = (trading: number): number => {
  const week = Math.floor(trading / tradingWeekMs)
  return Math.floor(firstMonday + week * weekMs + (trading - week * tradingWeekMs))
}
