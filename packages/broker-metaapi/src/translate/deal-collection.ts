// The deals of a history, each once, while its pages come in (decision 33).
import * as E from 'fp-ts/lib/Either.js'
import type { Deal } from '@tradeport/domain'
import { isDealRow } from '../payloads.ts'
import { dealOf } from './deals.ts'

/**
 * Deals are told apart by time, id and entry: on some platforms the opening and the closing deal of a position share their id. Nearly every
 * id comes once, so that an id alone decides nearly always.
 */
export class DealCollection {
  readonly #deals: Deal[] = []
  readonly #firstOfId = new Map<string, Deal>()
  readonly #othersOfId = new Map<string, Deal[]>()

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
      if (this.#isNew(deal.right)) this.#deals.push(deal.right)
    }
    return E.right(undefined)
  }

  #isNew(deal: Deal): boolean {
    const first = this.#firstOfId.get(deal.id)
    if (first === undefined) {
      this.#firstOfId.set(deal.id, deal)
      return true
    }
    const others = this.#othersOfId.get(deal.id) ?? []
    if (isSameDeal(first, deal) || others.some((other) => isSameDeal(other, deal))) return false
    this.#othersOfId.set(deal.id, [...others, deal])
    return true
  }
}

// Times that cannot be read are one time.
const isSameDeal = (a: Deal, b: Deal): boolean => Object.is(a.time, b.time) && a.entry === b.entry
