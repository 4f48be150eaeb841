// An account's whole deal history, page by page: each deal once, all of them or none.
import * as E from 'fp-ts/lib/Either.js'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { maxHistoryDeals } from '@tradeport/domain'
import type { Deal } from '@tradeport/domain'
import { unusable } from './failures.ts'
import { decodeDealsPage } from './payloads.ts'
import { DealCollection } from './translate/deal-collection.ts'

/** The most rows that the provider gives at once. */
export const pageSize = 1_000

/**
 * Pages repeat rows when the history grows while it is read, so a history within the limit may fill more pages than its deals would. One
 * that fills twice as many is no history: the provider gives the same rows for ever.
 */
export const maxPages = 2 * (maxHistoryDeals / pageSize + 1)

export const tooManyDeals = Symbol('more deals than are read')

/** Asks for the page at `offset`; rejects where it cannot be had. */
export type FetchPage = (offset: number) => Promise<Uint8Array>

/**
 * Reads pages until one is short. Where a page is nearly as long as the full one before it, it will be full too, and the next is asked for
 * before it is looked at, so that the provider and we work at the same time. Between pages other work has its turn.
 */
export const readHistory = async (fetchPage: FetchPage): Promise<readonly Deal[] | typeof tooManyDeals> => {
  const collection = new DealCollection()
  let fullBytes = Number.POSITIVE_INFINITY
  let next: Promise<Uint8Array> | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const bytes = await (next ?? fetchPage(page * pageSize))
    const mayGoOn = page + 1 < maxPages
    next = mayGoOn && bytes.length > fullBytes * likelyFull ? ahead(fetchPage, page + 1) : undefined
    await nextTurn()
    const rows = rowsOf(bytes)
    const isLast = rows.length < pageSize
    if (mayGoOn && !isLast) next ??= ahead(fetchPage, page + 1)
    const added = collection.add(rows)
    if (E.isLeft(added)) throw unusable('history-deals', added.left)
    if (collection.deals.length > maxHistoryDeals) return tooManyDeals
    if (isLast) return collection.deals
    fullBytes = bytes.length
  }
  throw unusable('history-deals', `${maxPages} full pages and still not ${maxHistoryDeals} deals`)
}

const likelyFull = 0.9

// A page asked for ahead may fail before anybody waits for it, or after nobody does.
const ahead = (fetchPage: FetchPage, page: number): Promise<Uint8Array> => {
  const bytes = fetchPage(page * pageSize)
  bytes.catch(() => undefined)
  return bytes
}

const rowsOf = (bytes: Uint8Array): readonly unknown[] => {
  const rows = decodeDealsPage(bytes)
  if (E.isLeft(rows)) throw unusable('history-deals', rows.left)
  return rows.right
}
