// What each of the provider's return codes says of a trade. One table serves both platforms: those of the fourth generation
// run to 150, those of the fifth from 10004, the negative ones belong to both.

/**
 * - done, done_in_part, placed: the broker took it, and says how far it has come
 * - no_changes: what was asked for is as it was before
 * - refused: the broker said no
 * - gone: it said no, because there is no such position
 * - limited: it takes no more for now
 * - not_sent: it certainly did not reach the broker's book, for a reason that may pass
 * - unknown: it may have been executed
 */
export type CodeClass = 'done' | 'done_in_part' | 'placed' | 'no_changes' | 'refused' | 'gone' | 'limited' | 'not_sent' | 'unknown'

export interface ReturnCode {
  readonly code: number
  readonly name: string
  readonly means: CodeClass
}

const rows: readonly (readonly [code: number, name: string, means: CodeClass])[] = [
  [-11, 'TRADE_RETCODE_DISCONNECTED_DURING_TRADE', 'unknown'],
  [-10, 'TRADE_RETCODE_DISCONNECTED_BEFORE_TRADE', 'not_sent'],
  [-9, 'ERR_PIP_SIZE_NOT_DEFINED', 'refused'],
  [-8, 'ERR_INVESTOR', 'refused'],
  [-7, 'ERR_TRADE_TIMED_OUT', 'unknown'],
  [-6, 'ERR_NO_QUOTES', 'not_sent'],
  [-5, 'ERR_NOT_SYNCHRONIZED', 'not_sent'],
  [-4, 'TRADE_RETCODE_ORDER_TYPE_NOT_SUPPORTED', 'refused'],
  [-1, 'TRADE_RETCODE_UNKNOWN', 'unknown'],
  [0, 'ERR_NO_ERROR', 'done'],
  [1, 'ERR_NO_RESULT', 'unknown'],
  [2, 'ERR_COMMON_ERROR', 'refused'],
  [3, 'ERR_INVALID_TRADE_PARAMETERS', 'refused'],
  [4, 'ERR_SERVER_BUSY', 'not_sent'],
  [5, 'ERR_OLD_VERSION', 'refused'],
  [6, 'ERR_NO_CONNECTION', 'not_sent'],
  [7, 'ERR_NOT_ENOUGH_RIGHTS', 'refused'],
  [8, 'ERR_TOO_FREQUENT_REQUESTS', 'refused'],
  [9, 'ERR_MALFUNCTIONAL_TRADE', 'refused'],
  [64, 'ERR_ACCOUNT_DISABLED', 'refused'],
  [65, 'ERR_INVALID_ACCOUNT', 'refused'],
  [128, 'ERR_TRADE_TIMEOUT', 'unknown'],
  [129, 'ERR_INVALID_PRICE', 'refused'],
  [130, 'ERR_INVALID_STOPS', 'refused'],
  [131, 'ERR_INVALID_TRADE_VOLUME', 'refused'],
  [132, 'ERR_MARKET_CLOSED', 'refused'],
  [133, 'ERR_TRADE_DISABLED', 'refused'],
  [134, 'ERR_NOT_ENOUGH_MONEY', 'refused'],
  [135, 'ERR_PRICE_CHANGED', 'refused'],
  [136, 'ERR_OFF_QUOTES', 'refused'],
  [137, 'ERR_BROKER_BUSY', 'refused'],
  [138, 'ERR_REQUOTE', 'refused'],
  [139, 'ERR_ORDER_LOCKED', 'refused'],
  [140, 'ERR_LONG_POSITIONS_ONLY_ALLOWED', 'refused'],
  [141, 'ERR_TOO_MANY_REQUESTS', 'refused'],
  [145, 'ERR_TRADE_MODIFY_DENIED', 'refused'],
  [146, 'ERR_TRADE_CONTEXT_BUSY', 'not_sent'],
  [147, 'ERR_TRADE_EXPIRATION_DENIED', 'refused'],
  [148, 'ERR_TRADE_TOO_MANY_ORDERS', 'refused'],
  [149, 'ERR_TRADE_HEDGE_PROHIBITED', 'refused'],
  [150, 'ERR_TRADE_PROHIBITED_BY_FIFO', 'refused'],
  [4753, 'ERR_TRADE_POSITION_NOT_FOUND', 'gone'],
  [4754, 'ERR_TRADE_ORDER_NOT_FOUND', 'refused'],
  [10004, 'TRADE_RETCODE_REQUOTE', 'refused'],
  [10006, 'TRADE_RETCODE_REJECT', 'refused'],
  [10007, 'TRADE_RETCODE_CANCEL', 'refused'],
  [10008, 'TRADE_RETCODE_PLACED', 'placed'],
  [10009, 'TRADE_RETCODE_DONE', 'done'],
  [10010, 'TRADE_RETCODE_DONE_PARTIAL', 'done_in_part'],
  [10011, 'TRADE_RETCODE_ERROR', 'refused'],
  [10012, 'TRADE_RETCODE_TIMEOUT', 'unknown'],
  [10013, 'TRADE_RETCODE_INVALID', 'refused'],
  [10014, 'TRADE_RETCODE_INVALID_VOLUME', 'refused'],
  [10015, 'TRADE_RETCODE_INVALID_PRICE', 'refused'],
  [10016, 'TRADE_RETCODE_INVALID_STOPS', 'refused'],
  [10017, 'TRADE_RETCODE_TRADE_DISABLED', 'refused'],
  [10018, 'TRADE_RETCODE_MARKET_CLOSED', 'refused'],
  [10019, 'TRADE_RETCODE_NO_MONEY', 'refused'],
  [10020, 'TRADE_RETCODE_PRICE_CHANGED', 'refused'],
  [10021, 'TRADE_RETCODE_PRICE_OFF', 'refused'],
  [10022, 'TRADE_RETCODE_INVALID_EXPIRATION', 'refused'],
  [10023, 'TRADE_RETCODE_ORDER_CHANGED', 'refused'],
  [10024, 'TRADE_RETCODE_TOO_MANY_REQUESTS', 'limited'],
  [10025, 'TRADE_RETCODE_NO_CHANGES', 'no_changes'],
  [10026, 'TRADE_RETCODE_SERVER_DISABLES_AT', 'refused'],
  [10027, 'TRADE_RETCODE_CLIENT_DISABLES_AT', 'refused'],
  [10028, 'TRADE_RETCODE_LOCKED', 'refused'],
  [10029, 'TRADE_RETCODE_FROZEN', 'refused'],
  [10030, 'TRADE_RETCODE_INVALID_FILL', 'refused'],
  // The connection to the trade server: before or after the trade went out, it does not say.
  [10031, 'TRADE_RETCODE_CONNECTION', 'unknown'],
  [10032, 'TRADE_RETCODE_ONLY_REAL', 'refused'],
  [10033, 'TRADE_RETCODE_LIMIT_ORDERS', 'refused'],
  [10034, 'TRADE_RETCODE_LIMIT_VOLUME', 'refused'],
  [10035, 'TRADE_RETCODE_INVALID_ORDER', 'refused'],
  [10036, 'TRADE_RETCODE_POSITION_CLOSED', 'gone'],
  [10038, 'TRADE_RETCODE_INVALID_CLOSE_VOLUME', 'refused'],
  [10039, 'TRADE_RETCODE_CLOSE_ORDER_EXIST', 'refused'],
  [10040, 'TRADE_RETCODE_LIMIT_POSITIONS', 'refused'],
  [10041, 'TRADE_RETCODE_REJECT_CANCEL', 'refused'],
  [10042, 'TRADE_RETCODE_LONG_ONLY', 'refused'],
  [10043, 'TRADE_RETCODE_SHORT_ONLY', 'refused'],
  [10044, 'TRADE_RETCODE_CLOSE_ONLY', 'refused'],
  [10045, 'TRADE_RETCODE_FIFO_CLOSE', 'refused'],
  [10046, 'TRADE_RETCODE_HEDGE_PROHIBITED', 'refused'],
]

export const returnCodes: readonly ReturnCode[] = rows.map(([code, name, means]) => ({ code, name, means }))

const byCode = new Map(returnCodes.map((row) => [row.code, row]))
const byName = new Map(returnCodes.map((row) => [row.name, row]))

/**
 * The row of a number and a name, of which either may be absent. Undefined where a number or a lone name is in no row, and where both are but
 * mean different things: then it is unknown what was said.
 */
export const returnCodeOf = (code: number | undefined, name: string | undefined): ReturnCode | undefined => {
  const named = name === undefined ? undefined : byName.get(name)
  if (code === undefined) return named
  const numbered = byCode.get(code)
  return named !== undefined && named.means !== numbered?.means ? undefined : numbered
}
