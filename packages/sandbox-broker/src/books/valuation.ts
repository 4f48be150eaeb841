// What an account is worth: equity, margin and free margin from its books and the market.
import { decimal, sum, toCents, toNumber, zero, type Decimal } from '../numbers/decimal.ts'
import type { Instrument } from '../market/instruments.ts'
import type { Market } from '../market/market.ts'
import type { AccountInformation } from '../rows.ts'
import type { Account } from './account.ts'
import type { AccountSettings } from './account-settings.ts'
import { accrueSwap, exitPriceOf, profitOf } from './position.ts'

/** Margin = contract size × volume × price ÷ leverage, in the account's currency. */
export const marginOf = (
  settings: AccountSettings,
  market: Market,
  instrument: Instrument,
  volume: Decimal,
  price: Decimal,
  at: number,
): Decimal =>
  toCents(
    decimal(instrument.contractSize)
      .times(volume)
      .times(price)
      .times(market.rate(instrument.profitCurrency, settings.currency, at))
      .div(settings.leverage),
    settings.currencyDigits,
  )

export type Figures = {
  readonly equity: Decimal
  readonly margin: Decimal
  readonly freeMargin: Decimal
}

export const figuresOf = (account: Account, market: Market, at: number): Figures => {
  const { settings } = account
  const floating = account.positions.map((position) => {
    accrueSwap(settings, market, position, at)
    return profitOf(
      settings,
      market,
      position,
      position.volume,
      exitPriceOf(market, position, at),
      at,
    ).plus(position.swap)
  })
  const margins = account.positions.map((position) =>
    marginOf(settings, market, position.instrument, position.volume, position.openPrice, at),
  )
  const equity = account.balance.plus(account.credit).plus(sum(floating))
  const margin = sum(margins)
  return { equity, margin, freeMargin: equity.minus(margin) }
}

export const informationOf = (account: Account, market: Market, at: number): AccountInformation => {
  const { settings } = account
  const { equity, margin, freeMargin } = figuresOf(account, market, at)
  return {
    platform: settings.platform,
    broker: settings.broker,
    currency: settings.currency,
    currencyDigits: settings.currencyDigits,
    server: settings.server,
    balance: toNumber(account.balance),
    equity: toNumber(equity),
    margin: toNumber(margin),
    freeMargin: toNumber(freeMargin),
    leverage: settings.leverage,
    ...(margin.gt(zero) && { marginLevel: toNumber(equity.div(margin).times(100).round(2)) }),
    tradeAllowed: settings.tradeAllowed,
    investorMode: !settings.tradeAllowed,
    marginMode: settings.marginMode,
    name: settings.name,
    login: Number(settings.login),
    credit: toNumber(account.credit),
    type: settings.type,
  }
}
