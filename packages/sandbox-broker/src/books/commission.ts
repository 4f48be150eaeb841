// What the simulated broker charges for a trade, and on which of its deals.
import { decimal, toCents, zero, type Decimal } from '../numbers/decimal.ts'
import type { Instrument } from '../market/instruments.ts'
import type { AccountSettings, CommissionRule } from './account-settings.ts'

export type Charge = { readonly entry: Decimal; readonly exit: Decimal; readonly separate: Decimal }

/** What opening and closing a volume costs, as negative amounts. */
export const commissionOf = (settings: AccountSettings, instrument: Instrument, volume: Decimal): Charge => {
  const { commission, currencyDigits } = settings
  const roundTurn = decimal(-instrument.commissionPerLot).times(volume)
  const whole = toCents(roundTurn, currencyDigits)
  const half = toCents(roundTurn.div(2), currencyDigits)
  const charges: Readonly<Record<CommissionRule, Charge>> = {
    half: { entry: half, exit: half, separate: zero },
    entry: { entry: whole, exit: zero, separate: zero },
    deal: { entry: zero, exit: zero, separate: whole },
    none: { entry: zero, exit: zero, separate: zero },
  }
  return charges[commission]
}
