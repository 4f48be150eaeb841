// What the provider's rows mean in our terms. One bad row fails a read; nothing is guessed.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInstant, roundAmount, sumExactly } from '@tradeport/domain/primitives'
import { brokerOrdersIn } from '../src/broker-orders.ts'
import { AccountInformation, decode, Margin, readTime } from '../src/payloads.ts'
import { accountReadingOf, dealsIn, positionsIn } from '../src/translate.ts'
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
const readInformation = (row: Row) =>
  accountReadingOf(rightOf(informationOf({ ...informationRow, ...row })), now)
const positionOf = (row: Row) => rightOf(positionsIn(bytesOf([{ ...positionRow, ...row }])))[0]
const dealOf = (row: Row) => rightOf(dealsIn(bytesOf([{ ...dealRow, ...row }])))[0]
const without = (...fields: readonly string[]): Row =>
  Object.fromEntries(fields.map((field) => [field, undefined]))

it.each([
  ['accountInformation', informationRow],
  ['positions', [positionRow]],
] as const)('%s are as old as the beginning of their read', async (read, rows) => {
  let at = now
  provider()
    .get(/./)
    .reply(() => {
      at += 4_000
      return [200, rows]
    })
  const { broker } = apiWith({ clock: { now: () => at } })
  expect(await broker[read](account)()).toMatchObject({ right: { readAt: now } })
})

describe('account information', () => {
  it.each<readonly [Row, object]>([
    [
      {},
      {
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
      },
    ],
    [{ type: 'ACCOUNT_TRADE_MODE_CONTEST' }, { tradeMode: 'contest' }],
    [{ type: 'ACCOUNT_TRADE_MODE_REAL' }, { tradeMode: 'real' }],
    ...['ACCOUNT_TRADE_MODE_ELSE', 'toString', '', null, undefined].map(
      (type) => [{ type }, { tradeMode: 'unconfirmed' }] as const,
    ),
    [{ credit: 50 }, { credit: 50 }],
    // As the sum of a broker's doubles.
    [{ equity: 8_899.999_999_999_998 }, { figures: { equity: 8_900 } }],
    [{ marginLevel: null }, { figures: { marginLevel: null } }],
    [{ margin: 0, marginLevel: 0 }, { figures: { marginLevel: null } }],
    [{ marginLevel: 0 }, { figures: { marginLevel: 0 } }],
    [without('leverage', 'freeMargin'), { figures: { leverage: null, freeMargin: null } }],
    [
      { broker: '', currency: undefined },
      { broker: null, currency: null },
    ],
  ])('with %j is read as %j', (row, read) => {
    expect(readInformation(row)).toMatchObject(read)
  })

  it.each([
    ['the terminal’s, where the copy shows no equity', { equity: 0 }, 900],
    ['the copy’s, where it shows any', { balance: 0, equity: 1 }, 0],
  ])('is %s', async (_, copy, balance) => {
    provider()
      .get(/./)
      .twice()
      .reply(({ url }: Request) => [
        200,
        {
          ...informationRow,
          ...(url.endsWith('?refreshTerminalState=true') ? { balance: 900 } : copy),
        },
      ])
    const { figures } = rightOf(await apiWith().broker.accountInformation(account)())
    expect(figures.balance).toBe(balance)
  })

  it.each([
    ['balance is not a finite number', { ...informationRow, balance: '7319.9' }],
    ['equity is not a finite number', { ...informationRow, equity: null }],
    ['type is not string or nothing', { ...informationRow, type: 1 }],
    ['the response is not account information', [informationRow]],
  ])('is an error, %s, in %j', (reason, row) => {
    expect(informationOf(row)).toEqual(E.left(reason))
  })
})

describe('a list without positions', () => {
  const idle = { ...informationRow, margin: 0, equity: informationRow.balance }
  const order = { id: '7', type: 'ORDER_TYPE_BUY_LIMIT', clientId: 'that of another program' }
  type Shown = Readonly<Partial<Record<'positions' | 'account-information' | 'orders', unknown>>>

  it.each([
    ['without margin in use is empty', { 'account-information': idle }, {}, []],
    [
      'of a copy is not believed where the terminal shows one',
      {},
      { positions: [positionRow] },
      ['46648037'],
    ],
    ...[
      { margin: 0, balance: 0, equity: 0 },
      { margin: 0, balance: 7_000, equity: 6_999 },
      { equity: informationRow.balance },
    ].map((figures): [string, Shown, Shown, readonly string[]] => [
      `is not believed with ${JSON.stringify(figures)}`,
      { 'account-information': { ...informationRow, ...figures } },
      { positions: [positionRow] },
      ['46648037'],
    ]),
    ['is empty where the copy’s margin was old', {}, { 'account-information': idle }, []],
    ['proves nothing beside margin in use', {}, {}, 'unavailable'],
    [
      'is empty where an open order may use the margin',
      {},
      { orders: [order], 'account-information': { ...idle, margin: 184.1 } },
      [],
    ],
    [
      'is empty beside margin in use where a credit is the rest of the equity',
      {},
      {
        orders: [order],
        'account-information': {
          ...informationRow,
          credit: 50,
          equity: informationRow.balance + 50,
        },
      },
      [],
    ],
    ['proves nothing beside an open result', {}, { orders: [order] }, 'unavailable'],
  ])('%s', async (_, copy, terminal, tickets) => {
    const empty = { positions: [], orders: [], 'account-information': informationRow }
    provider()
      .get(/./)
      .times(9)
      .reply(({ url }: Request) => {
        const { pathname, searchParams } = new URL(url)
        const shown = { ...empty, ...(searchParams.has('refreshTerminalState') ? terminal : copy) }
        return [200, shown[pathname.split('/').at(-1) as keyof Shown]]
      })
    const read = await apiWith().broker.positions(account)()
    if (tickets === 'unavailable')
      expect(read).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
    else expect(rightOf(read).positions.map(({ ticket }) => ticket)).toEqual(tickets)
  })
})

it('a position whose order was filled while the terminal was read is shown', async () => {
  const replies = [[], informationRow, [], informationRow, [{ id: '7' }], [positionRow]]
  for (const reply of replies) provider().get(/./).reply(200, reply)
  const reading = rightOf(await apiWith().broker.positions(account)())
  expect(reading.positions).toHaveLength(1)
})

describe('a position', () => {
  it.each([
    [
      {},
      {
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
      },
    ],
    [{ id: 46_648_037 }, { ticket: '46648037' }],
    [{ clientId: 'TP_0123456789_a' }, { clientId: 'TP_0123456789_a' }],
    // So that a close of 0.3 closes all.
    [{ volume: 0.1 + 0.2 }, { volume: 0.3 }],
    [{ realizedProfit: 0.3, realizedCommission: -0.1, realizedSwap: -0.2 }, { realizedPnl: 0.6 }],
    [without('realizedCommission'), { realizedPnl: 1.95 }],
    [without('realizedSwap'), { realizedPnl: 1.95 }],
    // The overall profit less that of the open part.
    [without('realizedProfit'), { realizedPnl: 2.1 }],
    [without('realizedProfit', 'realizedCommission', 'realizedSwap'), { realizedPnl: 1.95 }],
    [without('unrealizedProfit'), { unrealizedPnl: -85.25 }],
    // No figure of the closed part, from which its costs could be taken.
    [without('unrealizedProfit', 'realizedProfit'), { unrealizedPnl: -83.3, realizedPnl: 0 }],
    [without('profit', 'realizedProfit'), { unrealizedPnl: -85.25, realizedPnl: 0 }],
    [without('swap', 'commission'), { swap: -0.3, commission: -0.25 }],
  ])('with %j is read as %j', (row, read) => {
    expect(positionOf(row)).toMatchObject(read)
  })

  it('has no level of 0 or null', () => {
    const position = positionOf({ stopLoss: 0, takeProfit: null })
    for (const level of ['stopLoss', 'takeProfit']) expect(position).not.toHaveProperty(level)
  })

  it.each([
    [{ id: 2 ** 53 }, '1.id is not a ticket'],
    [{ id: 'a b' }, '1.id is not a ticket'],
    [{ type: 'POSITION_TYPE_ELSE' }, '1.type is not a side'],
    [{ symbol: '' }, '1.symbol is not a non-empty text'],
    [{ volume: undefined }, '1.volume is not above 0'],
    [{ volume: 1e-9 }, '1.volume is not above 0'],
    [{ openPrice: '1.2' }, '1.openPrice is not a finite number'],
    [{ stopLoss: '1.1' }, '1.stopLoss is not a finite number or nothing'],
    [{ time: '2026-02-30T00:00:00.000Z' }, '1.time is not a time'],
    [without('unrealizedProfit', 'profit'), 'row 1: profit is absent'],
  ])('with %j makes the whole list an error', (row, reason) => {
    const rows = [positionRow, { ...positionRow, ...row }, positionRow]
    expect(positionsIn(bytesOf(rows))).toEqual(E.left(reason))
  })

  it('is listed once, oldest first, then by ticket; only an empty list is an empty list', () => {
    const rows = [{ id: '1000' }, { id: '7', time: '2026-04-16T00:00:00.000Z' }, { id: '999' }]
    const read = positionsIn(bytesOf([...rows, rows[1]].map((row) => ({ ...positionRow, ...row }))))
    expect(rightOf(read).map(({ ticket }) => ticket)).toEqual(['999', '1000', '7'])
    expect(positionsIn(bytesOf([]))).toEqual(E.right([]))
    for (const answer of [{}, { positions: [] }, null, '', 0, [null]])
      expect(E.isLeft(positionsIn(bytesOf(answer)))).toBe(true)
  })
})

const commissions = ['', '_DAILY', '_MONTHLY', '_AGENT_DAILY', '_AGENT_MONTHLY']
const at = Date.parse(dealRow.time)

describe('a deal', () => {
  it('has every figure unchanged, and the time in UTC', () => {
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
      time: at,
      stopLoss: 1.05,
      takeProfit: 1.06,
    })
    const { time, brokerTime } = dealRow
    const deposit = { id: '1', type: 'DEAL_TYPE_BALANCE', time, brokerTime, profit: 10_000 }
    expect(dealsIn(bytesOf([deposit]))).toEqual(
      E.right([{ id: '1', kind: 'balance', profit: 10_000, commission: 0, swap: 0, time: at }]),
    )
  })

  it.each([
    ['DEAL_TYPE_BUY', 'buy', 'buy'],
    ['DEAL_TYPE_SELL', 'sell', 'sell'],
    ...['balance', 'credit', 'charge', 'correction', 'bonus', 'interest'].map((kind) => [
      `DEAL_TYPE_${kind.toUpperCase()}`,
      kind,
    ]),
    ...commissions.map((period) => [`DEAL_TYPE_COMMISSION${period}`, 'commission']),
    ['DEAL_TYPE_BUY_CANCELED', 'cancelled'],
    ['DEAL_TYPE_SELL_CANCELED', 'cancelled'],
    ['DEAL_DIVIDEND', 'dividend'],
    ['DEAL_DIVIDEND_FRANKED', 'dividend'],
    ['DEAL_TAX', 'tax'],
    ['deal_type_buy', 'other'],
    ['', 'other'],
  ])('of type "%s" is of kind %s and side %s', (type, kind, side) => {
    expect([dealOf({ type })?.kind, dealOf({ type })?.side]).toEqual([kind, side])
  })

  it.each([
    ['SL', 'stop_loss'],
    ['TP', 'take_profit'],
    ['SO', 'stop_out'],
    ['CLIENT', 'client'],
    ['EXPERT', 'expert'],
    ['MOBILE', 'mobile'],
    ['WEB', 'web'],
    ['ROLLOVER', 'other'],
  ])('of reason %s has the reason %s', (reason, read) => {
    expect(dealOf({ reason: `DEAL_REASON_${reason}` })?.reason).toBe(read)
  })

  it.each(['in', 'out', 'inout', 'out_by'])('has the entry %s', (entry) => {
    expect(dealOf({ entryType: `DEAL_ENTRY_${entry.toUpperCase()}` })?.entry).toBe(entry)
  })

  it.each([
    ['reason', 'reason', ['DEAL_REASON_UNKNOWN', '', undefined, null, 4]],
    ['entryType', 'entry', ['DEAL_ENTRY_SOMETHING', null, 1, {}]],
    ['orderId', 'orderId', [undefined, null, '', '0', 0, {}]],
    ['positionId', 'positionId', [undefined, null, '', '0', 0]],
    ['stopLoss', 'stopLoss', [undefined, null, 0, '1.05']],
    ['takeProfit', 'takeProfit', [undefined, null, 0, '1.05']],
    ['volume', 'volume', ['0.12', null, undefined, {}, true]],
    ['price', 'price', ['0.12', null, undefined, {}, true]],
    ['symbol', 'symbol', [undefined, null, '']],
    ['time', 'time', [undefined, null]],
  ])('whose %s cannot be read has no %s: %j', (field, read, values) => {
    for (const value of values) expect(dealOf({ [field]: value })).not.toHaveProperty(read)
  })

  it.each<readonly [Row, object]>([
    [
      // Binary residue, which would make a loss or a win of nothing.
      { profit: 0.1 + 0.2, commission: -4e-17, swap: 1e-9 },
      { profit: 0.3, commission: 0, swap: 0 },
    ],
    [
      { profit: undefined, commission: null, swap: null },
      { profit: 0, commission: 0, swap: 0 },
    ],
    [
      { volume: 0, price: 0 },
      { volume: 0, price: 0 },
    ],
    [{ volume: 0.300_000_000_000_000_04 }, { volume: 0.3 }],
    [
      { id: 33_582_357, positionId: 46_648_037, orderId: 7 },
      { id: '33582357', positionId: '46648037', orderId: '7' },
    ],
    // What a store could not hold.
    [
      { id: '335\0', symbol: 'EUR\ud800USD\u{1f600}' },
      { id: '335\ufffd', symbol: 'EUR\ufffdUSD\u{1f600}' },
    ],
    [{ symbol: 'EUR\udfff' }, { symbol: 'EUR\ufffd' }],
    [{ time: '2026-04-20T12:00:00+02:00' }, { time: Date.UTC(2026, 3, 20, 10) }],
    [{ time: '2026-04-20T12:00:00' }, { time: Date.UTC(2026, 3, 20, 12) }],
    ...['2026-02-30T00:00:00.000Z', '2026-04-17 07:30:03.223', 'yesterday', '', 1_776_400].map(
      (time) => [{ time }, { time: Number.NaN }] as const,
    ),
  ])('with %j is read as %j', (row, read) => {
    expect(dealOf(row)).toMatchObject(read)
  })

  it.each([
    ['not a deal', 7],
    ['not a deal', [dealRow]],
    ['not a deal', { ...dealRow, id: '' }],
    ['not a deal', { ...dealRow, id: 2 ** 60 }],
    ['not a deal', { ...dealRow, type: undefined }],
    ['money is not a finite number', { ...dealRow, profit: '12.5' }],
    ['money is not a finite number', { ...dealRow, commission: [] }],
    ['money is not a finite number', { ...dealRow, swap: true }],
    ['money is not a finite number', { ...dealRow, profit: 1e101 }],
    ['positionId is not an id', { ...dealRow, positionId: {} }],
  ])('is an error, %s, in the row %j', (reason, row) => {
    expect(dealsIn(bytesOf([dealRow, row]))).toEqual(E.left(`row 1: ${reason}`))
  })
})

describe('a page of deals', () => {
  const window = { from: Date.parse('2026-04-01T00:00:00.000Z'), to: now, offset: 4_000 }
  const times = '2026-04-01T00%3A00%3A00.000Z/2026-05-01T12%3A00%3A00.000Z'

  it.each([
    ['no rows', [], [[], null]],
    ['two rows', { deals: manyRows(2), synchronizing: false }, [['1', '2'], null]],
    ['repeated rows', ['3', '1', '3'].map((id) => ({ ...dealRow, id })), [['3', '1', '3'], null]],
    ['999 rows', manyRows(999), [expect.anything(), null]],
    ['a full page', manyRows(1_000), [expect.anything(), 5_000]],
    // Rows may be read again, and none is skipped.
    ['more than a page', manyRows(1_005), [expect.anything(), 5_000]],
    [
      'a history that is loading',
      { deals: manyRows(1), synchronizing: true },
      'history-deals: the deals are still being loaded',
    ],
    ['no list', { deals: {} }, 'history-deals: the response is not a list of deals'],
    ['no JSON', undefined, 'history-deals: the response is not JSON'],
  ])(
    'with %s keeps its order, and names the next offset, or is an error',
    async (_, body, read) => {
      provider()
        .get(`${accountPath}/history-deals/time/${times}?offset=4000&limit=1000`)
        .reply(200, JSON.stringify(body))
      const page = await apiWith().broker.dealsPage(account, window)()
      expect(
        E.isRight(page)
          ? [page.right.deals.map(({ id }) => id), page.right.nextOffset]
          : reasonOf(page),
      ).toEqual(read)
    },
  )
})

describe('the required margin', () => {
  it.each([
    [200, { margin: 110 }, O.some(110)],
    [200, {}, O.none],
    [200, { margin: null }, O.none],
    [200, { margin: '110' }, 'calculate-margin: margin is not a finite number or nothing'],
  ])('answered %i %j is %j', async (status, answer, read) => {
    const query = { symbol: 'EURUSD#/r', volume: 0.1, openPrice: 1.1 }
    provider(clientHost)
      .post(`${accountPath}/calculate-margin`, { ...query, type: 'ORDER_TYPE_SELL' })
      .reply(status, JSON.stringify(answer))
    const margin = await apiWith().broker.requiredMargin(account, { ...query, side: 'sell' })()
    expect(E.isRight(margin) ? margin.right : reasonOf(margin)).toEqual(read)
  })

  it.each([
    ['symbol', 200, informationRow, { reason: 'calculate-margin: answered 404 NotFoundError' }],
    ['account', 404, { error: 'NotFoundError' }, { _tag: 'NotProvisioned' }],
  ])('is asked for once of an unknown %s', async (_, status, information, failure) => {
    provider(clientHost)
      .post(`${accountPath}/calculate-margin`)
      .reply(404, { error: 'NotFoundError' })
      .get(`${accountPath}/account-information`)
      .reply(status, information)
    const { requiredMargin } = apiWith().broker
    const query = { symbol: 'EURUSD', side: 'buy', volume: 0.1, openPrice: 1.1 } as const
    for (const _again of ['answered', 'paused'])
      expect(await requiredMargin(account, query)()).toMatchObject(E.left(failure))
  })
})

it('the terms and the price of a symbol have every figure under its own name', async () => {
  const { instrument, quote } = apiWith().marketData
  const figures = { minVolume: 0.1, maxVolume: 50, volumeStep: 0.01, digits: 5, stopsLevel: 3 }
  const terms = { ...figures, tickSize: 0.000_01, contractSize: 100_000 }
  const price = { bid: 1.1, ask: 1.2, profitTickValue: 0.9, lossTickValue: 0.8 }
  provider()
    .get(/specification/)
    .reply(200, { ...terms, tradeMode: 'SYMBOL_TRADE_MODE_LONGONLY' })
    .get(/price/)
    .reply(200, { ...price, time: new Date(now).toISOString() })
  expect(rightOf(await instrument(account, 'EURUSD')())).toMatchObject({
    ...terms,
    tradeMode: 'long_only',
  })
  expect(rightOf(await quote(account, 'EURUSD')())).toEqual({ ...price, time: now })
})

describe('pending orders', () => {
  const good = {
    id: '7',
    type: 'ORDER_TYPE_BUY_LIMIT',
    openPrice: 1.1,
    volume: 0.1,
    currentVolume: 0.1,
    clientId: 'TP_0123456789_abcdefghij',
  }

  it('may have prices below 0, as oil and spreads do', () => {
    const levels = { stopLimitPrice: -0.5, stopLoss: -3, takeProfit: -1 }
    expect(rightOf(brokerOrdersIn(bytesOf([{ ...good, openPrice: -2, ...levels }])))).toMatchObject(
      [{ price: -2, ...levels }],
    )
  })

  it.each([
    [{}, { volume: undefined, isUnexecuted: false }],
    [
      { volume: 0.1 + 0.2, currentVolume: 0.1 + 0.2 },
      { volume: 0.3, isUnexecuted: true },
    ],
  ])('with the lots %j are %j', (lots, read) => {
    const row = { ...good, ...without('volume', 'currentVolume'), ...lots }
    expect(rightOf(brokerOrdersIn(bytesOf([row])))).toMatchObject([read])
  })

  it.each([
    { openPrice: '1.1' },
    { stopLoss: '1.05' },
    { takeProfit: 'x' },
    { type: 'ORDER_TYPE_BUY_STOP_LIMIT' },
    { expirationTime: 'soon' },
    { type: null },
  ])('are unreadable by a row with %j, but not by one of another program', (more) => {
    const read = (clientId: string | undefined) =>
      brokerOrdersIn(bytesOf([{ ...good, ...more, clientId }, good]))
    for (const name of [good.clientId, 'TP_0123456789', undefined, ''])
      expect(E.isLeft(read(name))).toBe(true)
    expect(rightOf(read('TE_EURUSD_a'))).toMatchObject([{ brokerOrderId: '7', price: 1.1 }])
  })
})

/** A good row of which some fields hold any JSON. */
const spoilt = (row: Row) =>
  fc
    .dictionary(fc.constantFrom(...Object.keys(row)), fc.jsonValue(), { maxKeys: 3 })
    .map((wrong) => ({ ...row, ...wrong }))
const rowsOf = (row: Row) => fc.array(spoilt(row), { maxLength: 3 })
const money = fc.double({ noNaN: true, min: -1e100, max: 1e100 })
const instant = fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59.999Z') })

const digits = (count: number) =>
  fc.integer({ min: 0, max: 10 ** count - 1 }).map((value) => String(value).padStart(count, '0'))

describe('the translation', () => {
  it('never throws, whatever the provider answers', () => {
    const answer = fc.oneof(
      fc.jsonValue(),
      rowsOf(positionRow),
      rowsOf(dealRow),
      fc.record({ deals: rowsOf(dealRow), synchronizing: fc.jsonValue() }),
      spoilt(informationRow),
    )
    fc.assert(
      fc.property(fc.oneof(answer.map(bytesOf), fc.uint8Array({ maxLength: 40 })), (bytes) => {
        const information = decode(AccountInformation)(bytes)
        if (E.isRight(information)) accountReadingOf(information.right, 0)
        for (const read of [positionsIn, dealsIn, decode(Margin)]) read(bytes)
      }),
      { numRuns: 1_000 },
    )
  })

  it('keeps money, prices, lots and times, and realised profit in exact decimals', () => {
    const lots = fc.integer({ min: 0, max: 1_000_000_000_000 }).map((units) => units / 100_000_000)
    const cents = fc.integer({ min: -10_000_000, max: 10_000_000 }).map((value) => value / 100)
    fc.assert(
      fc.property(
        money,
        money,
        lots,
        instant,
        fc.tuple(cents, cents, cents),
        (amount, price, volume, time, [pure, realizedCommission, realizedSwap]) => {
          // JSON has no negative zero.
          const read = {
            profit: pure + 0,
            commission: realizedCommission + 0,
            swap: realizedSwap + 0,
            volume,
            price: price + 0,
            time,
          }
          expect(dealOf({ ...read, time: new Date(time).toISOString() })).toMatchObject(read)
          expect(readInformation({ balance: amount }).figures.balance).toBe(roundAmount(amount))
          const realizedProfit = sumExactly([pure, realizedCommission, realizedSwap])
          const position = positionOf({ realizedProfit, realizedCommission, realizedSwap })
          expect(position?.realizedPnl).toBe(pure + 0)
        },
      ),
    )
  })

  it('reads times as the slow parser does', () => {
    const zone = fc.constantFrom('Z', 'z', '', '+02:00')
    const two = digits(2)
    const nearlyATime = fc
      .tuple(digits(4), two, two, two, two, two, digits(3), zone)
      .map(([y, mo, d, h, mi, s, ms, z]) => `${y}-${mo}-${d}T${h}:${mi}:${s}.${ms}${z}`)
    const usual = instant.map((time) => new Date(time).toISOString())
    fc.assert(
      fc.property(fc.oneof(nearlyATime, usual, fc.string()), (text) => {
        expect(readTime(text)).toBe(O.toUndefined(parseInstant(text, 'start')))
      }),
      { numRuns: 2_000 },
    )
  })
})
