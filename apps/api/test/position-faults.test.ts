// Every change of a position with every way in which the broker can fail it, on both platforms: what is answered agrees with what the broker then
// holds, the next read shows it at once, and nothing is sent twice.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fault, FaultRoute } from '@tradeport/sandbox-broker'
import { sends } from './support/order-desk.ts'
import { closingDealsOn, heldOn, openPositionDesk } from './support/position-desk.ts'
import type { Held, PositionDesk } from './support/position-desk.ts'
import { providerToken, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const bid = 1.1
const ask = 1.1002
const opening = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.4, stopLoss: 1.05, takeProfit: 1.2 }
const opened = { volume: 0.4, stopLoss: 1.05, takeProfit: 1.2 }
/** Longer than any answer that comes takes on a busy machine. */
const tradeMs = 12_000

type Book = Omit<Held, 'ticket'>

interface Write {
  readonly what: string
  readonly isClose: boolean
  readonly send: (desk: PositionDesk, ticket: string) => Promise<Reply>
  /** What it makes of the position, or nothing where it closes it. */
  readonly makes: readonly Book[]
  /** The same where the broker does half of it. */
  readonly halfMakes: readonly Book[]
}

const stopMoved = [{ ...opened, stopLoss: 1.06 }]
const targetMoved = [{ ...opened, takeProfit: 1.25 }]
const writes: readonly Write[] = [
  {
    what: 'a new stop loss',
    isClose: false,
    send: (desk, ticket) => desk.moveStopLoss(ticket, 1.06),
    makes: stopMoved,
    halfMakes: stopMoved,
  },
  {
    what: 'a new take profit',
    isClose: false,
    send: (desk, ticket) => desk.moveTakeProfit(ticket, 1.25),
    makes: targetMoved,
    halfMakes: targetMoved,
  },
  {
    what: 'a close of all',
    isClose: true,
    send: (desk, ticket) => desk.close(ticket),
    makes: [],
    halfMakes: [{ ...opened, volume: 0.2 }],
  },
  {
    what: 'a close of a part',
    isClose: true,
    send: (desk, ticket) => desk.close(ticket, 0.1),
    makes: [{ ...opened, volume: 0.3 }],
    halfMakes: [{ ...opened, volume: 0.35 }],
  },
]

interface Refusal {
  readonly status: number
  readonly code: string
  readonly details?: object
  readonly retryAfter?: string
}

/** What the broker holds in the end, and what is answered: a refusal, or else 200. */
interface Outcome {
  readonly book: 'as before' | 'as asked' | 'half of it'
  readonly refusal?: Refusal
}

interface Trouble {
  readonly name: string
  readonly faults: readonly (readonly [route: FaultRoute, fault: Fault | readonly Fault[]])[]
  /** By whether the change is a close. */
  readonly outcome: (isClose: boolean) => Outcome
}

const done: Outcome = { book: 'as asked' }
const halfDone: Outcome = { book: 'half of it' }
const refused = (brokerCode: string): Outcome => ({
  book: 'as before',
  refusal: { status: 422, code: 'TRADE_REJECTED', details: { brokerCode, brokerMessage: expect.stringMatching(/\w/) } },
})
const account = { accountId: expect.any(String) }
const outcomeUnknown: Refusal = { status: 504, code: 'BROKER_OUTCOME_UNKNOWN', details: account }
const unknown: Outcome = { book: 'as before', refusal: outcomeUnknown }
const unavailable: Outcome = { book: 'as before', refusal: { status: 503, code: 'BROKER_UNAVAILABLE', details: account } }
const limited = (retryAfter: string): Outcome => ({
  book: 'as before',
  refusal: { status: 429, code: 'BROKER_RATE_LIMITED', details: account, retryAfter },
})

const trouble = (name: string, fault: Fault | readonly Fault[], outcome: Outcome | ((isClose: boolean) => Outcome)): Trouble => ({
  name,
  faults: [['trade', fault]],
  outcome: typeof outcome === 'function' ? outcome : () => outcome,
})
const code = (numericCode: number, when: 'before' | 'after' = 'before'): Fault => ({ kind: 'return-code', numericCode, when })
const html = { text: '<html><body>Bad gateway</body></html>', headers: { 'content-type': 'text/html' } }

const beforeAndAfter = (name: string, fault: (when: 'before' | 'after') => Fault): readonly Trouble[] => [
  trouble(`${name}, before it is done`, fault('before'), unknown),
  trouble(`${name}, after it is done`, fault('after'), done),
]

const troubles: readonly Trouble[] = [
  trouble('goes well', [], done),
  trouble('is refused by the market being closed', code(10_018), refused('TRADE_RETCODE_MARKET_CLOSED')),
  trouble('is refused by a requote', code(138), refused('ERR_REQUOTE')),
  trouble('is refused by the position being locked', code(10_028), refused('TRADE_RETCODE_LOCKED')),
  trouble('is refused as invalid by the provider', invalid(), refused('VALIDATION')),
  trouble('is answered that the terminal is disconnected before it', code(-10), unavailable),
  trouble('is answered that the server is busy', code(4), unavailable),
  trouble('is answered 401', { kind: 'unauthorized' }, unavailable),
  trouble('is answered 403', { kind: 'forbidden' }, unavailable),
  trouble('is answered 429', { kind: 'rate-limit', retryAfterSeconds: 7 }, limited('7')),
  trouble('is answered 429 without a word on how long', { kind: 'rate-limit', header: 'none', retryTime: 'none' }, limited('1')),
  trouble('is answered that there are too many requests', code(10_024), limited('1')),
  ...beforeAndAfter('is answered 504', (when) => ({ kind: 'timeout', when })),
  ...beforeAndAfter('is cut off', (when) => ({ kind: 'cut', when })),
  ...beforeAndAfter('is answered 503 with a page of HTML', (when) => ({ kind: 'unavailable', when })),
  ...beforeAndAfter('is answered 502 with a page of HTML', (when) => ({ kind: 'reply', status: 502, ...html, when })),
  ...beforeAndAfter('is answered 500', (when) => ({ kind: 'server-error', when })),
  ...beforeAndAfter('is answered a code that no table lists', (when) => code(12_345, when)),
  ...beforeAndAfter('is answered that the broker took too long', (when) => code(10_012, when)),
  ...beforeAndAfter('is answered that there is no connection', (when) => code(10_031, when)),
  ...beforeAndAfter('is answered that the terminal was disconnected during it', (when) => code(-11, when)),
  ...beforeAndAfter('is answered that there is no result', (when) => code(1, when)),
  ...beforeAndAfter('is answered with a page of HTML', (when) => ({ kind: 'reply', status: 200, ...html, when })),
  ...beforeAndAfter('is answered an object without a code', (when) => ({ kind: 'reply', status: 200, body: {}, when })),
  ...beforeAndAfter('is answered null', (when) => ({ kind: 'reply', status: 200, body: null, when })),
  ...beforeAndAfter('is answered nothing', (when) => ({ kind: 'reply', status: 200, text: '', when })),
  ...beforeAndAfter('is answered a code in words', (when) => ({ kind: 'reply', status: 200, body: { numericCode: '10009' }, when })),
  trouble('is answered with half a body', { kind: 'malformed-json' }, done),
  trouble('is answered in an array', { kind: 'wrong-shape', shape: 'array' }, done),
  trouble('is answered in the words of an older server', { kind: 'legacy-trade-body' }, done),
  trouble('is answered with numbers for ids', { kind: 'numeric-ids' }, done),
  trouble('is answered late', { kind: 'delay', ms: 300 }, done),
  trouble('is answered slowly', { kind: 'slow-body', ms: 300 }, done),
  trouble('is not shown by the provider’s copy', { kind: 'positions-lag', reads: 1_000 }, done),
  trouble('is done in part (10010)', { kind: 'partial-fill' }, (isClose) => (isClose ? halfDone : done)),
  trouble('is done in part and answered 504', [{ kind: 'partial-fill' }, { kind: 'timeout', when: 'after' }], (isClose) =>
    isClose ? { ...halfDone, refusal: outcomeUnknown } : done,
  ),
  trouble('is placed (10008) and done when it is looked at', { kind: 'placed', reads: 0 }, done),
  trouble('is placed (10008) and not done for long', { kind: 'placed', reads: 1_000 }, unknown),
  // A change that would change nothing is done; a close that changes nothing was not made by this close.
  trouble('is answered that nothing changes', code(10_025), (isClose) => (isClose ? unknown : { book: 'as before' })),
  {
    name: 'is done where positions cannot be read any more',
    faults: [['positions', { kind: 'timeout', skip: 1 }]],
    outcome: () => done,
  },
  {
    name: 'is done and answered 504 where positions cannot be read any more',
    faults: [
      ['trade', { kind: 'timeout', when: 'after' }],
      ['positions', { kind: 'timeout', skip: 1 }],
    ],
    outcome: () => ({ book: 'as asked', refusal: outcomeUnknown }),
  },
  {
    name: 'is done in part (10010) where positions cannot be read any more',
    faults: [
      ['trade', { kind: 'partial-fill' }],
      ['positions', { kind: 'timeout', skip: 1 }],
    ],
    outcome: (isClose) => (isClose ? { ...halfDone, refusal: outcomeUnknown } : done),
  },
  {
    name: 'is not sent because positions cannot be read',
    faults: [['positions', { kind: 'timeout' }]],
    outcome: () => unavailable,
  },
  {
    name: 'is not sent because the broker limits reads',
    faults: [['positions', { kind: 'rate-limit', retryAfterSeconds: 9 }]],
    outcome: () => limited('9'),
  },
  ...beforeAndAfter('is never answered', (when) => ({ kind: 'lost', when })),
]

function invalid(): Fault {
  const details = [{ parameter: 'positionId', message: 'Value is not one' }]
  return { kind: 'reply', status: 400, body: { id: 1, error: 'ValidationError', message: 'Validation failed', details } }
}

const platforms = ['mt5', 'mt4'] as const

interface Cell {
  readonly platform: (typeof platforms)[number]
  readonly write: Write
  readonly trouble: Trouble
  readonly number: number
}

const cells: readonly Cell[] = platforms
  .flatMap((platform) => troubles.flatMap((one) => writes.map((write) => ({ platform, trouble: one, write }))))
  .map((cell, index) => ({ ...cell, number: index + 1 }))

const key = 'tp_live_only_for_automated_tests_position_faults'
const clock = createTestClock('2026-03-04T12:00:00.000Z')
/** The provider refuses the token of such a change for a while, so the change has a tenant of its own. */
const isLimited = ({ trouble: { faults } }: Cell): boolean => faults.some(([, fault]) => 'kind' in fault && fault.kind === 'rate-limit')
const keyOf = (cell: Cell): string => (isLimited(cell) ? `${key}_${cell.number}` : key)
const tokenOf = ({ number }: Cell): string => `token-${number}`
const providerOf = ({ number }: Cell): string => `account-${number}`
const accountOf = ({ number }: Cell): string => newAccountUuid(number)
const linkOf = (cell: Cell) => ({ id: accountOf(cell), providerAccountId: providerOf(cell), fields: { brokerType: cell.platform } })

let service: RunningService

beforeAll(async () => {
  service = await startTestService(
    cells.map((cell) => ({ id: providerOf(cell), platform: cell.platform })),
    { now: clock.now, deadlines: { tradeMs }, providerTokens: [providerToken, ...cells.map(tokenOf)] },
  )
  service.sandbox.prices.pin('EURUSD', { bid, ask })
  const scopes = ['trading:read', 'positions:write']
  const shared = cells.filter((cell) => !isLimited(cell)).map(linkOf)
  await service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, shared, scopes),
    ...cells.filter(isLimited).map((cell) => {
      const name = `limited-${cell.number}`
      return linkDocument({ tenant: name, user: name, key: keyOf(cell), providerToken: tokenOf(cell) }, [linkOf(cell)], scopes)
    }),
  )
  await replyToAll()
})
afterAll(() => service?.close())

interface Result {
  readonly ticket: string
  readonly reply: Reply
  /** What the broker held when it was answered. */
  readonly held: readonly Held[]
  /** What the next read showed, and what the broker held then. A user whose token is refused for a while cannot read. */
  readonly shown: readonly Held[] | undefined
  readonly heldThen: readonly Held[]
}
const results = new Map<Cell, Result>()

const change = async (cell: Cell): Promise<void> => {
  const provider = providerOf(cell)
  const desk = openPositionDesk(service, { key: keyOf(cell), accountId: accountOf(cell) })
  const { positionId: ticket = '' } = service.sandbox.account(provider).trade(opening)
  // What was before the change is in the cache, and the clock does not let it expire.
  await desk.list()
  for (const [route, fault] of cell.trouble.faults) service.sandbox.faults.set(provider, route, fault)
  const reply = await cell.write.send(desk, ticket)
  const held = heldOn(service.sandbox, provider)
  service.sandbox.faults.clear({ account: provider })
  const shown = isLimited(cell) ? undefined : (await desk.list()).body.data.map(shownOf)
  results.set(cell, { ticket, reply, held, shown, heldThen: heldOn(service.sandbox, provider) })
}

const resultOf = (cell: Cell): Result => results.get(cell) ?? expect.fail('the change was not made')

const isNeverAnswered = ({ trouble: { faults } }: Cell): boolean => faults.some(([, fault]) => 'kind' in fault && fault.kind === 'lost')

/** Those that are waited for longest all at once, beside the others, of which some take seconds: a few at once, or a change would not show in time. */
const replyToAll = async (): Promise<void> => {
  const waiting = cells.filter((cell) => !isNeverAnswered(cell))
  const hand = async (): Promise<void> => {
    for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) await change(cell)
  }
  await Promise.all([...cells.filter(isNeverAnswered).map(change), ...Array.from({ length: 6 }, hand)])
}

const bookOf = (outcome: Outcome, write: Write): readonly Book[] => {
  if (outcome.book === 'as before') return [opened]
  return outcome.book === 'as asked' ? write.makes : write.halfMakes
}

const booked = ({ ticket: _ticket, ...book }: Held): Book => book

const shownOf = ({ brokerPositionId, volume, stopLoss, takeProfit }: Json): Held => ({
  ticket: brokerPositionId,
  volume,
  stopLoss,
  takeProfit,
})

/** What the reply says of the position is what the broker holds. */
const expectAgreement = (cell: Cell): void => {
  const { ticket, reply, held } = resultOf(cell)
  const { data } = reply.body
  const id = `${accountOf(cell)}:${ticket}`
  const [position] = held
  if (!cell.write.isClose) {
    expect(data).toMatchObject({ id, brokerPositionId: ticket, volume: position?.volume })
    expect([data.stopLoss, data.takeProfit]).toEqual([position?.stopLoss, position?.takeProfit])
    return
  }
  const deals = closingDealsOn(service.sandbox, providerOf(cell))
  expect(deals).toHaveLength(1)
  const [deal] = deals
  // Which number the rest has is not known where positions cannot be read.
  const isRenumbered = position !== undefined && position.ticket !== ticket && cell.trouble.faults.every(([route]) => route === 'trade')
  const remaining = isRenumbered ? `${accountOf(cell)}:${position.ticket}` : undefined
  expect(data).toMatchObject({ id, closedVolume: deal?.['volume'], remainingVolume: position?.volume ?? 0 })
  expect(data.remainingPositionId).toBe(remaining)
  const fill = [data.closePrice, data.realizedPnl, data.closedAt]
  // A machine that is too busy to read the deal in two seconds answers without it.
  expect([
    [deal?.['price'], deal?.['profit'], deal?.['time']],
    [null, null, null],
  ]).toContainEqual(fill)
}

describe.each(platforms)('on %s', (platform) => {
  describe.each(writes)('$what', (write) => {
    it.each(cells.filter((cell) => cell.platform === platform && cell.write === write))('that $trouble.name', async (cell) => {
      const { reply, held, shown, heldThen } = resultOf(cell)
      const outcome = cell.trouble.outcome(write.isClose)
      const { refusal } = outcome
      expect([reply.status, reply.body.error?.code]).toEqual(refusal === undefined ? [200, undefined] : [refusal.status, refusal.code])
      expect(held.map(booked)).toEqual(bookOf(outcome, write))
      if (refusal === undefined) expectAgreement(cell)
      else expect(reply.body.error.details).toEqual(refusal.details)
      expect(reply.headers.get('Retry-After')).toBe(refusal?.retryAfter ?? null)
      const isSent = cell.trouble.faults.every(([route, fault]) => route === 'trade' || 'skip' in fault)
      expect(sends(service, providerOf(cell))).toBe(isSent ? 1 : 0)
      if (shown !== undefined) expect(shown).toEqual(heldThen)
    })
  })
})
