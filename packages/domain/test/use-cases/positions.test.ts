import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import { brokerUnavailable } from '../../src/errors.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import type { Ticket } from '../../src/primitives/ids.ts'
import type { SymbolFilter } from '../../src/primitives/symbol-filter.ts'
import { openPosition } from '../../src/testing/open-position.ts'
import { newAccountId } from '../../src/testing/stored-records.ts'
import { createPositions } from '../../src/use-cases/positions.ts'
import { createTestDesk, owner, rightOf, stranger, tagOf } from './desk.ts'

const position = (ticket: string, fields: Partial<BrokerPosition> = {}): BrokerPosition =>
  openPosition({ ticket: ticket as Ticket, openedAt: 1, ...fields })

const opened = (...positions: readonly BrokerPosition[]) => {
  const desk = createTestDesk()
  const account = desk.link()
  desk.broker.put(account.id, { positions })
  const { listPositions, getPosition } = createPositions(desk)
  return {
    desk,
    account,
    getPosition,
    list: (query = {}, by = owner) =>
      listPositions({ owner: by }, { page: 1, limit: 20, ...query }),
  }
}

describe('GET /positions', () => {
  it('lists the positions of every account but the paper book, oldest first, with their margin', async () => {
    const { desk, account, list } = opened(
      position('10', { openedAt: 5 }),
      position('9', { openedAt: 5 }),
    )
    const another = desk.link({ purpose: 'introducing_broker', status: 'disconnected' })
    desk.link({ brokerType: 'paper', provider: null })
    desk.broker.put(another.id, {
      positions: [position('7', { openedAt: 3 })],
      margin: () => O.none,
    })
    const { page, provenance } = await rightOf(list())
    expect(
      page.items.map(({ accountId, ticket, marginUsed }) => [
        accountId,
        ticket,
        marginUsed === null,
      ]),
    ).toEqual([
      [another.id, '7', true],
      [account.id, '9', false],
      [account.id, '10', false],
    ])
    expect(provenance).toEqual({
      source: desk.broker.source,
      accounts: [account.id, another.id],
      readAt: 1_000_000,
    })
  })

  it.each<[tag: string, fields: Partial<Account>]>([
    ['BrokerUnavailable', {}],
    ['UnsupportedBroker', { brokerType: 'ctrader' }],
    ['NotProvisioned', { provider: null }],
  ])('fails whole with %s and names the account where one account has it', async (tag, fields) => {
    const { desk, list } = opened()
    const bad = desk.link(fields)
    desk.broker.fail(bad.id, brokerUnavailable(bad.id, 'down'))
    expect(await list()()).toMatchObject({ left: { _tag: tag, accountId: bad.id } })
  })

  it('refuses the paper book, and an account that is another’s or unknown, where it is asked for by id', async () => {
    const { desk, account, list } = opened()
    const paper = desk.link({ brokerType: 'paper', provider: null })
    expect(await tagOf(list({ accountId: paper.id }))).toBe('UnsupportedBroker')
    expect(await tagOf(list({ accountId: account.id }, stranger))).toBe('AccountNotFound')
    expect(await tagOf(list({ accountId: newAccountId() }))).toBe('AccountNotFound')
  })

  it('asks for the margins of the shown page alone, and a margin that fails is null', async () => {
    const { desk, account, list } = opened(position('1'), position('2'), position('3'))
    desk.broker.fail(account.id, brokerUnavailable(account.id, 'down'), ['requiredMargin'])
    const { page } = await rightOf(list({ page: 2, limit: 2 }))
    expect(page).toMatchObject({ total: 3, items: [{ ticket: '3', marginUsed: null }] })
    expect(desk.broker.calls('requiredMargin')).toBe(1)
  })

  it('filters by the symbol in capitals, however the broker spells it', async () => {
    const { list } = opened(position('1', { symbol: 'EURUSD_i' }), position('2'))
    expect((await rightOf(list({ symbol: 'EURUSD_I' as SymbolFilter }))).page.items).toMatchObject([
      { ticket: '1' },
    ])
  })
})

describe('GET /positions/:id', () => {
  it('finds an open position of the caller, and never takes an account that cannot be read for one without it', async () => {
    const { desk, account, getPosition } = opened(position('1'), position('2'))
    expect(await rightOf(getPosition({ owner }, `${account.id}:2`))).toMatchObject({
      position: { ticket: '2', accountId: account.id, userId: owner.userId },
      provenance: { accounts: [account.id], readAt: 1_000_000 },
    })
    for (const id of [`${account.id}:9`, 'nonsense'])
      expect(await tagOf(getPosition({ owner }, id))).toBe('PositionNotFound')
    expect(await tagOf(getPosition({ owner: stranger }, `${account.id}:1`))).toBe(
      'PositionNotFound',
    )
    desk.broker.fail(account.id, brokerUnavailable(account.id, 'down'))
    expect(await tagOf(getPosition({ owner }, `${account.id}:1`))).toBe('BrokerUnavailable')
  })
})
