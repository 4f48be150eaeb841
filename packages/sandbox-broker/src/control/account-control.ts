// What a test does to an account and asks of it without going through HTTP.
import { decimal } from '../numbers/decimal.ts'
import { enterDeal, type Account } from '../books/account.ts'
import { enterBalanceDeal } from '../books/fills.ts'
import { positionRow } from '../books/position.ts'
import { informationOf } from '../books/valuation.ts'
import type { Core } from '../core.ts'
import type { AccountInformation, DealRow, OrderRow, PositionRow } from '../rows.ts'

export type AccountControl = {
  readonly id: string
  /** The rows as the REST serves them. */
  readonly information: () => AccountInformation
  readonly positions: () => readonly PositionRow[]
  readonly deals: () => readonly DealRow[]
  readonly historyOrders: () => readonly OrderRow[]
  /** Money in (above 0) or out; gives the deal's id. */
  readonly deposit: (amount: number, comment?: string) => string
  /** Adds deals to the history just as they stand. */
  readonly addDeals: (deals: readonly DealRow[]) => void
  /** Changes what provisioning says of the account. */
  readonly deployment: (change: { readonly state?: string; readonly connectionStatus?: string; readonly region?: string }) => void
}

export const createControl = (core: Core, account: Account): AccountControl => ({
  id: account.settings.id,
  information: () => informationOf(account, core.market, core.now()),
  positions: () => account.positions.map((position) => positionRow(account.settings, core.market, position, core.now())),
  deals: () => account.deals.all().map((entry) => entry.row),
  historyOrders: () => account.orders.all().map((entry) => entry.row),
  deposit: (amount, comment) =>
    enterBalanceDeal({ account, market: core.market, at: core.now() }, decimal(amount), comment, 'DEAL_TYPE_BALANCE'),
  addDeals: (deals) => {
    for (const deal of deals) enterDeal(account, deal)
  },
  deployment: (change) => {
    Object.assign(account.deployment, change)
    account.revision++
  },
})
