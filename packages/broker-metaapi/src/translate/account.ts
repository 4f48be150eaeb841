// Account information in our words.
import type { AccountReading, Instant, TradeMode } from '@tradeport/domain'
import type { AccountInformation } from '../payloads.ts'

const tradeModes: Readonly<Record<string, TradeMode>> = {
  ACCOUNT_TRADE_MODE_DEMO: 'demo',
  ACCOUNT_TRADE_MODE_CONTEST: 'contest',
  ACCOUNT_TRADE_MODE_REAL: 'real',
}

/** An account whose mode the provider does not say, or says in a word that we do not know, is unconfirmed and never taken for a demo. */
export const accountReadingOf = (information: AccountInformation, readAt: Instant): AccountReading => {
  const { balance, equity, margin, freeMargin, leverage, type = '', broker, currency } = information
  return {
    tradeMode: Object.hasOwn(tradeModes, type) ? (tradeModes[type] ?? 'unconfirmed') : 'unconfirmed',
    broker: broker || null,
    currency: currency || null,
    figures: {
      balance,
      equity,
      margin,
      freeMargin: freeMargin ?? null,
      marginLevel: marginLevelOf(information),
      leverage: leverage ?? null,
    },
    readAt,
  }
}

/** A level says nothing where no margin is in use; the provider then leaves it out or gives 0. */
const marginLevelOf = ({ margin, marginLevel }: AccountInformation): number | null =>
  marginLevel === undefined || (marginLevel === 0 && margin === 0) ? null : marginLevel
