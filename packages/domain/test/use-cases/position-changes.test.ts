// Changes of open positions: who may make them, what is sent, and what is returned whatever the
// broker does and shows.
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import { describe, expect, it } from 'vitest'
import type { Account, BrokerAccount, TradeMode } from '../../src/accounts/account.ts'
import { brokerRateLimited, refuse, type Refusal } from '../../src/errors.ts'
import type { BrokerDeal } from '../../src/journal/broker-deal.ts'
import { withoutKey, type LevelsReceipt } from '../../src/ports/index.ts'
import type { LevelsChange } from '../../src/positions/levels.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import {
  formatPositionId,
  type AccountId,
  type Owner,
  type UserId,
} from '../../src/primitives/ids.ts'
import { minuteMs, secondMs } from '../../src/primitives/instant.ts'
import {
  closingDealsOf,
  fakeChangeRefusal,
  newAccountId,
  openPosition,
  type FakeChangeOutcome,
} from '@tradeport/testkit'
import { createPositionChanges, type ClosedPosition } from '../../src/use-cases/position-changes.ts'
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

const bothLevels = { stopLoss: 1.05, takeProfit: 1.5 }
const mt4 = { brokerType: 'mt4' }

const moveStop = (desk: ChangeDesk, level: number, id = desk.id, by = owner) =>
  createPositionChanges(desk).changeLevels({ owner: by }, id, { stopLoss: level })
const moveTarget = (desk: ChangeDesk, level: number, id = desk.id, by = owner) =>
  createPositionChanges(desk).changeLevels({ owner: by }, id, { takeProfit: level })
const close = (desk: ChangeDesk, volume?: number, id = desk.id, by = owner) =>
  createPositionChanges(desk).closePosition({ owner: by }, id, volume, withoutKey)

const closedOf = async (desk: ChangeDesk, volume?: number): Promise<ClosedPosition> =>
  (await rightOf(close(desk, volume))).closed

const volumesOf = ({ closedVolume, remainingVolume }: ClosedPosition): readonly number[] => [
  closedVolume,
  remainingVolume,
]
const fillOf = ({ closePrice, realizedPnl, closedAt }: ClosedPosition): readonly unknown[] => [
  closePrice,
  realizedPnl,
  closedAt,
]
const notFound = [null, null, null]

/**
 * The same desk where something else happens right after the broker has been sent a change, and
 * before its answer arrives.
 */
const meanwhile = (desk: ChangeDesk, happen: (desk: ChangeDesk) => unknown): ChangeDesk => {
  const { setLevels, closePosition } = desk.positionTrading
  const afterwards =
    <A>(sending: () => Promise<A>) =>
    async (): Promise<A> => {
      const answer = await sending()
      happen(desk)
      return answer
    }
  return {
    ...desk,
    positionTrading: {
      ...desk.positionTrading,
      setLevels: (...change) => afterwards(setLevels(...change)),
      closePosition: (...change) => afterwards(closePosition(...change)),
    },
  }
}

const goingDown = ({ account, positionTrading }: ChangeDesk): void =>
  positionTrading.fail(account.id, down(account.id))
const nowHolding =
  (...positions: readonly Partial<BrokerPosition>[]) =>
  ({ account, positionTrading }: ChangeDesk): void =>
    positionTrading.put(account.id, positions.map(openPosition))

/** A desk whose next change meets `outcome`, after which `happen` happens. */
const meeting = (
  outcome: FakeChangeOutcome,
  happen: (desk: ChangeDesk) => unknown = () => undefined,
  held: Partial<BrokerPosition> = {},
  fields: Partial<Account> = {},
): ChangeDesk => {
  const desk = createChangeDesk(fields, [openPosition(held)])
  desk.positionTrading.next(outcome)
  return meanwhile(desk, happen)
}

/** A desk on which something happens at every pause. */
const pausing = (desk: ChangeDesk, happen: () => void): ChangeDesk => ({
  ...desk,
  pause: (ms) => async () => {
    await desk.pause(ms)()
    happen()
  },
})

/** A desk whose broker does what it accepted at the first pause. */
const executing = (held: Partial<BrokerPosition> = {}): ChangeDesk => {
  const desk = meeting('accept', undefined, held)
  return pausing(desk, desk.positionTrading.execute)
}

/** A desk whose reads lag behind the next change. */
const lagging = (
  lag: Parameters<ChangeDesk['positionTrading']['lagNext']>[0],
  held: Partial<BrokerPosition> = {},
): ChangeDesk => {
  const desk = createChangeDesk({}, [openPosition(held)])
  desk.positionTrading.lagNext(lag)
  return desk
}

const limited = ({ account, positionTrading }: ChangeDesk): void =>
  positionTrading.fail(account.id, brokerRateLimited(account.id, noon + secondMs, noon))

const hanging = (desk: ChangeDesk): ChangeDesk => ({
  ...desk,
  synchroniseJournal: () => () => new Promise(() => {}),
})

/** How many reads and changes reached the broker. */
const asked = ({ positionTrading }: ChangeDesk): readonly number[] => [
  positionTrading.reads(),
  positionTrading.sent().length,
]

const unknown = ({ account }: ChangeDesk) =>
  E.left(refuse('BrokerOutcomeUnknown', { accountId: account.id }))

/** Another user's link to the same account at the provider. */
const otherLink = ({ account }: ChangeDesk): BrokerAccount => ({
  accountId: newAccountId(),
  owner: { ...account.owner, userId: 'user-of-the-other-link' as UserId },
  platform: 'mt5',
  region: null,
  providerAccountId: account.provider?.providerAccountId ?? '',
})

type Make = (desk: ChangeDesk, id?: string, by?: Owner) => TE.TaskEither<Refusal, unknown>

const changes: readonly (readonly [what: string, make: Make])[] = [
  ['a stop loss', (desk, id, by) => moveStop(desk, 1.05, id, by)],
  ['a take profit', (desk, id, by) => moveTarget(desk, 1.5, id, by)],
  ['a close', (desk, id, by) => close(desk, undefined, id, by)],
  ['a close of a part', (desk, id, by) => close(desk, 0.1, id, by)],
]

describe.each(changes)('%s', (_, make) => {
  it('finds no position where the id is malformed, or of an unknown account or another’s, and does not call the broker', async () => {
    const desk = createChangeDesk()
    for (const id of ['nonsense', `${desk.account.id}:`, formatPositionId(newAccountId(), '42')])
      expect(await tagOf(make(desk, id))).toBe('PositionNotFound')
    expect(await tagOf(make(desk, desk.id, stranger))).toBe('PositionNotFound')
    expect(asked(desk)).toEqual([0, 0])
  })

  it.each<[tag: string, fields: Partial<Account>, tradeMode?: TradeMode]>([
    ['AccountPurposeRestricted', { purpose: 'introducing_broker' }],
    ['AccountPurposeRestricted', { purpose: 'trade_copier', tradeMode: 'real' }],
    ['LiveAccountRestricted', { tradeMode: 'contest', brokerType: 'ctrader' }],
    ['LiveAccountRestricted', { tradeMode: null, linkedAsDemo: false }],
    ['UnsupportedBroker', { brokerType: 'ctrader', provider: null }],
    ['NotProvisioned', { provider: null }],
    ['LiveAccountRestricted', { tradeMode: null }, 'real'],
    ['LiveAccountRestricted', { tradeMode: null }, 'unconfirmed'],
    ['BrokerUnavailable', { tradeMode: null }],
  ])(
    'is refused by %s on an account with %o whose broker says %s, and does not read positions',
    async (tag, fields, tradeMode) => {
      const desk = createChangeDesk(fields)
      if (tradeMode === undefined) desk.broker.fail(desk.account.id, down(desk.account.id))
      else
        desk.broker.put(desk.account.id, {
          information: informationOf(tradeMode),
        })
      expect(await tagOf(make(desk))).toBe(tag)
      expect(asked(desk)).toEqual([0, 0])
    },
  )

  it('is made on an account that was never read once its broker calls it a demo account, without any cache', async () => {
    const desk = createChangeDesk({ tradeMode: null })
    await rightOf(make(desk))
    expect([
      desk.broker.calls('accountInformation'),
      desk.broker.calls('positions'),
      desk.positionTrading.sent().length,
    ]).toEqual([1, 0, 1])
  })

  it.each([
    down,
    (accountId: AccountId) => refuse('NotProvisioned', { accountId }),
    (id: AccountId) => brokerRateLimited(id, noon + 1, noon),
    () => refuse('PositionNotFound'),
  ])(
    'is not sent where the position cannot be read, and returns the broker’s refusal',
    async (refusalOf) => {
      const desk = createChangeDesk()
      const refusal = refusalOf(desk.account.id)
      desk.positionTrading.next(refusal)
      expect(await make(desk)()).toEqual(E.left(refusal))
      expect([asked(desk), desk.held()]).toEqual([[1, 1], openPosition()])
      if (refusal._tag === 'PositionNotFound') desk.positionTrading.put(desk.account.id, [])
      else desk.positionTrading.fail(desk.account.id, refusal)
      expect(await make(desk)()).toEqual(E.left(refusal))
      expect(asked(desk)).toEqual([2, 1])
    },
  )

  it('is rejected with the broker’s code and message', async () => {
    const desk = meeting('refuse')
    expect(await make(desk)()).toEqual(E.left({ _tag: 'TradeRejected', ...fakeChangeRefusal }))
    expect(desk.held()).toEqual(openPosition())
  })

  it.each([
    ['the request was lost', 'lose_the_request', undefined],
    ['the answer was lost and the read fails', 'do_and_lose_the_answer', goingDown],
  ] as const)('is unknown where %s, and is not sent again', async (__, outcome, happen) => {
    const desk = meeting(outcome, happen)
    expect(await make(desk)()).toEqual(unknown(desk))
    expect(asked(desk)).toEqual([2, 1])
  })

  it('is done where only the answer was lost, which one read shows', async () => {
    const desk = meeting('do_and_lose_the_answer')
    await rightOf(make(desk))
    expect(desk.positionTrading.sent()).toHaveLength(1)
    expect(desk.held()).not.toEqual(openPosition())
  })

  it('is not begun while a change through another link to the account locks the position for too long', async () => {
    const desk = createChangeDesk()
    const { positionLocks } = desk
    const { promise: otherChange, resolve: endOtherChange } =
      Promise.withResolvers<E.Either<never, void>>()
    const held = positionLocks.holding(
      otherLink(desk),
      openPosition().ticket,
    )(() => () => otherChange)()
    const refused = tagOf(make(desk))
    await setImmediate()
    desk.wait(minuteMs)
    positionLocks.tick()
    expect(await refused).toBe('InternalTimeout')
    expect(asked(desk)).toEqual([0, 0])
    endOtherChange(E.right(undefined))
    await held
  })

  it('is not sent once its lock is lost, when another change may be made', async () => {
    const desk = createChangeDesk()
    const { account, positionTrading, positionLocks } = desk
    const resume = positionTrading.hold()
    const changing = make({
      ...desk,
      positionLocks: { ...positionLocks, ...positionLocks.dying },
    })()
    await expect.poll(() => asked(desk)).toEqual([1, 0])
    desk.wait(minuteMs)
    positionLocks.tick()
    await rightOf(
      positionLocks.holding(otherLink(desk), openPosition().ticket)(() => TE.right('changed')),
    )
    resume()
    expect(await changing).toMatchObject({
      left: { _tag: 'BrokerUnavailable', accountId: account.id },
    })
    expect([asked(desk), desk.held()]).toEqual([[1, 0], openPosition()])
  })
})

describe('a stop loss and a take profit', () => {
  it('are sent with the other level of the position, and returned with margin and provenance', async () => {
    const desk = createChangeDesk({}, [openPosition(bothLevels)])
    desk.wait(5)
    const moved = await rightOf(moveStop(desk, 1.1))
    expect(moved).toEqual({
      position: {
        ...openPosition({ stopLoss: 1.1, takeProfit: 1.5 }),
        accountId: desk.account.id,
        userId: owner.userId,
        marginUsed: expect.closeTo(330),
      },
      provenance: { source: desk.broker.source, accounts: [desk.account.id], readAt: noon + 5 },
    })
    desk.broker.put(desk.account.id, { margin: () => O.none })
    expect((await rightOf(moveTarget(desk, 1.6))).position).toMatchObject({
      stopLoss: 1.1,
      takeProfit: 1.6,
      marginUsed: null,
    })
    const sent = { kind: 'setLevels', accountId: desk.account.id, ticket: '42' }
    expect(desk.positionTrading.sent()).toEqual([
      { ...sent, levels: { stopLoss: 1.1, takeProfit: 1.5 } },
      { ...sent, levels: { stopLoss: 1.1, takeProfit: 1.6 } },
    ])
    const bare = createChangeDesk()
    await rightOf(moveStop(bare, 1.05))
    expect(bare.held()).toEqual(openPosition({ stopLoss: 1.05 }))
  })

  it.each(['buy', 'sell'] as const)(
    'are refused on the wrong side of the price of a %s, and at it',
    async (side) => {
      const desk = createChangeDesk({}, [openPosition({ side })])
      const [lower, higher] = side === 'buy' ? [1.1, 1.3] : [1.3, 1.1]
      for (const [move, level, values] of [
        [moveStop, 'stopLoss', [1.2, higher]],
        [moveTarget, 'takeProfit', [1.2, lower]],
      ] as const)
        for (const value of values)
          expect(await move(desk, value)()).toEqual(
            E.left({ _tag: 'InvalidPrice', level, side, value, currentPrice: 1.2 }),
          )
      expect(desk.positionTrading.sent()).toEqual([])
      await rightOf(moveStop(desk, lower))
      expect(desk.held()).toMatchObject({ stopLoss: lower })
    },
  )

  it.each([0, 1, 3])(
    'set at the same time are both kept, also where reads lag by %i',
    async (positions) => {
      const desk = createChangeDesk()
      desk.positionTrading.lagNext({ positions })
      const [stop, target] = await Promise.all([
        rightOf(moveStop(desk, 1.05)),
        rightOf(moveTarget(desk, 1.5)),
      ])
      expect(desk.held()).toMatchObject(bothLevels)
      expect(stop.position).not.toHaveProperty('takeProfit')
      expect(target.position).toMatchObject(bothLevels)
    },
  )
})

it('changes both levels of a position at once, and removes one', async () => {
  const desk = createChangeDesk({}, [openPosition(bothLevels)])
  const change = (levels: LevelsChange) =>
    rightOf(createPositionChanges(desk).changeLevels({ owner }, desk.id, levels))
  await change({ stopLoss: 1.1, takeProfit: 1.6 })
  expect(desk.held()).toMatchObject({ stopLoss: 1.1, takeProfit: 1.6 })
  expect((await change({ stopLoss: null })).position).not.toHaveProperty('stopLoss')
  expect(desk.held()).toEqual(openPosition({ takeProfit: 1.6 }))
  expect(desk.positionTrading.sent()).toHaveLength(2)
})

const closeAll = (
  desk: ChangeDesk,
  selection: object = {},
  guard = withoutKey,
  by: Owner = owner,
) =>
  createPositionChanges(desk).closePositions(
    { owner: by },
    { accountId: desk.account.id, ...selection },
    guard,
  )

describe('several closes', () => {
  const positions = [
    { ticket: '1', symbol: 'EURUSD', side: 'buy', unrealizedPnl: 5 },
    { ticket: '2', symbol: 'EURUSD.r', side: 'sell', unrealizedPnl: -5 },
    { ticket: '3', symbol: 'xauusd', side: 'buy', unrealizedPnl: 0 },
    { ticket: '4', symbol: 'XAUUSD', side: 'sell', unrealizedPnl: 7 },
  ] as unknown as readonly BrokerPosition[]
  const several = () => createChangeDesk({}, positions.map(openPosition))
  it.each<[what: string, selection: object, tickets: readonly string[]]>([
    ['all', {}, ['1', '2', '3', '4']],
    ['a symbol, however the broker writes it', { symbol: 'XAUUSD' }, ['3', '4']],
    ['a side', { side: 'sell' }, ['2', '4']],
    ['those in profit', { only: 'profit' }, ['1', '4']],
    ['those at a loss', { only: 'loss' }, ['2']],
    ['what matches everything', { side: 'sell', only: 'profit' }, ['4']],
    ['nothing', { symbol: 'GBPUSD' }, []],
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

  it('are made whatever becomes of one of them, and begin their key once', async () => {
    const desk = several()
    desk.positionTrading.next('refuse')
    let begun = 0
    const guard = { begin: TE.fromIO(() => void (begun += 1)) }
    const attempts = await rightOf(closeAll(desk, {}, guard))
    expect(attempts.map(({ result }) => result)).toMatchObject([
      E.left(fakeChangeRefusal),
      ...Array(3).fill(E.right({ remainingVolume: 0 })),
    ])
    expect(begun).toBe(1)
  })

  it('send nothing for a stranger, on an account that may not be traded, or with a key that is taken', async () => {
    const desk = several()
    const taken = { begin: TE.left(refuse('IdempotencyInProgress')) }
    expect(await tagOf(closeAll(desk, {}, withoutKey, stranger))).toBe('AccountNotFound')
    expect(await tagOf(closeAll(desk, {}, taken))).toBe('IdempotencyInProgress')
    expect(desk.positionTrading.sent()).toEqual([])
    const introducing = createChangeDesk({ purpose: 'introducing_broker' }, [openPosition()])
    expect(await tagOf(closeAll(introducing))).toBe('AccountPurposeRestricted')
    expect(introducing.positionTrading.sent()).toEqual([])
  })
})

/** A broker that does what it does, and then says this of it. */
const saying = (desk: ChangeDesk, progress: LevelsReceipt['progress']): ChangeDesk => {
  const { setLevels } = desk.positionTrading
  const said: typeof setLevels =
    (...change) =>
    async () => (await setLevels(...change)(), E.right({ progress }))
  return { ...desk, positionTrading: { ...desk.positionTrading, setLevels: said } }
}

describe('a level', () => {
  const rounded = { stopLoss: 1.100_04, takeProfit: 1.5, currentPrice: 1.20007 }
  const shown = { ...bothLevels, stopLoss: 1.1 }
  const healing = (): ChangeDesk => {
    const desk = meeting('do', goingDown, bothLevels)
    return pausing(desk, () => desk.positionTrading.heal(desk.account.id))
  }

  it.each<
    [
      when: string,
      desk: ChangeDesk,
      expected: Partial<BrokerPosition> | 'unknown',
      waitedMs: number,
      readAt?: number,
    ]
  >([
    ['confirmed and rounded', meeting('do', nowHolding(rounded), bothLevels), rounded, 0],
    ['confirmed and never shown', lagging({ positions: 1_000 }, bothLevels), shown, 2_000, 1_750],
    ['confirmed and shown late', lagging({ positions: 2 }, bothLevels), shown, 500, 500],
    ['confirmed and gone', meeting('do', nowHolding(), bothLevels), shown, 0],
    ['confirmed and not readable', meeting('do', goingDown, bothLevels), shown, 2_000],
    ['confirmed and readable later', healing(), shown, 250, 250],
    ['confirmed and not to be read for a while', meeting('do', limited, bothLevels), shown, 0],
    [
      'confirmed and a read never ends',
      meeting('do', ({ positionTrading }) => positionTrading.hold(), bothLevels),
      shown,
      2_000,
    ],
    [
      'said to be unchanged',
      saying(meeting('lose_the_request', undefined, bothLevels), 'unchanged'),
      bothLevels,
      0,
    ],
    [
      'said to be unchanged and not readable',
      saying(meeting('do', goingDown, bothLevels), 'unchanged'),
      bothLevels,
      2_000,
    ],
    ['accepted and shown', executing(bothLevels), shown, 250, 250],
    ['accepted and never shown', meeting('accept', undefined, bothLevels), 'unknown', 2_000],
    ['accepted and gone', meeting('accept', nowHolding(), bothLevels), 'unknown', 0],
    [
      'unanswered and as asked',
      meeting('lose_the_request', nowHolding(shown), bothLevels),
      shown,
      0,
    ],
    [
      'unanswered and the old one',
      meeting('lose_the_request', undefined, bothLevels),
      'unknown',
      0,
    ],
    // The new level may be what closed it.
    [
      'unanswered and the position gone',
      meeting('lose_the_request', nowHolding(), bothLevels),
      'unknown',
      0,
    ],
  ])('that is %s', async (_, desk, expected, waitedMs, readAt = 0) => {
    const outcome = await moveStop(desk, expected === rounded ? 1.100_042 : 1.1)()
    if (expected === 'unknown') expect(outcome).toEqual(unknown(desk))
    else
      expect(outcome).toMatchObject({
        right: { position: expected, provenance: { readAt: noon + readAt } },
      })
    expect([desk.clock.now(), desk.positionTrading.sent().length]).toEqual([noon + waitedMs, 1])
  })
})

describe('POST /positions/:id/close', () => {
  it.each([undefined, 0.3, 0.1 + 0.2])(
    'closes all for %s, and returns its deal',
    async (volume) => {
      const desk = createChangeDesk()
      desk.wait(7)
      const result = await rightOf(close(desk, volume))
      expect(desk.positionTrading.sent()).toEqual([
        { kind: 'closePosition', accountId: desk.account.id, ticket: '42', volume: null },
      ])
      const volumes = { closedVolume: 0.3, remainingVolume: 0 }
      const fill = { closePrice: 1.2, realizedPnl: 30, closedAt: noon + 7 }
      expect(result).toEqual({
        closed: {
          accountId: desk.account.id,
          ticket: '42',
          brokerOrderId: '1001',
          ...volumes,
          ...fill,
        },
        provenance: { source: desk.broker.source, accounts: [desk.account.id], readAt: noon + 7 },
      })
      expect([desk.held(), desk.clock.now()]).toEqual([undefined, noon + 7])
    },
  )

  it('closes parts exactly, one after the other, each of what is left', async () => {
    const desk = createChangeDesk()
    desk.positionTrading.lagNext({ positions: 3 })
    const closes = await Promise.all([closedOf(desk, 0.1), closedOf(desk, 0.15), closedOf(desk)])
    expect(closes.map(volumesOf)).toEqual([
      [0.1, 0.2],
      [0.15, 0.05],
      [0.05, 0],
    ])
    expect(closes.map(({ realizedPnl }) => realizedPnl)).toEqual([10, 15, 5])
  })

  it.each([0.31, 1e300])(
    'refuses %d of 0.3 lots; nothing is sent, and no read of the journal is scheduled',
    async (volume) => {
      const desk = createChangeDesk()
      expect(await close(desk, volume)()).toEqual(
        E.left({ _tag: 'InvalidVolume', volume, openVolume: 0.3 }),
      )
      expect([desk.positionTrading.sent(), desk.positionTrading.wanted()]).toEqual([[], []])
    },
  )

  /** Volumes, then how much was gained, then how long the answer took. */
  type Closed = readonly [
    closed: number,
    left: number,
    realizedPnl: number | null,
    waitedMs: number,
  ]

  it.each<
    [what: string, desk: ChangeDesk, volume: number | undefined, expected: Closed | 'unknown']
  >([
    ['is done in half of all', meeting('do_half'), undefined, [0.15, 0.15, 15, 0]],
    ['is done in half of a part', meeting('do_half'), 0.2, [0.1, 0.2, 10, 0]],
    [
      'is done while another closes the rest',
      meanwhile(createChangeDesk(), nowHolding()),
      0.1,
      [0.1, 0, 10, 0],
    ],
    ['is done, and its deal shows late', lagging({ deals: 5 }), undefined, [0.3, 0, 30, 1_250]],
    [
      'is done, and its deal never shows',
      lagging({ deals: 1_000 }),
      undefined,
      [0.3, 0, null, 2_000],
    ],
    [
      'is done, and a read of the journal hangs',
      hanging(createChangeDesk()),
      0.1,
      [0.1, 0.2, null, 2_000],
    ],
    [
      'is done, and every read hangs',
      meeting('do', ({ positionTrading }) => positionTrading.hold()),
      0.1,
      [0.1, 0.2, null, 2_000],
    ],
    ['is done, and never shows', lagging({ positions: 1_000 }), 0.1, [0.1, 0.2, 10, 2_000]],
    [
      'is done, and nothing can be read',
      meanwhile(createChangeDesk(), goingDown),
      undefined,
      [0.3, 0, null, 2_000],
    ],
    ['is accepted and shown', executing(), 0.1, [0.1, 0.2, 10, 250]],
    ['is accepted and never shown', meeting('accept'), undefined, 'unknown'],
    [
      'is done in part, and nothing can be read',
      meeting('do_half', goingDown),
      undefined,
      'unknown',
    ],
    [
      'is unanswered, and all is gone',
      meeting('lose_the_request', nowHolding()),
      undefined,
      [0.3, 0, null, 0],
    ],
    ['is unanswered, and nothing is gone', meeting('lose_the_request'), undefined, 'unknown'],
    [
      'is unanswered, and the part is gone',
      meeting('lose_the_request', nowHolding({ volume: 0.2 })),
      0.1,
      [0.1, 0.2, null, 0],
    ],
    ['lost its answer', meeting('do_and_lose_the_answer'), 0.1, [0.1, 0.2, null, 0]],
    [
      'is done on MT4, and the rest is not found',
      meeting('do', nowHolding(), {}, mt4),
      0.1,
      [0.1, 0.2, 10, 2_000],
    ],
  ])('that %s', async (_, desk, volume, expected) => {
    const outcome = await close(desk, volume)()
    if (expected === 'unknown') expect(outcome).toEqual(unknown(desk))
    else {
      const [closedVolume, remainingVolume, realizedPnl, waitedMs] = expected
      expect(outcome).toMatchObject({
        right: { closed: { closedVolume, remainingVolume, realizedPnl } },
      })
      expect(desk.clock.now()).toBe(noon + waitedMs)
      // Without an order's number, the deal of a close cannot be distinguished from others.
      const isNumbered = E.isRight(outcome) && outcome.right.closed.brokerOrderId !== null
      expect(
        desk.positionTrading.reads('synchroniseJournal') > 0 ||
          desk.synchroniseJournal !== desk.positionTrading.synchroniseJournal,
      ).toBe(isNumbered)
    }
    expect(desk.positionTrading.sent()).toHaveLength(1)
    expect(desk.positionTrading.wanted()).toEqual([noon + 10 * secondMs, noon])
  })

  it('is returned as of the read that shows it', async () => {
    expect((await rightOf(close(lagging({ positions: 2 }), 0.1))).provenance.readAt).toBe(
      noon + 500,
    )
    expect((await rightOf(close(lagging({ positions: 1_000 }), 0.1))).provenance.readAt).toBe(noon)
  })

  it('returns the new number of the rest where MT4 gives it one', async () => {
    for (const desk of [
      createChangeDesk(mt4),
      meeting('do_and_lose_the_answer', undefined, {}, mt4),
    ]) {
      const { remainingTicket } = await closedOf(desk, 0.1)
      expect([remainingTicket]).toEqual(
        desk.positionTrading.positions(desk.account.id).map(({ ticket }) => ticket),
      )
      expect(remainingTicket).not.toBe('42')
    }
    for (const [desk, volume] of [[createChangeDesk(mt4)], [createChangeDesk(), 0.1]] as const)
      expect(await closedOf(desk, volume)).not.toHaveProperty('remainingTicket')
  })

  it('schedules a read of the journal before it is sent, and is not sent where that fails', async () => {
    let wantedBefore: readonly number[] = []
    await closedOf(
      meanwhile(
        createChangeDesk(),
        ({ positionTrading }) => (wantedBefore = [...positionTrading.wanted()]),
      ),
    )
    expect(wantedBefore).toEqual([noon + 10 * secondMs])
    const desk = createChangeDesk()
    expect(await close({ ...desk, journal: { ...desk.journal, want: unavailable } })()).toEqual(
      E.left(refuse('ServiceUnavailable', { reason: 'unavailable' })),
    )
    expect(desk.positionTrading.sent()).toEqual([])
  })
})

/**
 * The desk with a journal that has, after each read of the broker's history, the deals that the
 * test says.
 */
const withDeals = (
  dealsAfter: (reads: number, own: readonly BrokerDeal[]) => readonly BrokerDeal[],
  fields = {},
): ChangeDesk => {
  const desk = createChangeDesk(fields)
  const { positionTrading, account } = desk
  const deals = () =>
    dealsAfter(positionTrading.reads('synchroniseJournal'), positionTrading.closed(account.id))
  return {
    ...desk,
    journal: {
      ...desk.journal,
      closingDeals: (_, orderId, from) => TE.fromIO(() => closingDealsOf(deals(), orderId, from)),
    },
  }
}
const money = { price: 1.1, profit: 7, commission: 0, swap: 0 }
const order = { orderId: '42', positionId: '42', volume: 0.1, time: noon }
/** On MT4 every close has the number of its position. */
const earlier: BrokerDeal = {
  id: '9',
  kind: 'sell',
  side: 'sell',
  entry: 'out',
  ...order,
  ...money,
}

describe('the deal of a close', () => {
  it.each<[what: string, desk: ChangeDesk, fill: readonly unknown[]]>([
    ['on MT5', createChangeDesk(), [1.2, 10, noon]],
    ['on MT4', createChangeDesk(mt4), [1.2, 10, noon]],
    ['not of an earlier close on MT4', withDeals(() => [earlier], mt4), notFound],
    [
      'next to an earlier one on MT4',
      withDeals((_, own) => [earlier, ...own], mt4),
      [1.2, 10, noon],
    ],
  ])('is found %s', async (_, desk, fill) => {
    expect(fillOf(await closedOf(desk, 0.1))).toEqual(fill)
  })

  it.each([{}, mt4])('is not searched without the number of its order (%o)', async (fields) => {
    const desk = createChangeDesk(fields)
    const { closePosition: send } = desk.positionTrading
    const closePosition: typeof send = (...change) =>
      pipe(
        send(...change),
        TE.map(({ progress }) => ({ progress, brokerOrderId: null })),
      )
    const closed = await closedOf(
      { ...desk, positionTrading: { ...desk.positionTrading, closePosition } },
      0.1,
    )
    expect([closed.brokerOrderId, ...volumesOf(closed), ...fillOf(closed)]).toEqual([
      null,
      0.1,
      0.2,
      ...notFound,
    ])
    expect(desk.positionTrading.reads('synchroniseJournal')).toBe(0)
  })

  it('is searched again after a read that failed, but not where the broker asks to wait', async () => {
    const desk = createChangeDesk()
    const { account, positionTrading, journal } = desk
    const readsWhile = async (
      error: Parameters<typeof positionTrading.fail>[1],
    ): Promise<number> => {
      const before = positionTrading.reads('synchroniseJournal')
      positionTrading.fail(account.id, error, ['synchroniseJournal'])
      expect(fillOf(await closedOf(desk, 0.05))).toEqual(notFound)
      positionTrading.heal(account.id)
      return positionTrading.reads('synchroniseJournal') - before
    }
    expect(await readsWhile(down(account.id))).toBeGreaterThan(1)
    expect(await readsWhile(brokerRateLimited(account.id, noon + minuteMs, noon))).toBe(1)
    for (const part of [
      { synchroniseJournal: unavailable },
      { journal: { ...journal, closingDeals: unavailable } },
    ])
      expect(fillOf(await closedOf({ ...desk, ...part }, 0.05))).toEqual(notFound)
    const before = desk.clock.now()
    let reads = 0
    const recovering: typeof journal = {
      ...journal,
      closingDeals: (...which) =>
        (reads += 1) < 3 ? unavailable() : journal.closingDeals(...which),
    }
    expect(fillOf(await closedOf({ ...desk, journal: recovering }, 0.05))).toEqual([1.2, 5, before])
    expect(desk.clock.now()).toBe(before + 500)
  })
})
