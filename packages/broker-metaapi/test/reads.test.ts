// What the broker's rows mean in our words, and what a read says of an answer that it cannot use.
// One bad row fails a read; nothing is guessed.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInstant, sumExactly } from '@tradeport/domain/primitives'
import { foldDeals } from '@tradeport/domain/trades'
import type { BrokerDeal } from '@tradeport/domain/journal'
import type { BrokerPosition } from '@tradeport/domain/positions'
import {
  AccountInformation,
  decode,
  Margin,
  ProvisionedAccount,
  readTime,
} from '../src/payloads.ts'
import { accountReadingOf } from '../src/translate/account.ts'
import { dealsIn } from '../src/translate/deals.ts'
import { positionsIn } from '../src/translate/positions.ts'
import {
  account,
  accountPath,
  apiWith,
  clientHost,
  closeNetwork,
  dealRow,
  informationRow,
  manyRows,
  now,
  positionRow,
  provider,
  reasonOf,
  rightOf,
} from './support.ts'

closeNetwork()

type Row = Readonly<Record<string, unknown>>
const bytesOf = (json: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(json))
const informationOf = (row: unknown) => decode(AccountInformation)(bytesOf(row))
const readInformation = (row: Row) => accountReadingOf(rightOf(informationOf(row)), now)
const positionOf = (row: Row): BrokerPosition | undefined =>
  rightOf(positionsIn(bytesOf([{ ...positionRow, ...row }])))[0]
const dealOf = (row: Row): BrokerDeal | undefined =>
  rightOf(dealsIn(bytesOf([{ ...dealRow, ...row }])))[0]
const lost = (...fields: readonly string[]): Row =>
  Object.fromEntries(fields.map((field) => [field, undefined]))

describe('account information', () => {
  it('has every figure as it came', () => {
    expect(readInformation(informationRow)).toEqual({
      tradeMode: 'demo',
      broker: 'Example Markets',
      currency: 'USD',
      figures: {
        balance: 7_319.9,
        equity: 7_306.6499,
        margin: 184.1,
        freeMargin: 7_120.22,
        marginLevel: 3_967.58,
        leverage: 100,
      },
      readAt: now,
    })
  })

  it.each<readonly [Row, object]>([
    [{ type: 'ACCOUNT_TRADE_MODE_CONTEST' }, { tradeMode: 'contest' }],
    [{ type: 'ACCOUNT_TRADE_MODE_REAL' }, { tradeMode: 'real' }],
    ...['ACCOUNT_TRADE_MODE_ELSE', 'toString', '', null, undefined].map(
      (type) => [{ type }, { tradeMode: 'unconfirmed' }] as const,
    ),
    [{ marginLevel: undefined }, { figures: { marginLevel: null } }],
    [{ marginLevel: null }, { figures: { marginLevel: null } }],
    [{ margin: 0, marginLevel: 0 }, { figures: { marginLevel: null } }],
    [{ marginLevel: 0 }, { figures: { marginLevel: 0 } }],
    [lost('leverage', 'freeMargin'), { figures: { leverage: null, freeMargin: null } }],
    [
      { broker: '', currency: undefined },
      { broker: null, currency: null },
    ],
  ])('with %j has %j', (row, read) => {
    expect(readInformation({ ...informationRow, ...row })).toMatchObject(read)
  })

  it.each<readonly [unknown, string]>([
    [{ ...informationRow, balance: undefined }, 'balance is not a finite number'],
    [{ ...informationRow, balance: '7319.9' }, 'balance is not a finite number'],
    [{ ...informationRow, equity: null }, 'equity is not a finite number'],
    [{ ...informationRow, type: 1 }, 'type is not string or nothing'],
    [[informationRow], 'the answer is not account information'],
    [null, 'the answer is not account information'],
  ])('%j cannot be read', (row, reason) => {
    expect(informationOf(row)).toEqual(E.left(reason))
  })

  it('with a number beyond all numbers cannot be read', () => {
    const bytes = Buffer.from(JSON.stringify(informationRow).replace('7319.9', '1e999'))
    expect(decode(AccountInformation)(bytes)).toEqual(E.left('balance is not a finite number'))
  })
})

describe('a position', () => {
  it('has every figure as it came, and no level that is not there', () => {
    expect(positionOf({})).toEqual({
      ticket: '46648037',
      symbol: 'AUDNZD.r',
      side: 'buy',
      volume: 0.07,
      entryPrice: 1.26101,
      currentPrice: 1.24883,
      stopLoss: 1.17721,
      swap: -0.3,
      commission: -0.25,
      unrealizedPnl: -85.25,
      realizedPnl: 2.1,
      openedAt: Date.parse('2026-04-15T02:45:06.521Z'),
    })
  })

  it.each<readonly [string, Row, object]>([
    ['ids in digits', { id: 46_648_037 }, { ticket: '46648037' }],
    // So that a close of 0.3 is one of all.
    ['what binary fractions leave of lots', { volume: 0.1 + 0.2 }, { volume: 0.3 }],
    [
      'realised costs, in exact decimals',
      { realizedProfit: 0.3, realizedCommission: -0.1, realizedSwap: -0.2 },
      { realizedPnl: 0.6 },
    ],
    ['no realised commission', lost('realizedCommission'), { realizedPnl: 1.95 }],
    ['no realised swap', lost('realizedSwap'), { realizedPnl: 1.95 }],
    [
      'nothing realised',
      lost('realizedProfit', 'realizedCommission', 'realizedSwap'),
      { realizedPnl: 0 },
    ],
    ['the open profit within the overall one', lost('unrealizedProfit'), { unrealizedPnl: -85.25 }],
    [
      'the overall profit alone',
      lost('unrealizedProfit', 'realizedProfit'),
      { unrealizedPnl: -83.3 },
    ],
    ['costs in parts', lost('swap', 'commission'), { swap: -0.3, commission: -0.25 }],
    [
      'no costs',
      lost(
        'swap',
        'commission',
        'realizedSwap',
        'realizedCommission',
        'unrealizedSwap',
        'unrealizedCommission',
      ),
      { swap: 0, commission: 0 },
    ],
  ])('with %s is read', (_, row, read) => {
    expect(positionOf(row)).toMatchObject(read)
  })

  it('has no level where it is 0 or null', () => {
    for (const level of ['stopLoss', 'takeProfit'])
      expect(positionOf({ stopLoss: 0, takeProfit: null })).not.toHaveProperty(level)
  })

  it.each<readonly [unknown, string]>([
    [{ id: undefined }, 'id is not an id'],
    [{ id: 2 ** 53 }, 'id is not an id'],
    [{ id: 'a b' }, 'id is not a ticket'],
    [{ type: 'POSITION_TYPE_ELSE' }, 'type is not a side'],
    [{ symbol: '' }, 'symbol is not a text that is not empty'],
    [{ volume: undefined }, 'volume is not a finite number'],
    [{ volume: 1e-9 }, 'volume is not above 0'],
    [{ openPrice: '1.2' }, 'openPrice is not a finite number'],
    [{ currentPrice: null }, 'currentPrice is not a finite number'],
    [{ stopLoss: '1.1' }, 'stopLoss is not a finite number or nothing'],
    [{ swap: '0' }, 'swap is not a finite number or nothing'],
    [{ time: '2026-02-30T00:00:00.000Z' }, 'time is not a time'],
    [{ time: undefined }, 'time is not a text that is not empty'],
    [lost('unrealizedProfit', 'profit'), 'profit is not told in any way'],
  ])('with %j makes all of them unreadable', (row, reason) => {
    expect(
      positionsIn(bytesOf([positionRow, { ...positionRow, ...(row as Row) }, positionRow])),
    ).toEqual(E.left(`1.${reason}`))
  })

  it('is in a list, oldest first and of equal age the older ticket, that is empty only where the provider says so', () => {
    const rows = [
      { ...positionRow, id: '1000' },
      { ...positionRow, id: '7', time: '2026-04-16T00:00:00.000Z' },
      { ...positionRow, id: '999' },
    ]
    expect(rightOf(positionsIn(bytesOf(rows))).map((position) => position.ticket)).toEqual([
      '999',
      '1000',
      '7',
    ])
    expect(positionsIn(bytesOf([]))).toEqual(E.right([]))
    for (const answer of [{}, { positions: [] }, null, '', 0, [null]])
      expect(E.isLeft(positionsIn(bytesOf(answer)))).toBe(true)
  })
})

const kinds = {
  buy: ['BUY'],
  sell: ['SELL'],
  balance: ['BALANCE'],
  credit: ['CREDIT'],
  charge: ['CHARGE'],
  correction: ['CORRECTION'],
  bonus: ['BONUS'],
  commission: [
    'COMMISSION',
    'COMMISSION_DAILY',
    'COMMISSION_MONTHLY',
    'COMMISSION_AGENT_DAILY',
    'COMMISSION_AGENT_MONTHLY',
  ],
  interest: ['INTEREST'],
  cancelled: ['BUY_CANCELED', 'SELL_CANCELED'],
}
const otherTypes = [
  ['DEAL_DIVIDEND', 'dividend'],
  ['DEAL_DIVIDEND_FRANKED', 'dividend'],
  ['DEAL_TAX', 'tax'],
  ['deal_type_buy', 'other'],
  ['', 'other'],
]

describe('a deal', () => {
  it('has every figure as it came, in UTC and never by the clock of the broker', () => {
    expect(dealOf({ swap: -0.1, profit: 12.34, stopLoss: 1.05, takeProfit: 1.06 })).toEqual({
      id: '33582357',
      kind: 'buy',
      orderId: '46648037',
      reason: 'expert',
      positionId: '46648037',
      side: 'buy',
      entry: 'in',
      symbol: 'EURUSD',
      volume: 0.12,
      price: 1.05782,
      profit: 12.34,
      commission: -0.42,
      swap: -0.1,
      time: Date.parse('2026-04-17T04:30:03.223Z'),
      stopLoss: 1.05,
      takeProfit: 1.06,
    })
  })

  it('of a deposit has money and a time alone', () => {
    const row = {
      id: '1',
      type: 'DEAL_TYPE_BALANCE',
      time: dealRow.time,
      brokerTime: dealRow.brokerTime,
      profit: 10_000,
      comment: 'D',
    }
    const deal = {
      id: '1',
      kind: 'balance',
      profit: 10_000,
      commission: 0,
      swap: 0,
      time: Date.parse(dealRow.time),
    }
    expect(dealsIn(bytesOf([row]))).toEqual(E.right([deal]))
  })

  it.each([
    ...Object.entries(kinds).flatMap(([kind, types]) =>
      types.map((type) => [`DEAL_TYPE_${type}`, kind]),
    ),
    ...otherTypes,
  ])('of type %s is of the kind %s, and has a side where it trades', (type, kind) => {
    const deal = dealOf({ type })
    expect([deal?.kind, deal?.side]).toEqual([
      kind,
      kind === 'buy' || kind === 'sell' ? kind : undefined,
    ])
  })

  it.each(
    Object.entries({
      SL: 'stop_loss',
      TP: 'take_profit',
      SO: 'stop_out',
      CLIENT: 'client',
      EXPERT: 'expert',
      MOBILE: 'mobile',
      WEB: 'web',
      ROLLOVER: 'other',
      OF_TOMORROW: 'other',
    }),
  )('of the reason %s has the reason %s', (reason, read) => {
    expect(dealOf({ reason: `DEAL_REASON_${reason}` })?.reason).toBe(read)
  })

  it.each(Object.entries({ IN: 'in', OUT: 'out', INOUT: 'inout', OUT_BY: 'out_by' }))(
    'of the entry %s has the entry %s',
    (entry, read) => {
      expect(dealOf({ entryType: `DEAL_ENTRY_${entry}` })?.entry).toBe(read)
    },
  )

  it.each<readonly [keyof BrokerDeal, readonly unknown[]]>([
    ['reason', ['DEAL_REASON_UNKNOWN', '', undefined, null, 4]],
    ['orderId', [undefined, null, '', '0', 0, {}]],
    ['positionId', [undefined, null, '', '0', 0]],
    ['stopLoss', [undefined, null, 0, -1, '1.05']],
    ['takeProfit', [undefined, null, 0, -1, '1.05']],
    ['volume', ['0.12', null, undefined, {}, true]],
    ['price', ['0.12', null, undefined, {}, true]],
    ['symbol', [undefined, null, '']],
    ['time', [undefined, null]],
  ])('has no %s where it is one of %j', (field, values) => {
    for (const value of values) expect(dealOf({ [field]: value })).not.toHaveProperty(field)
  })

  it('has no entry that is not known, 0 for money that is absent, and keeps 0 lots for the fold to judge', () => {
    for (const entryType of ['DEAL_ENTRY_SOMETHING', null, 1, {}])
      expect(dealOf({ entryType })).not.toHaveProperty('entry')
    for (const none of [undefined, null])
      expect(dealOf({ profit: none, commission: none, swap: none })).toMatchObject({
        profit: 0,
        commission: 0,
        swap: 0,
      })
    expect(dealOf({ volume: 0, price: 0 })).toMatchObject({ volume: 0, price: 0 })
    expect(dealOf({ id: 33_582_357, positionId: 46_648_037, orderId: 7 })).toMatchObject({
      id: '33582357',
      positionId: '46648037',
      orderId: '7',
    })
  })

  it.each<readonly [unknown, number]>([
    ['2026-04-30T23:59:59.999Z', Date.UTC(2026, 3, 30, 23, 59, 59, 999)],
    ['2026-04-20T12:00:00+02:00', Date.UTC(2026, 3, 20, 10)],
    ['0050-01-01T00:00:00.000Z', Date.parse('0050-01-01T00:00:00.000Z')],
    ['2026-04-20T12:00:00', Date.UTC(2026, 3, 20, 12)],
    ['2026-02-30T00:00:00.000Z', Number.NaN],
    ['2026-04-20T24:00:00.000Z', Number.NaN],
    ['2026-04-17 07:30:03.223', Number.NaN],
    ['yesterday', Number.NaN],
    ['', Number.NaN],
    [1_776_400_000_000, Number.NaN],
  ])('of time %j was made at %d', (time, at) => {
    expect(dealOf({ time })?.time).toBe(at)
  })

  it.each<readonly [string, unknown]>([
    ['not a deal', 7],
    ['not a deal', [dealRow]],
    ['not a deal', { ...dealRow, id: '' }],
    ['not a deal', { ...dealRow, id: 2 ** 60 }],
    ['not a deal', { ...dealRow, type: undefined }],
    ['money is not a finite number', { ...dealRow, profit: '12.5' }],
    ['money is not a finite number', { ...dealRow, commission: [] }],
    ['money is not a finite number', { ...dealRow, swap: true }],
    ['positionId is not an id', { ...dealRow, positionId: {} }],
  ])('is %s in the row %j, and the page is unreadable', (reason, row) => {
    expect(dealsIn(bytesOf([dealRow, row]))).toEqual(E.left(`row 1: ${reason}`))
  })

  it.each([0.300_000_000_000_000_04, 0.299_999_999_999_999_93])(
    'closes a position also with %d lots, which adding doubles makes of the rest',
    (rest) => {
      const rows = [
        { ...dealRow, id: '1', volume: 0.8 },
        { ...dealRow, id: '2', entryType: 'DEAL_ENTRY_OUT', type: 'DEAL_TYPE_SELL', volume: 0.5 },
        { ...dealRow, id: '3', entryType: 'DEAL_ENTRY_OUT', type: 'DEAL_TYPE_SELL', volume: rest },
      ]
      const { trades, skipped } = foldDeals(rightOf(dealsIn(bytesOf(rows))))
      expect([trades.map(({ volume }) => volume), skipped]).toEqual([[0.8], []])
    },
  )
})

describe('a page of deals', () => {
  const window = { from: Date.parse('2026-04-01T00:00:00.000Z'), to: now, offset: 4_000 }
  const read = (body: unknown) => {
    const paths: string[] = []
    provider()
      .get((uri) => uri.startsWith(accountPath))
      .reply(200, ({ url }: Request) => {
        paths.push(url.slice(clientHost.length))
        return JSON.stringify(body)
      })
    return { page: apiWith().broker.dealsPage(account, window)(), paths }
  }

  it('is asked for by its window, its offset and the most rows that the provider gives', async () => {
    const { page, paths } = read([])
    expect(rightOf(await page)).toEqual({ deals: [], nextOffset: null, readAt: now })
    const times = '2026-04-01T00%3A00%3A00.000Z/2026-05-01T12%3A00%3A00.000Z'
    expect(paths).toEqual([`${accountPath}/history-deals/time/${times}?offset=4000&limit=1000`])
  })

  it.each([
    [999, null],
    [1_000, 5_000],
    // More than was asked for: rows may come again, and none is passed over.
    [1_005, 5_000],
  ])('of %i rows is followed by one at the offset %j', async (count, nextOffset) => {
    const page = rightOf(await read(manyRows(count)).page)
    expect([page.deals.length, page.nextOffset]).toEqual([count, nextOffset])
  })

  it.each<readonly [unknown, unknown]>([
    [{ deals: manyRows(2), synchronizing: false }, ['1', '2']],
    [['3', '1', '2', '1'].map((id) => ({ ...dealRow, id })), ['3', '1', '2', '1']],
    [
      { deals: manyRows(1), synchronizing: true },
      'history-deals: the history is still being loaded',
    ],
    [{ deals: {} }, 'history-deals: answered with something that is not a list of deals'],
    ['[', 'history-deals: answered with something that is not a list of deals'],
    [undefined, 'history-deals: answered with something that is not JSON'],
  ])('%j has the rows in the order in which they came, or is none', async (body, said) => {
    const page = await read(body).page
    expect(E.isRight(page) ? page.right.deals.map(({ id }) => id) : reasonOf(page)).toEqual(said)
  })
})

describe('the required margin', () => {
  const symbol = 'EURUSD#/r'
  it.each<readonly [number, unknown, unknown]>([
    [200, { margin: 110 }, O.some(110)],
    [200, { margin: 0 }, O.some(0)],
    [200, {}, O.none],
    [200, { margin: null }, O.none],
    [200, { margin: '110' }, 'calculate-margin: margin is not a finite number or nothing'],
    // An unknown symbol is no unknown account.
    [404, { error: 'NotFoundError' }, 'calculate-margin: answered 404 NotFoundError'],
  ])('that is answered %i %j is %j', async (status, answer, said) => {
    provider()
      .post(`${accountPath}/calculate-margin`, {
        symbol,
        type: 'ORDER_TYPE_SELL',
        volume: 0.1,
        openPrice: 1.1,
      })
      .reply(status, JSON.stringify(answer))
    const margin = await apiWith().broker.requiredMargin(account, {
      symbol,
      side: 'sell',
      volume: 0.1,
      openPrice: 1.1,
    })()
    expect(E.isRight(margin) ? margin.right : reasonOf(margin)).toEqual(said)
  })
})

/** A good row of which some fields hold whatever JSON can. */
const spoilt = (row: Row) =>
  fc
    .dictionary(fc.constantFrom(...Object.keys(row)), fc.jsonValue(), { maxKeys: 3 })
    .map((wrong) => ({ ...row, ...wrong }))
const rowsOf = (row: Row) => fc.array(spoilt(row), { maxLength: 3 })
const anyAnswer = fc.oneof(
  fc.jsonValue(),
  rowsOf(positionRow),
  rowsOf(dealRow),
  fc.record({ deals: rowsOf(dealRow), synchronizing: fc.jsonValue() }),
  spoilt(informationRow),
)
const money = fc.double({ noNaN: true, noDefaultInfinity: true })
const instant = fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59.999Z') })

const digits = (count: number) =>
  fc.integer({ min: 0, max: 10 ** count - 1 }).map((value) => String(value).padStart(count, '0'))

describe('the translation', () => {
  it('never throws, whatever the provider answers', () => {
    fc.assert(
      fc.property(fc.oneof(anyAnswer.map(bytesOf), fc.uint8Array({ maxLength: 40 })), (bytes) => {
        const information = decode(AccountInformation)(bytes)
        if (E.isRight(information)) accountReadingOf(information.right, 0)
        for (const read of [positionsIn, dealsIn, decode(Margin), decode(ProvisionedAccount)])
          read(bytes)
      }),
      { numRuns: 1_000 },
    )
  })

  it('leaves money, prices and times unchanged, rounds lots to the eighth decimal, and takes realised profit apart in exact decimals', () => {
    // As brokers have them: to the eighth decimal at the finest.
    const lots = fc.integer({ min: 0, max: 1_000_000_000_000 }).map((units) => units / 100_000_000)
    const cents = fc.integer({ min: -10_000_000, max: 10_000_000 }).map((value) => value / 100)
    fc.assert(
      fc.property(
        money,
        money,
        lots,
        instant,
        cents,
        cents,
        cents,
        (amount, price, volume, at, pure, realizedCommission, realizedSwap) => {
          const deal = dealOf({
            profit: amount,
            commission: amount,
            swap: amount,
            volume,
            price,
            time: new Date(at).toISOString(),
          })
          // JSON has no negative zero.
          const sum = amount + 0
          expect(deal).toMatchObject({
            profit: sum,
            commission: sum,
            swap: sum,
            volume,
            price: price + 0,
            time: at,
          })
          expect(readInformation({ ...informationRow, balance: amount }).figures.balance).toBe(sum)
          const realizedProfit = sumExactly([pure, realizedCommission, realizedSwap])
          expect(
            positionOf({ realizedProfit, realizedCommission, realizedSwap })?.realizedPnl,
          ).toBe(pure + 0)
        },
      ),
    )
  })

  it('reads a time as the slow and careful parser does', () => {
    const two = digits(2)
    const nearlyATime = fc
      .tuple(digits(4), two, two, two, two, two, digits(3), fc.constantFrom('Z', 'z', '', '+02:00'))
      .map(
        ([year, month, day, hour, minute, second, ms, zone]) =>
          `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}${zone}`,
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
