// What the simulated broker charges for a trade: half of it on the opening and half on the closing
// deal.
import { decimal, toCents, type Decimal } from '../numbers/decimal.ts'
import type { Instrument } from '../market/instruments.ts'
import type { AccountSettings } from './account-settings.ts'

/** What a deal of a volume costs, as a negative amount. */
export const commissionOf = (
  { currencyDigits }: AccountSettings,
  instrument: Instrument,
  volume: Decimal,
): Decimal => toCents(decimal(-instrument.commissionPerLot).times(volume).div(2), currencyDigits)
