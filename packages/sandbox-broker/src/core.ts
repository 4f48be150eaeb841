// Everything that a sandbox holds: the market, the accounts, who may see them, and the record of requests.
import { createAccount, type Account } from './books/account.ts'
import { enterBalanceDeal, fillMarketOrder } from './books/fills.ts'
import { createFaultSet } from './faults/fault-set.ts'
import { noLags, type Lags } from './faults/lags.ts'
import { derivePositions } from './histories/derive-positions.ts'
import { generateHistory, type GeneratePlan } from './histories/generate.ts'
import type { Instrument } from './market/instruments.ts'
import { createMarket, type Market } from './market/market.ts'
import { DAY_MS } from './numbers/clock-text.ts'
import { decimal } from './numbers/decimal.ts'
import { createRandom } from './numbers/random.ts'
import {
  DEFAULT_REGIONS,
  DEFAULT_TOKEN,
  deploymentOf,
  settingsOf,
  timeOption,
  type AccountOptions,
  type GenerateOptions,
  type SandboxOptions,
} from './options.ts'
import { createRequestLog } from './request-log.ts'

export type Grant = { readonly accounts: ReadonlySet<string> | undefined; readonly readOnly: boolean }

export type Core = {
  readonly seed: number
  readonly now: () => number
  readonly anchor: number
  readonly market: Market
  /** In the order in which they were added. */
  readonly accounts: Map<string, Account>
  /** The options that each account was made from. */
  readonly madeFrom: Map<string, AccountOptions>
  /** Accounts that came while it ran. */
  readonly addedLater: Set<string>
  readonly tokens: ReadonlyMap<string, Grant>
  readonly regions: Set<string>
  readonly requests: ReturnType<typeof createRequestLog>
  readonly faults: ReturnType<typeof createFaultSet>
  /** By account id; they pass, and are in no state file. */
  readonly lags: Map<string, Lags>
}

export const createCore = (options: SandboxOptions, anchor: number): Core => {
  const seed = options.seed ?? 1
  const core: Core = {
    seed,
    now: options.now ?? Date.now,
    anchor,
    market: createMarket(seed, options.instruments ?? []),
    accounts: new Map(),
    madeFrom: new Map(),
    addedLater: new Set(),
    tokens: new Map(
      (options.tokens ?? [DEFAULT_TOKEN]).map((token) => (typeof token === 'string' ? [token, everything] : [token.token, grantOf(token)])),
    ),
    regions: new Set<string>(options.regions ?? DEFAULT_REGIONS),
    requests: createRequestLog(),
    faults: createFaultSet(createRandom(seed, 'faults')),
    lags: new Map(),
  }
  for (const account of options.accounts ?? []) addAccount(core, account)
  return core
}

/** Makes an account with its history and puts it among the others. */
export const addAccount = (core: Core, options: AccountOptions): Account => {
  if (core.accounts.has(options.id)) throw new Error(`There already is an account ${options.id}`)
  const settings = settingsOf(options, core.accounts.size)
  if (!core.market.knowsCurrency(settings.currency)) throw new Error(`Account ${options.id}: no exchange rate for ${settings.currency}`)
  const account = createAccount(settings, deploymentOf(options), options.history?.deals ?? [])
  const start = options.startTime === undefined ? core.anchor : timeOption(options.startTime)
  const deposit = options.startBalance ?? 10_000
  if (options.history !== undefined) account.positions = derivePositions(account, core.market)
  else if (options.generate !== undefined)
    generateHistory(account, core.market, core.seed, planOf(core, options, options.generate, deposit))
  else enterBalanceDeal({ account, market: core.market, at: start }, decimal(deposit), 'Deposit', 'DEAL_TYPE_BALANCE')
  // After the history, if there is one.
  const openedAt = options.history === undefined && options.generate === undefined ? start : core.anchor
  for (const { symbol, side, volume, stopLoss, takeProfit, ...note } of options.positions ?? []) {
    const instrument = instrumentOf(core, options, symbol)
    fillMarketOrder(
      { account, market: core.market, at: openedAt },
      {
        symbol: symbol + settings.symbolSuffix,
        instrument,
        side,
        volume: decimal(volume),
        stopLoss: stopLoss === undefined ? undefined : decimal(stopLoss),
        takeProfit: takeProfit === undefined ? undefined : decimal(takeProfit),
        note: { ...note, reason: 'CLIENT' },
      },
    )
  }
  // What there is so far comes again from the options at the next start; what comes from here on is new.
  account.newDeals.length = 0
  account.newOrders.length = 0
  core.accounts.set(options.id, account)
  core.regions.add(account.deployment.region)
  core.madeFrom.set(options.id, options)
  return account
}

/** Adds an account to a sandbox that runs. */
export const addAccountLater = (core: Core, options: AccountOptions): Account => {
  const account = addAccount(core, options)
  core.addedLater.add(options.id)
  return account
}

const GENERATED_DAYS = 180

const planOf = (core: Core, options: AccountOptions, generate: GenerateOptions, startBalance: number): GeneratePlan => {
  const until = generate.until === undefined ? core.anchor : timeOption(generate.until)
  const since = timeOption(generate.since ?? options.startTime ?? until - GENERATED_DAYS * DAY_MS)
  const openPositions = generate.openPositions ?? 0
  const instruments = (generate.symbols ?? [...core.market.instruments.keys()]).map((symbol) => instrumentOf(core, options, symbol))
  if (since >= until) throw new Error(`Account ${options.id}: a generated history must begin before it ends`)
  if (options.marginMode !== undefined && options.marginMode !== 'hedging' && openPositions > instruments.length) {
    throw new Error(`Account ${options.id}: netting has one position a symbol, so at most ${instruments.length} can be open`)
  }
  return { trades: generate.trades, openPositions, since, until, instruments, startBalance }
}

const instrumentOf = (core: Core, options: AccountOptions, symbol: string): Instrument => {
  const instrument = core.market.instruments.get(symbol)
  if (instrument === undefined) throw new Error(`Account ${options.id}: the sandbox does not trade ${symbol}`)
  return instrument
}

export const lagsOf = (core: Core, accountId: string): Lags => {
  const known = core.lags.get(accountId)
  if (known !== undefined) return known
  const made = noLags()
  core.lags.set(accountId, made)
  return made
}

const everything: Grant = { accounts: undefined, readOnly: false }

const grantOf = (token: { readonly accounts?: readonly string[]; readonly readOnly?: boolean }): Grant => ({
  accounts: token.accounts === undefined ? undefined : new Set(token.accounts),
  readOnly: token.readOnly ?? false,
})
