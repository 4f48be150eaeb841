// Everything that a sandbox holds: the market, the accounts, who may see them, and the record of requests.
import { createAccount, type Account } from './books/account.ts'
import { enterBalanceDeal, fillMarketOrder } from './books/fills.ts'
import { derivePositions } from './histories/derive-positions.ts'
import { createMarket, type Market } from './market/market.ts'
import { decimal } from './numbers/decimal.ts'
import {
  DEFAULT_REGIONS,
  DEFAULT_TOKEN,
  deploymentOf,
  settingsOf,
  timeOption,
  type AccountOptions,
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
  readonly tokens: ReadonlyMap<string, Grant>
  readonly regions: ReadonlySet<string>
  readonly requests: ReturnType<typeof createRequestLog>
}

export const createCore = (options: SandboxOptions, anchor: number): Core => {
  const seed = options.seed ?? 1
  const core: Core = {
    seed,
    now: options.now ?? Date.now,
    anchor,
    market: createMarket(seed, options.instruments ?? []),
    accounts: new Map(),
    tokens: new Map(
      (options.tokens ?? [DEFAULT_TOKEN]).map((token) => (typeof token === 'string' ? [token, everything] : [token.token, grantOf(token)])),
    ),
    regions: new Set([...(options.regions ?? DEFAULT_REGIONS), ...(options.accounts ?? []).flatMap((account) => account.region ?? [])]),
    requests: createRequestLog(),
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
  if (options.history !== undefined) account.positions = derivePositions(account, core.market)
  else
    enterBalanceDeal({ account, market: core.market, at: start }, decimal(options.startBalance ?? 10_000), 'Deposit', 'DEAL_TYPE_BALANCE')
  for (const { symbol, side, volume, stopLoss, takeProfit, ...note } of options.positions ?? []) {
    const instrument = core.market.instruments.get(symbol)
    if (instrument === undefined) throw new Error(`Account ${options.id}: the sandbox does not trade ${symbol}`)
    fillMarketOrder(
      { account, market: core.market, at: start },
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
  core.accounts.set(options.id, account)
  return account
}

const everything: Grant = { accounts: undefined, readOnly: false }

const grantOf = (token: { readonly accounts?: readonly string[]; readonly readOnly?: boolean }): Grant => ({
  accounts: token.accounts === undefined ? undefined : new Set(token.accounts),
  readOnly: token.readOnly ?? false,
})
