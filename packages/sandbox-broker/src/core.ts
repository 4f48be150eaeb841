// Everything that a sandbox holds: the market, the accounts, who may see them, and the record of
// requests.
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
  settingsOf,
  type AccountOptions,
  type GenerateOptions,
  type SandboxOptions,
} from './options.ts'
import { createRequestLog } from './request-log.ts'

export type Grant = { readonly readOnly: boolean }

export type Core = {
  readonly seed: number
  readonly now: () => number
  readonly anchor: number
  readonly market: Market
  /** In the order in which they were added. */
  readonly accounts: Map<string, Account>
  /** The options that each account was made from. */
  readonly madeFrom: Map<string, AccountOptions>
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
    market: createMarket(seed),
    accounts: new Map(),
    madeFrom: new Map(),
    tokens: new Map(
      (options.tokens ?? [DEFAULT_TOKEN]).map((given): [string, Grant] => {
        const { token, readOnly } =
          typeof given === 'string' ? { token: given, readOnly: false } : given
        return [token, { readOnly }]
      }),
    ),
    regions: new Set<string>(DEFAULT_REGIONS),
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
  if (!core.market.knowsCurrency(settings.currency))
    throw new Error(`Account ${options.id}: no exchange rate for ${settings.currency}`)
  const account = createAccount(settings, options.history?.deals ?? [])
  const deposit = options.startBalance ?? 10_000
  if (options.history !== undefined) account.positions = derivePositions(account, core.market)
  else if (options.generate !== undefined)
    generateHistory(
      account,
      core.market,
      core.seed,
      planOf(core, options, options.generate, deposit),
    )
  else
    enterBalanceDeal(
      { account, market: core.market, at: core.anchor },
      decimal(deposit),
      'Deposit',
      'DEAL_TYPE_BALANCE',
    )
  for (const { symbol, side, volume, stopLoss, takeProfit, ...note } of options.positions ?? []) {
    const instrument = instrumentOf(core, options, symbol)
    fillMarketOrder(
      { account, market: core.market, at: core.anchor },
      {
        symbol,
        instrument,
        side,
        volume: decimal(volume),
        stopLoss: stopLoss === undefined ? undefined : decimal(stopLoss),
        takeProfit: takeProfit === undefined ? undefined : decimal(takeProfit),
        note: { ...note, reason: 'CLIENT' },
      },
    )
  }
  // What there is so far comes again from the options at the next start; what comes from here on is
  // new.
  account.newDeals.length = 0
  account.newOrders.length = 0
  core.accounts.set(options.id, account)
  core.regions.add(settings.region)
  core.madeFrom.set(options.id, options)
  return account
}

const GENERATED_DAYS = 180

const planOf = (
  core: Core,
  options: AccountOptions,
  generate: GenerateOptions,
  startBalance: number,
): GeneratePlan => {
  const until = generate.until ?? core.anchor
  const since = until - GENERATED_DAYS * DAY_MS
  const openPositions = generate.openPositions ?? 0
  const instruments = (generate.symbols ?? [...core.market.instruments.keys()]).map((symbol) =>
    instrumentOf(core, options, symbol),
  )
  if (
    options.marginMode !== undefined &&
    options.marginMode !== 'hedging' &&
    openPositions > instruments.length
  ) {
    throw new Error(
      `Account ${options.id}: netting has one position a symbol, so at most ${instruments.length} can be open`,
    )
  }
  return { trades: generate.trades, openPositions, since, until, instruments, startBalance }
}

const instrumentOf = (core: Core, options: AccountOptions, symbol: string): Instrument => {
  const instrument = core.market.instruments.get(symbol)
  if (instrument === undefined)
    throw new Error(`Account ${options.id}: the sandbox does not trade ${symbol}`)
  return instrument
}

export const lagsOf = (core: Core, accountId: string): Lags => {
  const known = core.lags.get(accountId)
  if (known !== undefined) return known
  const made = noLags()
  core.lags.set(accountId, made)
  return made
}
