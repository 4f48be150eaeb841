// Orders from the request to the broker's answer. test/orders/placement-simulation.test.ts places
// orders under faults, on several processes.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import { brokerRateLimited, refuse } from '../../src/errors.ts'
import { brokerClientId, type Order, type OrderRequest } from '../../src/orders/order.ts'
import type { PlacementStep } from '../../src/orders/placement.ts'
import type { Owner } from '../../src/primitives/ids.ts'
import { secondMs } from '../../src/primitives/instant.ts'
import {
  fakeRefusal,
  newAccountId,
  newClaim,
  newReply,
  openPosition,
  someProgram,
  type FakePlacement,
} from '@tradeport/testkit'
import { createOrders, placeOrder } from '../../src/use-cases/orders.ts'
import { processOrder } from '../../src/use-cases/process-order.ts'
import {
  createOrderDesk,
  down,
  informationOf,
  noon,
  owner,
  requestOn,
  rightOf,
  stranger,
  tagOf,
  unavailable,
  type OrderDesk,
} from './desk.ts'

const position = openPosition({ volume: 0.5 })
const noExposureLimits = { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null }
const relinked = { provider: { providerAccountId: 'another', region: 'london' } }

type Trouble = (desk: OrderDesk, account: Account) => void

const change =
  (fields: Partial<Account>): Trouble =>
  ({ tables }, { id }) => {
    const account = tables.accounts.get(id)
    if (account !== undefined) tables.accounts.set(id, { ...account, ...fields })
  }

const limitTrader =
  (limits: object): Trouble =>
  ({ tables }, { id }) =>
    void tables.traderLimits.set(id, {
      accountId: id,
      limits: { ...noExposureLimits, maxLotsPerOrder: null, approvalAboveLots: null, ...limits },
    })

const limitDesk = ({ tables }: OrderDesk, accounts: readonly Account[], limits: object): void =>
  void tables.desks.set('d', {
    id: 'd',
    tenantId: owner.tenantId,
    accounts: accounts.map(({ id }) => id),
    limits: { ...noExposureLimits, ...limits },
  })

const opened = () => {
  const desk = createOrderDesk()
  const account = desk.link()
  return { desk, account, orders: createOrders(desk) }
}

const placed = async (fields: Partial<OrderRequest> = {}) => {
  const { desk, account, orders } = opened()
  const order = await rightOf(desk.place(account, fields))
  return {
    desk,
    account,
    orders,
    order,
    stored: (): Promise<Order> => rightOf(orders.getOrder({ owner }, order.id)),
  }
}

const replyOf = ({ id }: Order) => newReply({ body: JSON.stringify(id) })

describe('POST /orders', () => {
  it('answers with a pending order, which it has not sent yet', async () => {
    const { desk, order, stored, account } = await placed({
      stopLoss: 1,
      takeProfit: 2,
      price: 1.5,
      comment: 'ours',
      clientId: 'theirs',
    })
    const request = requestOn(account.id, {
      stopLoss: 1,
      takeProfit: 2,
      price: 1.5,
      comment: 'ours',
      clientId: 'theirs',
    })
    expect(order).toEqual({
      id: order.id,
      owner,
      request,
      status: 'pending',
      createdAt: noon,
      updatedAt: noon,
    })
    expect(await stored()).toEqual(order)
    expect(desk.trading.sent()).toEqual([])
  })

  /** In the order in which they are checked. */
  const refusals: readonly (readonly [tag: string, trouble: Trouble])[] = [
    ['AccountPurposeRestricted', change({ purpose: 'trade_copier' })],
    ['LiveAccountRestricted', change({ tradeMode: 'real' })],
    ['UnsupportedBroker', change({ brokerType: 'ctrader' })],
    ['NotProvisioned', change({ provider: null })],
    [
      'BrokerUnavailable',
      ({ tables }) =>
        void tables.tenants.set(owner.tenantId, {
          id: owner.tenantId,
          name: 'Acme',
          providerToken: null,
        }),
    ],
    [
      'ChallengeLocked',
      ({ tables }, { id }) =>
        void tables.challenges.set('c', { accountId: id, startedAt: 1, status: 'failed' }),
    ],
    ['LimitCheckUnavailable', ({ broker }, { id }) => broker.fail(id, down(id))],
    ['DeskLimitBreached', (desk, account) => limitDesk(desk, [account], { maxOpenLots: 0.1 })],
    ['TraderLimitBreached', limitTrader({ maxOpenLots: 0.1, approvalAboveLots: 0.1 })],
    ['ApprovalRequired', limitTrader({ approvalAboveLots: 0.1 })],
  ]

  it.each(refusals)(
    'refuses with %s, also where a later check would refuse too',
    async (tag, trouble) => {
      const { desk, account } = opened()
      // A limit that makes the positions necessary, but is not passed.
      limitTrader({ maxOpenLots: 9 })(desk, account)
      trouble(desk, account)
      expect(await tagOf(desk.place(account))).toBe(tag)
      for (const [, later] of refusals.slice(refusals.findIndex(([one]) => one === tag) + 1))
        later(desk, account)
      // What comes later may have undone it.
      trouble(desk, account)
      expect(await tagOf(desk.place(account))).toBe(tag)
      expect([desk.orders.all(), desk.trading.sent()]).toEqual([[], []])
    },
  )

  it('refuses more than ten lots before it reads the account, and an account that is unknown or another’s', async () => {
    const { desk, account } = opened()
    const unknown = { ...account, id: newAccountId() }
    expect(await desk.place(unknown, { volume: 10.01 })()).toMatchObject({
      left: { _tag: 'RiskLimitExceeded', limit: 'volume_per_order' },
    })
    for (const one of [unknown, desk.link({ owner: stranger })])
      expect(await tagOf(desk.place(one))).toBe('AccountNotFound')
  })

  it('refuses where a check could not be read, unless an earlier check refuses', async () => {
    const { desk, account } = opened()
    const broken = { challenges: unavailable, limitsOf: unavailable }
    for (const [parts, tag] of [
      [{ orderLimits: { ...desk.orderLimits, limitsOf: unavailable } }, 'LimitCheckUnavailable'],
      [{ orderLimits: broken }, 'ChallengeCheckUnavailable'],
      [{ orderLimits: broken, providerTokens: { find: unavailable } }, 'ServiceUnavailable'],
    ] as const)
      expect(
        await tagOf(
          placeOrder({ ...desk, ...parts })({ owner }, { request: requestOn(account.id) }),
        ),
      ).toBe(tag)
    change({ provider: null })(desk, account)
    const unread = { ...desk, orderLimits: broken, providerTokens: { find: unavailable } }
    expect(await tagOf(placeOrder(unread)({ owner }, { request: requestOn(account.id) }))).toBe(
      'NotProvisioned',
    )
    expect(desk.orders.all()).toEqual([])
  })

  it.each([
    ['its name', (name: string) => name, { maxOpenLots: 0.25 }, 0.3],
    [
      'its name with another last part',
      (name: string) => name.replace(/[^_]+$/, '0'),
      { maxOpenPositions: 1 },
      1,
    ],
    ['another name', () => 'TP_0000000000_0000000000', { maxOpenPositions: 1 }, 2],
    ['no name', () => undefined, { maxOpenPositions: 1 }, 2],
  ])(
    'counts an order and a position once where the position has %s',
    async (_, nameOf, limits, current) => {
      const { desk, account, order } = await placed()
      const clientId = nameOf(brokerClientId(order.id))
      desk.broker.put(account.id, {
        positions: [{ ...position, volume: 0.01, ...(clientId === undefined ? {} : { clientId }) }],
      })
      limitTrader(limits)(desk, account)
      expect(await desk.place(account)()).toMatchObject({
        left: { _tag: 'TraderLimitBreached', current },
      })
    },
  )

  it('refuses when the positions of another account on the desk cannot be read, and reads none where no limit needs them', async () => {
    const { desk, account } = opened()
    const colleague = desk.link({ owner: stranger })
    desk.broker.fail(
      colleague.id,
      refuse('BrokerUnavailable', {
        accountId: colleague.id,
        reason: 'answered 401',
        cause: 'token_refused',
      }),
    )
    limitDesk(desk, [account, colleague], { allowedSymbols: ['EURUSD'] })
    await rightOf(desk.place(account))
    expect(desk.broker.calls()).toBe(0)
    limitDesk(desk, [account, colleague], { maxOpenPositions: 9 })
    expect(await desk.place(account)()).toMatchObject({
      left: { _tag: 'LimitCheckUnavailable', cause: 'token_refused' },
    })
  })

  it('stores its reply with the order, none where it is refused, and is refused where another attempt has the key', async () => {
    const { desk, account } = opened()
    const [claim, again] = [newClaim(), newClaim()].map((one, _, [first]) => ({
      ...first,
      id: one.id,
    })) as [ReturnType<typeof newClaim>, ReturnType<typeof newClaim>]
    const claimBy = (by = again) => rightOf(desk.idempotency.claim(owner, by, desk.clock.now()))
    const place = (by = claim) =>
      placeOrder(desk)(
        { owner },
        { request: requestOn(account.id), replyToStore: { claim: by, replyOf } },
      )
    await claimBy(claim)
    limitTrader({ maxLotsPerOrder: 0.1 })(desk, account)
    expect(await tagOf(place())).toBe('TraderLimitBreached')
    desk.wait(10 * secondMs)
    expect(await claimBy()).toEqual({ kind: 'claimed' })
    desk.tables.traderLimits.clear()
    expect(await tagOf(place())).toBe('IdempotencyInProgress')
    expect(desk.orders.all()).toEqual([])
    const order = await rightOf(place(again))
    expect(await claimBy(claim)).toMatchObject({ kind: 'replied', reply: replyOf(order) })
  })
})

/** Processes what is due once a second. */
const runFor = async (desk: OrderDesk, seconds: number, mustLookUpFirst = false): Promise<void> => {
  for (let passed = 0; passed < seconds; passed++) {
    await desk.processDue(mustLookUpFirst)
    desk.wait(secondMs)
  }
}

const rejectedAs = (code: string) => ({ status: 'rejected', reason: { code } })

describe('an order on its way to the broker', () => {
  it('is sent once, with its levels and our client id, without the caller’s comment and id', async () => {
    const { desk, order, stored } = await placed({
      stopLoss: 1,
      takeProfit: 2,
      price: 3,
      comment: 'ours',
      clientId: 'theirs',
    })
    await runFor(desk, 60)
    const sent = {
      clientId: brokerClientId(order.id),
      symbol: 'EURUSD',
      side: 'buy',
      volume: 0.3,
      stopLoss: 1,
      takeProfit: 2,
    }
    expect(desk.trading.sent()).toEqual([sent])
    expect(await stored()).toMatchObject({ status: 'filled', fill: { price: 1.1, volume: 0.3 } })
  })

  it.each([
    ['refuse', 1, { status: 'rejected', reason: fakeRefusal }, 0],
    ['fill_partly', 1, { status: 'partially_filled', fill: { volume: 0.15 } }, 1],
    ['fill_and_lose_the_answer', 1, { status: 'pending' }, 1],
    ['fill_and_lose_the_answer', 2, { status: 'filled' }, 2],
    ['not_sent', 1, { status: 'pending' }, 0],
    ['not_sent', 2, { status: 'filled' }, 1],
    ['lose_the_request', 300, { status: 'pending' }, 1],
    ['lose_the_request', 420, rejectedAs('NOT_FOUND_AT_BROKER'), 1],
    ['accept', 600, { status: 'pending' }, 1],
  ] as const)(
    'whose broker does %s is after %d s %o, and the caches of the account are dropped %d times',
    async (placement, seconds, after, drops) => {
      const { desk, account, stored } = await placed()
      desk.trading.next(placement)
      await runFor(desk, seconds)
      expect(await stored()).toMatchObject(after)
      expect(desk.changedAccounts).toEqual(Array.from({ length: drops }, () => account.id))
      expect([desk.trading.sent().length, desk.heldSlots()]).toEqual([
        placement === 'not_sent' ? seconds : 1,
        0,
      ])
    },
  )

  it('is looked up where it was sent, although the account was relinked and removed since', async () => {
    const { desk, account, stored } = await placed()
    desk.trading.next('fill_and_lose_the_answer')
    desk.trading.hide(true)
    await runFor(desk, 1)
    change(relinked)(desk, account)
    await runFor(desk, 1)
    desk.tables.accounts.delete(account.id)
    desk.trading.hide(false)
    await runFor(desk, 3)
    expect((await stored()).status).toBe('filled')
    const asked = desk.trading.lookedUp().map((lookup) => lookup.account.providerAccountId)
    expect([...new Set(asked)]).toEqual([account.provider?.providerAccountId])
  })

  it.each([
    ['is looked up before it is first sent', 0, 1, { status: 'filled' }, 1],
    ['is not sent where it was sent already', 0, 1, { status: 'filled' }, 1],
    ['and is too late is proved not to be executed', 31, 420, rejectedAs('NOT_FOUND_AT_BROKER'), 0],
  ] as const)('that another process recorded %s', async (what, waited, seconds, after, sent) => {
    const { desk, order, stored } = await placed()
    if (what.includes('already')) {
      const { destination } = await desk.jobOf(order, true)
      await desk.trading.placeOrder(
        destination,
        { ...order.request, clientId: brokerClientId(order.id) },
        () => true,
      )()
    }
    desk.wait(waited * secondMs)
    await desk.processDue(true)
    expect(desk.trading.lookedUp().map(({ readFromTerminal }) => readFromTerminal)).toEqual([
      waited === 0,
    ])
    await runFor(desk, seconds, true)
    expect(await stored()).toMatchObject(after)
    expect(desk.trading.sent()).toHaveLength(sent)
  })

  it.each([
    ['the database stalls', (desk: OrderDesk) => desk.wait(31 * secondMs)],
    [
      'only the stopwatch shows a stall, because the clock was set back',
      (desk: OrderDesk) => desk.stall(31 * secondMs),
    ],
  ])(
    'is not sent when its 30 seconds end after its send was recorded and before it is sent: %s',
    async (_, stall) => {
      const { desk, order, stored } = await placed()
      const advance: OrderDesk['orders']['advance'] = (by, from, step, now) => async () => {
        const written = await desk.orders.advance(by, from, step, now)()
        if (step.placement.step === 'sending') stall(desk)
        return written
      }
      await rightOf(
        processOrder({ ...desk, orders: { ...desk.orders, advance } })(await desk.jobOf(order)),
      )
      expect(await stored()).toMatchObject(rejectedAs('BROKER_UNAVAILABLE'))
      expect(desk.trading.sent()).toEqual([])
    },
  )

  it('is rejected when it gets no slot within its 30 seconds', async () => {
    const { desk, order, stored } = await placed()
    const forSend: OrderDesk['slots']['forSend'] = (_, patienceMs) => async () => {
      desk.wait(patienceMs)
      return undefined
    }
    await rightOf(
      processOrder({ ...desk, slots: { ...desk.slots, forSend } })(await desk.jobOf(order)),
    )
    expect(await stored()).toMatchObject({
      ...rejectedAs('BROKER_UNAVAILABLE'),
      updatedAt: noon + 30 * secondMs,
    })
    expect(desk.trading.sent()).toEqual([])
  })

  it.each([
    ['demo', 'filled'],
    ['real', 'rejected'],
    [null, 'pending'],
  ] as const)(
    'to an account that was never read, and whose broker now says %s, is %s',
    async (tradeMode, status) => {
      const { desk, account, stored } = await placed()
      change({ tradeMode: null })(desk, account)
      if (tradeMode === null) desk.broker.fail(account.id, down(account.id))
      else
        desk.broker.put(account.id, {
          information: informationOf(tradeMode),
        })
      await desk.processDue()
      expect((await stored()).status).toBe(status)
      expect(desk.broker.calls('accountInformation', account.id)).toBe(1)
      expect(desk.trading.sent()).toHaveLength(status === 'filled' ? 1 : 0)
      if (status !== 'pending') return
      desk.broker.heal(account.id)
      desk.broker.put(account.id, {
        information: informationOf('demo'),
      })
      desk.wait(secondMs)
      await desk.processDue()
      expect((await stored()).status).toBe('filled')
    },
  )

  it.each<[string, Partial<Account> | null, string]>([
    ['is no longer linked', null, 'ACCOUNT_NOT_FOUND'],
    ['is no longer provisioned', { provider: null }, 'NOT_PROVISIONED'],
    ['is on another platform', { brokerType: 'ctrader' }, 'UNSUPPORTED_BROKER'],
    ['is linked to another broker account', relinked, 'ACCOUNT_RELINKED'],
    ['has another purpose', { purpose: 'trade_copier' }, 'ACCOUNT_PURPOSE_RESTRICTED'],
    ['turned out to be live', { tradeMode: 'real' }, 'LIVE_ACCOUNT_RESTRICTED'],
  ])('is not sent to an account that %s since', async (_, fields, code) => {
    const { desk, account, stored } = await placed()
    if (fields === null) desk.tables.accounts.delete(account.id)
    else change(fields)(desk, account)
    await desk.processDue()
    expect(await stored()).toMatchObject({
      status: 'rejected',
      reason: { code, message: expect.stringContaining('not sent') },
    })
    expect(desk.trading.sent()).toEqual([])
  })

  it.each([10, 100])(
    'ends with the broker’s answer, which is kept for a minute while the database cannot be written (%d times)',
    async (times) => {
      const { desk, order, stored } = await placed()
      let failures = times
      const advance: OrderDesk['orders']['advance'] = (...step) => {
        const write = desk.orders.advance(...step)
        return async () =>
          step[2].placement.step === 'ended' && failures-- > 0 ? unavailable()() : write()
      }
      const ended = await processOrder({ ...desk, orders: { ...desk.orders, advance } })(
        await desk.jobOf(order),
      )()
      expect([E.isRight(ended), desk.clock.now(), desk.trading.lookups()]).toEqual([
        times === 10,
        noon + Math.min(times, 59) * secondMs,
        0,
      ])
      expect((await stored()).status).toBe(times === 10 ? 'filled' : 'pending')
    },
  )

  const byOperator = {
    kind: 'rejected',
    reason: { code: 'FINISHED_BY_OPERATOR', message: 'not there' },
  } as const
  const elsewhere = {
    step: 'looking_up',
    sentAt: 1,
    brokerOrderId: null,
    lookups: 1,
    absence: null,
  } as const

  it.each<[what: string, written: PlacementStep | null, answer: FakePlacement, after: object]>([
    ['was looked up and not found', null, 'fill', { status: 'filled' }],
    ['was looked up and not found', null, 'refuse', { status: 'rejected', reason: fakeRefusal }],
    [
      'was sent by another process',
      { placement: elsewhere, continueInMs: 1 },
      'fill',
      { status: 'filled' },
    ],
    [
      'was sent by another process',
      { placement: elsewhere, continueInMs: 1 },
      'refuse',
      { status: 'pending' },
    ],
    [
      'was sent by another process',
      { placement: elsewhere, continueInMs: 1 },
      'lose_the_request',
      { status: 'pending' },
    ],
    [
      'was ended by hand',
      { placement: { step: 'ended' }, outcome: byOperator, continueInMs: null },
      'fill',
      { reason: byOperator.reason },
    ],
  ])(
    'that %s (%o) during its send ends after the answer %s as %o',
    async (_, written, answer, after) => {
      const { desk, order, stored } = await placed()
      const placeOrder: OrderDesk['trading']['placeOrder'] =
        (...send) =>
        async () => {
          const job = await desk.jobOf(order)
          await rightOf<unknown>(
            written === null
              ? desk.process(job)
              : desk.orders.advance(owner, job, written, desk.clock.now()),
          )
          desk.trading.next(answer)
          return desk.trading.placeOrder(...send)()
        }
      await rightOf(
        processOrder({ ...desk, trading: { ...desk.trading, placeOrder } })(
          await desk.jobOf(order),
        ),
      )
      expect(await stored()).toMatchObject(after)
    },
  )

  it('is returned for another try by this process where it was certainly not sent', async () => {
    const { desk, account, order } = await placed()
    desk.trading.next('not_sent')
    const job = await desk.jobOf(order, true)
    const retried = {
      ...job,
      placement: { step: 'recorded' },
      version: job.version + 2,
      mustLookUpFirst: false,
    }
    expect(await rightOf(desk.process(job))).toStrictEqual({
      isCorrected: false,
      retry: { job: retried, inMs: secondMs },
    })
    change({ tradeMode: null })(desk, account)
    desk.broker.fail(
      account.id,
      brokerRateLimited(account.id, desk.clock.now() + 7 * secondMs, desk.clock.now()),
    )
    expect(await rightOf(desk.process(await desk.jobOf(order)))).toMatchObject({
      retry: { job: { mustLookUpFirst: false }, inMs: 7 * secondMs },
    })
  })

  it('is not looked up while no slot comes free', async () => {
    const { desk, order, stored } = await placed()
    const patience: number[] = []
    const forLookup: OrderDesk['slots']['forLookup'] = (_, patienceMs) => async () =>
      void patience.push(patienceMs)
    const process = processOrder({ ...desk, slots: { ...desk.slots, forLookup } })
    const nothing = { isCorrected: false, retry: undefined }
    expect(await rightOf(process(await desk.jobOf(order, true)))).toStrictEqual(nothing)
    desk.trading.next('lose_the_request')
    await desk.processDue()
    expect(await rightOf(process(await desk.jobOf(order)))).toStrictEqual(nothing)
    expect([patience, desk.trading.lookups(), (await stored()).status]).toEqual([
      [10 * secondMs, 10 * secondMs],
      0,
      'pending',
    ])
  })
})

describe('GET, PUT and DELETE of orders', () => {
  it('lists no orders of another’s account', async () => {
    const { account, orders } = opened()
    const list = (by: Owner) =>
      orders.listOrders(
        { owner: by, program: someProgram },
        { page: 1, limit: 20, accountId: account.id },
      )
    expect(await tagOf(list(stranger))).toBe('AccountNotFound')
    expect(await tagOf(list(owner))).toBe('none')
  })

  it.each([
    ['getOrder', E.isRight, E.isRight],
    [
      'modifyOrder',
      E.left({ _tag: 'OrderInFlight' }),
      E.left({ _tag: 'OrderNotModifiable', status: 'filled' }),
    ],
    [
      'cancelOrder',
      E.left({ _tag: 'OrderInFlight' }),
      E.left({ _tag: 'OrderNotCancellable', status: 'filled' }),
    ],
  ] as const)(
    '%s finds the caller’s own orders alone, and no order is open to be changed',
    async (verb, pending, filled) => {
      const { desk, order, orders } = await placed()
      for (const id of ['', 'ord_', 'ord_00000000000000000xyz', `${order.id} `])
        expect(await orders[verb]({ owner }, id)()).toEqual(
          E.left(refuse('NotFound', { what: 'order' })),
        )
      expect(await orders[verb]({ owner: stranger }, order.id)()).toEqual(
        E.left(refuse('NotFound', { what: 'order' })),
      )
      for (const expected of [pending, filled]) {
        const answer = await orders[verb]({ owner }, order.id)()
        if (typeof expected === 'function') expect(expected(answer)).toBe(true)
        else expect(answer).toEqual(expected)
        await desk.processDue()
      }
    },
  )
})
