// The state of a sandbox: the market, the accounts, the tokens, the faults and the log of requests.
import { type Account, createAccount, isNetting } from './account.ts'
import { createFaultSet } from './faults.ts'
import { enterBalanceDeal, fillMarketOrder } from './fills.ts'
import { generateHistory, type GeneratePlan } from './generate.ts'
import { createMarket, instrumentOf, type Market, marketWith } from './market.ts'
import { createRandom, dayMs, decimal } from './numbers.ts'
import {
  type AccountOptions,
  defaultRegions,
  defaultToken,
  type GenerateOptions,
  type SandboxOptions,
  settingsOf,
} from './options.ts'
import { createRequestLog } from './request-log.ts'

export type Core = {
  readonly seed: number
  readonly now: () => number
  readonly anchor: number
  readonly market: Market
  /** In the order in which they were added. */
  readonly accounts: Map<string, Account>
  readonly tokens: ReadonlySet<string>
  readonly regions: Set<string>
  readonly requests: ReturnType<typeof createRequestLog>
  readonly faults: ReturnType<typeof createFaultSet>
}

export const createCore = (options: SandboxOptions, anchor: number): Core => {
  const seed = options.seed ?? 1
  const core: Core = {
    seed,
    now: options.now ?? Date.now,
    anchor,
    market: createMarket(seed),
    accounts: new Map(),
    tokens: new Set(options.tokens ?? [defaultToken]),
    regions: new Set<string>(defaultRegions),
    requests: createRequestLog(),
    faults: createFaultSet(createRandom(seed, 'faults')),
  }
  for (const account of options.accounts ?? []) addAccount(core, account)
  return core
}

/** Makes an account with its history and adds it. */
export const addAccount = (core: Core, options: AccountOptions): Account => {
  if (core.accounts.has(options.id)) throw new Error(`There already is an account ${options.id}`)
  const settings = settingsOf(options, core.accounts.size)
  const market = marketWith(core.market, settings.symbols)
  if (!market.knowsCurrency(settings.currency))
    throw new Error(`Account ${options.id}: no exchange rate for ${settings.currency}`)
  if (settings.keepsOpen !== undefined) instrumentOf(market, settings.keepsOpen.symbol)
  const account = createAccount(options, settings, market)
  const deposit = options.startBalance ?? 10_000
  if (options.generate !== undefined && isNetting(account))
    throw new Error(`Account ${options.id}: histories are generated for hedging accounts only`)
  if (options.generate !== undefined)
    generateHistory(account, core.seed, planOf(core, market, options.generate, deposit))
  else if (options.history === undefined)
    enterBalanceDeal({ account, at: core.anchor }, decimal(deposit), 'Deposit', 'DEAL_TYPE_BALANCE')
  // The tickets of these positions do not depend on how many a generated history has used.
  if (options.positions !== undefined)
    account.nextOrder = Math.ceil(account.nextOrder / 1_000) * 1_000
  for (const { symbol, side, volume, stopLoss, takeProfit, ...origin } of options.positions ?? []) {
    const instrument = instrumentOf(market, symbol)
    fillMarketOrder(
      { account, at: core.anchor },
      {
        instrument,
        side,
        volume: decimal(volume),
        stopLoss: stopLoss === undefined ? undefined : decimal(stopLoss),
        takeProfit: takeProfit === undefined ? undefined : decimal(takeProfit),
        origin: { ...origin, reason: 'CLIENT' },
      },
    )
  }
  // What is there so far is made from the options again at the next start.
  account.newDeals.length = 0
  account.newOrders.length = 0
  core.accounts.set(options.id, account)
  core.regions.add(settings.region)
  return account
}

const generatedDays = 180

const planOf = (
  core: Core,
  market: Market,
  generate: GenerateOptions,
  startBalance: number,
): GeneratePlan => {
  const until = generate.until ?? core.anchor
  const since = until - generatedDays * dayMs
  const openPositions = generate.openPositions ?? 0
  const instruments = (generate.symbols ?? [...market.instruments.keys()]).map((symbol) =>
    instrumentOf(market, symbol),
  )
  return { trades: generate.trades, openPositions, since, until, instruments, startBalance }
}
