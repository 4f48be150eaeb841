// Laws of the translation: it never throws, whatever JSON comes, and money and times come through unchanged.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInstant, sumExactly } from '@tradeport/domain'
import { AccountInformation, decode, decodeDealsPage, Margin, PositionRows, ProvisionedAccount } from '../src/payloads.ts'
import { accountReadingOf } from '../src/translate/account.ts'
import { dealsOf } from '../src/translate/deals.ts'
import { positionsOf } from '../src/translate/positions.ts'
import { readTime } from '../src/translate/time.ts'
import { dealRow, informationRow, positionRow } from './support.ts'

const bytesOf = (json: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(json))
const money = fc.double({ noNaN: true, noDefaultInfinity: true })
/** As brokers have them: to the eighth decimal at the finest. */
const lots = fc.integer({ min: 0, max: 1_000_000_000_000 }).map((units) => units / 100_000_000)
const instant = fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59.999Z') })

const digits = (count: number) => fc.integer({ min: 0, max: 10 ** count - 1 }).map((value) => String(value).padStart(count, '0'))

/** A good row of which some fields hold whatever JSON can. */
const spoilt = <A extends Record<string, unknown>>(row: A) =>
  fc.dictionary(fc.constantFrom(...Object.keys(row)), fc.jsonValue(), { maxKeys: 3 }).map((wrong) => ({ ...row, ...wrong }))

const anyAnswer = fc.oneof(
  fc.jsonValue(),
  fc.array(spoilt(positionRow), { maxLength: 3 }),
  fc.array(spoilt(dealRow), { maxLength: 3 }),
  fc.record({ deals: fc.array(spoilt(dealRow), { maxLength: 3 }), synchronizing: fc.jsonValue() }),
  spoilt(informationRow),
)

describe('the translation', () => {
  it('never throws, whatever the provider answers', () => {
    fc.assert(
      fc.property(fc.oneof(anyAnswer.map(bytesOf), fc.uint8Array({ maxLength: 40 })), (bytes) => {
        const information = decode(AccountInformation)(bytes)
        if (E.isRight(information)) accountReadingOf(information.right, 0)
        const positions = decode(PositionRows)(bytes)
        if (E.isRight(positions)) positionsOf(positions.right)
        const deals = decodeDealsPage(bytes)
        if (E.isRight(deals)) dealsOf(deals.right)
        decode(Margin)(bytes)
        decode(ProvisionedAccount)(bytes)
      }),
      { numRuns: 1_000 },
    )
  })

  it('takes the money, price and time of a deal unchanged, and its volume to the eighth decimal', () => {
    fc.assert(
      fc.property(money, money, money, lots, money, instant, (profit, commission, swap, volume, price, at) => {
        const page = decodeDealsPage(bytesOf([{ ...dealRow, profit, commission, swap, volume, price, time: new Date(at).toISOString() }]))
        const deals = pipe(page, E.flatMap(dealsOf))
        // JSON has no negative zero.
        const [a, b, c, d, e] = [profit, commission, swap, volume, price].map((value) => value + 0)
        expect(deals).toMatchObject(E.right([{ profit: a, commission: b, swap: c, volume: d, price: e, time: at }]))
      }),
    )
  })

  it('takes the figures of an account unchanged', () => {
    fc.assert(
      fc.property(money, money, money, (balance, equity, margin) => {
        const information = decode(AccountInformation)(bytesOf({ ...informationRow, balance, equity, margin }))
        const figures = E.isRight(information) ? accountReadingOf(information.right, 0).figures : undefined
        expect(figures).toMatchObject({ balance: balance + 0, equity: equity + 0, margin: margin + 0 })
      }),
    )
  })

  it('takes the realised profit of a position apart in exact decimals', () => {
    const cents = fc.integer({ min: -10_000_000, max: 10_000_000 }).map((value) => value / 100)
    fc.assert(
      fc.property(cents, cents, cents, (pure, realizedCommission, realizedSwap) => {
        const realizedProfit = sumExactly([pure, realizedCommission, realizedSwap])
        const rows = decode(PositionRows)(bytesOf([{ ...positionRow, realizedProfit, realizedCommission, realizedSwap }]))
        const positions = E.isRight(rows) ? positionsOf(rows.right) : E.left('')
        expect(E.isRight(positions) ? positions.right[0]?.realizedPnl : undefined).toBe(pure + 0)
      }),
    )
  })
})

describe('a time', () => {
  it('is read as the slow and careful parser reads it', () => {
    const nearlyATime = fc
      .tuple(digits(4), digits(2), digits(2), digits(2), digits(2), digits(2), digits(3), fc.constantFrom('Z', 'z', '', '+02:00'))
      .map(
        ([year, month, day, hour, minute, second, fraction, zone]) =>
          `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}${zone}`,
      )
    const usual = instant.map((at) => new Date(at).toISOString())
    fc.assert(
      fc.property(fc.oneof(nearlyATime, usual, fc.string()), (text) => {
        expect(readTime(text)).toBe(O.getOrElse(() => Number.NaN)(parseInstant(text, 'start')))
      }),
      { numRuns: 2_000 },
    )
  })
})
