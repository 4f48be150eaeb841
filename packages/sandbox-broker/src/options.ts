// What a sandbox is made from, and what each option is when left out.
import type { Deployment } from './books/account.ts'
import type { AccountSettings, CommissionRule } from './books/account-settings.ts'
import type { Instrument } from './market/instruments.ts'
import { currencyDigitsOf } from './market/market.ts'
import type { HistoryFile, MarginMode, Platform, TradeMode } from './rows.ts'

/** A token of the provider. One with `accounts` sees only those; one that is `readOnly` may not trade (403). */
export type TokenOptions = string | { readonly token: string; readonly accounts?: readonly string[]; readonly readOnly?: boolean }

/** A history to make up, the same for the same seed, account id and figures. */
export type GenerateOptions = {
  /** Closed trades, exactly this many. */
  readonly trades: number
  /** Positions still open at the end; default 0. On netting accounts at most one a symbol. */
  readonly openPositions?: number
  /** First day, epoch ms or ISO 8601; default 180 days before `until`. */
  readonly since?: number | string
  /** End; default the sandbox's anchor. */
  readonly until?: number | string
  /** Default: all instruments. */
  readonly symbols?: readonly string[]
}

/** A position that is there from the start, with the deal that opened it. */
export type OpeningPosition = {
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  /** Lots. */
  readonly volume: number
  readonly stopLoss?: number
  readonly takeProfit?: number
  readonly clientId?: string
  readonly comment?: string
  readonly magic?: number
}

export type AccountOptions = {
  /** The provider account id, as it stands in every path. */
  readonly id: string
  readonly login?: string
  readonly name?: string
  readonly broker?: string
  readonly server?: string
  readonly platform?: Platform
  readonly marginMode?: 'hedging' | 'netting' | 'exchange'
  readonly type?: 'demo' | 'real' | 'contest'
  readonly currency?: string
  readonly leverage?: number
  readonly region?: string
  readonly state?: string
  readonly connectionStatus?: string
  /** First deposit, when there is no loaded history; default 10,000. */
  readonly startBalance?: number
  /** When it was deposited; default the start of the generated history, or the sandbox's anchor. */
  readonly startTime?: number | string
  readonly history?: HistoryFile
  readonly generate?: GenerateOptions
  readonly positions?: readonly OpeningPosition[]
  readonly commission?: CommissionRule
  readonly tradeAllowed?: boolean
  readonly stops?: 'execute' | 'ignore'
  readonly mt4DealIds?: 'shared' | 'distinct'
  readonly mt4PartialTicket?: 'new' | 'same'
  readonly mt4NoChanges?: 'no-error' | 'no-result'
  readonly unknownSymbol?: 'not-found' | 'return-code'
  readonly symbolSuffix?: string
  readonly brokerUtcOffsetHours?: number
}

export type SandboxOptions = {
  readonly seed?: number
  readonly accounts?: readonly AccountOptions[]
  readonly tokens?: readonly TokenOptions[]
  /** Epoch milliseconds; default the system clock. */
  readonly now?: () => number
  /** The moment that generated histories lead up to, epoch ms; default now, or what the state file holds. */
  readonly anchor?: number
  readonly regions?: readonly string[]
  /** Instruments besides the fifteen, or in their place. */
  readonly instruments?: readonly Instrument[]
  /** A JSON file that keeps the state between starts. */
  readonly stateFile?: string
}

export const DEFAULT_TOKEN = 'sandbox-token'
export const DEFAULT_REGIONS = ['new-york', 'london', 'singapore', 'vint-hill'] as const

const MARGIN_MODES: Readonly<Record<NonNullable<AccountOptions['marginMode']>, MarginMode>> = {
  hedging: 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
  netting: 'ACCOUNT_MARGIN_MODE_RETAIL_NETTING',
  exchange: 'ACCOUNT_MARGIN_MODE_EXCHANGE',
}

const TRADE_MODES: Readonly<Record<NonNullable<AccountOptions['type']>, TradeMode>> = {
  demo: 'ACCOUNT_TRADE_MODE_DEMO',
  real: 'ACCOUNT_TRADE_MODE_REAL',
  contest: 'ACCOUNT_TRADE_MODE_CONTEST',
}

/** Fills in the defaults; a history names platform, margin mode and currency where the options do not. */
export const settingsOf = (options: AccountOptions, index: number): AccountSettings => {
  const platform = options.platform ?? (options.history?.platform === 'mt4' ? 'mt4' : 'mt5')
  const marginMode = options.marginMode === undefined ? historyMarginMode(options.history) : MARGIN_MODES[options.marginMode]
  const currency = options.currency ?? options.history?.currency ?? 'USD'
  const login = options.login ?? String(5_000_001 + index)
  const settings: AccountSettings = {
    id: options.id,
    login,
    name: options.name ?? `Account ${login}`,
    broker: options.broker ?? 'Sandbox Markets Ltd',
    server: options.server ?? 'SandboxMarkets-Demo',
    platform,
    marginMode,
    type: TRADE_MODES[options.type ?? 'demo'],
    currency,
    currencyDigits: currencyDigitsOf(currency),
    leverage: options.leverage ?? 100,
    commission: options.commission ?? 'half',
    tradeAllowed: options.tradeAllowed ?? true,
    stops: options.stops ?? 'execute',
    mt4DealIds: options.mt4DealIds ?? 'shared',
    mt4PartialTicket: options.mt4PartialTicket ?? 'new',
    mt4NoChanges: options.mt4NoChanges ?? 'no-error',
    unknownSymbol: options.unknownSymbol ?? 'not-found',
    symbolSuffix: options.symbolSuffix ?? '',
    brokerUtcOffsetHours: options.brokerUtcOffsetHours ?? 2,
  }
  if (!/^\d+$/.test(login)) throw new Error(`Account ${options.id}: login must be digits, got ${login}`)
  if (!(settings.leverage > 0)) throw new Error(`Account ${options.id}: leverage must be above 0, got ${settings.leverage}`)
  if (platform === 'mt4' && marginMode !== MARGIN_MODES.hedging) throw new Error(`Account ${options.id}: MT4 knows hedging only`)
  return settings
}

export const deploymentOf = (options: AccountOptions): Deployment => ({
  state: options.state ?? 'DEPLOYED',
  connectionStatus: options.connectionStatus ?? ((options.state ?? 'DEPLOYED') === 'DEPLOYED' ? 'CONNECTED' : 'DISCONNECTED'),
  region: options.region ?? DEFAULT_REGIONS[0],
})

/** Epoch milliseconds of an option given as a number or in ISO 8601. */
export const timeOption = (value: number | string): number => {
  const at = typeof value === 'number' ? value : Date.parse(value)
  if (!Number.isFinite(at)) throw new Error(`Not a time: ${value}`)
  return at
}

const historyMarginMode = (history: HistoryFile | undefined): MarginMode =>
  Object.values(MARGIN_MODES).find((mode) => mode === history?.marginMode) ?? MARGIN_MODES.hedging
