// What an account is and how its broker behaves, as it was set when the account was made.
import type { MarginMode, Platform, TradeMode } from '../rows.ts'

export type AccountSettings = {
  readonly id: string
  readonly login: string
  readonly name: string
  readonly broker: string
  readonly server: string
  readonly platform: Platform
  readonly marginMode: MarginMode
  readonly type: TradeMode
  readonly currency: string
  readonly currencyDigits: number
  readonly leverage: number
  readonly region: string
  readonly tradeAllowed: boolean
  /** MT4: whether the deals that open and close a ticket carry the same id. */
  readonly mt4DealIds: 'shared' | 'distinct'
  /** MT4: whether what a partial close leaves gets a new ticket. */
  readonly mt4PartialTicket: 'new' | 'same'
  /**
   * MT4: what a change that changes nothing answers: 0, or 1, which says that the result is not
   * known.
   */
  readonly mt4NoChanges: 'no-error' | 'no-result'
  /** What a trade in a symbol that the broker lacks answers: HTTP 404, or a return code. */
  readonly unknownSymbol: 'not-found' | 'return-code'
}
