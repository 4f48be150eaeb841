// Every return code of the provider, and what an order's sender is told of it (decisions 23, 24, 30). The classes are written out here once
// more, as lists, so that a slip in the table shows.
import { describe, expect, it } from 'vitest'
import type { PlacementAnswer } from '@tradeport/domain'
import { returnCodeOf, returnCodes } from '../../src/trade/return-codes.ts'
import { closeNetwork } from '../no-network.ts'
import { now, provider } from '../support.ts'
import { notSent, place, tradePath, unknown } from './order-support.ts'

closeNetwork()

type Told = PlacementAnswer['kind']

const expected: Readonly<Record<Told, readonly number[]>> = {
  filled: [0, 10009],
  partially_filled: [10010],
  placed: [10008],
  not_sent: [-10, -6, -5, 4, 6, 146, 10024],
  unknown: [-11, -7, -1, 1, 128, 10012, 10025, 10031],
  refused: [
    -9, -8, -4, 2, 3, 5, 7, 8, 9, 64, 65, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 145, 147, 148, 149, 150, 4753,
    4754, 10004, 10006, 10007, 10011, 10013, 10014, 10015, 10016, 10017, 10018, 10019, 10020, 10021, 10022, 10023, 10026, 10027, 10028,
    10029, 10030, 10032, 10033, 10034, 10035, 10036, 10038, 10039, 10040, 10041, 10042, 10043, 10044, 10045, 10046,
  ],
}

const classes = new Map(Object.entries(expected).flatMap(([means, codes]) => codes.map((code) => [code, means as Told] as const)))

const answers = (name: string): Readonly<Record<Told, PlacementAnswer>> => ({
  filled: { kind: 'filled', fill: {} },
  partially_filled: { kind: 'partially_filled', fill: {} },
  placed: { kind: 'placed', orderId: null },
  refused: { kind: 'refused', reason: { code: name, message: 'Because.' } },
  not_sent: notSent(),
  unknown,
})

const answerTo = (status: number, body: object, headers: Record<string, string> = {}): Promise<PlacementAnswer> => {
  provider().post(tradePath).reply(status, body, headers)
  return place()
}

it('lists every code once, and no other', () => {
  expect(returnCodes.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([...classes.keys()].toSorted((a, b) => a - b))
  expect(new Set(returnCodes.map(({ name }) => name)).size).toBe(returnCodes.length)
})

describe.each(returnCodes.map(({ code, name }) => ({ code, name, means: classes.get(code) ?? 'unknown' })))(
  '$code $name',
  ({ code, name, means }) => {
    it(`says ${means}, whatever the status`, async () => {
      for (const status of [200, 400, 500]) {
        const body = { error: 'TradeError', numericCode: code, stringCode: name, message: 'Because. (a1b2c3d4e5)' }
        expect(await answerTo(status, body)).toEqual(answers(name)[means])
      }
    })

    it(`says ${means} in the older form, and by its number or its name alone`, async () => {
      for (const body of [{ error: code, description: name }, { numericCode: code }, { stringCode: name }])
        expect(await answerTo(200, { ...body, message: 'Because.' })).toEqual(answers(name)[means])
    })
  },
)

describe('what is unknown', () => {
  it.each<readonly [string, object]>([
    ['a code that no table lists', { numericCode: 10047, stringCode: 'TRADE_RETCODE_NEW' }],
    ['one that is not listed beside a name that is', { numericCode: 99, stringCode: 'TRADE_RETCODE_REJECT' }],
    ['a name that is not listed', { stringCode: 'TRADE_RETCODE_FINE' }],
    ['a success whose name says no', { numericCode: 10009, stringCode: 'TRADE_RETCODE_REJECT' }],
    ['a no whose name says success', { numericCode: 10006, stringCode: 'TRADE_RETCODE_DONE' }],
    ['a code written as text', { numericCode: '10009', stringCode: 'TRADE_RETCODE_DONE' }],
    ['a code that is none', { numericCode: {}, stringCode: 'TRADE_RETCODE_DONE' }],
    ['a fraction', { numericCode: 10009.5 }],
    ['an older form that does not name its code', { error: 0 }],
    ['an older form with some other name', { error: 0, description: 'ok' }],
    ['no code', { message: 'Done' }],
    ['a success in a list', [{ numericCode: 10009, stringCode: 'TRADE_RETCODE_DONE' }]],
  ])('is %s', async (_, body) => {
    expect(await answerTo(200, body)).toEqual(unknown)
  })

  it('is no reason to look a code up by a name of every object', () => {
    expect(returnCodeOf(undefined, 'constructor')).toBeUndefined()
  })
})

describe('a code that is not sent', () => {
  it.each<readonly [Record<string, string>, object, number | null]>([
    [{ 'retry-after': '7' }, {}, 7_000],
    [{}, { metadata: { recommendedRetryTime: new Date(now + 1_250).toISOString() } }, 1_250],
    [{}, { metadata: { recommendedRetryTime: new Date(now - 1_250).toISOString() } }, 0],
    [{}, {}, null],
  ])('tells a wait that the provider asks for by %j %j: %s', async (headers, more, ms) => {
    expect(await answerTo(200, { numericCode: 10024, stringCode: 'TRADE_RETCODE_TOO_MANY_REQUESTS', ...more }, headers)).toEqual(
      notSent(ms),
    )
  })
})

const wordsOf = async (message: unknown) => {
  const answer = await answerTo(200, { numericCode: 10019, stringCode: 'TRADE_RETCODE_NO_MONEY', message })
  return answer.kind === 'refused' ? answer.reason.message : answer
}

describe('the words of a refusal', () => {
  it.each<readonly [unknown, string]>([
    ['Not enough\u0007 money\r\n ', 'Not enough money'],
    ['Not enough money (f3a9c01b7de2)', 'Not enough money'],
    ['Volume too low (minimum)', 'Volume too low (minimum)'],
    ['x'.repeat(5_000), 'x'.repeat(200)],
    ['', 'The broker refused the trade.'],
    [' \n', 'The broker refused the trade.'],
    [undefined, 'The broker refused the trade.'],
    [{ a: 1 }, 'The broker refused the trade.'],
  ])('%j become %j', async (message, words) => {
    expect(await wordsOf(message)).toBe(words)
  })
})
