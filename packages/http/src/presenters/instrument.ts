// Instruments as callers see them (2.7), which is as the domain lists them.
import { instrumentTypes } from '@tradeport/domain'
import type { Instrument } from '@tradeport/domain'
import { choice, decimal, maybe, record, text } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'

export const instrumentShape = record('Instrument', 'An instrument of the fixed list.', {
  symbol: text('In capitals.', 'EURUSD'),
  description: text('Its name.', 'Euro / US Dollar'),
  type: choice(instrumentTypes, 'Its class.', 'forex'),
  tickSize: decimal('The smallest step of its price.', 0.00001),
  contractSize: decimal('Units in one lot.', 100_000),
  marginRate: decimal("Fraction of a position's value, 0.01 for 1:100. A placeholder, not the rate of any broker.", 0.01),
  tradingHours: text('When it is traded, in words.', 'Sunday 22:00 to Friday 22:00 UTC'),
  currency: text('The currency of its prices.', 'USD'),
  baseCurrency: maybe(text('Of forex pairs alone.', 'EUR')),
  quoteCurrency: maybe(text('Of forex pairs alone.', 'USD')),
})

export const presentInstrument = (instrument: Instrument): Shown<typeof instrumentShape> => instrument
