// What can come of a trade, with its return code and the code's name on each platform.
import type { Platform, TradeReply } from './rows.ts'

const codeNames: Readonly<Record<number, string>> = {
  [-4]: 'TRADE_RETCODE_ORDER_TYPE_NOT_SUPPORTED',
  0: 'ERR_NO_ERROR',
  129: 'ERR_INVALID_PRICE',
  130: 'ERR_INVALID_STOPS',
  131: 'ERR_INVALID_TRADE_VOLUME',
  132: 'ERR_MARKET_CLOSED',
  134: 'ERR_NOT_ENOUGH_MONEY',
  147: 'ERR_TRADE_EXPIRATION_DENIED',
  4753: 'ERR_TRADE_POSITION_NOT_FOUND',
  4754: 'ERR_TRADE_ORDER_NOT_FOUND',
  10008: 'TRADE_RETCODE_PLACED',
  10009: 'TRADE_RETCODE_DONE',
  10010: 'TRADE_RETCODE_DONE_PARTIAL',
  10014: 'TRADE_RETCODE_INVALID_VOLUME',
  10015: 'TRADE_RETCODE_INVALID_PRICE',
  10016: 'TRADE_RETCODE_INVALID_STOPS',
  10018: 'TRADE_RETCODE_MARKET_CLOSED',
  10019: 'TRADE_RETCODE_NO_MONEY',
  10022: 'TRADE_RETCODE_INVALID_EXPIRATION',
  10025: 'TRADE_RETCODE_NO_CHANGES',
  10038: 'TRADE_RETCODE_INVALID_CLOSE_VOLUME',
}

/** What can come of a trade, with its code on either platform. */
const resultCodes = {
  done: { mt4: 0, mt5: 10009 },
  partlyDone: { mt4: 10010, mt5: 10010 },
  placed: { mt4: 10008, mt5: 10008 },
  noChanges: { mt4: 0, mt5: 10025 },
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

export type Result = keyof typeof resultCodes

export const resultReply = (
  platform: Platform,
  result: Result,
  tickets: Pick<TradeReply, 'orderId' | 'positionId'> = {},
): TradeReply => codeReply(resultCodes[result][platform], tickets)

/** Any code; clients know those that have no name here by their number. */
export const codeReply = (
  numericCode: number,
  rest: Partial<Omit<TradeReply, 'numericCode'>> = {},
): TradeReply => {
  const stringCode = rest.stringCode ?? codeNames[numericCode] ?? `UNLISTED_${numericCode}`
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
