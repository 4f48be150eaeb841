// Prices, reasons and errors in words.
import {
  isTradeportError,
  type Account,
  type Client,
  type DataOf,
  type NewOrder,
  type Order,
} from '@tradeport/client'
import { decimalsOf, localSecond, money, plural, priceFormat } from './format.ts'

/** A price with the broker's decimals, or with all that it has. */
export const priceText = (value: number, digits = 0): string =>
  priceFormat(Math.max(digits, 2, decimalsOf([value])))(value)

/** Prices of one symbol with as many decimals as the longest of them; `none` without a price. */
export const priceFormatFor = (...prices: readonly (number | undefined)[]) => {
  const digits = decimalsOf(prices.filter((value) => value !== undefined))
  return (value: number | undefined): string =>
    value === undefined ? 'none' : priceText(value, digits)
}

export const orderTypeNames: Readonly<Record<NewOrder['orderType'], string>> = {
  market: 'Market',
  limit: 'Limit',
  stop: 'Stop',
  stop_limit: 'Stop limit',
}

/** How long the broker holds it. */
export const timeInForceText = ({
  timeInForce = 'gtc',
  expiresAt,
}: Pick<NewOrder, 'timeInForce' | 'expiresAt'>): string =>
  timeInForce === 'day'
    ? 'until the end of the trading day'
    : timeInForce === 'gtd' && expiresAt !== undefined
      ? `until ${localSecond(expiresAt)}`
      : 'until it is cancelled'

/** The id where the account is not known. */
export const accountName = (accounts: readonly Account[] | undefined, id: string): string =>
  accounts?.find((account) => account.id === id)?.name ?? id

export const unknownAccount = (id: string): string =>
  `No account with the id "${id}" is linked to this user.`

export type Provenance = Awaited<ReturnType<Client['getTradeStatistics']>>['meta']['provenance']

/** Why the deals of a position make no trade. */
export const skipReasons: Readonly<Record<Provenance['skipped'][number]['reason'], string>> = {
  unsupported_deal_entry_type:
    'it was reversed or closed by an opposite position, or a deal does not say whether it opens or closes',
  no_open_deal: 'the deal that opened it is not in the history',
  zero_open_volume: 'its opening deals have no volume',
  closed_exceeds_opened: 'more was closed than was opened',
  invalid_timestamp: 'a deal has a time that cannot be read',
  missing_symbol_or_times: 'its symbol or a time is missing',
  missing_price: 'a price is missing',
}

/** Whether the deals of an account add up to the balance at its broker. */
export const reconciledWords = (
  { deals, difference, complete }: DataOf<'getReconciliation'>,
  currency: string | undefined,
): string => {
  if (difference === null)
    return "Not checked: the broker's balance could not be read since the deals last changed, so whether any are missing is not known."
  const sum = `the ${plural(deals, 'deal')} ${deals === 1 ? 'adds' : 'add'} up to`
  if (complete) return `It agrees: ${sum} the broker's balance.`
  return difference === 0
    ? `It agrees now: ${sum} the broker's balance. The history is being read again, because it did not agree before.`
    : `It differs: the broker's balance is ${money(Math.abs(difference), currency)} ${difference > 0 ? 'more' : 'less'} than ${sum}. Figures may be wrong by that much.`
}

/** An error as a sentence for a person. */
export const sentenceOf = (error: unknown): string => {
  if (!isTradeportError(error)) return error instanceof Error ? error.message : String(error)
  const { code, message, outcome } = error
  if (code === 'UNAUTHORIZED') return 'The service does not accept this key.'
  if (code === 'TIMED_OUT') return 'The service took too long to answer.'
  if (code === 'NETWORK_FAILURE' || code === 'UNREADABLE_ANSWER')
    return 'The service does not answer.'
  // These messages end with advice for programmers.
  return outcome === 'unknown' && code !== 'BROKER_OUTCOME_UNKNOWN'
    ? `The service could not complete the request (${code}).`
    : message
}

/** Whether the service still looks for an order that it calls rejected. */
export const mayStillAppear = ({ rejectReason }: Order): boolean =>
  rejectReason?.code === 'NOT_FOUND_AT_BROKER'

const marks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const isRightToLeft =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/**
 * With its number where another account has the same name, and its server where that has the same
 * number too. Right-to-left text is isolated, so that it does not reorder what is around it.
 */
export const withDistinctNames = (accounts: readonly Account[]): readonly Account[] => {
  const all = accounts.map((account) => ({ ...account, name: account.name.replaceAll(marks, '') }))
  return all.map((account) => {
    const { name, accountNumber, server } = account
    const namesakes = all.filter((one) => one.name === name)
    const isNumbered = namesakes.filter((one) => one.accountNumber === accountNumber).length === 1
    const number = isNumbered ? accountNumber : `${accountNumber}, ${server}`
    const own = namesakes.length === 1 ? name : `${name} (${number})`
    return { ...account, name: isRightToLeft.test(own) ? `\u2068${own}\u2069` : own }
  })
}
