// The deals of a history, each once, while its pages come in.
import * as E from 'fp-ts/lib/Either.js'
import type { Deal } from '@tradeport/domain'
import { isDealRow } from '../payloads.ts'
import { dealOf } from './deals.ts'

/**
 * Deals are told apart by time, id and entry: on some platforms the opening and the closing deal of a position share their id. Providers
 * list deals by age, and as long as each id is above all before it, none can have come before; only then are ids looked up.
 */
export class DealCollection {
  readonly #deals: Deal[] = []
  #byId: Map<string, Deal[]> | undefined

  get deals(): readonly Deal[] {
    return this.#deals
  }

  /** Takes a page's rows; the left says which of them cannot be read. */
  add(rows: readonly unknown[]): E.Either<string, void> {
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index]
      if (!isDealRow(row)) return E.left(`row ${index} is not a deal`)
      const deal = dealOf(row)
      if (E.isLeft(deal)) return E.left(`row ${index}: ${deal.left}`)
      this.#addOnce(deal.right)
    }
    return E.right(undefined)
  }

  #addOnce(deal: Deal): void {
    const last = this.#deals.at(-1)
    if (this.#byId === undefined && (last === undefined || isAbove(deal.id, last.id))) {
      this.#deals.push(deal)
      return
    }
    this.#byId ??= Map.groupBy(this.#deals, ({ id }) => id)
    const sameId = this.#byId.get(deal.id)
    if (sameId?.some((other) => isSameDeal(other, deal)) === true) return
    if (sameId === undefined) this.#byId.set(deal.id, [deal])
    else sameId.push(deal)
    this.#deals.push(deal)
  }
}

// Numbers of any length, written as text.
const isAbove = (a: string, b: string): boolean => (a.length === b.length ? a > b : a.length > b.length)

// Times that cannot be read are one time.
const isSameDeal = (a: Deal, b: Deal): boolean => Object.is(a.time, b.time) && a.entry === b.entry
