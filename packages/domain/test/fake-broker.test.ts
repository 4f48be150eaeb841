// The fake broker is held to the contract of the real ones, and does what tests ask of it.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import type { BrokerAccount } from '../src/accounts/account.ts'
import { brokerRateLimited, brokerUnavailable, notProvisioned } from '../src/errors.ts'
import type { BrokerReadError } from '../src/errors.ts'
import type { BrokerPosition } from '../src/positions/position.ts'
import type { AccountId, Ticket } from '../src/primitives/ids.ts'
import { describeBrokerContract } from '../src/testing/broker-contract.ts'
import type { VenueBook, VenuePosition, VenueTrouble } from '../src/testing/broker-contract.ts'
import { createFakeBroker } from '../src/testing/fake-broker.ts'
import type { FakeBook } from '../src/testing/fake-broker.ts'
import { openPosition } from '../src/testing/open-position.ts'

const clock = { now: () => Date.parse('2026-05-01T12:00:00.000Z') }

const brokerAccount = (index: number): BrokerAccount => ({
  accountId: `00000000-0000-4000-8000-00000000000${index}` as AccountId,
  owner: { tenantId: 'acme', userId: 'u-1' } as BrokerAccount['owner'],
  platform: 'mt5',
  providerAccountId: `provider-${index}`,
  region: null,
})

const positionOf = (position: VenuePosition, index: number): BrokerPosition =>
  openPosition({ ...position, ticket: String(99 - index) as Ticket, unrealizedPnl: 0, openedAt: clock.now() - (index % 2) * 1_000 })

const bookOf = ({ tradeMode, broker, currency, leverage, positions, deals }: VenueBook): Partial<FakeBook> => ({
  information: {
    tradeMode,
    broker,
    currency,
    figures: { balance: 10, equity: 10, margin: 0, freeMargin: 10, marginLevel: null, leverage },
  },
  positions: positions.map(positionOf),
  deals,
  margin: ({ volume }) => O.some(volume),
})

const troubles: Readonly<Record<VenueTrouble, (accountId: AccountId) => BrokerReadError>> = {
  unavailable: (accountId) => brokerUnavailable(accountId, 'as the case asks'),
  rate_limited: (accountId) => brokerRateLimited(accountId, clock.now() + 1_500, clock.now()),
  not_provisioned: notProvisioned,
}

describeBrokerContract('the fake', async (books) => {
  const broker = createFakeBroker(clock)
  const accounts = books.map((_, index) => brokerAccount(index))
  for (const [index, account] of accounts.entries()) {
    const book = books[index]
    if (book) broker.put(account.accountId, bookOf(book))
  }
  return {
    broker,
    accounts,
    trouble: async ({ accountId }, trouble) => broker.fail(accountId, troubles[trouble](accountId)),
    addDeals: async ({ accountId }, added) => {
      const deals = books[accounts.findIndex((account) => account.accountId === accountId)]?.deals ?? []
      broker.put(accountId, { deals: [...deals, ...added].toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0)) })
    },
    withholdMargins: async ({ accountId }) => broker.put(accountId, { margin: () => O.none }),
    close: async () => undefined,
  }
})

describe('the fake broker', () => {
  const account = brokerAccount(1)
  const window = { from: 0, to: clock.now(), offset: 0 }

  it('counts reads by kind and account', async () => {
    const broker = createFakeBroker(clock)
    broker.put(account.accountId)
    await broker.positions(account)()
    await broker.positions(account)()
    await broker.dealsPage(brokerAccount(2), window)()
    expect([broker.calls(), broker.calls('positions'), broker.calls('dealsPage', account.accountId)]).toEqual([3, 2, 0])
  })

  it('fails the named reads until it is healed', async () => {
    const broker = createFakeBroker(clock)
    broker.put(account.accountId)
    broker.fail(account.accountId, notProvisioned(account.accountId), ['dealsPage'])
    expect(E.isLeft(await broker.dealsPage(account, window)())).toBe(true)
    expect(E.isRight(await broker.positions(account)())).toBe(true)
    broker.heal(account.accountId)
    expect(E.isRight(await broker.dealsPage(account, window)())).toBe(true)
  })

  it('holds reads until they are let go', async () => {
    const broker = createFakeBroker(clock)
    broker.put(account.accountId)
    const release = broker.hold()
    let isAnswered = false
    const read = broker
      .positions(account)()
      .finally(() => (isAnswered = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isAnswered).toBe(false)
    release()
    expect(E.isRight(await read)).toBe(true)
  })
})
