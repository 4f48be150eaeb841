import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import type { Ticket } from '../../src/primitives/ids.ts'
import { newAccountId, openPosition } from '@tradeport/testkit'
import { createPositions } from '../../src/use-cases/positions.ts'
import { createTestDesk, down, owner, rightOf, stranger, tagOf } from './desk.ts'

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
  it.each<[tag: string, fields: Partial<Account>]>([
    ['BrokerUnavailable', {}],
    ['UnsupportedBroker', { brokerType: 'ctrader' }],
    ['NotProvisioned', { provider: null }],
  ])(
    'fails as a whole with %s, and names the account, where one account has it',
    async (tag, fields) => {
      const { desk, list } = opened()
      const bad = desk.link(fields)
      desk.broker.fail(bad.id, down(bad.id))
      expect(await list()()).toMatchObject({ left: { _tag: tag, accountId: bad.id } })
    },
  )

  it('refuses the id of a paper account, and of an account that is another’s or unknown', async () => {
    const { desk, account, list } = opened()
    const paper = desk.link({ brokerType: 'paper', provider: null })
    expect(await tagOf(list({ accountId: paper.id }))).toBe('UnsupportedBroker')
    expect(await tagOf(list({ accountId: account.id }, stranger))).toBe('AccountNotFound')
    expect(await tagOf(list({ accountId: newAccountId() }))).toBe('AccountNotFound')
  })

  it('reads the margins of the shown page alone, and a margin that fails is null', async () => {
    const { desk, account, list } = opened(position('1'), position('2'), position('3'))
    desk.broker.fail(account.id, down(account.id), ['requiredMargin'])
    const { page } = await rightOf(list({ page: 2, limit: 2 }))
    expect(page).toMatchObject({ total: 3, items: [{ ticket: '3', marginUsed: null }] })
    expect(desk.broker.calls('requiredMargin')).toBe(1)
  })
})

describe('GET /positions/:id', () => {
  it('finds an open position of the caller, and does not report it missing where the account cannot be read', async () => {
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
    desk.broker.fail(account.id, down(account.id))
    expect(await tagOf(getPosition({ owner }, `${account.id}:1`))).toBe('BrokerUnavailable')
  })
})
