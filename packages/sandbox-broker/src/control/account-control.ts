// What a test does to an account and asks of it without going through HTTP. Faults and lags play no
// part here: this is the truth.
import { decimal } from '../numbers/decimal.ts'
import { enterDeal, removeDeals, type Account } from '../books/account.ts'
import type { Desk, TradeReason } from '../books/entries.ts'
import { enterBalanceDeal } from '../books/fills.ts'
import { positionRow } from '../books/position.ts'
import { informationOf } from '../books/valuation.ts'
import { lagsOf, type Core } from '../core.ts'
import { hideDeals } from '../faults/lags.ts'
import type {
  AccountInformation,
  DealRow,
  Json,
  OrderRow,
  PositionRow,
  TradeReply,
} from '../rows.ts'
import { executeTrade } from '../trading/execute.ts'
import { settle } from '../trading/settle.ts'
import { readTradeRequest } from '../trading/trade-request.ts'

export type AccountControl = {
  readonly id: string
  /** The rows as the REST serves them when nothing is wrong. */
  readonly information: () => AccountInformation
  readonly positions: () => readonly PositionRow[]
  readonly deals: () => readonly DealRow[]
  readonly historyOrders: () => readonly OrderRow[]
  /**
   * Carries out a body of POST /trade, by default as a program does, else as a person at a terminal
   * (CLIENT, MOBILE, WEB) or the broker (SO: a stop-out). Throws where the REST would answer 400 or
   * 404.
   */
  readonly trade: (body: Readonly<Record<string, unknown>>, reason?: TradeReason) => TradeReply
  /**
   * Money in (above 0) or out, as a balance operation or a deal of another type; gives the deal's
   * id.
   */
  readonly deposit: (amount: number, comment?: string, type?: string) => string
  /** Adds deals to the history just as they stand; their amounts count towards the balance. */
  readonly addDeals: (deals: readonly DealRow[]) => void
  /**
   * Changes fields of all deals that have these, as a broker does that corrects its history; their
   * amounts count as they are then. Throws where there is none. A state file does not keep changes
   * of deals that the account's options make.
   */
  readonly changeDeals: (where: DealFields, set: DealFields) => void
  /**
   * Removes all deals that have these fields, and their amounts from the balance; otherwise as
   * `changeDeals`.
   */
  readonly removeDeals: (where: DealFields) => void
  /**
   * Leaves deals with these fields out of the histories for so many reads or milliseconds, while
   * the balance counts them.
   */
  readonly hideDeals: (
    where: DealFields,
    terms: { readonly reads?: number; readonly ms?: number },
  ) => void
}

export type DealFields = Readonly<Record<string, Json>>

export const createControl = (
  core: Core,
  account: Account,
  changed: () => void = () => undefined,
): AccountControl => {
  /** The account brought up to this moment. */
  const desk = (): Desk => {
    const current = { account, market: core.market, at: core.now() }
    settle(current, false)
    return current
  }

  const takeOut = (where: DealFields): readonly DealRow[] => {
    desk()
    const removed = removeDeals(account, has(where))
    if (removed.length === 0)
      throw new Error(`Account ${account.settings.id} has no deal with ${JSON.stringify(where)}`)
    return removed
  }

  return {
    id: account.settings.id,
    information: () => informationOf(account, core.market, desk().at),
    positions: () => {
      const { at } = desk()
      return account.positions.map((position) =>
        positionRow(account.settings, core.market, position, at),
      )
    },
    deals: () =>
      desk()
        .account.deals.all()
        .map((entry) => entry.row),
    historyOrders: () =>
      desk()
        .account.orders.all()
        .map((entry) => entry.row),
    trade: (body, reason) => {
      const read = readTradeRequest(body, reason)
      if (read.kind === 'invalid') throw new Error(`Not a trade: ${JSON.stringify(read.details)}`)
      const outcome = executeTrade(desk(), read.request)
      changed()
      if (outcome.kind === 'symbol-not-found')
        throw new Error('The sandbox does not trade that symbol')
      return outcome.reply
    },
    deposit: (amount, comment, type = 'DEAL_TYPE_BALANCE') => {
      const id = enterBalanceDeal(desk(), decimal(amount), comment, type)
      changed()
      return id
    },
    addDeals: (deals) => {
      for (const deal of deals) enterDeal(account, deal)
      changed()
    },
    changeDeals: (where, set) => {
      for (const row of takeOut(where)) enterDeal(account, { ...row, ...set })
      changed()
    },
    removeDeals: (where) => {
      takeOut(where)
      changed()
    },
    hideDeals: (where, terms) => {
      const { at } = desk()
      const rows = account.deals.all().map((entry) => entry.row)
      hideDeals(lagsOf(core, account.settings.id), rows.filter(has(where)), terms, at)
    },
  }
}

const has =
  (where: DealFields) =>
  (row: DealRow): boolean =>
    Object.entries(where).every(([field, value]) => row[field] === value)
