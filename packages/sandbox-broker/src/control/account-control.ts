// What a test does to an account and asks of it without going through HTTP. Faults and lags play no part here: this is the truth.
import { decimal } from '../numbers/decimal.ts'
import { enterDeal, type Account } from '../books/account.ts'
import type { Desk } from '../books/entries.ts'
import { enterBalanceDeal } from '../books/fills.ts'
import { positionRow } from '../books/position.ts'
import { informationOf } from '../books/valuation.ts'
import type { Core } from '../core.ts'
import type { AccountInformation, DealRow, OrderRow, PositionRow, TradeReply } from '../rows.ts'
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
  /** Carries out a body of POST /trade. Throws where the REST would answer 400 or 404. */
  readonly trade: (body: Readonly<Record<string, unknown>>) => TradeReply
  /** Money in (above 0) or out; gives the deal's id. */
  readonly deposit: (amount: number, comment?: string) => string
  /** Adds deals to the history just as they stand; their amounts count towards the balance. */
  readonly addDeals: (deals: readonly DealRow[]) => void
  /** Changes what provisioning says of the account. */
  readonly deployment: (change: { readonly state?: string; readonly connectionStatus?: string; readonly region?: string }) => void
}

export const createControl = (core: Core, account: Account, changed: () => void = () => undefined): AccountControl => {
  /** The account brought up to this moment. */
  const desk = (): Desk => {
    const current = { account, market: core.market, at: core.now() }
    settle(current, false)
    return current
  }

  return {
    id: account.settings.id,
    information: () => informationOf(account, core.market, desk().at),
    positions: () => {
      const { at } = desk()
      return account.positions.map((position) => positionRow(account.settings, core.market, position, at))
    },
    deals: () =>
      desk()
        .account.deals.all()
        .map((entry) => entry.row),
    historyOrders: () =>
      desk()
        .account.orders.all()
        .map((entry) => entry.row),
    trade: (body) => {
      const read = readTradeRequest(body)
      if (read.kind === 'invalid') throw new Error(`Not a trade: ${JSON.stringify(read.details)}`)
      const outcome = executeTrade(desk(), read.request)
      changed()
      if (outcome.kind === 'symbol-not-found') throw new Error('The sandbox does not trade that symbol')
      return outcome.reply
    },
    deposit: (amount, comment) => {
      const id = enterBalanceDeal(desk(), decimal(amount), comment, 'DEAL_TYPE_BALANCE')
      changed()
      return id
    },
    addDeals: (deals) => {
      for (const deal of deals) enterDeal(account, deal)
      changed()
    },
    deployment: (change) => {
      Object.assign(account.deployment, change)
      core.regions.add(account.deployment.region)
      account.revision++
      changed()
    },
  }
}
