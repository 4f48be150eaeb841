// What every change of a position has in common: who may make it, when nothing is sent, and that one is made at a time.
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { Account, BrokerAccount } from '../../src/accounts/account.ts'
import { brokerOutcomeUnknown, brokerRateLimited, brokerUnavailable, notProvisioned, positionNotFound } from '../../src/errors.ts'
import type { BrokerChangeError } from '../../src/errors.ts'
import type { TradeMode } from '../../src/accounts/account.ts'
import { formatPositionId } from '../../src/primitives/ids.ts'
import type { AccountId, UserId } from '../../src/primitives/ids.ts'
import { minuteMs, secondMs } from '../../src/primitives/instant.ts'
import { fakeChangeRefusal } from '../../src/testing/fake-position-desk.ts'
import { newAccountId } from '../../src/testing/stored-records.ts'
import { moveStopLoss, moveTakeProfit } from '../../src/use-cases/move-levels.ts'
import { openPosition } from '../../src/testing/open-position.ts'
import { createChangeDesk, meanwhile, noon, someChanges } from './change-desk.ts'
import type { ChangeDesk } from './change-desk.ts'
import { owner, rightOf, stranger, tagOf } from './desk.ts'

const brokerSays = (desk: ChangeDesk, tradeMode: TradeMode): void => {
  const figures = { balance: 1, equity: 1, margin: 0, freeMargin: 1, marginLevel: null, leverage: 100 }
  desk.broker.put(desk.account.id, { information: { tradeMode, broker: null, currency: null, figures } })
}

/** Another user's link to the same account at the provider. */
const otherLink = ({ account }: ChangeDesk): BrokerAccount => ({
  accountId: newAccountId(),
  owner: { ...account.owner, userId: 'user-of-the-other-link' as UserId },
  platform: 'mt5',
  region: null,
  providerAccountId: account.provider?.providerAccountId ?? '',
})

/** How many reads and changes reached the broker. */
const asked = (desk: ChangeDesk): readonly number[] => [desk.positionDesk.reads(), desk.positionDesk.sent().length]

describe.each(someChanges)('$what', ({ make }) => {
  it.each<[why: string, idOf: (desk: ChangeDesk) => string]>([
    ['malformed', () => 'nonsense'],
    ['without a ticket', ({ account }) => `${account.id}:`],
    ['of an account that there is not', () => formatPositionId(newAccountId(), '42')],
  ])('is of no position where the id is %s, and asks the broker nothing', async (_, idOf) => {
    const desk = createChangeDesk()
    expect(await tagOf(make(desk, idOf(desk)))).toBe('PositionNotFound')
    expect(asked(desk)).toEqual([0, 0])
  })

  it('is of no position for anybody but its owner', async () => {
    const desk = createChangeDesk()
    expect(await tagOf(make(desk, desk.id, stranger))).toBe('PositionNotFound')
    expect(asked(desk)).toEqual([0, 0])
  })

  it.each<[tag: string, fields: Partial<Account>]>([
    ['AccountPurposeRestricted', { purpose: 'introducing_broker' }],
    ['AccountPurposeRestricted', { purpose: 'trade_copier', tradeMode: 'real' }],
    ['LiveAccountRestricted', { tradeMode: 'real' }],
    ['LiveAccountRestricted', { tradeMode: 'contest', brokerType: 'ctrader' }],
    ['LiveAccountRestricted', { tradeMode: null, linkedAsDemo: false }],
    ['UnsupportedBroker', { brokerType: 'ctrader', provider: null }],
    ['UnsupportedBroker', { brokerType: 'paper', provider: null }],
    ['NotProvisioned', { provider: null }],
  ])('is refused by %s on an account with %o, and asks the broker nothing', async (tag, fields) => {
    const desk = createChangeDesk(fields)
    expect(await tagOf(make(desk))).toBe(tag)
    expect(asked(desk)).toEqual([0, 0])
  })

  it('is made on an account that was never read once its broker calls it a demo account', async () => {
    const desk = createChangeDesk({ tradeMode: null })
    await rightOf(make(desk))
    expect(desk.broker.calls('accountInformation')).toBe(1)
    expect(desk.positionDesk.sent()).toHaveLength(1)
  })

  it.each(['real', 'contest', 'unconfirmed'] as const)('is refused where such a broker says %s', async (tradeMode) => {
    const desk = createChangeDesk({ tradeMode: null })
    brokerSays(desk, tradeMode)
    expect(await tagOf(make(desk))).toBe('LiveAccountRestricted')
    expect(asked(desk)).toEqual([0, 0])
  })

  it('is not sent while such a broker cannot be read, and says so', async () => {
    const desk = createChangeDesk({ tradeMode: null })
    const refusal = brokerRateLimited(desk.account.id, noon + 7 * secondMs, noon)
    desk.broker.fail(desk.account.id, refusal)
    expect(await make(desk)()).toEqual(E.left(refusal))
    expect(asked(desk)).toEqual([0, 0])
  })

  it.each([brokerUnavailable, notProvisioned, (id: AccountId) => brokerRateLimited(id, noon + 1, noon)])(
    'is not sent where the position cannot be read, and says why',
    async (refusalOf) => {
      const desk = createChangeDesk()
      const refusal = refusalOf(desk.account.id, 'down')
      desk.positionDesk.fail(desk.account.id, refusal)
      expect(await make(desk)()).toEqual(E.left(refusal))
      expect(asked(desk)).toEqual([1, 0])
    },
  )

  it('is not sent where the position is not open', async () => {
    const desk = createChangeDesk({}, [])
    expect(await tagOf(make(desk))).toBe('PositionNotFound')
    expect(asked(desk)).toEqual([1, 0])
  })

  it('is decided on the broker itself, whatever caches show', async () => {
    const desk = createChangeDesk()
    await rightOf(make(desk))
    expect(desk.broker.calls('positions')).toBe(0)
  })

  it.each<[string, (id: AccountId) => BrokerChangeError]>([
    ['unavailable', (id) => brokerUnavailable(id, 'no connection')],
    ['rate limited', (id) => brokerRateLimited(id, noon + 3 * secondMs, noon)],
    ['not provisioned', notProvisioned],
    ['not found', () => positionNotFound],
  ])('says what the broker said, where it is %s, and reads no more', async (_, refusalOf) => {
    const desk = createChangeDesk()
    const refusal = refusalOf(desk.account.id)
    desk.positionDesk.next(refusal)
    expect(await make(desk)()).toEqual(E.left(refusal))
    expect(asked(desk)).toEqual([1, 1])
    expect(desk.held()).toEqual(openPosition())
  })

  it('is told as rejected, with the broker’s code and words', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.next('refuse')
    expect(await make(desk)()).toEqual(E.left({ _tag: 'TradeRejected', ...fakeChangeRefusal }))
    expect(desk.held()).toEqual(openPosition())
  })

  it('is unknown where the request was lost, and is not sent again', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.next('lose_the_request')
    expect(await make(desk)()).toEqual(E.left(brokerOutcomeUnknown(desk.account.id)))
    expect(asked(desk)).toEqual([2, 1])
  })

  it.each([brokerUnavailable, notProvisioned])('is unknown where the answer was lost and the read fails', async (refusalOf) => {
    const desk = createChangeDesk()
    const { account, positionDesk } = desk
    positionDesk.next('do_and_lose_the_answer')
    const unreadable = meanwhile(desk, () => positionDesk.fail(account.id, refusalOf(account.id, 'down')))
    expect(await make(unreadable)()).toEqual(E.left(brokerOutcomeUnknown(account.id)))
    expect(asked(desk)).toEqual([2, 1])
  })

  it('is done where only the answer was lost, which one read shows', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.next('do_and_lose_the_answer')
    await rightOf(make(desk))
    expect(desk.positionDesk.sent()).toHaveLength(1)
    expect(desk.held()).not.toEqual(openPosition())
  })

  it('is refused and not begun when a change through another link to the account holds the position for too long', async () => {
    const desk = createChangeDesk()
    const { positionLocks } = desk
    const { promise: otherChange, resolve: endOtherChange } = Promise.withResolvers<E.Either<never, void>>()
    const held = positionLocks.holding(otherLink(desk), openPosition().ticket)(() => () => otherChange)()
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
    const { account, positionDesk, positionLocks } = desk
    const resume = positionDesk.hold()
    const changing = make({ ...desk, positionLocks: { ...positionLocks, ...positionLocks.dying } })()
    await expect.poll(() => asked(desk)).toEqual([1, 0])
    desk.wait(minuteMs)
    positionLocks.tick()
    await rightOf(positionLocks.holding(otherLink(desk), openPosition().ticket)(() => TE.right('changed')))
    resume()
    expect(await changing).toMatchObject({ left: { _tag: 'BrokerUnavailable', accountId: account.id } })
    expect(asked(desk)).toEqual([1, 0])
    expect(desk.held()).toEqual(openPosition())
  })
})

describe('two changes of one position at the same time', () => {
  it.each([0, 1, 3])('keep both levels, also where reads lag by %i', async (positions) => {
    const desk = createChangeDesk()
    desk.positionDesk.lagNext({ positions })
    const [stop, target] = await Promise.all([
      rightOf(moveStopLoss(desk)({ owner }, desk.id, 1.05)),
      rightOf(moveTakeProfit(desk)({ owner }, desk.id, 1.5)),
    ])
    expect(desk.held()).toMatchObject({ stopLoss: 1.05, takeProfit: 1.5 })
    expect(stop.position).not.toHaveProperty('takeProfit')
    expect(target.position).toMatchObject({ stopLoss: 1.05, takeProfit: 1.5 })
  })
})
