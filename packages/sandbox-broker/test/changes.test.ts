// What a broker does with a change of a position, on every kind of account: which levels it takes and refuses, at which price it closes, and what a
// partial close leaves.
import { describe, expect, it } from 'vitest'
import type { AccountOptions, DealRow, Instrument, PositionRow, SandboxOptions, TradeReply } from '../src/index.ts'
import { EVER, setUp } from './harness.ts'

const BID = 1.1
const ASK = 1.1002

const setUpDesk = async (account: Omit<AccountOptions, 'id'>, options: SandboxOptions = {}) => {
  const { sandbox, get, post } = await setUp({ commission: 'none', ...account }, options)
  sandbox.prices.pin('EURUSD', { bid: BID, ask: ASK })
  const trade = async (body: unknown) => (await post<TradeReply>('trade', body)).body
  const positions = async () => (await get<PositionRow[]>('positions')).body
  return {
    sandbox,
    trade,
    positions,
    open: async (side: 'BUY' | 'SELL', fields: object = {}) => {
      const { positionId } = await trade({ actionType: `ORDER_TYPE_${side}`, symbol: 'EURUSD', volume: 0.1, ...fields })
      return positionId ?? ''
    },
    modify: (positionId: string, levels: object) => trade({ actionType: 'POSITION_MODIFY', positionId, ...levels }),
    close: (positionId: string, volume?: number) =>
      trade(
        volume === undefined ? { actionType: 'POSITION_CLOSE_ID', positionId } : { actionType: 'POSITION_PARTIAL', positionId, volume },
      ),
    levels: async () => (await positions()).map(({ stopLoss, takeProfit }) => [stopLoss, takeProfit]),
    closingDeals: async () =>
      (await get<DealRow[]>(`history-deals/time/${EVER}`)).body.filter((deal) => deal['entryType'] === 'DEAL_ENTRY_OUT'),
  }
}

/** Traded from a tenth of a lot in steps of a hundredth, and frozen within 30 points of a level. */
const COARSE: Instrument = {
  symbol: 'EURUSD',
  description: 'Euro / US Dollar',
  path: 'Forex',
  digits: 5,
  contractSize: 100_000,
  minVolume: 0.1,
  maxVolume: 50,
  volumeStep: 0.01,
  baseCurrency: 'EUR',
  profitCurrency: 'USD',
  basePrice: 1.1,
  dailyMove: 0.005,
  spreadPoints: 20,
  stopsLevel: 0,
  freezeLevel: 30,
  swapLong: 0,
  swapShort: 0,
  commissionPerLot: 0,
}

interface Codes {
  readonly done: number
  readonly noChanges: number
  readonly invalidStops: number
  readonly invalidVolume: number
  readonly invalidCloseVolume: number
  readonly marketClosed: number
  readonly frozen: number
}

const MT5: Codes = {
  done: 10009,
  noChanges: 10025,
  invalidStops: 10016,
  invalidVolume: 10014,
  invalidCloseVolume: 10038,
  marketClosed: 10018,
  frozen: 10029,
}
const MT4: Codes = { done: 0, noChanges: 0, invalidStops: 130, invalidVolume: 131, invalidCloseVolume: 131, marketClosed: 132, frozen: 145 }

const accounts: readonly (readonly [string, Omit<AccountOptions, 'id'>, Codes])[] = [
  ['MT5 hedging', {}, MT5],
  ['MT5 netting', { marginMode: 'netting' }, MT5],
  ['MT4', { platform: 'mt4' }, MT4],
]

describe.each(accounts)('on %s', (_, account, codes) => {
  // The stops level is 10 points. A buy closes at the bid and a sell at the ask, so that is where distance counts from.
  it.each<readonly ['BUY' | 'SELL', object, boolean]>([
    ['BUY', { stopLoss: 1.0999 }, true],
    ['BUY', { stopLoss: 1.09991 }, false],
    ['BUY', { stopLoss: 1.1 }, false],
    ['BUY', { stopLoss: 1.2 }, false],
    ['BUY', { takeProfit: 1.1001 }, true],
    ['BUY', { takeProfit: 1.10009 }, false],
    ['BUY', { takeProfit: 1.05 }, false],
    ['BUY', { stopLoss: 1.05, takeProfit: 1.05 }, false],
    ['SELL', { stopLoss: 1.1003 }, true],
    ['SELL', { stopLoss: 1.10029 }, false],
    ['SELL', { stopLoss: 1.05 }, false],
    ['SELL', { takeProfit: 1.1001 }, true],
    ['SELL', { takeProfit: 1.10011 }, false],
    ['SELL', { takeProfit: 1.2 }, false],
    // Less than half a point, which the digits of the symbol make 0: no price, and no wish to have none.
    ['BUY', { stopLoss: 0.000004 }, false],
    ['SELL', { takeProfit: 0.000004 }, false],
  ])('of a %s %j is taken: %s; a refusal leaves both levels as they were', async (side, levels, isTaken) => {
    const { open, modify, levels: held } = await setUpDesk(account)
    const before = side === 'BUY' ? { stopLoss: 1, takeProfit: 1.3 } : { stopLoss: 1.3, takeProfit: 1 }
    const id = await open(side, before)
    expect((await modify(id, levels)).numericCode).toBe(isTaken ? codes.done : codes.invalidStops)
    const after: { readonly stopLoss?: number; readonly takeProfit?: number } = isTaken ? levels : before
    expect(await held()).toEqual([[after.stopLoss, after.takeProfit]])
  })

  it('replaces both levels, takes off one that is left out or 0, and rounds to the digits of the symbol', async () => {
    const { open, modify, levels } = await setUpDesk(account)
    const id = await open('BUY')
    for (const [sent, held] of [
      [{ stopLoss: 1.05, takeProfit: 1.2 }, [1.05, 1.2]],
      [{ takeProfit: 1.3 }, [undefined, 1.3]],
      [{ stopLoss: 1.06, takeProfit: 0 }, [1.06, undefined]],
      [{ stopLoss: 1.0700049, takeProfit: 1.1999951 }, [1.07, 1.2]],
      [{}, [undefined, undefined]],
    ] as const) {
      expect((await modify(id, sent)).numericCode).toBe(codes.done)
      expect(await levels()).toEqual([held])
    }
  })

  it('says when a change changes nothing', async () => {
    const { open, modify, levels } = await setUpDesk(account)
    const id = await open('BUY', { stopLoss: 1.05, takeProfit: 1.2 })
    expect((await modify(id, { stopLoss: 1.05, takeProfit: 1.2 })).numericCode).toBe(codes.noChanges)
    expect((await modify(id, { stopLoss: 1.050000001, takeProfit: 1.2 })).numericCode).toBe(codes.noChanges)
    expect(await levels()).toEqual([[1.05, 1.2]])
  })

  it('closes a buy at the bid and a sell at the ask, whole and in part', async () => {
    for (const [side, type, price, profits] of [
      ['BUY', 'DEAL_TYPE_SELL', 1.2, [399.2, 598.8]],
      ['SELL', 'DEAL_TYPE_BUY', 1.2002, [-400.8, -601.2]],
    ] as const) {
      const { sandbox, open, close, positions, closingDeals } = await setUpDesk(account)
      const id = await open(side)
      sandbox.prices.pin('EURUSD', { bid: 1.2, ask: 1.2002 })
      await close(id, 0.04)
      const [rest] = await positions()
      expect(rest).toMatchObject({ volume: 0.06, currentPrice: price })
      await close(rest?.id ?? '')
      expect((await closingDeals()).map((deal) => [deal['type'], deal['price'], deal['volume'], deal['profit']])).toEqual([
        [type, price, 0.04, profits[0]],
        [type, price, 0.06, profits[1]],
      ])
      expect(await positions()).toEqual([])
    }
  })

  it('refuses a part that is too large, too small, nothing or off the step, and takes one as large as the position for all of it', async () => {
    const { sandbox, open, close, positions } = await setUpDesk(account, { instruments: [COARSE] })
    const id = await open('BUY', { volume: 0.4 })
    expect(await Promise.all([0.41, 0.05, 0, 0.155].map(async (volume) => (await close(id, volume)).numericCode))).toEqual([
      codes.invalidCloseVolume,
      codes.invalidVolume,
      codes.invalidVolume,
      codes.invalidVolume,
    ])
    expect(await positions()).toMatchObject([{ id, volume: 0.4 }])
    expect((await close(id, 0.35)).numericCode).toBe(codes.done)
    const [rest] = await positions()
    // Less than the least that can be traded, and still closed whole.
    expect(rest?.volume).toBe(0.05)
    expect((await close(rest?.id ?? '', 0.05)).numericCode).toBe(codes.done)
    expect(sandbox.account('acc').positions()).toEqual([])
  })

  it('leaves a position that is closed in part all that it had', async () => {
    const { open, close, positions } = await setUpDesk(account)
    const id = await open('BUY', { stopLoss: 1.05, takeProfit: 1.2 })
    const [before] = await positions()
    expect(await close(id, 0.03)).toMatchObject({ numericCode: codes.done, positionId: id })
    const [after] = await positions()
    const { type, symbol, time, openPrice, currentPrice, stopLoss, takeProfit } = before ?? ({} as PositionRow)
    expect(after).toMatchObject({ type, symbol, time, openPrice, currentPrice, stopLoss, takeProfit, volume: 0.07 })
    expect(after?.id === id).toBe(codes !== MT4)
  })

  it('changes and closes nothing while the market is shut', async () => {
    const { sandbox, open, modify, close, positions } = await setUpDesk(account)
    const id = await open('BUY', { stopLoss: 1.05 })
    sandbox.market.close('EURUSD')
    const answers = [await modify(id, { stopLoss: 1.06 }), await close(id), await close(id, 0.05)]
    expect(answers.map(({ numericCode }) => numericCode)).toEqual(Array.from({ length: 3 }, () => codes.marketClosed))
    expect(await positions()).toMatchObject([{ id, volume: 0.1, stopLoss: 1.05 }])
    sandbox.market.open('EURUSD')
    expect((await close(id)).numericCode).toBe(codes.done)
  })

  it('leaves a position alone while the price is as near a level as the freeze level', async () => {
    const { sandbox, open, modify, close, positions } = await setUpDesk(account, { instruments: [COARSE] })
    for (const near of [{ stopLoss: 1.0997 }, { takeProfit: 1.1003 }]) {
      const id = await open('BUY', { volume: 0.4, ...near })
      const answers = [await modify(id, { stopLoss: 1.05 }), await close(id), await close(id, 0.1)]
      expect(answers.map(({ numericCode }) => numericCode)).toEqual(Array.from({ length: 3 }, () => codes.frozen))
      expect(await positions()).toMatchObject([{ id, volume: 0.4, ...near }])
      const away = 'stopLoss' in near ? 0.00001 : -0.00001
      sandbox.prices.pin('EURUSD', { bid: BID + away, ask: ASK + away })
      expect((await close(id)).numericCode).toBe(codes.done)
      sandbox.prices.pin('EURUSD', { bid: BID, ask: ASK })
    }
  })
})

it('a netting account closes the same by an opposite order as by a close', async () => {
  const byClose = await setUpDesk({ marginMode: 'netting' })
  const byOrder = await setUpDesk({ marginMode: 'netting' })
  for (const { open } of [byClose, byOrder]) await open('BUY', { volume: 0.3, stopLoss: 1.05 })
  await byClose.close('46000000', 0.1)
  await byOrder.open('SELL', { volume: 0.1 })
  expect(await byClose.positions()).toEqual(await byOrder.positions())
  expect(await byClose.closingDeals()).toEqual(await byOrder.closingDeals())
})

it('an MT4 account can say that it does not know the result of a change that changes nothing', async () => {
  const { open, modify, levels } = await setUpDesk({ platform: 'mt4', mt4NoChanges: 'no-result' })
  const id = await open('BUY', { stopLoss: 1.05 })
  expect(await modify(id, { stopLoss: 1.05 })).toMatchObject({ numericCode: 1, stringCode: 'ERR_NO_RESULT' })
  expect(await levels()).toEqual([[1.05, undefined]])
})

it('the specification of a symbol tells its freeze level', async () => {
  const { get } = await setUp({}, { instruments: [COARSE] })
  expect((await get('symbols/EURUSD/specification')).body).toMatchObject({ freezeLevel: 30 })
  expect((await get('symbols/XAUUSD/specification')).body).toMatchObject({ freezeLevel: 0 })
})
