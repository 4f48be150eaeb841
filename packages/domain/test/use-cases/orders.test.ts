import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import { brokerUnavailable, serviceUnavailable } from '../../src/errors.ts'
import { brokerClientId, parseOrderId } from '../../src/orders/order.ts'
import type { Order, OrderRequest } from '../../src/orders/order.ts'
import { minuteMs, secondMs } from '../../src/primitives/instant.ts'
import { fakeRefusal } from '../../src/testing/fake-trading.ts'
import { newClaim, newReply, someProgram } from '../../src/testing/stored-orders.ts'
import { newAccountId } from '../../src/testing/stored-records.ts'
import { cancelOrder } from '../../src/use-cases/cancel-order.ts'
import { getOrder } from '../../src/use-cases/get-order.ts'
import { listOrders } from '../../src/use-cases/list-orders.ts'
import { modifyOrder } from '../../src/use-cases/modify-order.ts'
import { placeOrder } from '../../src/use-cases/place-order.ts'
import { processOrder } from '../../src/use-cases/process-order.ts'
import { owner, rightOf, stranger, tagOf } from './desk.ts'
import { createOrderDesk, noon, requestOn } from './order-desk.ts'
import type { OrderDesk } from './order-desk.ts'
import { openPosition } from '../../src/testing/open-position.ts'

const position = openPosition({ volume: 0.5 })

const unreadable = () => TE.left(serviceUnavailable('down'))

const figures = { balance: 1, equity: 1, margin: 0, freeMargin: 1, marginLevel: null, leverage: 100 }

const noLimits = { maxLotsPerOrder: null, maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null, approvalAboveLots: null }

const limitTrader = ({ tables }: OrderDesk, { id }: Account, limits: Partial<typeof noLimits> | object): void => {
  tables.traderLimits.set(id, { accountId: id, limits: { ...noLimits, ...limits } })
}

const limitDesk = ({ tables }: OrderDesk, accounts: readonly Account[], limits: object): void => {
  const deskLimits = { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null, ...limits }
  tables.desks.set('d', { id: 'd', tenantId: owner.tenantId, accounts: accounts.map(({ id }) => id), limits: deskLimits })
}

const failChallenge = ({ tables }: OrderDesk, { id }: Account): void => {
  tables.challenges.set('c', { accountId: id, startedAt: 1, status: 'failed' })
}

/** Each way to be refused, put upon a desk that would else take the order: in the order of decision 19. */
const refusals: readonly (readonly [tag: string, trouble: (desk: OrderDesk, account: Account) => void])[] = [
  ['AccountPurposeRestricted', ({ tables }, account) => void tables.accounts.set(account.id, { ...account, purpose: 'trade_copier' })],
  ['LiveAccountRestricted', (desk, account) => change(desk, account, { tradeMode: 'real' })],
  ['UnsupportedBroker', (desk, account) => change(desk, account, { brokerType: 'ctrader' })],
  ['NotProvisioned', (desk, account) => change(desk, account, { provider: null })],
  ['BrokerUnavailable', ({ tables }) => void tables.tenants.set(owner.tenantId, { id: owner.tenantId, name: 'Acme', providerToken: null })],
  ['ChallengeLocked', failChallenge],
  ['LimitCheckUnavailable', (desk, account) => desk.broker.fail(account.id, brokerUnavailable(account.id, 'down'))],
  ['DeskLimitBreached', (desk, account) => limitDesk(desk, [account], { maxOpenLots: 0.1 })],
  ['TraderLimitBreached', (desk, account) => limitTrader(desk, account, { maxOpenLots: 0.1, approvalAboveLots: 0.1 })],
]

const change = ({ tables }: OrderDesk, { id }: Account, fields: Partial<Account>): void => {
  const account = tables.accounts.get(id)
  if (account !== undefined) tables.accounts.set(id, { ...account, ...fields })
}

const orderOf = async (desk: OrderDesk, { id }: Order): Promise<Order> => rightOf(getOrder(desk)({ owner }, id))

const placed = async (fields: Partial<OrderRequest> = {}) => {
  const desk = createOrderDesk()
  const account = desk.link()
  return { desk, account, placed: await rightOf(desk.place(account, fields)) }
}

describe('POST /orders', () => {
  it('answers with a pending order, which it has not sent yet (3.1)', async () => {
    const desk = createOrderDesk()
    const account = desk.link()
    const request = requestOn(account.id, { stopLoss: 1, takeProfit: 2, price: 1.5, comment: 'ours', clientId: 'theirs' })
    const placed = await rightOf(placeOrder(desk)({ owner }, { request }))
    expect(placed).toEqual({ id: placed.id, owner, request, status: 'pending', createdAt: noon, updatedAt: noon })
    expect(O.isSome(parseOrderId(placed.id))).toBe(true)
    expect(desk.trading.sent()).toEqual([])
    expect(await orderOf(desk, placed)).toEqual(placed)
  })

  it('refuses more than ten lots before it looks for the account (decision 19)', async () => {
    const desk = createOrderDesk()
    const refused = await placeOrder(desk)({ owner }, { request: requestOn(newAccountId(), { volume: 10.01 }) })()
    expect(refused).toMatchObject({ left: { _tag: 'RiskLimitExceeded', limit: 'volume_per_order' } })
  })

  it('refuses an account that is unknown or another’s (decision 29)', async () => {
    const desk = createOrderDesk()
    expect(await tagOf(desk.place({ ...desk.link(), id: newAccountId() }))).toBe('AccountNotFound')
    const foreign = desk.link({ owner: stranger })
    expect(await tagOf(desk.place(foreign))).toBe('AccountNotFound')
  })

  it.each(refusals)('refuses with %s, and with what comes before it where both apply (decision 19)', async (tag, trouble) => {
    const desk = createOrderDesk()
    const account = desk.link()
    // A limit that makes the book necessary, but is not passed.
    limitTrader(desk, account, { maxOpenLots: 9 })
    expect(await tagOf(TE.map(() => undefined)(desk.place(account)))).toBe('none')
    trouble(desk, account)
    expect(await tagOf(desk.place(account))).toBe(tag)
    const index = refusals.findIndex(([one]) => one === tag)
    for (const [, later] of refusals.slice(index + 1)) later(desk, account)
    // What comes later may have unset it: it is put last again.
    trouble(desk, account)
    expect(await tagOf(desk.place(account))).toBe(tag)
    expect(desk.orders.all()).toHaveLength(1)
    expect(desk.trading.sent()).toEqual([])
  })

  it('looks at what the broker holds and what is under way, on the account and on its desk', async () => {
    const desk = createOrderDesk()
    const [account, colleague] = [desk.link(), desk.link({ owner: stranger })]
    desk.broker.put(account.id, { positions: [position] })
    limitTrader(desk, account, { maxOpenLots: 1.1 })
    expect(await tagOf(desk.place(account))).toBe('none')
    expect(await tagOf(desk.place(account))).toBe('none')
    expect(await desk.place(account)()).toMatchObject({ left: { _tag: 'TraderLimitBreached', limit: 'maxOpenLots', current: 1.1 } })
    desk.tables.traderLimits.clear()
    desk.broker.put(colleague.id, { positions: [position] })
    limitDesk(desk, [account, colleague], { maxOpenPositions: 4 })
    expect(await desk.place(account)()).toMatchObject({ left: { _tag: 'DeskLimitBreached', limit: 'maxOpenPositions', current: 4 } })
  })

  it('counts an order once that is executed and not known to be, whatever the broker made of the last part of its name', async () => {
    const desk = createOrderDesk()
    const account = desk.link()
    limitTrader(desk, account, { maxOpenPositions: 2 })
    const placed = await rightOf(desk.place(account))
    const name = brokerClientId(placed.id)
    desk.broker.put(account.id, { positions: [{ ...position, clientId: name.replace(/[^_]+$/, '0') }] })
    expect(await tagOf(desk.place(account))).toBe('none')
    expect(await desk.place(account)()).toMatchObject({ left: { _tag: 'TraderLimitBreached', limit: 'maxOpenPositions', current: 2 } })
    limitTrader(desk, account, { maxOpenLots: 0.25 })
    desk.broker.put(account.id, { positions: [{ ...position, volume: 0.01, clientId: name }] })
    expect(await desk.place(account)()).toMatchObject({ left: { _tag: 'TraderLimitBreached', limit: 'maxOpenLots', current: 0.6 } })
    limitTrader(desk, account, { maxOpenPositions: 2 })
    // Another's name, and none, are other positions.
    for (const other of [{ ...position, clientId: 'TP_0000000000_0000000000' }, position]) {
      desk.broker.put(account.id, { positions: [other] })
      expect(await desk.place(account)()).toMatchObject({ left: { _tag: 'TraderLimitBreached', current: 3 } })
    }
  })

  it('reads the book of an account once, in however many limits it counts', async () => {
    const desk = createOrderDesk()
    const [account, colleague] = [desk.link(), desk.link({ owner: stranger })]
    limitTrader(desk, account, { maxOpenLots: 9 })
    limitDesk(desk, [account, colleague], { maxOpenLots: 9 })
    expect(await tagOf(desk.place(account))).toBe('none')
    expect([account, colleague].map(({ id }) => desk.broker.calls('positions', id))).toEqual([1, 1])
  })

  it('refuses when the book of a colleague on the desk cannot be read, and reads none where no limit needs it', async () => {
    const desk = createOrderDesk()
    const [account, colleague] = [desk.link(), desk.link({ owner: stranger })]
    desk.broker.fail(colleague.id, brokerUnavailable(colleague.id, 'down'))
    limitDesk(desk, [account, colleague], { allowedSymbols: ['EURUSD'] })
    expect(await tagOf(desk.place(account))).toBe('none')
    expect(desk.broker.calls()).toBe(0)
    limitDesk(desk, [account, colleague], { maxOpenPositions: 9 })
    expect(await tagOf(desk.place(account))).toBe('LimitCheckUnavailable')
    desk.broker.fail(colleague.id, brokerUnavailable(colleague.id, 'answered 401', 'token_refused'))
    expect(await desk.place(account)()).toMatchObject({ left: { _tag: 'LimitCheckUnavailable', cause: 'token_refused' } })
  })

  it('asks for an approval above the threshold, after the limits (decision 19)', async () => {
    const desk = createOrderDesk()
    const account = desk.link()
    limitTrader(desk, account, { approvalAboveLots: 0.2 })
    expect(await desk.place(account)()).toMatchObject({ left: { _tag: 'ApprovalRequired', approvalAboveLots: 0.2 } })
  })

  it('says which check could not be read, and places nothing', async () => {
    const desk = createOrderDesk()
    const account = desk.link()
    const request = requestOn(account.id)
    const noChallenges = { ...desk, guards: { ...desk.guards, challenges: unreadable } }
    const noGuards = { ...desk, guards: { ...desk.guards, guards: unreadable } }
    expect(await tagOf(placeOrder(noChallenges)({ owner }, { request }))).toBe('ChallengeCheckUnavailable')
    expect(await tagOf(placeOrder(noGuards)({ owner }, { request }))).toBe('LimitCheckUnavailable')
    expect(desk.orders.all()).toEqual([])
  })

  it('says what the first check found, also when nothing of the later ones could be read', async () => {
    const desk = createOrderDesk()
    const account = desk.link()
    const unread = { ...desk, providerTokens: { find: unreadable }, guards: { challenges: unreadable, guards: unreadable } }
    const place = () => placeOrder(unread)({ owner }, { request: requestOn(account.id) })
    expect(await tagOf(place())).toBe('ServiceUnavailable')
    change(desk, account, { provider: null })
    expect(await tagOf(place())).toBe('NotProvisioned')
    desk.tables.accounts.delete(account.id)
    expect(await tagOf(place())).toBe('AccountNotFound')
  })

  it('refuses the 51st pending order, last of all (decision 20)', async () => {
    const desk = createOrderDesk()
    const account = desk.link()
    for (let count = 0; count < 50; count++) await rightOf(desk.place(account))
    expect(await desk.place(account)()).toMatchObject({ left: { _tag: 'RiskLimitExceeded', limit: 'open_orders', current: 50 } })
    limitTrader(desk, account, { approvalAboveLots: 0.1 })
    expect(await tagOf(desk.place(account))).toBe('ApprovalRequired')
  })
})

const replyOf = ({ id }: Order) => newReply({ body: JSON.stringify(id) })

const claimedOrder = async () => {
  const desk = createOrderDesk()
  const claim = newClaim()
  const again = { ...claim, id: newClaim().id }
  await rightOf(desk.idempotency.claim(owner, claim, desk.clock.now()))
  const account = desk.link()
  const place = (by = claim) => placeOrder(desk)({ owner }, { request: requestOn(account.id), keep: { claim: by, replyOf } })
  return { desk, account, again, place }
}

describe('an order with an idempotency key', () => {
  it('keeps its reply together with the order', async () => {
    const { desk, again, place } = await claimedOrder()
    const order = await rightOf(place())
    expect(order).toMatchObject({ status: 'pending' })
    expect(await rightOf(desk.idempotency.claim(owner, again, desk.clock.now()))).toMatchObject({
      kind: 'replied',
      reply: { ...replyOf(order), body: JSON.stringify(order.id) },
    })
  })

  it('keeps no reply where it is refused', async () => {
    const { desk, account, again, place } = await claimedOrder()
    limitTrader(desk, account, { maxLotsPerOrder: 0.1 })
    expect(await tagOf(place())).toBe('TraderLimitBreached')
    desk.wait(10 * secondMs)
    expect(await rightOf(desk.idempotency.claim(owner, again, desk.clock.now()))).toEqual({ kind: 'claimed' })
  })

  it('is refused where its claim lapsed while it was checked and another attempt has the key', async () => {
    const { desk, again, place } = await claimedOrder()
    desk.wait(10 * secondMs)
    await rightOf(desk.idempotency.claim(owner, again, desk.clock.now()))
    expect(await tagOf(place())).toBe('IdempotencyInProgress')
    expect(desk.orders.all()).toHaveLength(0)
    await rightOf(place(again))
    expect(desk.orders.all()).toHaveLength(1)
  })
})

describe('an order on its way to the broker', () => {
  it('sends an order once, with its levels and our client id and nothing of the caller’s words', async () => {
    const { desk, placed: one } = await placed({ stopLoss: 1, takeProfit: 2, price: 3, comment: 'ours', clientId: 'theirs' })
    await desk.processDue()
    const { id, request } = one
    expect(desk.trading.sent()).toEqual([
      { clientId: brokerClientId(id), symbol: request.symbol, side: 'buy', volume: 0.3, stopLoss: 1, takeProfit: 2 },
    ])
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled', fill: { price: 1.1, volume: 0.3 } })
  })

  it.each([
    ['refuse', { status: 'rejected', reason: fakeRefusal }],
    ['fill_partly', { status: 'partially_filled', fill: { volume: 0.15 } }],
  ] as const)('on %s writes %o', async (placement, after) => {
    const { desk, placed: one } = await placed()
    desk.trading.next(placement)
    await desk.processDue()
    expect(await orderOf(desk, one)).toMatchObject(after)
  })

  it('finds what was executed without an answer, and sends nothing twice', async () => {
    const { desk, placed: one } = await placed()
    desk.trading.next('fill_and_lose_the_answer')
    await desk.processDue()
    expect(await orderOf(desk, one)).toMatchObject({ status: 'pending' })
    desk.wait(secondMs)
    await desk.processDue()
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled' })
    expect(desk.trading.sent()).toHaveLength(1)
  })

  it('rejects what the broker does not show in five minutes of lookups, and looks it up hourly for another day', async () => {
    const { desk, placed: one } = await placed()
    desk.trading.next('lose_the_request')
    for (let seconds = 0; seconds < 300; seconds++) {
      await desk.processDue()
      desk.wait(secondMs)
    }
    expect(await orderOf(desk, one)).toMatchObject({ status: 'pending' })
    for (let seconds = 0; seconds < 120; seconds++) {
      await desk.processDue()
      desk.wait(secondMs)
    }
    expect(await orderOf(desk, one)).toMatchObject({ status: 'rejected', reason: { code: 'NOT_FOUND_AT_BROKER' } })
    expect(desk.trading.sent()).toHaveLength(1)
    const before = desk.trading.lookups()
    for (let hours = 0; hours < 48; hours++) {
      await desk.processDue()
      desk.wait(60 * minuteMs)
    }
    expect(desk.trading.lookups() - before).toBe(24)
  })

  it('reads the last lookup before that from the trading terminal itself', async () => {
    const { desk, placed: one } = await placed()
    desk.trading.next('lose_the_request')
    for (let seconds = 0; seconds < 420; seconds++) {
      await desk.processDue()
      desk.wait(secondMs)
    }
    expect(await orderOf(desk, one)).toMatchObject({ status: 'rejected' })
    expect(desk.trading.lookedUp().map(({ refresh }) => refresh)).toEqual([
      ...desk.trading
        .lookedUp()
        .slice(1)
        .map(() => false),
      true,
    ])
  })

  it('proves nothing by lookups that a broker which cannot be read interrupts', async () => {
    const { desk, placed: one } = await placed()
    desk.trading.next('lose_the_request')
    await desk.processDue()
    for (let minutes = 0; minutes < 50; minutes++) {
      desk.trading.hide(minutes % 4 === 3)
      desk.wait(minuteMs)
      await desk.processDue()
    }
    expect(await orderOf(desk, one)).toMatchObject({ status: 'pending' })
  })

  it('corrects an order that was not found and appears at the broker after all', async () => {
    const { desk, placed: one } = await placed()
    desk.trading.next('execute_late')
    for (let seconds = 0; seconds < 420; seconds++) {
      await desk.processDue()
      desk.wait(secondMs)
    }
    expect(await orderOf(desk, one)).toMatchObject({ status: 'rejected', reason: { code: 'NOT_FOUND_AT_BROKER' } })
    desk.trading.execute()
    desk.wait(60 * minuteMs)
    expect(await desk.processDue()).toEqual([{ isCorrected: true, retry: undefined }])
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled', fill: { volume: 0.3 } })
    desk.wait(60 * minuteMs)
    expect(await desk.processDue()).toEqual([])
  })

  it('looks an order up where it was sent, although the account was relinked or removed since', async () => {
    const { desk, account, placed: one } = await placed()
    desk.trading.next('fill_and_lose_the_answer')
    await desk.processDue()
    change(desk, account, { provider: { providerAccountId: 'another', region: 'london' } })
    desk.wait(secondMs)
    desk.trading.hide(true)
    await desk.processDue()
    desk.tables.accounts.delete(account.id)
    desk.trading.hide(false)
    desk.wait(2 * secondMs)
    await desk.processDue()
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled' })
    const asked = desk.trading.lookedUp().map(({ account: { providerAccountId } }) => providerAccountId)
    expect(new Set(asked)).toEqual(new Set([account.provider?.providerAccountId]))
  })

  it('looks an order that another process recorded up before it is first sent', async () => {
    const { desk, placed: one } = await placed()
    await desk.processDue(false)
    expect(desk.trading.lookedUp()).toMatchObject([{ refresh: true }])
    expect(desk.trading.sent()).toHaveLength(1)
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled' })
  })

  it('does not send an order that another process sent before the database lost it', async () => {
    const { desk, placed: one } = await placed()
    const job = await desk.jobOf(one, false)
    await desk.trading.placeOrder(job.destination, { ...one.request, clientId: brokerClientId(one.id) }, () => true)()
    await rightOf(desk.process(job))
    expect(desk.trading.sent()).toHaveLength(1)
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled' })
  })

  it('proves that an order of another process was not executed before it is rejected as too late', async () => {
    const { desk, placed: one } = await placed()
    desk.wait(31 * secondMs)
    await desk.processDue(false)
    expect(await orderOf(desk, one)).toMatchObject({ status: 'pending' })
    for (let seconds = 0; seconds < 420; seconds++) {
      await desk.processDue(false)
      desk.wait(secondMs)
    }
    expect(await orderOf(desk, one)).toMatchObject({ status: 'rejected', reason: { code: 'NOT_FOUND_AT_BROKER' } })
    expect(desk.trading.sent()).toEqual([])
  })

  it.each([
    ['the database stalled', (desk: OrderDesk) => desk.wait(31 * secondMs)],
    ['only the stopwatch shows the stall, because the clock was set back', (desk: OrderDesk) => desk.stall(31 * secondMs)],
  ])('sends nothing when its 30 seconds pass between the record of the send and the send: %s', async (_, stall) => {
    const { desk, placed: one } = await placed()
    const advance: OrderDesk['orders']['advance'] = (owner, from, step, now) => async () => {
      const written = await desk.orders.advance(owner, from, step, now)()
      if (step.placement.step === 'sending') stall(desk)
      return written
    }
    await rightOf(processOrder({ ...desk, orders: { ...desk.orders, advance } })(await desk.jobOf(one)))
    expect(desk.trading.sent()).toEqual([])
    expect(await orderOf(desk, one)).toMatchObject({ status: 'rejected', reason: { code: 'BROKER_UNAVAILABLE' } })
  })

  it('rejects an order that gets no slot within its 30 seconds', async () => {
    const { desk, placed: one } = await placed()
    const noSlot = (_: unknown, patienceMs: number) => async () => {
      desk.wait(patienceMs)
      return undefined
    }
    await rightOf(processOrder({ ...desk, slots: { ...desk.slots, forSend: noSlot } })(await desk.jobOf(one)))
    expect(desk.trading.sent()).toEqual([])
    const updatedAt = noon + 30 * secondMs
    expect(await orderOf(desk, one)).toMatchObject({ status: 'rejected', reason: { code: 'BROKER_UNAVAILABLE' }, updatedAt })
  })

  it('reads an account whose broker never said that it is a demo account before it sends, and sends to no other', async () => {
    for (const [tradeMode, sent] of [
      ['demo', 1],
      ['real', 0],
    ] as const) {
      const { desk, account, placed: one } = await placed()
      change(desk, account, { tradeMode: null })
      desk.broker.put(account.id, { information: { tradeMode, broker: null, currency: null, figures } })
      await desk.processDue()
      expect(desk.trading.sent()).toHaveLength(sent)
      expect(desk.broker.calls('accountInformation', account.id)).toBe(1)
      expect((await orderOf(desk, one)).status).toBe(sent === 1 ? 'filled' : 'rejected')
    }
  })

  it('tries again while such an account cannot be read', async () => {
    const { desk, account, placed: one } = await placed()
    change(desk, account, { tradeMode: null })
    desk.broker.fail(account.id, brokerUnavailable(account.id, 'down'))
    await desk.processDue()
    expect(await orderOf(desk, one)).toMatchObject({ status: 'pending' })
    desk.broker.heal(account.id)
    desk.broker.put(account.id, { information: { tradeMode: 'demo', broker: null, currency: null, figures } })
    desk.wait(secondMs)
    await desk.processDue()
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled' })
  })

  it('drops what caches keep of an account that an order may have changed, and of no other', async () => {
    for (const [placement, times] of [
      ['fill', 1],
      ['fill_and_lose_the_answer', 1],
      ['refuse', 0],
      ['not_sent', 0],
    ] as const) {
      const { desk, account } = await placed()
      desk.trading.next(placement)
      await desk.processDue()
      expect(desk.changedAccounts).toEqual(Array.from({ length: times }, () => account.id))
    }
  })

  it('leaves an order pending while the broker cannot be read, and one that the broker still holds', async () => {
    const { desk, placed: one } = await placed()
    desk.trading.next('accept')
    for (let minutes = 0; minutes < 30; minutes++) {
      desk.trading.hide(minutes % 2 === 0)
      await desk.processDue()
      desk.wait(minuteMs)
    }
    expect(await orderOf(desk, one)).toMatchObject({ status: 'pending' })
    desk.trading.hide(false)
    desk.trading.execute()
    await desk.processDue()
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled' })
  })

  it('tries again what was not sent, for thirty seconds', async () => {
    const { desk, placed: one } = await placed()
    desk.trading.next(...Array.from({ length: 100 }, () => 'not_sent' as const))
    for (let seconds = 0; seconds < 40; seconds++) {
      await desk.processDue()
      desk.wait(secondMs)
    }
    expect(await orderOf(desk, one)).toMatchObject({
      status: 'rejected',
      reason: { code: 'BROKER_UNAVAILABLE' },
      updatedAt: noon + 29 * secondMs,
    })
    expect(desk.trading.sent()).toHaveLength(30)
  })

  it.each<[string, Partial<Account> | null, string]>([
    ['is no longer linked', null, 'ACCOUNT_NOT_FOUND'],
    ['is no longer provisioned', { provider: null }, 'NOT_PROVISIONED'],
    ['is on another platform', { brokerType: 'ctrader' }, 'UNSUPPORTED_BROKER'],
    ['is linked to another broker account', { provider: { providerAccountId: 'another', region: 'london' } }, 'ACCOUNT_RELINKED'],
    ['is for something else', { purpose: 'trade_copier' }, 'ACCOUNT_PURPOSE_RESTRICTED'],
    ['turned out to be live', { tradeMode: 'real' }, 'LIVE_ACCOUNT_RESTRICTED'],
  ])('sends nothing to an account that %s since, and says so', async (_, fields, code) => {
    const { desk, account, placed: one } = await placed()
    if (fields === null) desk.tables.accounts.delete(account.id)
    else change(desk, account, fields)
    await desk.processDue()
    expect(desk.trading.sent()).toEqual([])
    expect(await orderOf(desk, one)).toMatchObject({ status: 'rejected', reason: { code, message: expect.stringContaining('not sent') } })
  })

  it('sends nothing for a job whose order has moved on', async () => {
    const { desk, placed: one } = await placed()
    const job = await desk.jobOf(one)
    await rightOf(desk.process(job))
    await rightOf(desk.process(job))
    await rightOf(desk.process({ ...job, version: 3 }))
    expect(desk.trading.sent()).toHaveLength(1)
  })

  it('sends once however many processes take the order on at the same time', async () => {
    const { desk, placed: one } = await placed()
    const job = await desk.jobOf(one)
    await Promise.all(Array.from({ length: 10 }, () => rightOf(desk.process(job))))
    expect(desk.trading.executions(brokerClientId(one.id))).toHaveLength(1)
  })

  it('holds the answer while the database cannot be written', async () => {
    const { desk, placed: one } = await placed()
    let failures = 10
    const advance: OrderDesk['orders']['advance'] = (...step) => {
      const write = desk.orders.advance(...step)
      const isDown = () => step[2].placement.step === 'settled' && failures-- > 0
      return async () => (isDown() ? E.left(serviceUnavailable('down')) : write())
    }
    await rightOf(processOrder({ ...desk, orders: { ...desk.orders, advance } })(await desk.jobOf(one)))
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled', updatedAt: noon + 10 * secondMs })
    expect(desk.trading.lookups()).toBe(0)
  })

  it('ends with the answer although a lookup came in between', async () => {
    const { desk, placed: one } = await placed()
    const lookedUp: OrderDesk['trading']['placeOrder'] = (account, order, maySend) => async () => {
      // Another process finds nothing yet.
      await rightOf(desk.process(await desk.jobOf(one)))
      return desk.trading.placeOrder(account, order, maySend)()
    }
    await rightOf(processOrder({ ...desk, trading: { ...desk.trading, placeOrder: lookedUp } })(await desk.jobOf(one)))
    expect(desk.trading.lookups()).toBe(1)
    expect(await orderOf(desk, one)).toMatchObject({ status: 'filled' })
  })
})

describe('GET, PUT and DELETE of orders', () => {
  const desk = createOrderDesk()
  const account = desk.link()

  it('lists the caller’s orders newest first, and refuses the account of another (4.2; decision 29)', async () => {
    const first = await rightOf(desk.place(account))
    desk.wait(1)
    const second = await rightOf(desk.place(account))
    const page = await rightOf(listOrders(desk)({ owner, program: someProgram }, { page: 1, limit: 20, accountId: account.id }))
    expect(page).toEqual({ items: [second, first], page: 1, limit: 20, total: 2 })
    expect(await rightOf(listOrders(desk)({ owner: stranger, program: someProgram }, { page: 1, limit: 20 }))).toMatchObject({ total: 0 })
    expect(await tagOf(listOrders(desk)({ owner: stranger, program: someProgram }, { page: 1, limit: 20, accountId: account.id }))).toBe(
      'AccountNotFound',
    )
  })

  it('lists the orders of one client id', async () => {
    const named = await rightOf(desk.place(account, { clientId: 'theirs' }))
    const page = await rightOf(listOrders(desk)({ owner, program: someProgram }, { page: 1, limit: 20, clientId: 'theirs' }))
    expect(page).toEqual({ items: [named], page: 1, limit: 20, total: 1 })
  })

  it.each([
    ['GET', getOrder],
    ['PUT', modifyOrder],
    ['DELETE', cancelOrder],
  ] as const)('%s of an order that is malformed, unknown or another’s is NotFound (decision 24)', async (_, verb) => {
    const order = await rightOf(desk.place(account))
    for (const id of ['', 'ord_', 'ord_00000000000000000xyz', `${order.id} `])
      expect(await tagOf(verb(desk)({ owner }, id))).toBe('NotFound')
    expect(await tagOf(verb(desk)({ owner: stranger }, order.id))).toBe('NotFound')
  })

  it('PUT and DELETE of a pending order say that it is in flight, of a filled one that it is done (3.1)', async () => {
    const order = await rightOf(desk.place(account))
    expect(await tagOf(modifyOrder(desk)({ owner }, order.id))).toBe('OrderInFlight')
    expect(await tagOf(cancelOrder(desk)({ owner }, order.id))).toBe('OrderInFlight')
    await desk.processDue()
    expect(await modifyOrder(desk)({ owner }, order.id)()).toMatchObject({ left: { _tag: 'OrderNotModifiable', status: 'filled' } })
    expect(await cancelOrder(desk)({ owner }, order.id)()).toMatchObject({ left: { _tag: 'OrderNotCancellable', status: 'filled' } })
  })
})
