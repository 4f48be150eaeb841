// Orders from the request to the broker's answer. test/simulation/order-simulation.test.ts places
// orders under faults, on several processes.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import type { Account, TradeMode } from '../../src/accounts/account.ts'
import { brokerRateLimited, refuse } from '../../src/errors.ts'
import {
  brokerClientId,
  type Order,
  type OrderRequest,
  orderCheckNames,
} from '../../src/orders/index.ts'
import type { Transition, SentBefore } from '../../src/orders/placement.ts'
import { type AccountId, dayMs, hourMs, minuteMs, secondMs } from '../../src/primitives/index.ts'
import { withoutKey, type OrderStore } from '../../src/ports/index.ts'
import {
  fakeRefusal,
  newAccountId,
  newClaim,
  newOrder,
  newReply,
  type FakePlacement,
  times,
} from '@tradeport/testkit'
import { createFakeMarketData } from './fake-market-data.ts'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../../src/access/credential.ts'
import {
  createOpenOrders,
  createOrders,
  createOrderSymbols,
  checkAndRecordOrder,
  createOrderPreviews,
  previewCheckNames,
} from '../../src/use-cases/index.ts'
import { createOutcomeWaits } from '../../src/use-cases/steps/outcome-wait.ts'
import {
  createOrderDesk,
  down,
  idle,
  informationOf,
  noon,
  owner,
  requestOn,
  rightOf,
  sendingAfter,
  stranger,
  tagOf,
  unavailable,
  type OrderDesk,
  partOf,
} from './desk.ts'

type Trouble = (desk: OrderDesk, account: Account) => unknown

const change =
  (fields: Partial<Account>): Trouble =>
  ({ tables }, { id }) => {
    const account = tables.accounts.get(id)
    if (account !== undefined) tables.accounts.set(id, { ...account, ...fields })
  }
const removed: Trouble = ({ tables }, { id }) => void tables.accounts.delete(id)
const relinked = change({ provider: { providerAccountId: 'another', region: 'london' } })
/** The provider runs the same account in another region now. */
const moved: Trouble = (desk, account) => {
  const { providerAccountId } = account.provider ?? expect.fail('it is linked')
  return change({ provider: { providerAccountId, region: 'singapore' } })(desk, account)
}

const halted: Trouble = ({ tables }, { id: accountId }) =>
  void tables.halts.set(accountId, { accountId, since: noon, reason: null, cancelOrders: false })

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

/** The body of the same order. */
const bodyOn = (id: AccountId, fields: Partial<OrderRequest> = {}) => {
  const { side: type, ...request } = requestOn(id, fields)
  return { ...request, type }
}

type Previewing = Partial<Parameters<typeof createOrderPreviews>[0]>
/** @param others ports in place of some, made of the broker's prices */
const preview = (
  desk: OrderDesk,
  { id }: Account,
  fields: Partial<OrderRequest> = {},
  others: (prices: ReturnType<typeof createFakeMarketData>) => Previewing = () => ({}),
) => {
  const marketData = createFakeMarketData(desk.clock)
  marketData.put(id, 'EURUSD')
  return createOrderPreviews({ ...desk, marketData, ...others(marketData) }).previewOrder(
    { owner },
    { body: bodyOn(id, fields), ...withoutKey },
  )
}

/** The refusal of the preview, or of its first check that fails. */
const previewedTag = async (desk: OrderDesk, account: Account) => {
  const previewed = await preview(desk, account)()
  if (E.isLeft(previewed)) return previewed.left._tag
  const failed = previewed.right.checks.find(({ passed }) => passed === false)?.because
  return failed !== undefined && '_tag' in failed ? failed._tag : failed
}

const opened = () => {
  const desk = createOrderDesk()
  return { desk, account: desk.link(), orders: createOrders(desk) }
}

const placed = async (fields: Partial<OrderRequest> = {}) => {
  const one = opened()
  const order = await rightOf(one.desk.place(one.account, fields))
  const stored = () => rightOf(one.orders.getOrder({ owner }, { id: order.id }))
  return { ...one, order, stored }
}

/** Another process has sent the order, and the record of that was lost. */
const sendElsewhere: Trouble = async (desk) => {
  for (const { order } of desk.allOrders()) {
    const sent = { ...order.request, clientId: brokerClientId(order.id) }
    const { destination } = await desk.jobOf(order)
    await desk.trading.placeOrder(destination, sent, () => true)()
  }
}

const replyOf = ({ id }: Order) => newReply({ body: id })
const rejectedAs = (code: string, message: unknown = expect.any(String)) => ({
  status: 'rejected',
  reason: { code, message },
})

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
  const refusals: readonly (readonly [tag: string, trouble: Trouble, details?: object])[] = [
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
      { cause: 'token_missing' },
    ],
    [
      'ChallengeLocked',
      ({ tables }, { id: accountId }) =>
        void tables.challenges.set('c', { accountId, startedAt: 1, status: 'failed' }),
    ],
    ['SymbolAmbiguous', ({ ambiguousSymbols }) => void ambiguousSymbols.add('EURUSD')],
    ['LimitCheckUnavailable', ({ broker }, { id }) => broker.fail(id, down(id))],
    ['DeskLimitBreached', limitDesk({ maxOpenLots: 0.1 })],
    ['TraderLimitBreached', limitTrader({ maxOpenLots: 0.1, approvalAboveLots: 0.1 })],
    ['ApprovalRequired', limitTrader({ approvalAboveLots: 0.1 })],
  ]

  it.for(refusals)(
    'refuses with %s, also where a later check refuses too',
    async ([tag, trouble, details = {}]) => {
      const { desk, account } = opened()
      // A limit that makes the positions necessary, but is not passed.
      limitTrader({ maxOpenLots: 9 })(desk, account)
      trouble(desk, account)
      expect(await desk.place(account)()).toMatchObject({ left: { _tag: tag, ...details } })
      for (const [, later] of refusals.slice(refusals.findIndex(([one]) => one === tag) + 1))
        later(desk, account)
      // What comes later may have undone it.
      trouble(desk, account)
      expect(await tagOf(desk.place(account))).toBe(tag)
      expect(await previewedTag(desk, account)).toBe(tag)
      expect([desk.allOrders(), desk.trading.sent()]).toEqual([[], []])
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
    expect(desk.allOrders()).toEqual([])
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
    expect(await desk.place(account)()).toMatchObject({ left: { ...left, isOfAnother: true } })
    desk.broker.fail(account.id, { ...down(account.id), cause })
    expect(await desk.place(account)()).toMatchObject({ left: { ...left, isOfAnother: false } })
    desk.broker.fail(account.id, {
      _tag: 'BrokerRateLimited',
      accountId: account.id,
      retryAfterSeconds: 7,
    })
    expect(await desk.place(account)()).toMatchObject({ left: { retryAfterSeconds: 7 } })
  })

  it('stores its reply with the order, under the claim that holds the key', async () => {
    const { desk, account } = opened()
    const { idempotency } = desk
    const claim = newClaim()
    const place = checkAndRecordOrder(desk)({ owner }, requestOn(account.id), { claim, replyOf })
    expect(await tagOf(place)).toBe('IdempotencyInProgress')
    await rightOf(idempotency.claim(owner, claim))
    const { id } = await rightOf(place)
    const again = await rightOf(idempotency.claim(owner, claim))
    expect(again).toMatchObject({ kind: 'replied', reply: { body: id } })
  })
})

/** Waits 30 seconds, in the sixth of which the order is processed. */
const waited = async ({
  hearsOutcome = true,
  leavesAfter = Infinity,
  isProcessed = true,
  replaces = true,
}) => {
  const { desk, account } = opened()
  const { idempotency } = desk
  const claim = newClaim()
  await rightOf(idempotency.claim(owner, claim))
  let pauses = 0
  const orders = createOrders({
    ...desk,
    orders: hearsOutcome ? desk.orders : { ...desk.orders, onOutcome: () => () => undefined },
    idempotency: replaces ? idempotency : { ...idempotency, replaceReply: unavailable },
    pause: (ms) => async () => {
      pauses += 1
      if (pauses === 6 && isProcessed)
        for (const { order } of desk.allOrders()) await desk.process(order)
      desk.wait(ms)
    },
  })
  const order = await rightOf(
    orders.placeOrder(
      { owner },
      {
        body: bodyOn(account.id),
        keyedReply: { claim, replyOf: ({ status }) => newReply({ body: status }) },
        query: { wait: 30 },
        mayWait: () => pauses < leavesAfter,
      },
    ),
  )
  const kept = await rightOf(idempotency.claim(owner, claim))
  return [order.status, kept.kind === 'replied' && kept.reply.body, pauses]
}

describe('POST /orders/preview', () => {
  it('runs every check in order, also after one that failed, and records nothing', async () => {
    const { desk, account } = opened()
    halted(desk, account)
    limitTrader({ approvalAboveLots: 0.1 })(desk, account)
    const { allowed, checks } = await rightOf(preview(desk, account, { volume: 11 }))
    expect(allowed).toBe(false)
    expect(checks.map(({ name }) => name)).toEqual([...orderCheckNames, ...previewCheckNames])
    expect(checks.filter(({ passed }) => passed === false).map(({ name }) => name)).toEqual([
      'volume_per_order',
      'halt',
      'approval',
      // It is Saturday.
      'market_open',
    ])
    expect([desk.allOrders(), desk.trading.sent()]).toEqual([[], []])
  })

  it('counts the orders of the day and the open ones', async () => {
    const { desk, account } = opened()
    for (let placed = 0; placed < 50; placed++) await rightOf(desk.place(account))
    const { checks } = await rightOf(preview(desk, account))
    expect(checks.find(({ name }) => name === 'open_orders')).toMatchObject({
      passed: false,
      because: { _tag: 'RiskLimitExceeded', current: 50 },
    })
  })

  it('reads the margin of a pending order beside everything else of the broker', async () => {
    const { desk, account } = opened()
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const requiredMargin = () => async () => (resolve(), E.right(O.some(7)))
    const limit = { orderType: 'limit', price: 1 } as const
    const previewed = preview(desk, account, limit, ({ quote, ...prices }) => ({
      marketData: {
        ...prices,
        quote:
          (...of) =>
          () =>
            asked.then(quote(...of)),
      },
      broker: { ...desk.broker, requiredMargin },
    }))
    expect((await rightOf(previewed)).estimate.margin).toBe(7)
  })

  it.each([
    [9_900, { name: 'margin', passed: true }],
    [
      9_900.01,
      {
        name: 'margin',
        passed: null,
        because: {
          code: 'INSUFFICIENT_MARGIN',
          message:
            'The order needs a margin of about 9900.01, and 10000 is free: if that is too little, the broker refuses it, unless it reduces or hedges an open position.',
          details: { margin: 9_900.01, freeMargin: 10_000 },
        },
      },
    ],
  ])('compares a margin of %d with the free one', async (margin, check) => {
    const { desk, account } = opened()
    const broker = { ...desk.broker, requiredMargin: () => TE.right(O.some(margin)) }
    const { checks } = await rightOf(preview(desk, account, {}, () => ({ broker })))
    expect(checks.at(-1)).toEqual(check)
  })

  it('does not say what depends on a broker that cannot be read, and refuses nothing for it', async () => {
    const { desk, account } = opened()
    desk.broker.fail(account.id, down(account.id))
    const unpriced = () => ({ marketData: createFakeMarketData(desk.clock) })
    const { allowed, checks, estimate } = await rightOf(preview(desk, account, {}, unpriced))
    expect([allowed, new Set(Object.values(estimate))]).toEqual([true, new Set([null])])
    const unknown = checks.filter(({ passed }) => passed === null)
    expect(unknown.map(({ name }) => name)).toEqual(previewCheckNames)
  })

  it.each([
    ['EURUSD', null],
    ['GBPUSD', false],
  ])(
    'finds the symbol in the list of the broker, without its terms: %s, %s',
    async (symbol, passed) => {
      const { desk, account } = opened()
      const { checks } = await rightOf(
        preview(desk, account, { symbol }, (listed) => ({
          marketData: { ...listed, instrument: () => TE.left(down(account.id)) },
        })),
      )
      expect(checks.find(({ name }) => name === 'instrument')).toMatchObject({ passed })
    },
  )

  it('finds the symbol in a list that comes after an order would have been sent without it', async () => {
    const { desk, account } = opened()
    const list = idle().then(() => E.right(['EURUSD.r']))
    const { checks } = await rightOf(
      preview(desk, account, {}, (prices) => {
        const marketData = { ...prices, symbols: () => () => list }
        return {
          marketData,
          resolveOrderSymbol: createOrderSymbols({
            marketData,
            pause: () => async () => undefined,
          }),
        }
      }),
    )
    expect(checks.find(({ name }) => name === 'instrument')).toMatchObject({ passed: null })
  })
})

describe('POST /orders that waits', () => {
  it.each([
    ['the order once this process has written its outcome', {}, ['filled', 'filled', 6]],
    [
      'the outcome of another process, within two seconds',
      { hearsOutcome: false },
      ['filled', 'filled', 7],
    ],
    ['the pending order once the time is over', { isProcessed: false }, ['pending', 'pending', 30]],
    [
      'the order as it was recorded, to a caller that is gone',
      { leavesAfter: 6 },
      ['pending', 'pending', 6],
    ],
    [
      'the order as it was recorded, where its reply cannot be replaced',
      { replaces: false },
      ['pending', 'pending', 6],
    ],
  ])('answers, and keeps for a repetition, %s', async (_, scene, expected) => {
    expect(await waited(scene)).toEqual(expected)
  })

  it('is answered at once while 500 others wait', async () => {
    const order = newOrder(owner, noon)
    const filled: Order = { ...order, status: 'filled', fill: {} }
    const outcomes: (() => void)[] = []
    const wait = createOutcomeWaits({
      stopwatch: { elapsedMs: () => 0 },
      pause: () => () => new Promise(() => undefined),
      orders: partOf<OrderStore>({
        find: () => TE.right(O.some(filled)),
        onOutcome: (_, hear) => {
          outcomes.push(hear)
          return () => undefined
        },
      }),
    })(order, { seconds: 30, mayWait: () => true })
    const [first] = times(500, () => wait())
    expect(await wait()).toBe(order)
    outcomes[0]?.()
    expect(await first).toBe(filled)
    const next = wait()
    outcomes[500]?.()
    expect(await next).toBe(filled)
  })
})

type Meanwhile = (desk: OrderDesk, order: Order) => unknown

/** What happens to an order on its way. */
interface Scene {
  /** After it was recorded. */
  readonly since?: Trouble
  /** After its send was recorded, and before it is sent. */
  readonly beforeSend?: Meanwhile
  readonly broker?: FakePlacement
  readonly sentBefore?: SentBefore
  readonly seconds?: number
}

const unread =
  (tradeMode?: TradeMode): Trouble =>
  (desk, account) => {
    change({ tradeMode: null, lastReadAt: null })(desk, account)
    if (tradeMode === undefined) desk.broker.fail(account.id, down(account.id))
    else desk.broker.put(account.id, { information: informationOf(tradeMode) })
  }
/** Never read before, and the provider does not know it now. */
const unknownToProvider: Trouble = (desk, account) => {
  unread('demo')(desk, account)
  desk.broker.fail(account.id, refuse('NotProvisioned', { accountId: account.id }))
}
/** The journal has a deal, and the broker's history has those of the given times. */
const hadDeal =
  (at: number, ...times: readonly number[]): Trouble =>
  (desk, { id }) => {
    desk.lastDeals.set(id, at)
    desk.broker.put(id, { deals: times.map((time) => ({ ...someDeal, time })) })
  }
const someDeal = { id: '1', kind: 'balance', profit: 1, commission: 0, swap: 0 } as const
/** Its broker called it a demo account an hour ago. */
const becameReal: Trouble = (desk, account) => {
  change({ lastReadAt: noon - hourMs })(desk, account)
  desk.broker.put(account.id, { information: informationOf('real') })
}
const lookUp: Meanwhile = (desk, order) => desk.process(order)
const write =
  (step: Transition): Meanwhile =>
  async (desk, order) =>
    rightOf(desk.orders.advance(owner, await desk.jobOf(order), step, noon))
const writeElsewhere = write({
  placement: { step: 'looking_up', sentAt: 1, brokerOrderId: null, lookups: 1, absence: null },
  continueInMs: 1,
})
const findElsewhere = write({
  placement: {
    step: 'open',
    sentAt: noon,
    unexecutedAt: noon,
    brokerOrderId: '7',
    cancellation: null,
    missing: null,
  },
  continueInMs: null,
})
const reason = { code: 'FINISHED_BY_OPERATOR', message: 'not there' }
const endByHand = write({
  placement: { step: 'ended' },
  outcome: { kind: 'rejected', reason },
  continueInMs: null,
})

const waiting = (desk: OrderDesk) => desk.wait(31 * secondMs)
const stalling = (desk: OrderDesk) => desk.stall(31 * secondMs)
// As where the machine sleeps.
const sleeping = (desk: OrderDesk) => {
  waiting(desk)
  desk.stall(-31 * secondMs)
}

describe('an order on its way to the broker', () => {
  const pending = { status: 'pending' }
  const filled = { status: 'filled' }
  const refused = { status: 'rejected', reason: fakeRefusal }
  const late = rejectedAs(
    'BROKER_UNAVAILABLE',
    expect.stringMatching(/could not be sent to the broker within/),
  )
  const crowdedOut = rejectedAs('BROKER_UNAVAILABLE', expect.stringMatching(/^Other orders/))
  const notFound = rejectedAs('NOT_FOUND_AT_BROKER')
  const live = rejectedAs('LIVE_ACCOUNT_RESTRICTED')
  const lost = 'lose_the_request'
  const unanswered = 'fill_and_lose_the_answer'
  const inPart = 'claim_a_part'

  it.each<[string, Scene, object, number, number?]>([
    ['that is refused', { broker: 'refuse' }, refused, 1, 0],
    ['that is found', { broker: unanswered, seconds: 2 }, filled, 1, 2],
    ['that is sent again', { broker: 'not_sent', seconds: 2 }, filled, 2, 1],
    ['not shown for five minutes', { broker: lost, seconds: 300 }, pending, 1, 1],
    ['that is proved absent', { broker: lost, seconds: 420 }, notFound, 1, 1],
    [
      'that is absent from a history that has the last deal of before',
      { since: hadDeal(noon - dayMs, noon - dayMs), broker: lost, seconds: 420 },
      notFound,
      1,
      1,
    ],
    [
      'that is absent from a history that lacks it',
      { since: hadDeal(noon - dayMs), broker: lost, seconds: 420 },
      pending,
      1,
      1,
    ],
    ['only accepted', { broker: 'accept', seconds: 600 }, pending, 1, 1],
    [
      'that only the answer shows executed, looked up meanwhile',
      { beforeSend: writeElsewhere, broker: inPart, seconds: 600 },
      pending,
      1,
    ],
    ['late by the clock alone', { beforeSend: sleeping }, late, 0, 0],
    ['late by the stopwatch alone', { beforeSend: stalling }, late, 0, 0],
    ['that gets no slot in time', { since: (desk) => desk.holdSlots() }, crowdedOut, 0, 0],
    ['of another process', { sentBefore: 'unlikely' }, filled, 1, 1],
    ['sent by another process', { sentBefore: 'unlikely', since: sendElsewhere }, filled, 1, 1],
    [
      'late of another process',
      { sentBefore: 'unlikely', since: waiting, seconds: 420 },
      notFound,
      0,
      0,
    ],
    ['of a database run before this one', { sentBefore: 'possible', seconds: 420 }, notFound, 0, 0],
    [
      'sent by another process, which the database lost',
      { sentBefore: 'possible', since: sendElsewhere },
      filled,
      1,
      1,
    ],
    ['looked up meanwhile, filled', { beforeSend: lookUp }, filled, 1],
    ['looked up meanwhile, refused', { beforeSend: lookUp, broker: 'refuse' }, refused, 1],
    ['also sent elsewhere, filled', { beforeSend: writeElsewhere }, filled, 1],
    ['also sent elsewhere, refused', { beforeSend: writeElsewhere, broker: 'refuse' }, pending, 1],
    [
      'found meanwhile, refused',
      { beforeSend: findElsewhere, broker: 'refuse' },
      { status: 'open' },
      1,
    ],
    ['to a demo account never read before', { since: unread('demo') }, filled, 1],
    ['to a real account never read before', { since: unread('real') }, live, 0],
    ['to an account that became real', { since: becameReal }, live, 0],
    ['to an account that cannot be read', { since: unread() }, pending, 0],
    ['to an account that the provider does not know', { since: unknownToProvider }, pending, 0],
    [
      'to an account that the provider does not know for long',
      { since: unknownToProvider, seconds: 31 },
      late,
      0,
    ],
    ['to an account removed since', { since: removed }, rejectedAs('ACCOUNT_NOT_FOUND'), 0],
    ['to an account relinked since', { since: relinked }, rejectedAs('ACCOUNT_RELINKED'), 0],
    [
      'to an account with another purpose since',
      { since: change({ purpose: 'trade_copier' }) },
      rejectedAs('ACCOUNT_PURPOSE_RESTRICTED'),
      0,
    ],
    [
      'to an account whose challenge failed since',
      {
        since: (desk, { id: accountId }) =>
          desk.records.tables.challenges.put({ accountId, startedAt: noon, status: 'failed' }),
      },
      rejectedAs('CHALLENGE_LOCKED'),
      0,
    ],
    ['to an account that was halted', { since: halted }, rejectedAs('ACCOUNT_HALTED'), 0],
    ['to an account that is live', { since: change({ tradeMode: 'real' }) }, live, 0],
  ])('%s (%o) is %o, sent %i times', async (_, scene, after, sends, drops) => {
    const {
      since,
      beforeSend,
      broker = 'fill',
      sentBefore = 'no',
      seconds = sentBefore === 'no' ? 1 : 2,
    } = scene
    const { desk, account, order, stored } = await placed()
    await since?.(desk, account)
    desk.trading.next(broker)
    const sending = sendingAfter(desk.trading, () => beforeSend?.(desk, order))
    await desk.runFor(seconds, sentBefore, sending)
    expect(await stored()).toMatchObject(after)
    expect(desk.trading.sent()).toHaveLength(sends)
    expect(desk.heldSlots()).toBe(0)
    if (drops !== undefined) expect(desk.changedAccounts).toEqual(times(drops, () => account.id))
    // Before it is sent, the broker's own terminal is read.
    if (sentBefore === 'unlikely')
      expect(desk.trading.lookedUp()[0]?.readFromTerminal).toBe(after !== notFound)
  })

  it('is not sent where the account is halted while its broker is read for the first time', async () => {
    const { desk, account, order, stored } = await placed()
    unread('demo')(desk, account)
    const read: OrderDesk['liveAccounts']['read'] = (unconfirmed) => async () => {
      halted(desk, unconfirmed)
      return desk.liveAccounts.read(unconfirmed)()
    }
    await desk.process(order, 'no', { liveAccounts: { read } })
    expect(await stored()).toMatchObject(rejectedAs('ACCOUNT_HALTED'))
    expect(desk.trading.sent()).toEqual([])
  })

  it('is looked up where it was sent, although the account was relinked and removed since', async () => {
    const { desk, account, stored } = await placed()
    desk.trading.next('fill_and_lose_the_answer')
    desk.trading.hide(true)
    for (const trouble of [relinked, removed]) {
      await desk.runFor(1)
      await trouble(desk, account)
    }
    desk.trading.hide(false)
    await desk.runFor(3)
    expect((await stored()).status).toBe('filled')
    const asked = desk.trading.lookedUp().map((lookup) => lookup.account.providerAccountId)
    expect([...new Set(asked)]).toEqual([account.provider?.providerAccountId])
  })

  it('is looked up in the region to which the provider has moved its account', async () => {
    const { desk, account, stored } = await placed()
    desk.trading.next('fill_and_lose_the_answer')
    await desk.runFor(1)
    await moved(desk, account)
    await desk.runFor(3)
    expect((await stored()).status).toBe('filled')
    expect(desk.trading.lookedUp()).toMatchObject([{ account: { region: 'singapore' } }])
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
      const ended = await desk.process(order, 'no', { orders: { ...desk.orders, advance } })
      expect([E.isRight(ended), desk.clock.now(), (await stored()).status]).toEqual(
        times === 10
          ? [true, noon + 10 * secondMs, 'filled']
          : [false, noon + 59 * secondMs, 'pending'],
      )
    },
  )

  it('is returned for another try by this process where it was certainly not sent', async () => {
    const { desk, account, order } = await placed()
    desk.trading.next('not_sent')
    const { version } = await desk.jobOf(order)
    const retried = { version: version + 2, sentBefore: 'no' }
    expect(await desk.process(order, 'unlikely')).toMatchObject({
      right: { warning: undefined, retry: { job: retried, inMs: secondMs } },
    })
    change({ tradeMode: null, lastReadAt: null })(desk, account)
    desk.broker.fail(account.id, brokerRateLimited(account.id, noon + 7 * secondMs, noon))
    expect(await desk.process(order)).toMatchObject({
      right: { retry: { job: { sentBefore: 'no' }, inMs: 7 * secondMs } },
    })
  })

  it('has the number that the broker answered, although another process looked it up before', async () => {
    const { desk, order } = await placed()
    desk.trading.next('accept')
    await desk.process(
      order,
      'no',
      sendingAfter(desk.trading, () => desk.process(order)),
    )
    expect((await desk.jobOf(order)).placement).toMatchObject({
      step: 'looking_up',
      brokerOrderId: expect.any(String),
    })
  })

  const findFilled = write({
    placement: { step: 'ended' },
    outcome: { kind: 'filled', fill: {} },
    continueInMs: null,
  })
  it.each<[FakePlacement, Meanwhile, string | undefined]>([
    ['fill', endByHand, 'answer_discarded'],
    ['claim_a_part', endByHand, 'answer_discarded'],
    ['accept', endByHand, 'answer_discarded'],
    ['refuse', endByHand, undefined],
    ['lose_the_request', endByHand, undefined],
    ['fill', findFilled, undefined],
  ])('met with %s after its record had ended reports %o', async (answer, happens, warning) => {
    const { desk, order } = await placed()
    desk.trading.next(answer)
    const sending = sendingAfter(desk.trading, () => happens(desk, order))
    const sent = await desk.process(order, 'no', sending)
    expect(E.isRight(sent) && sent.right.warning).toBe(warning)
  })

  it('is reported where it was not found, and its records cannot be read for a week', async () => {
    const { desk, order } = await placed()
    desk.trading.next('lose_the_request')
    await desk.runFor(420)
    desk.trading.hide(true)
    desk.wait(7 * dayMs)
    expect(await desk.process(order)).toMatchObject({ right: { warning: 'order_unverified' } })
  })

  it('is not looked up while no slot comes free within ten seconds', async () => {
    const { desk, order, stored } = await placed()
    desk.trading.next('lose_the_request')
    await desk.process(order)
    desk.holdSlots()
    expect(await desk.process(order, 'unlikely')).toStrictEqual(E.right({}))
    expect([desk.clock.now(), desk.trading.lookedUp()]).toEqual([noon + 10 * secondMs, []])
    expect((await stored()).status).toBe('pending')
  })
})

describe('GET, PUT and DELETE of orders', () => {
  it('lists no orders of another’s account', async () => {
    const { account, orders } = opened()
    const query = { page: 1, limit: 20, accountId: account.id }
    for (const [by, tag] of [[stranger, 'AccountNotFound'] as const, [owner, 'none'] as const])
      expect(await tagOf(orders.listOrders({ owner: by }, { query }))).toBe(tag)
  })

  it.each([
    ['read', 'none', 'none'],
    ['modified', 'OrderInFlight', 'OrderNotModifiable'],
    ['cancelled', 'OrderInFlight', 'OrderNotCancellable'],
  ] as const)(
    'are %s only by their owner: %s while pending, %s once filled',
    async (verb, ...tags) => {
      const { desk, order, orders } = await placed()
      const open = createOpenOrders(desk)
      const verbs = {
        read: orders.getOrder,
        modified: (by: Caller, { id }: { readonly id: string }) =>
          open.modifyOrder(by, { id, body: { price: 1.1 } }),
        cancelled: open.cancelOrder,
      }
      for (const [by, id] of [
        [stranger, order.id],
        ...['', 'ord_', 'ord_00000000000000000xyz', `${order.id} `].map(
          (id) => [owner, id] as const,
        ),
      ] as const)
        expect(await verbs[verb]({ owner: by }, { id })()).toEqual(
          E.left(refuse('NotFound', { what: 'order' })),
        )
      for (const tag of tags) {
        expect(await tagOf(verbs[verb]({ owner }, { id: order.id }))).toBe(tag)
        await desk.process(order)
      }
    },
  )
})

const resolving = (symbols: readonly string[] | 'unreadable') => {
  const { desk, account } = opened()
  const resolveOrderSymbol = createOrderSymbols({
    marketData: {
      ...createFakeMarketData({ now: () => noon }),
      symbols: () => (symbols === 'unreadable' ? TE.left(down(account.id)) : TE.right(symbols)),
    },
    pause: () => () => new Promise(() => undefined),
  })
  const request = { ...requestOn(account.id), symbol: 'EURUSD' }
  return checkAndRecordOrder({ ...desk, resolveOrderSymbol })({ owner }, request)
}

describe('an order whose outcome is not known', () => {
  it.each([
    [
      'its journal cannot be read',
      (desk: OrderDesk) => void Object.assign(desk.journal, { find: unavailable }),
    ],
    [
      'the deals of its account cannot be read',
      (desk: OrderDesk, account: Account) => {
        hadDeal(noon - dayMs, noon - dayMs)(desk, account)
        Object.assign(desk.broker, { dealsPage: () => TE.left(down(account.id)) })
      },
    ],
  ])('stays pending while %s', async (_, fails) => {
    const { desk, account, order, stored } = await placed()
    desk.trading.next('lose_the_request')
    await desk.process(order)
    fails(desk, account)
    await desk.runFor(420)
    expect((await stored()).status).toBe('pending')
  })

  it('is looked up around the clock of whoever sent it', async () => {
    const { desk, order } = await placed()
    desk.trading.next('lose_the_request')
    await desk.process(order)
    desk.wait(3 * secondMs)
    const elapsedMs = () => desk.clock.now() + 10 * minuteMs
    await desk.process(order, 'no', { stopwatch: { elapsedMs } })
    expect(desk.trading.lookedUp()).toMatchObject([
      { sentAt: noon - 10 * minuteMs, sentAtLatest: noon },
    ])
  })

  it('is not sent after a lookup that could not be read', async () => {
    const { desk, order } = await placed()
    desk.trading.hide(true)
    expect(await desk.process(order, 'unlikely')).toMatchObject({
      right: { retry: { job: { sentBefore: 'unlikely' }, inMs: secondMs } },
    })
  })

  it('is sent to the region to which its account was moved', async () => {
    const { desk, account, order } = await placed()
    await moved(desk, account)
    const regions: unknown[] = []
    const placeOrder: OrderDesk['trading']['placeOrder'] = (to, ...rest) => {
      regions.push(to.region)
      return desk.trading.placeOrder(to, ...rest)
    }
    await desk.process(order, 'no', { trading: { ...desk.trading, placeOrder } })
    expect(regions).toEqual(['singapore'])
  })
})

describe('the symbol of an order', () => {
  it.each([
    [['EURUSD.r', 'GBPUSD.r'], 'EURUSD.r'],
    [['EURUSD', 'EURUSD.r'], undefined],
    ['unreadable' as const, undefined],
  ])('among %j is sent as %s, and shown as the caller wrote it', async (symbols, brokerSymbol) => {
    const { request } = await rightOf(resolving(symbols))
    expect([request.symbol, request.brokerSymbol]).toEqual(['EURUSD', brokerSymbol])
  })

  it('that could mean several is refused with all of them', async () => {
    expect(await resolving(['EURUSD.r', 'EURUSDm'])()).toMatchObject({
      left: { _tag: 'SymbolAmbiguous', candidates: ['EURUSD.r', 'EURUSDm'] },
    })
  })
})
