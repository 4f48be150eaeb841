// Changes of open positions: who may make them, what is sent, and what is returned whatever the
// broker does and shows.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { Account, BrokerAccount, TradeMode } from '../../src/accounts/account.ts'
import { brokerRateLimited, refuse, type BrokerReadError, type Refusal } from '../../src/errors.ts'
import type { BrokerDeal } from '../../src/journal/broker-deal.ts'
import { withoutKey, type MaySend } from '../../src/ports/index.ts'
import type { LevelsChange } from '../../src/primitives/prices.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import {
  formatPositionId,
  type AccountId,
  type Ticket,
  hourMs,
  secondMs,
} from '../../src/primitives/index.ts'
import { newAccountId, openPosition, times } from '@tradeport/testkit'
import type { FakePositionTrading } from './fake-position-trading.ts'
import { createPositionChanges } from '../../src/use-cases/position-changes.ts'
import {
  createChangeDesk,
  down,
  informationOf,
  noon,
  owner,
  rightOf,
  stranger,
  tagOf,
  unavailable,
  type ChangeDesk,
} from './desk.ts'

/** A world in which one change is made, and what happens around it. */
interface Scene {
  readonly fields?: Partial<Account>
  readonly held?: Partial<BrokerPosition>
  readonly history?: readonly BrokerDeal[]
  /** What the broker makes of the change. */
  readonly broker?: Parameters<FakePositionTrading['next']>[0]
  /** How many reads still show what was before the change. */
  readonly lag?: Parameters<FakePositionTrading['lagNext']>[0]
  /** What happens before the broker's answer arrives. */
  readonly meanwhile?: (desk: ChangeDesk) => unknown
  /** What happens at every pause. */
  readonly atPause?: (desk: ChangeDesk) => unknown
  readonly ports?: (desk: ChangeDesk) => Partial<ChangeDesk>
}

const open = (scene: Scene = {}): ChangeDesk => {
  const { fields, held, history, broker = 'do', lag = {}, meanwhile, atPause, ports } = scene
  const desk = createChangeDesk(fields, [openPosition(held)], history)
  desk.positionTrading.next(broker, () => meanwhile?.(desk))
  desk.positionTrading.lagNext(lag)
  const pause: ChangeDesk['pause'] = (ms) => async () => {
    await desk.pause(ms)()
    atPause?.(desk)
  }
  return { ...desk, pause, ...ports?.(desk) }
}

const failing =
  (error: (id: AccountId) => BrokerReadError, reads?: Parameters<FakePositionTrading['fail']>[2]) =>
  ({ account, positionTrading }: ChangeDesk) =>
    positionTrading.fail(account.id, error(account.id), reads)
const limited = (id: AccountId) => brokerRateLimited(id, noon + secondMs, noon)
const goingDown = failing(down)
const healing = ({ account, positionTrading }: ChangeDesk) => positionTrading.heal(account.id)
const hanging = ({ positionTrading }: ChangeDesk) => positionTrading.hold()
/** The second read of the journal is wanted once the close was sent. */
const hangingAfterSend: Scene['ports'] = ({ journal, positionTrading }) => ({
  ...hangingJournal(),
  journal: {
    ...journal,
    wantRead: (...of) =>
      positionTrading.sent().length > 0 ? () => new Promise(() => {}) : journal.wantRead(...of),
  },
})
const hangingJournal = () => ({ synchroniseJournal: () => () => new Promise<never>(() => {}) })
const executing = ({ positionTrading }: ChangeDesk) => positionTrading.execute()
const nowHolding =
  (...positions: readonly Partial<BrokerPosition>[]) =>
  ({ account, positionTrading }: ChangeDesk) =>
    positionTrading.put(account.id, positions.map(openPosition))

/** The deal of the close shows this, and others stand beside it. */
const showing =
  (shown: Partial<BrokerDeal>, ...others: readonly BrokerDeal[]) =>
  ({ account: { id }, positionTrading }: ChangeDesk) => {
    const own = positionTrading.closed(id).map((deal) => ({ ...deal, ...shown }))
    positionTrading.putHistory(id, [...own, ...others])
  }

const mt4 = { brokerType: 'mt4' }
const lost = 'lose_the_request'
const offQuotes = refuse('TradeRejected', { code: 'X', message: 'Off quotes', isDoubted: true })
const bothLevels = { stopLoss: 1.05, takeProfit: 1.5 }

const moveStop = (desk: ChangeDesk, level: number, id = desk.id, by = owner) =>
  createPositionChanges(desk).moveStopLoss({ owner: by }, { id, body: { value: level } })
const moveTarget = (desk: ChangeDesk, level: number, id = desk.id, by = owner) =>
  createPositionChanges(desk).moveTakeProfit({ owner: by }, { id, body: { value: level } })
const close = (desk: ChangeDesk, volume?: number, id = desk.id, by = owner) =>
  createPositionChanges(desk).closePosition(
    { owner: by },
    { id, body: volume === undefined ? {} : { volume }, ...withoutKey },
  )

type Make = (desk: ChangeDesk, id?: string, by?: typeof owner) => TE.TaskEither<Refusal, unknown>
const changes: readonly (readonly [what: string, make: Make])[] = [
  ['a stop loss', (desk, ...of) => moveStop(desk, 1.05, ...of)],
  ['a take profit', (desk, ...of) => moveTarget(desk, 1.5, ...of)],
  ['a close', (desk, ...of) => close(desk, undefined, ...of)],
  ['a close of a part', (desk, ...of) => close(desk, 0.1, ...of)],
]

/** How many reads and changes reached the broker. */
const asked = ({ positionTrading }: ChangeDesk) => [
  positionTrading.calls(),
  positionTrading.sent().length,
]

describe.each(changes)('%s', (_, make) => {
  it('is of no position where the id is malformed, unknown, another’s or of a closed position', async () => {
    const desk = open()
    for (const id of ['nonsense', `${desk.account.id}:`, formatPositionId(newAccountId(), '42')])
      expect(await tagOf(make(desk, id))).toBe('PositionNotFound')
    expect(await tagOf(make(desk, desk.id, stranger))).toBe('PositionNotFound')
    expect(asked(desk)).toEqual([0, 0])
    nowHolding()(desk)
    expect(await tagOf(make(desk))).toBe('PositionNotFound')
    expect(asked(desk)).toEqual([1, 0])
  })

  it.each<[string, Partial<Account>, TradeMode?]>([
    ['AccountPurposeRestricted', { purpose: 'introducing_broker' }],
    ['AccountPurposeRestricted', { purpose: 'trade_copier', tradeMode: 'real' }],
    ['LiveAccountRestricted', { tradeMode: 'contest', brokerType: 'ctrader' }],
    ['LiveAccountRestricted', { tradeMode: null, linkedAsDemo: false }],
    ['UnsupportedBroker', { brokerType: 'ctrader', provider: null }],
    ['NotProvisioned', { provider: null }],
    ['BrokerUnavailable', { tradeMode: null }],
    ['LiveAccountRestricted', { tradeMode: null }, 'real'],
    ['LiveAccountRestricted', { tradeMode: null }, 'unconfirmed'],
    ['none', { tradeMode: null }, 'demo'],
    ['none', { lastReadAt: noon - hourMs + 1 }, 'real'],
    ['LiveAccountRestricted', { lastReadAt: noon - hourMs }, 'real'],
    ['LiveAccountRestricted', { lastReadAt: noon + hourMs }, 'real'],
    ['BrokerUnavailable', { lastReadAt: noon - hourMs }],
    ['none', { lastReadAt: noon - hourMs }, 'demo'],
  ])(
    'ends with %s, before any position is read, on an account with %o whose broker says %s',
    async (outcome, fields, tradeMode) => {
      const desk = open({ fields })
      if (tradeMode === undefined) desk.broker.fail(desk.account.id, down(desk.account.id))
      else desk.broker.put(desk.account.id, { information: informationOf(tradeMode) })
      expect(await tagOf(make(desk))).toBe(outcome)
      expect(asked(desk)).toEqual(outcome === 'none' ? [expect.any(Number), 1] : [0, 0])
      // Positions never come from the cache.
      expect(desk.broker.calls('positions')).toBe(0)
    },
  )

  it.each([down, limited, (accountId: AccountId) => refuse('NotProvisioned', { accountId })])(
    'returns the refusal of the broker, also of the read before it',
    async (refusalOf) => {
      const desk = open({ broker: refusalOf('' as AccountId) })
      expect(await make(desk)()).toEqual(E.left(refusalOf('' as AccountId)))
      expect([asked(desk), desk.held()]).toEqual([[1, 1], openPosition()])
      failing(refusalOf)(desk)
      expect(await make(desk)()).toEqual(E.left(refusalOf(desk.account.id)))
      expect(asked(desk)).toEqual([2, 1])
    },
  )

  it.each<[string, boolean, Scene]>([
    ['TradeRejected', false, { broker: 'refuse' }],
    ['PositionNotFound', true, { broker: refuse('PositionNotFound'), meanwhile: nowHolding() }],
    // Reads may lag behind the broker’s answer.
    ['PositionNotFound', false, { broker: refuse('PositionNotFound') }],
    ['PositionNotFound', false, { broker: refuse('PositionNotFound'), meanwhile: goingDown }],
    ['BrokerOutcomeUnknown', false, { broker: lost }],
    ['BrokerOutcomeUnknown', true, { broker: 'do_and_lose_the_answer', meanwhile: goingDown }],
    ['none', true, { broker: 'do_and_lose_the_answer' }],
  ])('is sent once, and ends with %s (made: %s) where there is %o', async (tag, isMade, scene) => {
    const desk = open(scene)
    expect(await tagOf(make(desk))).toBe(tag)
    expect(desk.positionTrading.sent()).toHaveLength(1)
    expect(JSON.stringify(desk.held()) === JSON.stringify(openPosition())).toBe(!isMade)
  })

  it('is made under the lock of the position, and not sent once that is lost', async () => {
    const locks: unknown[] = []
    const desk = open({
      ports: () => ({
        changeLocks: {
          holding: (account, ticket) => (work) => {
            locks.push([account.providerAccountId, ticket])
            return work(() => false)
          },
        },
      }),
    })
    expect(await tagOf(make(desk))).toBe('BrokerUnavailable')
    expect([locks, asked(desk)]).toEqual([
      [[desk.account.provider?.providerAccountId, '42']],
      [1, 0],
    ])
  })
})

const never = new Promise<never>(() => {})

describe.each(changes)('%s is answered in time where', (what, make) => {
  const notSent = ['BrokerUnavailable', 15_000, 0]
  it.each<[string, Scene, unknown[]]>([
    [
      'the account',
      { fields: { tradeMode: null }, ports: () => ({ liveAccounts: { read: () => () => never } }) },
      notSent,
    ],
    ['the lock', { ports: () => ({ changeLocks: { holding: () => () => () => never } }) }, notSent],
    ['the read before it', { ports: (desk) => (hanging(desk), {}) }, notSent],
    ['the broker’s answer', { meanwhile: () => never }, ['none', 20_000, 1]],
    [
      'the broker’s answer to a request that was lost',
      { broker: lost, meanwhile: () => never },
      ['BrokerOutcomeUnknown', what.includes('close') ? 22_000 : 20_000, 1],
    ],
    [
      'everything after it was sent',
      { meanwhile: (desk) => (hanging(desk), never) },
      ['BrokerOutcomeUnknown', 23_000, 1],
    ],
  ])('%s does not come', async (__, scene, expected) => {
    const desk = open(scene)
    const tag = await tagOf(make(desk))
    expect([tag, desk.clock.now() - noon, desk.positionTrading.sent().length]).toEqual(expected)
  })

  it('its connection does, and then sends nothing later', async () => {
    const desk = open()
    const { promise: connected, resolve: connect } = Promise.withResolvers<void>()
    const wasSent = Promise.withResolvers()
    const dial =
      (_account: unknown, _ticket: unknown, _change: unknown, maySend: MaySend) =>
      async (): Promise<never> => {
        expect(maySend()).toBe(true)
        await connected
        wasSent.resolve(maySend())
        return never
      }
    const dialling = {
      ...desk,
      positionTrading: { ...desk.positionTrading, setLevels: dial, closePosition: dial },
    }
    expect(await tagOf(make(dialling))).toBe('BrokerOutcomeUnknown')
    connect()
    expect(await wasSent.promise).toBe(false)
  })

  it.each<[NonNullable<Scene['broker']>, boolean]>([
    ['do', true],
    ['do_and_lose_the_answer', true],
    [lost, true],
    [refuse('PositionNotFound'), true],
    ['refuse', false],
    [down('a' as AccountId), false],
  ])(
    'the broker answers %j, which may have changed the account: %s',
    async (broker, hasChanged) => {
      const desk = open({ broker })
      await make(desk)()
      expect(desk.changedAccounts).toEqual(hasChanged ? [desk.account.id] : [])
    },
  )

  it('the broker’s answer does not come, and the next waits for that as long as it has time', async () => {
    const answered = Promise.withResolvers<void>()
    const desk = open({ broker: lost, meanwhile: () => answered.promise })
    expect(await tagOf(make(desk))).toBe('BrokerOutcomeUnknown')
    expect(await tagOf(make(desk))).toBe('BrokerUnavailable')
    expect(desk.positionTrading.sent()).toHaveLength(1)
    answered.resolve()
    expect(await tagOf(make(desk))).toBe('none')
  })
})

describe('a stop loss and a take profit', () => {
  it('are sent with the other level of the position, and returned with margin and provenance', async () => {
    const desk = open({ held: bothLevels })
    desk.wait(5)
    expect(await rightOf(moveStop(desk, 1.1))).toEqual({
      data: {
        ...openPosition({ stopLoss: 1.1, takeProfit: 1.5 }),
        accountId: desk.account.id,
        userId: owner.userId,
        marginUsed: expect.closeTo(330),
      },
      provenance: { source: desk.broker.source, accounts: [desk.account.id], readAt: noon + 5 },
    })
    desk.broker.put(desk.account.id, { margin: () => O.none })
    const both = { stopLoss: 1.1, takeProfit: 1.6 }
    expect((await rightOf(moveTarget(desk, 1.6))).data).toMatchObject({
      ...both,
      marginUsed: null,
    })
    expect(desk.positionTrading.sent()).toMatchObject([
      { levels: { ...both, takeProfit: 1.5 } },
      { levels: both },
    ])
  })

  it('are returned without the margin where it takes long', async () => {
    const desk = open()
    const broker = { ...desk.broker, requiredMargin: () => () => never }
    const { data: position } = await rightOf(moveStop({ ...desk, broker }, 1.1))
    expect([position.marginUsed, desk.clock.now() - noon]).toEqual([null, 2_000])
  })

  it('are refused at the price', async () => {
    const desk = open()
    for (const [level, move] of [
      ['stopLoss', moveStop],
      ['takeProfit', moveTarget],
    ] as const)
      expect(await move(desk, 1.2)()).toMatchObject({ left: { _tag: 'InvalidPrice', level } })
    expect(desk.positionTrading.sent()).toEqual([])
  })

  it.each([0, 1, 3])(
    'set at the same time are both kept, also where reads lag by %i',
    async (positions) => {
      const desk = open({ lag: { positions } })
      const moves = [moveStop(desk, 1.05), moveTarget(desk, 1.5)].map(rightOf)
      expect((await Promise.all(moves))[1]?.data).toMatchObject(bothLevels)
      expect(desk.held()).toMatchObject(bothLevels)
    },
  )

  const rounded = { stopLoss: 1.100_04, takeProfit: 1.5, currentPrice: 1.20007 }
  const shown = { ...bothLevels, stopLoss: 1.1 }
  it.each<[string, Scene, Partial<BrokerPosition> | 'unknown', number, number?]>([
    ['confirmed and rounded', { meanwhile: nowHolding(rounded) }, rounded, 0],
    ['confirmed and never shown', { lag: { positions: 1_000 } }, shown, 2_000, 1_750],
    ['confirmed and shown late', { lag: { positions: 2 } }, shown, 500, 500],
    ['confirmed and gone', { meanwhile: nowHolding() }, shown, 0],
    ['confirmed and not readable', { meanwhile: goingDown }, shown, 2_000],
    ['confirmed and not to be read for a while', { meanwhile: failing(limited) }, shown, 0],
    ['confirmed and a read never ends', { meanwhile: hanging }, shown, 2_000],
    ['said to be unchanged', { broker: 'unchanged' }, bothLevels, 0],
    ['accepted and shown', { broker: 'accept', atPause: executing }, shown, 250, 250],
    ['accepted and never shown', { broker: 'accept' }, 'unknown', 2_000],
    ['accepted and gone', { broker: 'accept', meanwhile: nowHolding() }, 'unknown', 0],
    ['unanswered and as asked', { broker: lost, meanwhile: nowHolding(shown) }, shown, 0],
    ['unanswered and the old one', { broker: lost }, 'unknown', 0],
    // The new level may be what closed it.
    ['unanswered, position gone', { broker: lost, meanwhile: nowHolding() }, 'unknown', 0],
  ])('when %s', async (_, scene, expected, waitedMs, readAt = 0) => {
    const desk = open({ held: bothLevels, ...scene })
    expect(await moveStop(desk, expected === rounded ? 1.100_042 : 1.1)()).toMatchObject(
      expected === 'unknown'
        ? E.left(refuse('BrokerOutcomeUnknown', { accountId: desk.account.id }))
        : E.right({ data: expected, provenance: { readAt: noon + readAt } }),
    )
    expect([desk.clock.now() - noon, desk.positionTrading.sent().length]).toEqual([waitedMs, 1])
  })
})

it('changes both levels of a position at once, and removes one', async () => {
  const desk = createChangeDesk({}, [openPosition(bothLevels)])
  const change = (levels: LevelsChange) =>
    rightOf(
      createPositionChanges(desk).changePositionLevels({ owner }, { id: desk.id, body: levels }),
    )
  await change({ stopLoss: 1.1, takeProfit: 1.6 })
  expect(desk.held()).toMatchObject({ stopLoss: 1.1, takeProfit: 1.6 })
  expect((await change({ stopLoss: null })).data).not.toHaveProperty('stopLoss')
  expect(desk.held()).toEqual(openPosition({ takeProfit: 1.6 }))
  expect(desk.positionTrading.sent()).toHaveLength(2)
})

const closeAll = (desk: ChangeDesk, selection: object = {}, guard = withoutKey, by = owner) =>
  createPositionChanges(desk).closePositions(
    { owner: by },
    { body: { accountId: desk.account.id, ...selection }, ...guard },
  )

describe('several closes', () => {
  const positions = [
    { ticket: '1', symbol: 'EURUSD', side: 'buy', unrealizedPnl: 5 },
    { ticket: '2', symbol: 'GBPUSD.r', side: 'sell', unrealizedPnl: -5 },
    { ticket: '3', symbol: 'xauusd', side: 'buy', unrealizedPnl: 0 },
    { ticket: '4', symbol: 'XAUUSD', side: 'sell', unrealizedPnl: 7 },
    { ticket: '5', symbol: 'btcusd', side: 'buy', unrealizedPnl: 0 },
    { ticket: '6', symbol: 'ethusd', side: 'buy', unrealizedPnl: 0 },
  ] as unknown as readonly BrokerPosition[]
  const several = (isListRead = true) => ({
    ...createChangeDesk({}, positions.map(openPosition)),
    resolveOrderSymbol: (_: BrokerAccount, symbol: string) =>
      symbol === 'US30'
        ? TE.left(refuse('SymbolAmbiguous', { symbol, candidates: ['US30.a', 'US30.b'] }))
        : TE.right(
            isListRead
              ? {
                  spelling: symbol === 'GBPUSD' ? 'GBPUSD.r' : symbol,
                  isListed: symbol !== 'ETHUSD',
                }
              : undefined,
          ),
  })
  it.each([
    ['all', {}, ['1', '2', '3', '4', '5', '6']],
    ['a symbol, and of no other that differs in case', { symbol: 'XAUUSD' }, ['4']],
    ['a listed symbol that is not held', { symbol: 'BTCUSD' }, []],
    ['a symbol that is not listed, in whatever case', { symbol: 'ETHUSD' }, ['6']],
    ['a symbol that the broker writes with a suffix', { symbol: 'GBPUSD' }, ['2']],
    ['a side', { side: 'sell' }, ['2', '4']],
    ['those in profit', { only: 'profit' }, ['1', '4']],
    ['those at a loss', { only: 'loss' }, ['2']],
    ['what matches everything', { side: 'sell', only: 'profit' }, ['4']],
    ['nothing', { symbol: 'NZDUSD' }, []],
  ])('are of %s, each once and in the order of age', async (_, selection, tickets) => {
    const desk = several()
    const attempts = await rightOf(closeAll(desk, selection))
    expect(attempts.map(({ ticket, result }) => [ticket, result])).toMatchObject(
      tickets.map((ticket) => [ticket, E.right({ ticket, remainingVolume: 0 })]),
    )
    expect(
      desk.positionTrading
        .sent()
        .map(({ ticket }) => ticket)
        .toSorted(),
    ).toEqual(tickets)
  })

  it('are of a symbol that is held as it was written, or refused, where the list of symbols cannot be read', async () => {
    const desk = several(false)
    expect(await tagOf(closeAll(desk, { symbol: 'GBPUSD' }))).toBe('BrokerUnavailable')
    expect(await tagOf(closeAll(desk, { symbol: 'BTCUSD' }))).toBe('BrokerUnavailable')
    expect(await rightOf(closeAll(desk, { symbol: 'EURUSD' }))).toMatchObject([{ ticket: '1' }])
  })

  it('are made whatever becomes of one of them, and begin their key once', async () => {
    const desk = several()
    desk.positionTrading.next('refuse')
    let begun = 0
    const guard = { begin: TE.fromIO(() => void (begun += 1)) }
    const attempts = await rightOf(closeAll(desk, {}, guard))
    expect(attempts.map(({ result }) => result)).toMatchObject([
      E.left({ _tag: 'TradeRejected' }),
      ...Array(5).fill(E.right({ remainingVolume: 0 })),
    ])
    expect(begun).toBe(1)
  })

  it('are none where the account has no position', async () => {
    expect(await rightOf(closeAll(createChangeDesk({}, [])))).toEqual([])
  })

  it('are all made, however long the broker takes for each', async () => {
    const nine = times(9, (index) => openPosition({ ticket: `${index + 1}` as Ticket }))
    const desk = createChangeDesk({}, nine)
    const positionTrading: FakePositionTrading = {
      ...desk.positionTrading,
      closePosition: (...close) =>
        pipe(
          TE.fromTask(desk.pause(9 * secondMs)),
          TE.flatMap(() => desk.positionTrading.closePosition(...close)),
        ),
    }
    const attempts = await rightOf(closeAll({ ...desk, positionTrading }))
    expect(attempts.map(({ result }) => result._tag)).toEqual(Array(9).fill('Right'))
  })

  it('send nothing for a stranger, for a symbol that could mean several, on an account that may not be traded, or with a key that is taken', async () => {
    const desk = several()
    const taken = { begin: TE.left(refuse('IdempotencyInProgress')) }
    expect(await tagOf(closeAll(desk, {}, withoutKey, stranger))).toBe('AccountNotFound')
    expect(await tagOf(closeAll(desk, {}, taken))).toBe('IdempotencyInProgress')
    expect(await tagOf(closeAll(desk, { symbol: 'US30' }))).toBe('SymbolAmbiguous')
    expect(desk.positionTrading.sent()).toEqual([])
    const introducing = createChangeDesk({ purpose: 'introducing_broker' }, [openPosition()])
    expect(await tagOf(closeAll(introducing))).toBe('AccountPurposeRestricted')
    expect(introducing.positionTrading.sent()).toEqual([])
  })
})

describe('POST /positions/:id/close', () => {
  it.each([undefined, 0.3, 0.1 + 0.2])('closes all for %s', async (volume) => {
    const desk = open()
    desk.wait(7)
    expect(await rightOf(close(desk, volume))).toEqual({
      data: {
        accountId: desk.account.id,
        ticket: '42',
        brokerOrderId: '1001',
        closedVolume: 0.3,
        remainingVolume: 0,
        closePrice: 1.2,
        realizedPnl: 30,
        closedAt: noon + 7,
      },
      provenance: { source: desk.broker.source, accounts: [desk.account.id], readAt: noon + 7 },
    })
    expect(desk.positionTrading.sent()).toMatchObject([{ ticket: '42', volume: null }])
    expect([desk.held(), desk.clock.now()]).toEqual([undefined, noon + 7])
  })

  it('closes parts exactly, one after the other, each of what is left', async () => {
    const desk = open({ lag: { positions: 3 } })
    const closes = await Promise.all([0.1, 0.15, undefined].map((of) => rightOf(close(desk, of))))
    expect(
      closes.map(({ data: { closedVolume, remainingVolume, realizedPnl } }) => [
        closedVolume,
        remainingVolume,
        realizedPnl,
      ]),
    ).toEqual([
      [0.1, 0.2, 10],
      [0.15, 0.05, 15],
      [0.05, 0, 5],
    ])
  })

  it('schedules a read of the journal before it is sent, and is not sent where that fails or it closes too much', async () => {
    const wanted: unknown[] = []
    await rightOf(
      close(open({ meanwhile: (desk) => wanted.push(...desk.positionTrading.wanted()) })),
    )
    expect(wanted).toEqual([10 * secondMs, 60 * secondMs])
    const desk = open({
      ports: ({ journal }) => ({ journal: { ...journal, wantRead: unavailable } }),
    })
    expect(await tagOf(close(desk))).toBe('ServiceUnavailable')
    expect(await tagOf(close(desk, 0.31))).toBe('InvalidVolume')
    expect(desk.positionTrading.sent()).toEqual([])
  })

  /** On MT4 every close has the number of its position. */
  const earlier: BrokerDeal = {
    id: '9',
    kind: 'sell',
    side: 'sell',
    entry: 'out',
    orderId: '42',
    positionId: '42',
    volume: 0.1,
    price: 1.1,
    profit: 7,
    commission: 0,
    swap: 0,
    time: noon,
  }
  const another = { ...earlier, orderId: '77' }
  const { volume: _, ...withoutVolume } = another
  const history = [earlier]
  const never = { deals: 1_000 }
  const unnumbered = 'do_without_number'
  const journalLimited = failing(limited, ['synchroniseJournal'])
  let searches = 0
  const unsearchable: Scene['ports'] = ({ journal }) => ({
    journal: {
      ...journal,
      closingDeals: (...which) =>
        (searches += 1) < 3 ? unavailable() : journal.closingDeals(...which),
    },
  })

  type Closed = readonly [closed: number, left: number, pnl: number | null, waitedMs: number]
  it.each<[string, Scene, number, Closed | 'unknown', number?]>([
    ['done in half of a part', { broker: 'do_half' }, 0.2, [0.1, 0.2, 10, 2_000], 1_750],
    [
      'done while another adds to the rest',
      { meanwhile: nowHolding({ volume: 0.7 }) },
      0.1,
      [0.1, 0.7, 10, 2_000],
      1_750,
    ],
    [
      'accepted and done in two parts',
      { broker: 'do_half', atPause: nowHolding({ volume: 0.1 }) },
      0.2,
      [0.2, 0.1, null, 2_000],
      250,
    ],
    [
      'accepted while another adds',
      { broker: 'accept', meanwhile: nowHolding({ volume: 0.7 }) },
      0.1,
      'unknown',
    ],
    [
      'accepted of all while another closes a part',
      { broker: 'accept', meanwhile: nowHolding({ volume: 0.29 }) },
      0.3,
      'unknown',
    ],
    [
      'done of all, to which another had added',
      { meanwhile: showing({ volume: 0.5 }) },
      0.3,
      [0.5, 0, 30, 0],
    ],
    [
      'done of all, its deals not all shown',
      { meanwhile: showing({ volume: 0.2 }) },
      0.3,
      [0.3, 0, null, 2_000],
    ],
    [
      'done of all, of which another closed a part',
      { meanwhile: showing({ volume: 0.2, profit: 20 }, another) },
      0.3,
      [0.2, 0, 20, 0],
    ],
    [
      'done of all, of which another closed a part, and opened the other side',
      {
        meanwhile: (desk) => (
          showing({ volume: 0.2 }, another)(desk),
          nowHolding({ ticket: '1001' as Ticket, side: 'sell' })(desk)
        ),
      },
      0.3,
      'unknown',
    ],
    [
      'done of all, its deals not all shown, after a close without a volume',
      { meanwhile: showing({ volume: 0.1 }, withoutVolume) },
      0.3,
      [0.3, 0, null, 2_000],
    ],
    [
      'done, and reversed the rest that another left',
      { meanwhile: showing({ entry: 'inout' }) },
      0.3,
      'unknown',
    ],
    ['done, and shown late', { lag: { positions: 2 } }, 0.1, [0.1, 0.2, 10, 500], 500],
    [
      'done of a part, and no position is shown',
      { meanwhile: nowHolding() },
      0.1,
      [0.1, 0.2, 10, 2_000],
    ],
    [
      'done of a part of the only position, of which another closed the rest',
      {
        meanwhile: (desk) => (showing({}, { ...another, volume: 0.2 })(desk), nowHolding()(desk)),
      },
      0.1,
      [0.1, 0, 10, 2_000],
      1_750,
    ],
    ['done, its deal shown late', { lag: { deals: 5 } }, 0.3, [0.3, 0, 30, 1_250]],
    ['done, its deal never shown', { lag: never }, 0.3, [0.3, 0, null, 2_000]],
    ['done, and every read hangs', { meanwhile: hanging }, 0.1, [0.1, 0.2, null, 2_000]],
    ['done, and its database hangs', { ports: hangingAfterSend }, 0.3, [0.3, 0, null, 2_000]],
    [
      'done, and nothing is readable at first',
      { meanwhile: goingDown, atPause: healing },
      0.1,
      [0.1, 0.2, 10, 250],
      250,
    ],
    ['done, and the journal must wait', { meanwhile: journalLimited }, 0.1, [0.1, 0.2, null, 0]],
    ['done, and not searchable at first', { ports: unsearchable }, 0.1, [0.1, 0.2, 10, 500]],
    ['done on MT4', { fields: mt4 }, 0.3, [0.3, 0, 30, 0]],
    ['done on MT4 after another', { fields: mt4, history }, 0.1, [0.1, 0.2, 10, 0]],
    [
      'done on MT4, another closed meanwhile',
      { fields: mt4, meanwhile: showing({}, earlier) },
      0.1,
      [0.1, 0.2, null, 2_000],
    ],
    [
      'done of all on MT4, of which another had closed a part',
      { fields: mt4, meanwhile: showing({ volume: 0.2 }, { ...earlier, volume: 0.1 }) },
      0.3,
      [0.3, 0, null, 0],
    ],
    [
      'done on MT4, and the journal hangs',
      { fields: mt4, ports: hangingJournal },
      0.1,
      [0.1, 0.2, null, 500],
      500,
    ],
    [
      'done on MT4, the rest not found, and the old number has a trade of what was closed',
      {
        fields: mt4,
        meanwhile: (desk) => (
          showing({}, { ...another, volume: 0.2 })(desk),
          nowHolding({ ticket: '43' as Ticket, symbol: 'GBPUSD' })(desk)
        ),
      },
      0.1,
      [0.1, 0.2, 10, 2_000],
    ],
    [
      'done on MT4, the rest not found',
      { fields: mt4, meanwhile: nowHolding({ ticket: '43' as Ticket, symbol: 'GBPUSD' }) },
      0.1,
      [0.1, 0.2, 10, 2_000],
    ],
    ['accepted and shown', { broker: 'accept', atPause: executing }, 0.1, [0.1, 0.2, 10, 250], 250],
    ['unanswered, no position shown', { broker: lost, meanwhile: nowHolding() }, 0.3, 'unknown'],
    [
      'unanswered, no position shown, its deal shown late',
      { broker: 'do_and_lose_the_answer', lag: { deals: 5 } },
      0.3,
      [0.3, 0, null, 1_250],
    ],
    [
      'unanswered, another position shown',
      { broker: lost, meanwhile: nowHolding({ ticket: '43' as Ticket }) },
      0.3,
      [0.3, 0, null, 0],
    ],
    ['unanswered, nothing gone', { broker: lost }, 0.3, 'unknown'],
    ['without its answer', { broker: 'do_and_lose_the_answer' }, 0.1, [0.1, 0.2, null, 0]],
    [
      'refused so that it may be made, unread',
      { broker: offQuotes, meanwhile: goingDown },
      0.1,
      'unknown',
    ],
    [
      'refused so that it may be made, of all and a part is gone',
      { broker: offQuotes, meanwhile: nowHolding({ volume: 0.2 }) },
      0.3,
      'unknown',
    ],
    [
      'done, and on the other side',
      { broker: unnumbered, meanwhile: nowHolding({ volume: 0.2, side: 'sell' }) },
      0.1,
      'unknown',
    ],
    [
      'done, its deal shown, and on the other side',
      { meanwhile: nowHolding({ volume: 0.2, side: 'sell' }) },
      0.1,
      [0.1, 0.2, 10, 2_000],
    ],
    [
      'refused so that it may be made, as it was, and shown late',
      { broker: offQuotes, atPause: nowHolding({ volume: 0.2 }) },
      0.1,
      [0.1, 0.2, null, 250],
      250,
    ],
    [
      'without its answer on MT4',
      { broker: 'do_and_lose_the_answer', fields: mt4 },
      0.1,
      [0.1, 0.2, null, 0],
    ],
  ])('is %s', async (_, scene, lots, expected, readAt = 0) => {
    const desk = open(scene)
    const { positionTrading, account } = desk
    const outcome = await close(desk, lots)()
    if (E.isLeft(outcome)) {
      expect(outcome).toEqual(E.left(refuse('BrokerOutcomeUnknown', { accountId: account.id })))
      expect(expected).toBe('unknown')
    } else {
      const { data: closed, provenance } = outcome.right
      const { closedVolume, remainingVolume, realizedPnl, remainingTicket } = closed
      const waitedMs = desk.clock.now() - noon
      expect([closedVolume, remainingVolume, realizedPnl, waitedMs]).toEqual(expected)
      expect(provenance.readAt).toBe(noon + readAt)
      // On MT4 what is left has a new number.
      const rest = positionTrading
        .positions(account.id)
        .find(({ symbol }) => remainingVolume > 0 && symbol === openPosition().symbol)
      expect(remainingTicket).toBe(rest?.ticket === '42' ? undefined : rest?.ticket)
      if (closed.brokerOrderId === null && remainingVolume > 0)
        expect(positionTrading.calls('synchroniseJournal')).toBe(scene.fields === mt4 ? 1 : 0)
    }
    expect(positionTrading.sent()).toHaveLength(1)
    expect(positionTrading.wanted()).toEqual([10 * secondMs, 60 * secondMs])
    expect(desk.changedAccounts).toEqual([account.id])
  })
})
