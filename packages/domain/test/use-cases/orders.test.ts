// Orders from the request to the broker's answer. test/orders/placement-simulation.test.ts places
// orders under faults, on several processes.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import type { Account, TradeMode } from '../../src/accounts/account.ts'
import { brokerRateLimited, refuse } from '../../src/errors.ts'
import { brokerClientId, type Order, type OrderRequest } from '../../src/orders/order.ts'
import type { PlacementStep } from '../../src/orders/placement.ts'
import { secondMs } from '../../src/primitives/instant.ts'
import {
  createFakeIdempotencyStore,
  fakeRefusal,
  newAccountId,
  newClaim,
  newReply,
  someProgram,
  type FakePlacement,
} from '@tradeport/testkit'
import { createOrders, placeOrder } from '../../src/use-cases/orders.ts'
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

type Trouble = (desk: OrderDesk, account: Account) => void

const change =
  (fields: Partial<Account>): Trouble =>
  ({ tables }, { id }) => {
    const account = tables.accounts.get(id)
    if (account !== undefined) tables.accounts.set(id, { ...account, ...fields })
  }
const removed: Trouble = ({ tables }, { id }) => void tables.accounts.delete(id)
const relinked = change({ provider: { providerAccountId: 'another', region: 'london' } })

const halted: Trouble = ({ tables }, { id: accountId }) =>
  void tables.halts.set(accountId, { accountId, since: noon, reason: null })

const exposure = { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null }
const limitTrader =
  (limits: object): Trouble =>
  ({ tables }, { id: accountId }) => {
    const all = { ...exposure, maxLotsPerOrder: null, approvalAboveLots: null, ...limits }
    tables.traderLimits.set(accountId, { accountId, limits: all })
  }
const limitDesk =
  (limits: object, ...others: readonly Account[]): Trouble =>
  ({ tables }, { id }) => {
    const { tenantId } = owner
    const accounts = [id, ...others.map((other) => other.id)]
    tables.desks.set('d', { id: 'd', tenantId, accounts, limits: { ...exposure, ...limits } })
  }

const opened = () => {
  const desk = createOrderDesk()
  return { desk, account: desk.link(), orders: createOrders(desk) }
}

const placed = async (fields: Partial<OrderRequest> = {}) => {
  const one = opened()
  const order = await rightOf(one.desk.place(one.account, fields))
  const stored = (): Promise<Order> => rightOf(one.orders.getOrder({ owner }, order.id))
  return { ...one, order, stored }
}

const replyOf = ({ id }: Order) => newReply({ body: id })
const rejectedAs = (code: string) => ({ status: 'rejected', reason: { code } })

describe('POST /orders', () => {
  it('answers with a pending order, which is then sent once, without the caller’s price, comment and id', async () => {
    const levels = { stopLoss: 1, takeProfit: 2 }
    const own = { price: 1.5, comment: 'ours', clientId: 'theirs' }
    const { desk, account, order, stored } = await placed({ ...levels, ...own })
    expect(order).toEqual({
      id: order.id,
      owner,
      request: requestOn(account.id, { ...levels, ...own }),
      status: 'pending',
      createdAt: noon,
      updatedAt: noon,
    })
    expect([await stored(), desk.trading.sent()]).toEqual([order, []])
    await desk.runFor(60)
    expect(desk.trading.sent()).toEqual([
      {
        clientId: brokerClientId(order.id),
        symbol: 'EURUSD',
        side: 'buy',
        volume: 0.3,
        ...levels,
      },
    ])
    expect(await stored()).toMatchObject({ status: 'filled', fill: { price: 1.1, volume: 0.3 } })
  })

  /** In the order in which they are checked. */
  const refusals: readonly (readonly [tag: string, trouble: Trouble])[] = [
    ['AccountNotFound', removed],
    ['AccountPurposeRestricted', change({ purpose: 'trade_copier' })],
    ['LiveAccountRestricted', change({ tradeMode: 'real' })],
    ['AccountHalted', halted],
    ['UnsupportedBroker', change({ brokerType: 'ctrader' })],
    ['NotProvisioned', change({ provider: null })],
    [
      'BrokerUnavailable',
      ({ tables }) => {
        const { tenantId: id } = owner
        tables.tenants.set(id, { id, name: 'Acme', providerToken: null })
      },
    ],
    [
      'ChallengeLocked',
      ({ tables }, { id: accountId }) =>
        void tables.challenges.set('c', { accountId, startedAt: 1, status: 'failed' }),
    ],
    ['LimitCheckUnavailable', ({ broker }, { id }) => broker.fail(id, down(id))],
    ['DeskLimitBreached', limitDesk({ maxOpenLots: 0.1 })],
    ['TraderLimitBreached', limitTrader({ maxOpenLots: 0.1, approvalAboveLots: 0.1 })],
    ['ApprovalRequired', limitTrader({ approvalAboveLots: 0.1 })],
  ]

  it.each(refusals)(
    'refuses with %s, also where a later check refuses too',
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

  it('refuses more than ten lots before it reads the account, which must be the caller’s', async () => {
    const { desk } = opened()
    const tooLarge = await desk.place({ id: newAccountId() }, { volume: 10.01 })()
    expect(tooLarge).toMatchObject({ left: { limit: 'volume_per_order' } })
    expect(await tagOf(desk.place(desk.link({ owner: stranger })))).toBe('AccountNotFound')
  })

  it.each([
    ['LimitCheckUnavailable', { limitsOf: unavailable }, {}],
    ['ChallengeCheckUnavailable', { challenges: unavailable, limitsOf: unavailable }, {}],
    ['ServiceUnavailable', { challenges: unavailable }, { providerTokens: { find: unavailable } }],
  ])('refuses with %s where that cannot be read', async (tag, limits, others) => {
    const { desk, account } = opened()
    const broken = { ...others, orderLimits: { ...desk.orderLimits, ...limits } }
    expect(await tagOf(desk.place(account, {}, broken))).toBe(tag)
    change({ provider: null })(desk, account)
    expect(await tagOf(desk.place(account, {}, broken))).toBe('NotProvisioned')
    expect(desk.orders.all()).toEqual([])
  })

  it('reads the positions of a desk only where its limits need them, and is refused where one cannot be read', async () => {
    const { desk, account } = opened()
    const colleague = desk.link({ owner: stranger })
    const cause = 'token_refused'
    desk.broker.fail(colleague.id, { ...down(colleague.id), cause })
    limitDesk({ allowedSymbols: ['EURUSD'] }, colleague)(desk, account)
    await rightOf(desk.place(account))
    expect(desk.broker.calls()).toBe(0)
    limitDesk({ maxOpenPositions: 9 }, colleague)(desk, account)
    const left = { _tag: 'LimitCheckUnavailable', cause }
    expect(await desk.place(account)()).toMatchObject({ left })
  })

  it('stores its reply with the order, under the claim that holds the key', async () => {
    const { desk, account } = opened()
    const idempotency = createFakeIdempotencyStore(desk.records)
    const claim = newClaim()
    const replyToStore = { claim, replyOf }
    const place = placeOrder(desk)({ owner }, { request: requestOn(account.id), replyToStore })
    expect(await tagOf(place)).toBe('IdempotencyInProgress')
    await rightOf(idempotency.claim(owner, claim, noon))
    const { id } = await rightOf(place)
    const again = await rightOf(idempotency.claim(owner, claim, noon))
    expect(again).toMatchObject({ kind: 'replied', reply: { body: id } })
  })
})

const stalling =
  (stall: (desk: OrderDesk) => void) =>
  (desk: OrderDesk): Partial<OrderDesk> => ({
    orders: {
      ...desk.orders,
      advance: (owned, from, step, now) => async () => {
        const written = await desk.orders.advance(owned, from, step, now)()
        if (step.placement.step === 'sending') stall(desk)
        return written
      },
    },
  })

describe('an order on its way to the broker', () => {
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
      await desk.runFor(seconds)
      expect(await stored()).toMatchObject(after)
      expect(desk.changedAccounts).toEqual(Array.from({ length: drops }, () => account.id))
      expect(desk.trading.sent()).toHaveLength(placement === 'not_sent' ? seconds : 1)
      expect(desk.heldSlots()).toBe(0)
    },
  )

  it('is looked up where it was sent, although the account was relinked and removed since', async () => {
    const { desk, account, stored } = await placed()
    desk.trading.next('fill_and_lose_the_answer')
    desk.trading.hide(true)
    for (const trouble of [relinked, removed]) {
      await desk.runFor(1)
      trouble(desk, account)
    }
    desk.trading.hide(false)
    await desk.runFor(3)
    expect((await stored()).status).toBe('filled')
    const asked = desk.trading.lookedUp().map((lookup) => lookup.account.providerAccountId)
    expect([...new Set(asked)]).toEqual([account.provider?.providerAccountId])
  })

  it.each([
    ['is looked up in the terminal, then sent', 0, 0, 2, { status: 'filled' }, 1],
    ['is not sent where it was sent already', 0, 1, 2, { status: 'filled' }, 1],
    ['and is too late is proved absent', 31, 0, 420, rejectedAs('NOT_FOUND_AT_BROKER'), 0],
  ])('that another process recorded %s', async (_, late, sends, seconds, after, sent) => {
    const { desk, order, stored } = await placed()
    const { destination } = await desk.jobOf(order)
    const theirs = { ...order.request, clientId: brokerClientId(order.id) }
    if (sends > 0) await desk.trading.placeOrder(destination, theirs, () => true)()
    desk.wait(late * secondMs)
    await desk.runFor(seconds, true)
    expect(desk.trading.lookedUp()[0]?.readFromTerminal).toBe(late === 0)
    expect(await stored()).toMatchObject(after)
    expect(desk.trading.sent()).toHaveLength(sent)
  })

  it.each<[what: string, ports: (desk: OrderDesk) => Partial<OrderDesk>]>([
    ['the database stalls', stalling((desk) => desk.wait(31 * secondMs))],
    ['only the stopwatch shows a stall', stalling((desk) => desk.stall(31 * secondMs))],
    [
      'no slot comes free',
      (desk) => ({
        slots: {
          ...desk.slots,
          forSend: (_, patienceMs) => async () => {
            desk.wait(patienceMs)
            return undefined
          },
        },
      }),
    ],
  ])('is rejected and not sent when its 30 seconds end while %s', async (_, ports) => {
    const { desk, order, stored } = await placed()
    await desk.process(order, false, ports(desk))
    expect(await stored()).toMatchObject(rejectedAs('BROKER_UNAVAILABLE'))
    expect(desk.trading.sent()).toEqual([])
  })

  it.each<[TradeMode | 'unknown', string]>([
    ['demo', 'filled'],
    ['real', 'rejected'],
    ['unknown', 'pending'],
  ])('to an account never read before, which is %s, is %s', async (tradeMode, status) => {
    const { desk, account, order, stored } = await placed()
    change({ tradeMode: null })(desk, account)
    if (tradeMode === 'unknown') desk.broker.fail(account.id, down(account.id))
    else desk.broker.put(account.id, { information: informationOf(tradeMode) })
    await desk.process(order)
    expect((await stored()).status).toBe(status)
    expect(desk.broker.calls('accountInformation')).toBe(1)
    expect(desk.trading.sent()).toHaveLength(status === 'filled' ? 1 : 0)
    desk.broker.heal(account.id)
    await desk.runFor(2)
    expect((await stored()).status).toBe(tradeMode === 'real' ? 'rejected' : 'filled')
  })

  it.each<[what: string, trouble: Trouble, code: string]>([
    ['is no longer linked', removed, 'ACCOUNT_NOT_FOUND'],
    ['is no longer provisioned', change({ provider: null }), 'NOT_PROVISIONED'],
    ['is on another platform', change({ brokerType: 'ctrader' }), 'UNSUPPORTED_BROKER'],
    ['is linked to another broker account', relinked, 'ACCOUNT_RELINKED'],
    ['has another purpose', change({ purpose: 'trade_copier' }), 'ACCOUNT_PURPOSE_RESTRICTED'],
    ['turned out to be live', change({ tradeMode: 'real' }), 'LIVE_ACCOUNT_RESTRICTED'],
    ['was halted', halted, 'ACCOUNT_HALTED'],
  ])('is not sent to an account that %s since', async (_, trouble, code) => {
    const { desk, account, order, stored } = await placed()
    trouble(desk, account)
    await desk.process(order)
    expect(await stored()).toMatchObject(rejectedAs(code))
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
      const ended = await desk.process(order, false, { orders: { ...desk.orders, advance } })
      expect([E.isRight(ended), desk.clock.now(), (await stored()).status]).toEqual(
        times === 10
          ? [true, noon + 10 * secondMs, 'filled']
          : [false, noon + 59 * secondMs, 'pending'],
      )
    },
  )

  const reason = { code: 'FINISHED_BY_OPERATOR', message: 'not there' }
  const byHand: PlacementStep = {
    placement: { step: 'ended' },
    outcome: { kind: 'rejected', reason },
    continueInMs: null,
  }
  const elsewhere: PlacementStep = {
    placement: { step: 'looking_up', sentAt: 1, brokerOrderId: null, lookups: 1, absence: null },
    continueInMs: 1,
  }
  it.each<[what: string, written: PlacementStep | null, answer: FakePlacement, after: object]>([
    ['was looked up and not found', null, 'fill', { status: 'filled' }],
    ['was looked up and not found', null, 'refuse', { status: 'rejected', reason: fakeRefusal }],
    ['was sent by another process', elsewhere, 'fill', { status: 'filled' }],
    ['was sent by another process', elsewhere, 'refuse', { status: 'pending' }],
    ['was sent by another process', elsewhere, 'lose_the_request', { status: 'pending' }],
    ['was ended by hand', byHand, 'fill', { reason }],
  ])(
    'that %s (%o) while it is sent is after the answer %s %o',
    async (_, written, answer, after) => {
      const { desk, order, stored } = await placed()
      const placeInTheMeantime: OrderDesk['trading']['placeOrder'] =
        (...send) =>
        async () => {
          if (written === null) await desk.process(order)
          else await rightOf(desk.orders.advance(owner, await desk.jobOf(order), written, noon))
          desk.trading.next(answer)
          return desk.trading.placeOrder(...send)()
        }
      await desk.process(order, false, {
        trading: { ...desk.trading, placeOrder: placeInTheMeantime },
      })
      expect(await stored()).toMatchObject(after)
    },
  )

  it('is returned for another try by this process where it was certainly not sent', async () => {
    const { desk, account, order } = await placed()
    desk.trading.next('not_sent')
    const { version } = await desk.jobOf(order)
    const retried = { version: version + 2, mustLookUpFirst: false }
    expect(await desk.process(order, true)).toMatchObject({
      right: { isCorrected: false, retry: { job: retried, inMs: secondMs } },
    })
    change({ tradeMode: null })(desk, account)
    desk.broker.fail(account.id, brokerRateLimited(account.id, noon + 7 * secondMs, noon))
    expect(await desk.process(order)).toMatchObject({
      right: { retry: { job: { mustLookUpFirst: false }, inMs: 7 * secondMs } },
    })
  })

  it('is not looked up while no slot comes free within ten seconds', async () => {
    const { desk, order, stored } = await placed()
    const patience: number[] = []
    const forLookup: OrderDesk['slots']['forLookup'] = (_, patienceMs) => async () =>
      void patience.push(patienceMs)
    const lookUp = () => desk.process(order, true, { slots: { ...desk.slots, forLookup } })
    const nothing = E.right({ isCorrected: false, retry: undefined })
    expect(await lookUp()).toStrictEqual(nothing)
    desk.trading.next('lose_the_request')
    await desk.process(order)
    expect(await lookUp()).toStrictEqual(nothing)
    expect([patience, desk.trading.lookedUp()]).toEqual([[10 * secondMs, 10 * secondMs], []])
    expect((await stored()).status).toBe('pending')
  })
})

describe('GET, PUT and DELETE of orders', () => {
  it('lists no orders of another’s account', async () => {
    const { account, orders } = opened()
    const query = { page: 1, limit: 20, accountId: account.id }
    for (const [by, tag] of [[stranger, 'AccountNotFound'] as const, [owner, 'none'] as const])
      expect(await tagOf(orders.listOrders({ owner: by, program: someProgram }, query))).toBe(tag)
  })

  it.each([
    ['getOrder', 'none', 'none'],
    ['modifyOrder', 'OrderInFlight', 'OrderNotModifiable'],
    ['cancelOrder', 'OrderInFlight', 'OrderNotCancellable'],
  ] as const)(
    '%s finds only the caller’s orders: %s while pending, %s once filled',
    async (verb, ...tags) => {
      const { desk, order, orders } = await placed()
      for (const [by, id] of [
        [stranger, order.id],
        ...['', 'ord_', 'ord_00000000000000000xyz', `${order.id} `].map(
          (id) => [owner, id] as const,
        ),
      ] as const)
        expect(await orders[verb]({ owner: by }, id)()).toEqual(
          E.left(refuse('NotFound', { what: 'order' })),
        )
      for (const tag of tags) {
        expect(await tagOf(orders[verb]({ owner }, order.id))).toBe(tag)
        await desk.process(order)
      }
    },
  )
})
