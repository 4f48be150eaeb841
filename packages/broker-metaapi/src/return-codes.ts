// The provider's return codes. One table serves both platforms: codes of the fourth generation run
// to 150, those of the fifth start at 10004, and negative ones belong to both.

/**
 * - done, done_partial, placed: the broker accepted it, and says how far it is
 * - no_changes: the position or order already was as requested
 * - refused: the broker refused it
 * - doubted: refused, although users of the provider report orders that were executed all the same
 * - gone: refused because there is no such position or order
 * - rate_limited: the broker accepts no more for now
 * - not_sent: it certainly did not reach the broker, for a reason that may pass
 * - unknown: it may have been executed
 */
type ReturnCodeOutcome =
  | 'done'
  | 'done_partial'
  | 'placed'
  | 'no_changes'
  | 'refused'
  | 'doubted'
  | 'gone'
  | 'rate_limited'
  | 'not_sent'
  | 'unknown'

export interface ReturnCode {
  readonly code: number
  readonly name: string
  readonly outcome: ReturnCodeOutcome
}

const namesByOutcome: Readonly<Record<ReturnCodeOutcome, Readonly<Record<string, string>>>> = {
  done: {
    0: 'ERR_NO_ERROR',
    10009: 'TRADE_RETCODE_DONE',
  },
  done_partial: {
    10010: 'TRADE_RETCODE_DONE_PARTIAL',
  },
  placed: {
    10008: 'TRADE_RETCODE_PLACED',
  },
  no_changes: {
    10025: 'TRADE_RETCODE_NO_CHANGES',
  },
  doubted: {
    136: 'ERR_OFF_QUOTES',
  },
  gone: {
    4753: 'ERR_TRADE_POSITION_NOT_FOUND',
    4754: 'ERR_TRADE_ORDER_NOT_FOUND',
    10036: 'TRADE_RETCODE_POSITION_CLOSED',
  },
  rate_limited: {
    10024: 'TRADE_RETCODE_TOO_MANY_REQUESTS',
  },
  not_sent: {
    '-10': 'TRADE_RETCODE_DISCONNECTED_BEFORE_TRADE',
    '-6': 'ERR_NO_QUOTES',
    '-5': 'ERR_NOT_SYNCHRONIZED',
    4: 'ERR_SERVER_BUSY',
    6: 'ERR_NO_CONNECTION',
    146: 'ERR_TRADE_CONTEXT_BUSY',
  },
  unknown: {
    '-11': 'TRADE_RETCODE_DISCONNECTED_DURING_TRADE',
    '-7': 'ERR_TRADE_TIMED_OUT',
    '-1': 'TRADE_RETCODE_UNKNOWN',
    1: 'ERR_NO_RESULT',
    128: 'ERR_TRADE_TIMEOUT',
    10012: 'TRADE_RETCODE_TIMEOUT',
    // It does not say whether the connection to the trade server broke before or after the trade.
    10031: 'TRADE_RETCODE_CONNECTION',
  },
  refused: {
    '-9': 'ERR_PIP_SIZE_NOT_DEFINED',
    '-8': 'ERR_INVESTOR',
    '-4': 'TRADE_RETCODE_ORDER_TYPE_NOT_SUPPORTED',
    2: 'ERR_COMMON_ERROR',
    3: 'ERR_INVALID_TRADE_PARAMETERS',
    5: 'ERR_OLD_VERSION',
    7: 'ERR_NOT_ENOUGH_RIGHTS',
    8: 'ERR_TOO_FREQUENT_REQUESTS',
    9: 'ERR_MALFUNCTIONAL_TRADE',
    64: 'ERR_ACCOUNT_DISABLED',
    65: 'ERR_INVALID_ACCOUNT',
    129: 'ERR_INVALID_PRICE',
    130: 'ERR_INVALID_STOPS',
    131: 'ERR_INVALID_TRADE_VOLUME',
    132: 'ERR_MARKET_CLOSED',
    133: 'ERR_TRADE_DISABLED',
    134: 'ERR_NOT_ENOUGH_MONEY',
    135: 'ERR_PRICE_CHANGED',
    137: 'ERR_BROKER_BUSY',
    138: 'ERR_REQUOTE',
    139: 'ERR_ORDER_LOCKED',
    140: 'ERR_LONG_POSITIONS_ONLY_ALLOWED',
    141: 'ERR_TOO_MANY_REQUESTS',
    145: 'ERR_TRADE_MODIFY_DENIED',
    147: 'ERR_TRADE_EXPIRATION_DENIED',
    148: 'ERR_TRADE_TOO_MANY_ORDERS',
    149: 'ERR_TRADE_HEDGE_PROHIBITED',
    150: 'ERR_TRADE_PROHIBITED_BY_FIFO',
    10004: 'TRADE_RETCODE_REQUOTE',
    10006: 'TRADE_RETCODE_REJECT',
    10007: 'TRADE_RETCODE_CANCEL',
    10011: 'TRADE_RETCODE_ERROR',
    10013: 'TRADE_RETCODE_INVALID',
    10014: 'TRADE_RETCODE_INVALID_VOLUME',
    10015: 'TRADE_RETCODE_INVALID_PRICE',
    10016: 'TRADE_RETCODE_INVALID_STOPS',
    10017: 'TRADE_RETCODE_TRADE_DISABLED',
    10018: 'TRADE_RETCODE_MARKET_CLOSED',
    10019: 'TRADE_RETCODE_NO_MONEY',
    10020: 'TRADE_RETCODE_PRICE_CHANGED',
    10021: 'TRADE_RETCODE_PRICE_OFF',
    10022: 'TRADE_RETCODE_INVALID_EXPIRATION',
    10023: 'TRADE_RETCODE_ORDER_CHANGED',
    10026: 'TRADE_RETCODE_SERVER_DISABLES_AT',
    10027: 'TRADE_RETCODE_CLIENT_DISABLES_AT',
    10028: 'TRADE_RETCODE_LOCKED',
    10029: 'TRADE_RETCODE_FROZEN',
    10030: 'TRADE_RETCODE_INVALID_FILL',
    10032: 'TRADE_RETCODE_ONLY_REAL',
    10033: 'TRADE_RETCODE_LIMIT_ORDERS',
    10034: 'TRADE_RETCODE_LIMIT_VOLUME',
    10035: 'TRADE_RETCODE_INVALID_ORDER',
    10038: 'TRADE_RETCODE_INVALID_CLOSE_VOLUME',
    10039: 'TRADE_RETCODE_CLOSE_ORDER_EXIST',
    10040: 'TRADE_RETCODE_LIMIT_POSITIONS',
    10041: 'TRADE_RETCODE_REJECT_CANCEL',
    10042: 'TRADE_RETCODE_LONG_ONLY',
    10043: 'TRADE_RETCODE_SHORT_ONLY',
    10044: 'TRADE_RETCODE_CLOSE_ONLY',
    10045: 'TRADE_RETCODE_FIFO_CLOSE',
    10046: 'TRADE_RETCODE_HEDGE_PROHIBITED',
  },
}

export const returnCodes: readonly ReturnCode[] = Object.entries(namesByOutcome).flatMap(
  ([outcome, names]) =>
    Object.entries(names).map(([code, name]) => ({
      code: Number(code),
      name,
      outcome: outcome as ReturnCodeOutcome,
    })),
)

const byCode = new Map<unknown, ReturnCode>(returnCodes.map((row) => [row.code, row]))
const byName = new Map<unknown, ReturnCode>(returnCodes.map((row) => [row.name, row]))

/**
 * The row of a number and a name, either of which may be undefined. Undefined if a number or a lone
 * name is in no row, and if both are but mean different things.
 */
export const returnCodeOf = (code: unknown, name: unknown): ReturnCode | undefined => {
  const named = byName.get(name)
  if (code === undefined) return named
  const numbered = byCode.get(code)
  return named !== undefined && named.outcome !== numbered?.outcome ? undefined : numbered
}
