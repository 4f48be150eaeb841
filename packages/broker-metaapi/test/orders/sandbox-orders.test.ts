// Every way in which the simulated provider can fail a trade: what the sender is told, that it was sent once, and that a look-up afterwards
// agrees with the broker's true book.
import type { AccountOptions, Fault } from '@tradeport/sandbox-broker'
import { describe, expect, it } from 'vitest'
import type { BrokerOrder } from '@tradeport/domain'
import { ask, openFloor, readOnlyToken } from './sandbox-desk.ts'

const { sandbox, desk } = openFloor()

const whole = (volume = 0.1) => ({ price: ask, volume, at: expect.any(Number), positionId: expect.any(String) })
const filled = { kind: 'filled', fill: whole() }
const half = { kind: 'partially_filled', fill: whole(0.05) }
const unknown = { kind: 'unknown' }
const notSent = { kind: 'not_sent', retryAfterMs: null }
const refused = (code: string) => ({ kind: 'refused', reason: { code, message: expect.any(String) } })

const lookedUp = (answer: unknown, executed: number): unknown => {
  if (executed === 0) return { kind: 'nothing' }
  return { kind: 'found', settlement: executed < 0.1 ? half : { ...filled, ...(answer as object) } }
}

describe.each<Partial<AccountOptions>>([{}, { marginMode: 'netting' }, { platform: 'mt4' }, { platform: 'mt4', mt4DealIds: 'distinct' }])(
  'an order to an account of %j',
  (options) => {
    it.each<readonly [Fault | undefined, unknown, number]>([
      [undefined, filled, 0.1],
      [{ kind: 'delay', ms: 50 }, filled, 0.1],
      [{ kind: 'slow-body', ms: 60 }, filled, 0.1],
      [{ kind: 'slow-body', ms: 6_000 }, unknown, 0.1],
      [{ kind: 'numeric-ids' }, filled, 0.1],
      [{ kind: 'legacy-trade-body' }, filled, 0.1],
      [{ kind: 'patch', remove: ['orderId', 'positionId'] }, filled, 0.1],
      [{ kind: 'positions-lag', reads: 3 }, filled, 0.1],
      [{ kind: 'partial-fill' }, half, 0.05],
      [{ kind: 'timeout', when: 'before' }, unknown, 0],
      [{ kind: 'timeout', when: 'after' }, unknown, 0.1],
      [{ kind: 'cut', when: 'before' }, unknown, 0],
      [{ kind: 'cut', when: 'after' }, unknown, 0.1],
      [{ kind: 'lost', when: 'before' }, unknown, 0],
      [{ kind: 'lost', when: 'after' }, unknown, 0.1],
      [{ kind: 'unavailable', when: 'before' }, unknown, 0],
      [{ kind: 'unavailable', when: 'after' }, unknown, 0.1],
      [{ kind: 'server-error', when: 'before' }, unknown, 0],
      [{ kind: 'server-error', when: 'after' }, unknown, 0.1],
      [{ kind: 'malformed-json' }, unknown, 0.1],
      [{ kind: 'wrong-shape', shape: 'object' }, unknown, 0.1],
      [{ kind: 'wrong-shape', shape: 'array' }, unknown, 0.1],
      [{ kind: 'wrong-shape', shape: 'string' }, unknown, 0.1],
      [{ kind: 'wrong-shape', shape: 'null' }, unknown, 0.1],
      [{ kind: 'wrong-shape', shape: 'empty' }, unknown, 0.1],
      [{ kind: 'undeployed' }, unknown, 0],
      [{ kind: 'wrong-region' }, unknown, 0],
      [{ kind: 'unauthorized' }, { ...notSent, cause: 'token_refused' }, 0],
      [{ kind: 'forbidden' }, notSent, 0],
      [{ kind: 'rate-limit', retryAfterSeconds: 2 }, { kind: 'not_sent', retryAfterMs: 2_000 }, 0],
      [{ kind: 'rate-limit', header: 'none', retryTime: 'none' }, { kind: 'not_sent', retryAfterMs: 1_000 }, 0],
      [{ kind: 'not-found' }, refused('SYMBOL_NOT_FOUND'), 0],
      [{ kind: 'return-code', numericCode: -11, when: 'after' }, unknown, 0.1],
      [{ kind: 'return-code', numericCode: 10_012, when: 'after' }, unknown, 0.1],
      [{ kind: 'return-code', numericCode: 10_031, when: 'after' }, unknown, 0.1],
      [{ kind: 'return-code', numericCode: 10_025, when: 'after' }, unknown, 0.1],
      [{ kind: 'return-code', numericCode: 12_345, when: 'after' }, unknown, 0.1],
      [{ kind: 'return-code', numericCode: -10 }, notSent, 0],
      [{ kind: 'return-code', numericCode: 10_024 }, notSent, 0],
      [{ kind: 'return-code', numericCode: 10_019, status: 400 }, refused('TRADE_RETCODE_NO_MONEY'), 0],
      [{ kind: 'reply', status: 307, headers: { location: '/' } }, unknown, 0],
      [{ kind: 'reply', status: 400, body: { error: 'ValidationError', message: 'Validation failed' } }, refused('VALIDATION'), 0],
    ])('that meets %j is sent once and answered %j', async (fault, answer, executed) => {
      const { id, send, look, passTime, sends, executed: trulyExecuted } = desk(options)
      if (fault !== undefined) sandbox().faults.set(id, 'trade', fault)
      expect(await send()).toEqual(answer)
      expect(sends()).toBe(1)
      expect(trulyExecuted()).toBeCloseTo(executed, 8)
      sandbox().faults.clear()
      passTime(60_000)
      expect(await look()).toEqual(lookedUp(filled, executed))
      expect(sends()).toBe(1)
    })
  },
)

describe('an order of a volume with what binary fractions leave', () => {
  it.each([0.1 + 0.2, 0.7 - 0.4, 0.3])('of %d is one of 0.3 lots, sent and found as such', async (volume) => {
    for (const fault of [
      { kind: 'delay', ms: 0 },
      { kind: 'cut', when: 'after' },
    ] as const) {
      const { id, send, look } = desk({}, { volume })
      sandbox().faults.set(id, 'trade', fault)
      expect(await send()).toEqual(fault.kind === 'cut' ? unknown : { kind: 'filled', fill: whole(0.3) })
      expect(await look()).toEqual({ kind: 'found', settlement: { kind: 'filled', fill: whole(0.3) } })
    }
  })
})

describe('an order that the broker accepts before it fills it', () => {
  it('is placed, then working, then filled', async () => {
    const { id, send, look, sends, executed } = desk()
    sandbox().faults.set(id, 'trade', { kind: 'placed', reads: 8 })
    expect(await send()).toEqual({ kind: 'placed', orderId: expect.stringMatching(/^\d+$/) })
    expect(executed()).toBe(0)
    expect(await look()).toEqual({ kind: 'working' })
    expect(await look()).toEqual({ kind: 'found', settlement: filled })
    expect(sends()).toBe(1)
  })

  it('is found by the number that the broker gave it, where its records bear no name of ours', async () => {
    const { id, send, look } = desk()
    sandbox().faults.set(id, 'trade', { kind: 'placed', reads: 8 })
    const answer = await send()
    const orderId = answer.kind === 'placed' ? answer.orderId : null
    expect(await look({ orderId })).toEqual({ kind: 'working' })
    for (const route of ['positions', 'orders', 'history-orders', 'deals'] as const)
      sandbox().faults.set(id, route, { kind: 'patch', remove: ['clientId', 'comment'] })
    expect(await look()).toEqual({ kind: 'unreadable' })
    expect(await look({ orderId })).toMatchObject({ kind: 'found', settlement: { kind: 'filled' } })
  })

  it('is filled where its fill shows at once', async () => {
    const { id, send } = desk()
    sandbox().faults.set(id, 'trade', { kind: 'placed', reads: 0 })
    expect(await send()).toEqual(filled)
  })

  it('is rejected where the broker cannot fill it', async () => {
    const { id, send, look } = desk()
    sandbox().faults.set(id, 'trade', { kind: 'placed', reads: 8 })
    expect(await send()).toEqual({ kind: 'placed', orderId: expect.stringMatching(/^\d+$/) })
    sandbox().market.close('EURUSD')
    expect(await look()).toEqual({ kind: 'working' })
    const reason = { code: 'ORDER_STATE_REJECTED', message: 'The broker ended the order without executing it: rejected.' }
    expect(await look()).toEqual({ kind: 'found', settlement: { kind: 'rejected', reason } })
  })
})

describe('an order that the broker refuses', () => {
  it.each<readonly [string, Partial<BrokerOrder>, Partial<AccountOptions>, string]>([
    ['for its volume', { volume: 0.015 }, {}, 'TRADE_RETCODE_INVALID_VOLUME'],
    ['for its stops', { stopLoss: 1.2 }, {}, 'TRADE_RETCODE_INVALID_STOPS'],
    ['for want of money', { volume: 10 }, { startBalance: 10 }, 'TRADE_RETCODE_NO_MONEY'],
    ['for want of money, on the fourth generation', { volume: 10 }, { startBalance: 10, platform: 'mt4' }, 'ERR_NOT_ENOUGH_MONEY'],
    ['of a symbol that it lacks', { symbol: 'NOPE' }, {}, 'SYMBOL_NOT_FOUND'],
    ['of a symbol that it lacks, by a code', { symbol: 'NOPE' }, { unknownSymbol: 'return-code' }, 'TRADE_RETCODE_INVALID'],
    ['of an investor', {}, { tradeAllowed: false }, 'ERR_INVESTOR'],
    ['under a client id that is none', { clientId: 'TP-1' }, {}, 'VALIDATION'],
  ])('%s is refused with its reason, and not to be found', async (_, more, options, code) => {
    const { send, look, sends } = desk(options, more)
    expect(await send()).toEqual(refused(code))
    expect(await look()).toEqual({ kind: 'nothing' })
    expect(sends()).toBe(1)
  })

  it('while the market is closed', async () => {
    const { send } = desk()
    sandbox().market.close('EURUSD')
    expect(await send()).toEqual(refused('TRADE_RETCODE_MARKET_CLOSED'))
  })

  it('is not one where the token may not trade', async () => {
    expect(await desk({}, {}, readOnlyToken).send()).toEqual(notSent)
  })
})

describe('what is known of a fill is told, and what is not is left out', () => {
  it.each(['positions', 'deals'] as const)('where %s cannot be read', async (route) => {
    const { id, send } = desk()
    sandbox().faults.set(id, route, { kind: 'timeout' })
    expect(await send()).toEqual(filled)
  })

  it('where neither can be read, in no time', async () => {
    const { id, send } = desk()
    for (const route of ['positions', 'deals'] as const) sandbox().faults.set(id, route, { kind: 'timeout' })
    const startedAt = performance.now()
    expect(await send()).toEqual({ kind: 'filled', fill: { positionId: expect.any(String) } })
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  it('where they do not answer, within its time', async () => {
    const { id, send } = desk()
    for (const route of ['positions', 'deals'] as const) sandbox().faults.set(id, route, { kind: 'lost' })
    const startedAt = performance.now()
    expect(await send()).toEqual({ kind: 'filled', fill: { positionId: expect.any(String) } })
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  it('of a part whose volume no record tells', async () => {
    const { id, send } = desk()
    sandbox().faults.set(id, 'trade', { kind: 'partial-fill' })
    sandbox().faults.set(id, 'deals', { kind: 'timeout' })
    expect(await send()).toEqual({ kind: 'partially_filled', fill: { positionId: expect.any(String) } })
  })
})
