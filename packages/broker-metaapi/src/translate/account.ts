// Account information in our words.
import type { AccountReading, TradeMode } from '@tradeport/domain/accounts'
import type { Instant } from '@tradeport/domain/primitives'
import type { AccountInformation } from '../payloads.ts'

const tradeModes = new Map<string | undefined, TradeMode>([
  ['ACCOUNT_TRADE_MODE_DEMO', 'demo'],
  ['ACCOUNT_TRADE_MODE_CONTEST', 'contest'],
  ['ACCOUNT_TRADE_MODE_REAL', 'real'],
])

/**
 * An account whose mode the provider does not say, or says in a word that we do not know, is
 * unconfirmed and never taken for a demo.
 */
export const accountReadingOf = (
  information: AccountInformation,
  readAt: Instant,
): AccountReading => {
  const {
    balance,
    equity,
    margin,
    freeMargin = null,
    leverage = null,
    marginLevel = null,
    type,
    broker,
    currency,
  } = information
  return {
    tradeMode: tradeModes.get(type) ?? 'unconfirmed',
    broker: broker || null,
    currency: currency || null,
    figures: {
      balance,
      equity,
      margin,
      freeMargin,
      // A level says nothing where no margin is in use; the provider then leaves it out or gives 0.
      marginLevel: marginLevel === 0 && margin === 0 ? null : marginLevel,
      leverage,
    },
    readAt,
  }
}
