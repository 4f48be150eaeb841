// The trade return codes of both platforms with their names. MT4's run to 150, MT5's from 10004;
// the negative ones belong to both.
import type { Platform, TradeReply } from './rows.ts'

const NAMES: Readonly<Record<number, string>> = {
  [-11]: 'TRADE_RETCODE_DISCONNECTED_DURING_TRADE',
  [-10]: 'TRADE_RETCODE_DISCONNECTED_BEFORE_TRADE',
  [-9]: 'ERR_PIP_SIZE_NOT_DEFINED',
  [-8]: 'ERR_INVESTOR',
  [-7]: 'ERR_TRADE_TIMED_OUT',
  [-6]: 'ERR_NO_QUOTES',
  [-5]: 'ERR_NOT_SYNCHRONIZED',
  [-4]: 'TRADE_RETCODE_ORDER_TYPE_NOT_SUPPORTED',
  [-1]: 'TRADE_RETCODE_UNKNOWN',
  0: 'ERR_NO_ERROR',
  1: 'ERR_NO_RESULT',
  2: 'ERR_COMMON_ERROR',
  3: 'ERR_INVALID_TRADE_PARAMETERS',
  4: 'ERR_SERVER_BUSY',
  5: 'ERR_OLD_VERSION',
  6: 'ERR_NO_CONNECTION',
  7: 'ERR_NOT_ENOUGH_RIGHTS',
  8: 'ERR_TOO_FREQUENT_REQUESTS',
  9: 'ERR_MALFUNCTIONAL_TRADE',
  64: 'ERR_ACCOUNT_DISABLED',
  65: 'ERR_INVALID_ACCOUNT',
  128: 'ERR_TRADE_TIMEOUT',
  129: 'ERR_INVALID_PRICE',
  130: 'ERR_INVALID_STOPS',
  131: 'ERR_INVALID_TRADE_VOLUME',
  132: 'ERR_MARKET_CLOSED',
  133: 'ERR_TRADE_DISABLED',
  134: 'ERR_NOT_ENOUGH_MONEY',
  135: 'ERR_PRICE_CHANGED',
  136: 'ERR_OFF_QUOTES',
  137: 'ERR_BROKER_BUSY',
  138: 'ERR_REQUOTE',
  139: 'ERR_ORDER_LOCKED',
  140: 'ERR_LONG_POSITIONS_ONLY_ALLOWED',
  141: 'ERR_TOO_MANY_REQUESTS',
  145: 'ERR_TRADE_MODIFY_DENIED',
  146: 'ERR_TRADE_CONTEXT_BUSY',
  147: 'ERR_TRADE_EXPIRATION_DENIED',
  148: 'ERR_TRADE_TOO_MANY_ORDERS',
  149: 'ERR_TRADE_HEDGE_PROHIBITED',
  150: 'ERR_TRADE_PROHIBITED_BY_FIFO',
  4753: 'ERR_TRADE_POSITION_NOT_FOUND',
  4754: 'ERR_TRADE_ORDER_NOT_FOUND',
  10004: 'TRADE_RETCODE_REQUOTE',
  10006: 'TRADE_RETCODE_REJECT',
  10007: 'TRADE_RETCODE_CANCEL',
  10008: 'TRADE_RETCODE_PLACED',
  10009: 'TRADE_RETCODE_DONE',
  10010: 'TRADE_RETCODE_DONE_PARTIAL',
  10011: 'TRADE_RETCODE_ERROR',
  10012: 'TRADE_RETCODE_TIMEOUT',
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
  10024: 'TRADE_RETCODE_TOO_MANY_REQUESTS',
  10025: 'TRADE_RETCODE_NO_CHANGES',
  10026: 'TRADE_RETCODE_SERVER_DISABLES_AT',
  10027: 'TRADE_RETCODE_CLIENT_DISABLES_AT',
  10028: 'TRADE_RETCODE_LOCKED',
  10029: 'TRADE_RETCODE_FROZEN',
  10030: 'TRADE_RETCODE_INVALID_FILL',
  10031: 'TRADE_RETCODE_CONNECTION',
  10032: 'TRADE_RETCODE_ONLY_REAL',
  10033: 'TRADE_RETCODE_LIMIT_ORDERS',
  10034: 'TRADE_RETCODE_LIMIT_VOLUME',
  10035: 'TRADE_RETCODE_INVALID_ORDER',
  10036: 'TRADE_RETCODE_POSITION_CLOSED',
  10038: 'TRADE_RETCODE_INVALID_CLOSE_VOLUME',
  10039: 'TRADE_RETCODE_CLOSE_ORDER_EXIST',
  10040: 'TRADE_RETCODE_LIMIT_POSITIONS',
  10041: 'TRADE_RETCODE_REJECT_CANCEL',
  10042: 'TRADE_RETCODE_LONG_ONLY',
  10043: 'TRADE_RETCODE_SHORT_ONLY',
  10044: 'TRADE_RETCODE_CLOSE_ONLY',
  10045: 'TRADE_RETCODE_FIFO_CLOSE',
  10046: 'TRADE_RETCODE_HEDGE_PROHIBITED',
}

/** What can come of a trade, with its code on either platform. */
const RESULTS = {
  done: { mt4: 0, mt5: 10009 },
  partlyDone: { mt4: 10010, mt5: 10010 },
  placed: { mt4: 10008, mt5: 10008 },
  noChanges: { mt4: 0, mt5: 10025 },
  investor: { mt4: -8, mt5: -8 },
  orderTypeNotSupported: { mt4: -4, mt5: -4 },
  positionNotFound: { mt4: 4753, mt5: 4753 },
  orderNotFound: { mt4: 4754, mt5: 4754 },
  invalidVolume: { mt4: 131, mt5: 10014 },
  invalidCloseVolume: { mt4: 131, mt5: 10038 },
  invalidPrice: { mt4: 129, mt5: 10015 },
  invalidExpiration: { mt4: 147, mt5: 10022 },
  invalidStops: { mt4: 130, mt5: 10016 },
  marketClosed: { mt4: 132, mt5: 10018 },
  noMoney: { mt4: 134, mt5: 10019 },
} as const satisfies Readonly<Record<string, Readonly<Record<Platform, number>>>>

export type Result = keyof typeof RESULTS

export const resultReply = (
  platform: Platform,
  result: Result,
  tickets: Pick<TradeReply, 'orderId' | 'positionId'> = {},
): TradeReply => codeReply(RESULTS[result][platform], tickets)

/** Any code, also one that no table lists. */
export const codeReply = (
  numericCode: number,
  rest: Partial<Omit<TradeReply, 'numericCode'>> = {},
): TradeReply => {
  const stringCode = rest.stringCode ?? NAMES[numericCode] ?? `UNLISTED_${numericCode}`
  return { numericCode, stringCode, message: rest.message ?? wordsOf(stringCode), ...tickets(rest) }
}

const tickets = ({
  orderId,
  positionId,
}: Pick<Partial<TradeReply>, 'orderId' | 'positionId'>): Pick<
  TradeReply,
  'orderId' | 'positionId'
> => ({
  ...(orderId !== undefined && { orderId }),
  ...(positionId !== undefined && { positionId }),
})

/** TRADE_RETCODE_MARKET_CLOSED reads “Market closed”. */
const wordsOf = (stringCode: string): string => {
  const words = stringCode
    .replace(/^(TRADE_RETCODE|ERR)_/, '')
    .toLowerCase()
    .replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
