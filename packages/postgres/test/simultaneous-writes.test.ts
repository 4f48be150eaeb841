// What many callers write at once, on two instances: limits are exact, and nobody's change is lost.
import {
  maxOrdersUnderWay,
  maxOrdersPerDay,
  type Order,
  type PendingOrder,
} from '@tradeport/domain/orders'
import { dayMs, type Owner } from '@tradeport/domain/primitives'
import { maxWebhooks, type WebhookUrl } from '@tradeport/domain/webhooks'
import type { Account } from '@tradeport/domain/accounts'
import {
  newAccount,
  newClaim,
  newOrder,
  newOrderOn,
  newReply,
  newWebhook,
  noChanges,
  noKeys,
  puts,
  removes,
  rightOf,
  storedOwner,
  write,
  times,
} from '@tradeport/testkit'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { expect, it } from 'vitest'
import {
  brokerAccountOf,
  filled,
  lockWaits,
  onEachDatabase,
  placementOf,
  poll,
  readingOf,
  storedAccount,
  toRecord,
  type Instance,
  webhookSecret,
} from './harness.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const inProgress = { _tag: 'IdempotencyInProgress' }

interface Rush {
  readonly what: string
  readonly allowed: number
  readonly refusal: object
  /** Makes what a caller does on an instance. */
  readonly prepare: (
    ports: Instance,
  ) => Promise<(ports: Instance, index: number) => Promise<E.Either<unknown, unknown>>>
}

const recordMany = async ({ recordOrder }: Instance, owner: Owner, count: number) =>
  Promise.all(times(count, () => recordOrder(newOrder(owner, noon))))

/**
 * A trader's account, and a second link to it or a colleague's account on the same desk; limits let
 * one more position in.
 */
const limited = async (ports: Instance, by: 'trader' | 'desk') => {
  const account = await storedAccount(ports.operator)
  const other = newAccount(account.owner, by === 'trader' ? { provider: account.provider } : {})
  const limits = { maxOpenLots: null, maxOpenPositions: 1, allowedSymbols: null }
  const accounts = [account, other] as const
  await write(ports.operator, {
    accounts: puts(other),
    ...(by === 'desk'
      ? {
          desks: puts({
            id: `desk-${account.id}`,
            tenantId: account.owner.tenantId,
            accounts: accounts.map(({ id }) => id),
            limits,
          }),
        }
      : {
          traderLimits: puts(
            ...accounts.map(({ id }) => ({
              accountId: id,
              limits: { ...limits, maxLotsPerOrder: null, approvalAboveLots: null },
            })),
          ),
        }),
  })
  return accounts
}
const noPositions = async ({ orderLimits }: Instance, accounts: readonly [Account, Account]) => {
  const { readAt } = await rightOf(orderLimits.limitsOf(accounts[0].owner, accounts[0].id))
  return {
    readAt,
    positions: new Map(accounts.map(({ provider }) => [provider?.providerAccountId ?? '', []])),
  }
}
const atLimitOf = (by: 'trader' | 'desk', what: string, tag: string): Rush => ({
  what: `orders at the limit of a ${by}, over ${what}`,
  allowed: 1,
  refusal: { _tag: tag },
  prepare: async (ports) => {
    const accounts = await limited(ports, by)
    const openPositions = await noPositions(ports, accounts)
    return (their, index) => {
      const account = accounts[index % 2 ? 1 : 0]
      const order = newOrderOn(account, noon)
      const destination = brokerAccountOf(account)
      return their.orders.record(order.owner, toRecord(order, { openPositions, destination }))()
    }
  },
})
const atCount = (limit: string, before: number, haveEnded: boolean): Rush => ({
  what: `orders at one less than may be of ${limit}`,
  allowed: 1,
  refusal: { _tag: 'RiskLimitExceeded', limit },
  prepare: async (ports) => {
    const owner = await storedOwner(ports.operator)
    for (let left = before; left > 0; left -= 45)
      for (const order of await recordMany(ports, owner, Math.min(left, 45)))
        if (haveEnded) await rightOf(ports.orders.advance(owner, placementOf(order), filled, noon))
    return (their) => their.orders.record(owner, toRecord(newOrder(owner, noon)))()
  },
})

const rushes: readonly Rush[] = [
  atCount('orders_per_day', maxOrdersPerDay - 1, true),
  atCount('open_orders', maxOrdersUnderWay - 1, false),
  atLimitOf('trader', 'two links to the broker account', 'TraderLimitBreached'),
  atLimitOf('desk', 'its accounts', 'DeskLimitBreached'),
  {
    what: 'attempts with one key, whether they begin or record an order',
    allowed: 1,
    refusal: inProgress,
    prepare: async ({ operator }) => {
      const [owner, claim] = [await storedOwner(operator), newClaim()]
      return async (their, index) => {
        const mine = { ...claim, id: newClaim().id }
        const claimed = await their.idempotency.claim(owner, mine)()
        if (E.isLeft(claimed) || claimed.right.kind !== 'claimed') return E.left(inProgress)
        const replyToStore = { claim: mine, reply: newReply() }
        return index % 3 === 0
          ? their.idempotency.begin(owner, mine)()
          : their.orders.record(owner, toRecord(newOrder(owner, noon), { replyToStore }))()
      }
    },
  },
  {
    what: 'orders under one claim to a key',
    allowed: 1,
    refusal: inProgress,
    prepare: async ({ operator, idempotency }) => {
      const [owner, claim] = [await storedOwner(operator), newClaim()]
      await rightOf(idempotency.claim(owner, claim))
      return (their) =>
        their.orders.record(
          owner,
          toRecord(newOrder(owner, noon), { replyToStore: { claim, reply: newReply() } }),
        )()
    },
  },
  {
    what: 'steps from one version of a placement',
    allowed: 1,
    refusal: {},
    prepare: async (ports) => {
      const [order] = (await recordMany(ports, await storedOwner(ports.operator), 1)) as [
        PendingOrder,
      ]
      return async (their) =>
        (await rightOf(their.orders.advance(order.owner, placementOf(order), filled, noon)))
          ? E.right(true)
          : E.left({})
    },
  },
  {
    what: 'webhooks of one user',
    allowed: maxWebhooks,
    refusal: { _tag: 'WebhookLimitReached', allowed: maxWebhooks },
    prepare: async ({ operator }) => {
      const owner = await storedOwner(operator)
      return (their) => {
        const created = { webhook: newWebhook(owner, noon), secret: webhookSecret }
        return their.webhooks.create(owner, created)()
      }
    },
  },
]

onEachDatabase('simultaneous writes', (here, there, kind, onServer) => {
  const instance = (index: number): Instance => (index % 2 ? there : here)
  it.each(rushes)(
    'are accepted as often as allowed: $what',
    async ({ allowed, refusal, prepare }) => {
      const attempt = await prepare(instance(0))
      const results = await Promise.all(times(60, (index) => attempt(instance(index), index)))
      expect(results.filter(E.isRight)).toHaveLength(allowed)
      for (const { left } of results.filter(E.isLeft)) expect(left).toMatchObject(refusal)
    },
  )

  it('of orders are each accepted or refused by themselves', async () => {
    const { operator, idempotency } = instance(0)
    const owner = await storedOwner(operator)
    const [twice] = (await recordMany(instance(0), owner, 1)) as [PendingOrder]
    const attempts = times(20, () => ({ claim: newClaim(), reply: newReply() }))
    for (const { claim } of attempts.slice(10)) await rightOf(idempotency.claim(owner, claim))
    const all = [
      toRecord(twice),
      ...attempts.map((replyToStore) => toRecord(newOrder(owner, noon), { replyToStore })),
    ]
    const results = await Promise.all(
      all.map((order, index) => instance(index).orders.record(owner, order)()),
    )
    expect(results.map(E.isRight)).toStrictEqual(all.map((_, index) => index > 10))
    for (const { claim, reply } of attempts.slice(10))
      expect(await rightOf(idempotency.claim(owner, claim))).toStrictEqual({
        kind: 'replied',
        reply,
      })
  })

  it('are not made in another run of the database server than the one that is expected', async () => {
    const { orderLimits, orders, operator } = instance(0)
    const { owner, id } = await storedAccount(operator)
    const { databaseRun } = await rightOf(orderLimits.limitsOf(owner, id))
    const [order] = (await recordMany(instance(0), owner, 1)) as [PendingOrder]
    const advance = (run: string) =>
      rightOf(orders.advance(owner, { ...placementOf(order), databaseRun: run }, filled, noon))
    expect([await advance('another'), await advance(databaseRun)]).toStrictEqual([false, true])
  })

  it('hide no order from whoever reads a list page by page', async () => {
    const walk = async (
      limit: number,
      filters: { readonly symbol?: string; readonly to?: number },
      stride: number,
    ) => {
      const owner = await storedOwner(instance(0).operator)
      const recorded: Order[] = []
      const writing = { isOver: false }
      const recordNext = async (n: number) => {
        const symbol = n % 2 === 0 ? 'XAUUSD' : 'EURUSD'
        const order = newOrder(owner, noon + (((n * stride) % 10) - 5) * dayMs, { symbol })
        await instance(n).recordOrder(order)
        recorded.push(order)
        await rightOf(instance(n).orders.advance(owner, placementOf(order), filled, noon))
      }
      for (let n = 0; n < 16; n += 1) await recordNext(n)
      const writers = [0, 1].map(async (lane) => {
        for (let n = 16 + lane; !writing.isOver && n < 150; n += 2) await recordNext(n)
      })
      const known = recorded.filter(
        ({ request, createdAt }) =>
          request.symbol === (filters.symbol ?? request.symbol) &&
          createdAt <= (filters.to ?? Infinity),
      )
      const page = (number: number) =>
        rightOf(instance(number).orders.list(owner, { ...filters, page: number, limit }))
      const {
        data,
        pagination: { total },
      } = await page(1)
      const walked = [...data]
      for (let number = 2, last = Math.ceil(total / limit); number <= last; number += 1) {
        const next = await page(number)
        walked.push(...next.data)
        last = Math.ceil(next.pagination.total / limit)
      }
      writing.isOver = true
      await Promise.all(writers)
      const ids = new Set(walked.map(({ id }) => id))
      expect(known.filter(({ id }) => !ids.has(id))).toStrictEqual([])
    }
    const filters = fc.constantFrom({}, { symbol: 'XAUUSD' }, { to: noon })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), filters, fc.constantFrom(1, 3, 7, 9), walk),
      // On the embedded database's one connection, pages and orders take turns anyway.
      { numRuns: kind === 'embedded' ? 2 : 6 },
    )
  })

  it('of a document, a reading or a change of a webhook lose no other', async () => {
    const { operator, accounts, webhooks } = instance(0)
    const account = await storedAccount(operator)
    const { owner } = account
    const webhook = await here.storedWebhook(owner)
    const url = 'https://elsewhere.example.com/' as WebhookUrl
    await Promise.all(
      times(10, (index) => {
        const their = instance(index)
        const rename = their.operator.apply(
          { ...noKeys, accounts: [account.id] },
          ({ accounts: stored }) =>
            E.right({
              changes: {
                ...noChanges,
                accounts: puts(...stored.map((one) => ({ ...one, name: `${one.name}!` }))),
              },
            }),
        )
        return [
          rightOf(rename),
          rightOf(their.accounts.recordReading(owner, account, readingOf(account, noon + index))),
          rightOf(
            their.webhooks.change(owner, webhook.id, index % 2 ? { url } : { enabled: false }, 0),
          ),
        ]
      }).flat(),
    )
    const now = await rightOf(accounts.find(owner, account.id))
    expect(now).toMatchObject({ value: { name: 'Main!!!!!!!!!!', lastReadAt: noon + 9 } })
    // What comes late changes nothing.
    await rightOf(accounts.recordReading(owner, account, readingOf(account, noon + 8)))
    await rightOf(accounts.recordFailedRead(owner, account, noon + 8))
    expect(await rightOf(accounts.find(owner, account.id))).toStrictEqual(now)
    expect(await rightOf(accounts.snapshots(owner, account.id, { limit: 9 }))).toHaveLength(1)
    expect(await rightOf(webhooks.find(owner, webhook.id))).toStrictEqual(
      O.some({ ...webhook, url, enabled: false }),
    )
  })

  /**
   * Makes both writes at once, the first of which then waits, with what it has locked, for the
   * rows.
   */
  const together = async (
    rows: string,
    id: string,
    writes: readonly (() => Promise<unknown>)[],
  ) => {
    const begun = await here.knex.transaction(async (trx) => {
      await trx.raw(`select from ${rows} = ? for update`, [id])
      const results: Promise<unknown>[] = []
      for (const begin of writes) {
        results.push(begin())
        await poll(() => lockWaits(here)).toBe(results.length)
      }
      return { results }
    })
    return Promise.all(begun.results)
  }

  onServer('of an order, and the removal of its user, do not end each other', async () => {
    const owner = await storedOwner(here.operator)
    await recordMany(here, owner, 1)
    const [recorded, removed] = await together('order_counters where user_id', owner.userId, [
      here.orders.record(owner, toRecord(newOrder(owner, noon))),
      there.operator.apply(noKeys, () =>
        E.right({ changes: { ...noChanges, users: removes(owner.userId) } }),
      ),
    ])
    expect(removed).toMatchObject({ _tag: 'Right' })
    if (!E.isRight(recorded as E.Either<unknown, unknown>))
      expect(recorded).toMatchObject({ left: { reason: expect.stringContaining('23503 on ') } })
  })

  onServer('of orders do not wait for a user whose row another transaction holds', async () => {
    const [blocked, other, third] = [
      await storedOwner(here.operator),
      await storedOwner(here.operator),
      await storedOwner(here.operator),
    ]
    const record = (owner: Owner) => here.orders.record(owner, toRecord(newOrder(owner, noon)))()
    await recordMany(here, blocked, 1)
    const { waiting } = await here.knex.transaction(async (trx) => {
      await trx.raw('select from order_counters where user_id = ? for update', [blocked.userId])
      const waiting = [record(blocked)]
      expect(await record(other)).toMatchObject({ _tag: 'Right' })
      waiting.push(record(blocked), record(blocked))
      expect(await Promise.all([record(other), record(third)])).toMatchObject([
        { _tag: 'Right' },
        { _tag: 'Right' },
      ])
      return { waiting }
    })
    const results = await Promise.all(waiting)
    // What waits for long is refused; nothing of it is recorded.
    for (const { left } of results.filter(E.isLeft))
      expect(left).toMatchObject({ reason: 'orders.record: 55P03' })
    expect(await rightOf(here.orders.counts(blocked, noon))).toMatchObject({
      underWay: 1 + results.filter(E.isRight).length,
    })
  })

  onServer(
    'of an order of several desks, and of these desks in any order, do not end each other',
    async () => {
      const [account] = await limited(here, 'trader')
      const desk = (name: string) => ({
        id: `desk-${name}-${account.id}`,
        tenantId: account.owner.tenantId,
        accounts: [account.id],
        limits: { maxOpenLots: null, maxOpenPositions: 9, allowedSymbols: null },
      })
      const desks = [desk('b'), desk('a')]
      await write(here.operator, { desks: puts(...desks) })
      const openPositions = await noPositions(here, [account, account])
      const keys = { ...noKeys, desks: desks.map(({ id }) => id) }
      const deadlocks = async () =>
        (await here.knex('pg_stat_database').whereRaw('datname = current_database()').first())
          .deadlocks
      const before = await deadlocks()
      const results = await together('desks where id', desks[1]?.id ?? '', [
        here.orders.record(account.owner, toRecord(newOrderOn(account, noon), { openPositions })),
        there.operator.apply(keys, () =>
          E.right({ changes: { ...noChanges, desks: puts(...desks) } }),
        ),
      ])
      expect(results).toMatchObject([{ _tag: 'Right' }, { _tag: 'Right' }])
      expect(await deadlocks()).toBe(before)
    },
  )

  it('of several thousand records fit into one document', async () => {
    const { operator, accounts } = instance(0)
    const { id: accountId, owner } = await storedAccount(operator)
    const many = times(5_000, (n) => ({
      accountId,
      timestamp: noon + n,
      balance: n,
      equity: 0,
      margin: 0,
      freeMargin: null,
    }))
    for (const [changes, count] of [
      [puts(...many), 5_000] as const,
      [removes(...many), 0] as const,
    ]) {
      await write(operator, { balanceSnapshots: changes })
      expect(await rightOf(accounts.snapshots(owner, accountId, { limit: 9_999 }))).toHaveLength(
        count,
      )
    }
  })
})
