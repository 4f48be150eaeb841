// Every way in which the simulated provider can fail a change: what is said of it, that it was sent once, and that the broker's true book agrees
// with what was said.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { AccountOptions, Fault, Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { BrokerAccount, PositionDesk, Ticket } from '@tradeport/domain'
import { always } from '../orders/order-support.ts'
import { account } from '../support.ts'
import { deskWith } from './desk-support.ts'
import type { Answer } from './desk-support.ts'

const token = 'changes-token'
const readOnlyToken = 'read-only-token'

let sandbox: Sandbox
let accounts = 0
beforeAll(async () => {
  sandbox = await startSandbox({ tokens: [token, { token: readOnlyToken, readOnly: true }] })
  sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
})
afterEach(() => {
  sandbox.faults.clear()
  sandbox.market.open()
})
afterAll(() => sandbox.close())

type Send = (desk: PositionDesk, of: BrokerAccount, ticket: Ticket) => Promise<Answer>

const held = { volume: 0.4, stopLoss: 1, takeProfit: 1.2 }

interface Write {
  readonly what: string
  readonly send: Send
  readonly makes: object | undefined
}

const moving: Write = {
  what: 'a change of levels',
  send: (desk, of, ticket) => desk.setLevels(of, ticket, { stopLoss: 1.05, takeProfit: 1.2 }, always)(),
  makes: { ...held, stopLoss: 1.05 },
}
const closing: Write = { what: 'a close', send: (desk, of, ticket) => desk.closePosition(of, ticket, null, always)(), makes: undefined }
const closingPart: Write = {
  what: 'a close of a part',
  send: (desk, of, ticket) => desk.closePosition(of, ticket, 0.1, always)(),
  makes: { ...held, volume: 0.3 },
}
const writes = [moving, closing, closingPart]

/** A fresh account with one position, and a desk for it. */
const openDesk = (options: Partial<AccountOptions> = {}, given = token, tradeMs = 30_000) => {
  accounts += 1
  const id = `p-${accounts}`
  const positions = [{ symbol: 'EURUSD', side: 'buy', ...held }] as const
  const control = sandbox.addAccount({ id, region: 'london', positions, ...options })
  const own: BrokerAccount = { ...account, providerAccountId: id }
  const desk = deskWith({
    clientUrl: `${sandbox.url}/{region}`,
    providerToken: () => TE.right(O.some(given)),
    clock: { now: Date.now },
    deadlines: { tradeMs },
  })
  const ticket = control.positions()[0]?.id as Ticket
  return {
    id,
    desk,
    account: own,
    make: ({ send }: Write) => send(desk, own, ticket),
    sends: () => sandbox.requests.count({ account: id, route: 'trade' }),
    /** What is truly left of the position. */
    left: () => {
      const [position] = control.positions()
      return position && { volume: position.volume, stopLoss: position.stopLoss, takeProfit: position.takeProfit }
    },
  }
}

const unknown = { left: { _tag: 'BrokerOutcomeUnknown' } }
const unavailable = { left: { _tag: 'BrokerUnavailable' } }
const limited = (retryAfterSeconds: number) => ({ left: { _tag: 'BrokerRateLimited', retryAfterSeconds } })
const rejected = (code: string) => ({ left: { _tag: 'TradeRejected', code } })
const taken = { _tag: 'Right' }

describe.each<Partial<AccountOptions>>([{}, { marginMode: 'netting' }, { platform: 'mt4' }])('on an account of %j', (options) => {
  describe.each(writes)('$what', (write) => {
    it.each<readonly [Fault, object, boolean]>([
      [{ kind: 'delay', ms: 50 }, taken, true],
      [{ kind: 'slow-body', ms: 60 }, taken, true],
      [{ kind: 'numeric-ids' }, taken, true],
      [{ kind: 'legacy-trade-body' }, taken, true],
      [{ kind: 'patch', remove: ['orderId', 'positionId'] }, taken, true],
      [{ kind: 'timeout', when: 'before' }, unknown, false],
      [{ kind: 'timeout', when: 'after' }, unknown, true],
      [{ kind: 'cut', when: 'before' }, unknown, false],
      [{ kind: 'cut', when: 'after' }, unknown, true],
      [{ kind: 'unavailable', when: 'before' }, unknown, false],
      [{ kind: 'unavailable', when: 'after' }, unknown, true],
      [{ kind: 'server-error', when: 'before' }, unknown, false],
      [{ kind: 'server-error', when: 'after' }, unknown, true],
      [{ kind: 'malformed-json' }, unknown, true],
      [{ kind: 'wrong-shape', shape: 'object' }, unknown, true],
      [{ kind: 'wrong-shape', shape: 'array' }, unknown, true],
      [{ kind: 'wrong-shape', shape: 'string' }, unknown, true],
      [{ kind: 'wrong-shape', shape: 'null' }, unknown, true],
      [{ kind: 'wrong-shape', shape: 'empty' }, unknown, true],
      [{ kind: 'undeployed' }, unknown, false],
      [{ kind: 'wrong-region' }, unknown, false],
      [{ kind: 'unauthorized' }, { left: { _tag: 'BrokerUnavailable', cause: 'token_refused' } }, false],
      [{ kind: 'forbidden' }, unavailable, false],
      [{ kind: 'rate-limit', retryAfterSeconds: 2 }, limited(2), false],
      [{ kind: 'rate-limit', header: 'none', retryTime: 'none' }, limited(1), false],
      [{ kind: 'not-found' }, { left: { _tag: 'PositionNotFound' } }, false],
      [{ kind: 'return-code', numericCode: -11, when: 'after' }, unknown, true],
      [{ kind: 'return-code', numericCode: 10_012, when: 'after' }, unknown, true],
      [{ kind: 'return-code', numericCode: 10_031, when: 'before' }, unknown, false],
      [{ kind: 'return-code', numericCode: 12_345, when: 'after' }, unknown, true],
      [{ kind: 'return-code', numericCode: -10 }, unavailable, false],
      [{ kind: 'return-code', numericCode: 10_024 }, limited(1), false],
      [{ kind: 'return-code', numericCode: 4_753 }, { left: { _tag: 'PositionNotFound' } }, false],
      [{ kind: 'return-code', numericCode: 10_016, status: 400 }, rejected('TRADE_RETCODE_INVALID_STOPS'), false],
      [{ kind: 'reply', status: 307, headers: { location: '/' } }, unknown, false],
      [{ kind: 'reply', status: 400, body: { error: 'ValidationError', message: 'Validation failed' } }, rejected('VALIDATION'), false],
    ])('that meets %j is sent once and answered %j', async (fault, answer, isMade) => {
      const { id, make, sends, left } = openDesk(options)
      sandbox.faults.set(id, 'trade', fault)
      expect(await make(write)).toMatchObject(answer)
      expect(sends()).toBe(1)
      expect(left()).toEqual(isMade ? write.makes : held)
    })
  })
})

describe('a change that is not answered in time', () => {
  it.each<readonly [Fault, boolean]>([
    [{ kind: 'lost', when: 'before' }, false],
    [{ kind: 'lost', when: 'after' }, true],
    [{ kind: 'slow-body', ms: 60_000 }, true],
  ])('with %j is sent once and may have been made', async (fault, isMade) => {
    const meet = async (write: Write): Promise<void> => {
      const { id, make, sends, left } = openDesk({}, token, 2_000)
      sandbox.faults.set(id, 'trade', fault)
      expect(await make(write)).toMatchObject(unknown)
      expect(left()).toEqual(isMade ? write.makes : held)
      expect(sends()).toBe(1)
    }
    await Promise.all(writes.map(meet))
  })
})

describe('a broker that changes nothing', () => {
  it('has set the levels, and has not closed the position', async () => {
    for (const [write, answer] of [
      [moving, E.right({ progress: 'unchanged' })],
      [closing, unknown],
      [closingPart, unknown],
    ] as const) {
      const { id, make, left } = openDesk()
      sandbox.faults.set(id, 'trade', { kind: 'return-code', numericCode: 10_025 })
      expect(await make(write)).toMatchObject(answer)
      expect(left()).toEqual(held)
    }
  })
})

describe('a broker that refuses', () => {
  const stopAbove: Write = { ...moving, send: (desk, of, ticket) => desk.setLevels(of, ticket, { stopLoss: 1.15 }, always)() }
  const tooFine: Write = { ...closing, send: (desk, of, ticket) => desk.closePosition(of, ticket, 0.015, always)() }
  const tooMuch: Write = { ...closing, send: (desk, of, ticket) => desk.closePosition(of, ticket, 0.5, always)() }

  it.each<readonly [string, Write, Partial<AccountOptions>, string]>([
    ['a stop above the price of a buy', stopAbove, {}, 'TRADE_RETCODE_INVALID_STOPS'],
    ['a stop above the price of a buy, on the fourth generation', stopAbove, { platform: 'mt4' }, 'ERR_INVALID_STOPS'],
    ['lots that are too fine', tooFine, {}, 'TRADE_RETCODE_INVALID_VOLUME'],
    ['more lots than are open', tooMuch, {}, 'TRADE_RETCODE_INVALID_CLOSE_VOLUME'],
    ['more lots than are open, on the fourth generation', tooMuch, { platform: 'mt4' }, 'ERR_INVALID_TRADE_VOLUME'],
    ['an investor', moving, { tradeAllowed: false }, 'ERR_INVESTOR'],
  ])('%s says why, and leaves the position as it was', async (_, write, options, code) => {
    const { make, left } = openDesk(options)
    expect(await make(write)).toMatchObject(rejected(code))
    expect(left()).toEqual(held)
  })

  it.each(writes)('$what while the market is closed says so', async (write) => {
    const { make, left } = openDesk()
    sandbox.market.close('EURUSD')
    expect(await make(write)).toMatchObject(rejected('TRADE_RETCODE_MARKET_CLOSED'))
    expect(left()).toEqual(held)
  })

  it.each(writes)('is not one where the token may not trade: $what', async (write) => {
    const { make, left } = openDesk({}, readOnlyToken)
    expect(await make(write)).toMatchObject(unavailable)
    expect(left()).toEqual(held)
  })
})
