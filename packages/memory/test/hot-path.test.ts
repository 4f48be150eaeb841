// What the routes that read positions and trades keep beside the broker's answers: where an account is, and positions with their margin.
import { requireBrokerAccount } from '@tradeport/domain'
import type { BrokerPosition, HeldPosition, Position } from '@tradeport/domain'
import { createFakeAccountStore, createFakeRecords, newAccount, openPosition } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { cachedAccounts, cachedPositionViews } from '../src/index.ts'
import { createMovableClock } from './fake-source.ts'

const account = newAccount({ tenantId: 'acme' as never, userId: 'u-1' as never })
const stranger = { tenantId: 'acme' as never, userId: 'u-2' as never }

const accountsWith = () => {
  const records = createFakeRecords()
  records.tables.accounts.set(account.id, account)
  const store = createFakeAccountStore(records)
  const clock = createMovableClock()
  const calls: string[] = []
  const counted = {
    find: (...[owner, id]: Parameters<typeof store.find>) => {
      const find = store.find(owner, id)
      return () => (calls.push('find'), find())
    },
    list: (...[owner]: Parameters<typeof store.list>) => {
      const list = store.list(owner)
      return () => (calls.push('list'), list())
    },
  }
  return { records, clock, calls, cached: cachedAccounts(counted, { clock }) }
}

describe('cached accounts', () => {
  it('are read once in a second, alone and as a list', async () => {
    const { cached, calls, clock } = accountsWith()
    for (let round = 0; round < 3; round += 1) {
      expect(await cached.find(account.owner, account.id)()).toEqual(E.right(O.some(account)))
      expect(await cached.list(account.owner)()).toEqual(E.right([account]))
    }
    expect(calls).toEqual(['find', 'list'])
    clock.advance(1_000)
    await cached.find(account.owner, account.id)()
    expect(calls).toEqual(['find', 'list', 'find'])
  })

  it('are never given to another owner, and what is not there is looked for again', async () => {
    const { cached, records } = accountsWith()
    await cached.find(account.owner, account.id)()
    await cached.list(account.owner)()
    expect(await cached.find(stranger, account.id)()).toEqual(E.right(O.none))
    expect(await cached.list(stranger)()).toEqual(E.right([]))
    const own = newAccount(stranger)
    records.tables.accounts.set(own.id, own)
    expect(await cached.list(stranger)()).toEqual(E.right([own]))
  })

  it('are forgotten when the operator changed something', async () => {
    const { cached, records } = accountsWith()
    await cached.find(account.owner, account.id)()
    records.tables.accounts.delete(account.id)
    cached.forgetAll()
    expect(await cached.find(account.owner, account.id)()).toEqual(E.right(O.none))
  })
})

const row = (ticket: string): BrokerPosition => openPosition({ ticket: ticket as never })

const heldOf = (position: BrokerPosition): HeldPosition => {
  const brokerAccount = requireBrokerAccount(account)
  if (E.isLeft(brokerAccount)) throw new Error(brokerAccount.left._tag)
  return { brokerAccount: brokerAccount.right, position }
}

const viewsWith = (marginOf: (ticket: string) => number | null) => {
  const asked: string[] = []
  const view = ({ brokerAccount: { accountId, owner }, position }: HeldPosition): Position => {
    asked.push(position.ticket)
    return { ...position, accountId, userId: owner.userId, marginUsed: marginOf(position.ticket) }
  }
  return { asked, cached: cachedPositionViews({ view: (held) => async () => held.map(view) }) }
}

describe('cached position views', () => {
  it('view each row of a read once, and give the page in its order', async () => {
    const { asked, cached } = viewsWith(() => 7)
    const [a, b, c] = ['a', 'b', 'c'].map((ticket) => heldOf(row(ticket)))
    await cached.view([a!, b!])()
    const page = await cached.view([b!, c!, a!])()
    expect(page.map(({ ticket }) => ticket)).toEqual(['b', 'c', 'a'])
    expect(asked).toEqual(['a', 'b', 'c'])
    expect((await cached.view([b!])())[0]).toBe(page[0])
  })

  it('ask again for a margin that could not be had, and for the same position of another read', async () => {
    const { asked, cached } = viewsWith((ticket) => (ticket === 'a' ? null : 7))
    const [a, b] = ['a', 'b'].map((ticket) => heldOf(row(ticket)))
    await cached.view([a!, b!])()
    await cached.view([a!, b!])()
    await cached.view([heldOf(row('b'))])()
    expect(asked).toEqual(['a', 'b', 'a', 'b'])
  })
})
