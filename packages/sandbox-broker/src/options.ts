// The options of a sandbox and its accounts, with their defaults.
import { currencyDigitsOf, allInstruments } from './market.ts'
import type { HistoryFile, MarginMode, Platform, TradeMode } from './rows.ts'

// What a sandbox is made from, and what each option is when left out.

/** A history to make up, the same for the same seed, account id and figures. */
export type GenerateOptions = {
  /** Closed trades, exactly this many. */
  readonly trades: number
  /** Positions still open at the end; default 0. */
  readonly openPositions?: number
  /** End of its 180 days, epoch ms; default the sandbox's anchor. */
  readonly until?: number
  /** Default: all instruments. */
  readonly symbols?: readonly string[]
}

/** A position that is there from the start, with the deal that opened it. */
type OpeningPosition = {
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

/**
 * A bought position with near levels, opened again once the price has reached one of them, while
 * the account is read at least every 20 seconds and was so for half a minute: for programs that
 * follow an account, and not for one that reads it now and then.
 */
type KeptPosition = {
  readonly symbol: string
  /** Lots. */
  readonly volume: number
  /** From the price at the opening to each level, in the symbol's price. */
  readonly distance: number
}

export type AccountOptions = {
  /** The provider account id, as it stands in every path. */
  readonly id: string
  readonly login?: string
  readonly name?: string
  readonly broker?: string
  readonly server?: string
  readonly platform?: Platform
  readonly marginMode?: 'hedging' | 'netting'
  readonly type?: 'demo' | 'real' | 'contest'
  readonly currency?: string
  readonly leverage?: number
  readonly region?: string
  /** The only one of the provider's tokens that opens it; default: each of them does. */
  readonly token?: string
  /** First deposit, when there is no loaded history; default 10,000. */
  readonly startBalance?: number
  readonly history?: HistoryFile
  readonly generate?: GenerateOptions
  readonly positions?: readonly OpeningPosition[]
  readonly keepsOpen?: KeptPosition
  /**
   * MT4: whether what a partial close leaves gets a new ticket, as by default. Then the deals that
   * open and close a ticket carry its number as their id.
   */
  readonly mt4PartialTicket?: 'new' | 'same'
  /**
   * The broker's symbols, each with the instrument that it is: `{ 'EURUSD.r': 'EURUSD' }`. Default:
   * all instruments by their own names.
   */
  readonly symbols?: Readonly<Record<string, string>>
}

export type SandboxOptions = {
  readonly seed?: number
  readonly accounts?: readonly AccountOptions[]
  /** The provider's tokens; default sandbox-token. */
  readonly tokens?: readonly string[]
  /** Epoch milliseconds; default the system clock. */
  readonly now?: () => number
  /** A JSON file that keeps the state between starts. */
  readonly stateFile?: string
}

export const defaultToken = 'sandbox-token'
export const defaultRegions = ['new-york', 'london', 'singapore', 'vint-hill'] as const

const ownNames = Object.fromEntries(allInstruments.map(({ symbol }) => [symbol, symbol]))

const marginModes: Readonly<Record<NonNullable<AccountOptions['marginMode']>, MarginMode>> = {
  hedging: 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
  netting: 'ACCOUNT_MARGIN_MODE_RETAIL_NETTING',
}

const tradeModes: Readonly<Record<NonNullable<AccountOptions['type']>, TradeMode>> = {
  demo: 'ACCOUNT_TRADE_MODE_DEMO',
  real: 'ACCOUNT_TRADE_MODE_REAL',
  contest: 'ACCOUNT_TRADE_MODE_CONTEST',
}

export type AccountSettings = ReturnType<typeof settingsOf>

/**
 * Fills in the defaults; a history names platform, margin mode and currency where the options do
 * not.
 */
export const settingsOf = (options: AccountOptions, index: number) => {
  const platform: Platform =
    options.platform ?? (options.history?.platform === 'mt4' ? 'mt4' : 'mt5')
  const marginMode =
    options.marginMode === undefined
      ? historyMarginMode(options.history)
      : marginModes[options.marginMode]
  const currency = options.currency ?? options.history?.currency ?? 'USD'
  const login = options.login ?? String(5_000_001 + index)
  const settings = {
    id: options.id,
    login,
    name: options.name ?? `Account ${login}`,
    broker: options.broker ?? 'Sandbox Markets Ltd',
    server: options.server ?? 'SandboxMarkets-Demo',
    platform,
    marginMode,
    type: tradeModes[options.type ?? 'demo'],
    currency,
    currencyDigits: currencyDigitsOf(currency),
    leverage: options.leverage ?? 100,
    region: options.region ?? 'new-york',
    token: options.token,
    mt4PartialTicket: options.mt4PartialTicket ?? 'new',
    keepsOpen: options.keepsOpen,
    /** The instrument of each symbol that the broker lists, by the broker's spelling. */
    symbols: new Map(Object.entries(options.symbols ?? ownNames)),
  }
  if (!/^\d+$/.test(login))
    throw new Error(`Account ${options.id}: login must be digits, got ${login}`)
  if (!(settings.leverage > 0))
    throw new Error(`Account ${options.id}: leverage must be above 0, got ${settings.leverage}`)
  if (platform === 'mt4' && marginMode !== marginModes.hedging)
    throw new Error(`Account ${options.id}: MT4 knows hedging only`)
  return settings
}

const historyMarginMode = (history: HistoryFile | undefined): MarginMode =>
  Object.values(marginModes).find((mode) => mode === history?.marginMode) ?? marginModes.hedging
