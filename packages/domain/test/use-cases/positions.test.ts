import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { brokerUnavailable } from '../../src/errors.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import type { SymbolFilter } from '../../src/primitives/symbol-filter.ts'
import type { Ticket } from '../../src/primitives/ids.ts'
import { newAccountId } from '../../src/testing/stored-records.ts'
import { getPosition } from '../../src/use-cases/get-position.ts'
import { listPositions } from '../../src/use-cases/list-positions.ts'
import { createTestDesk, owner, rightOf, stranger, tagOf } from './desk.ts'
import { openPosition } from '../../src/testing/open-position.ts'

const position = (ticket: string, fields: Partial<BrokerPosition> = {}): BrokerPosition =>
  openPosition({ ticket: ticket as Ticket, openedAt: 1, ...fields })

const firstPage = { page: 1, limit: 20 }

describe('GET /positions', () => {
  it('lists the positions of every account but the paper book, oldest first, with their margin', async () => {
    const desk = createTestDesk()
    const [one, two] = [desk.link(), desk.link({ purpose: 'introducing_broker', status: 'disconnected' })]
    desk.link({ brokerType: 'paper', provider: null })
    desk.broker.put(one.id, { positions: [position('10', { openedAt: 5 }), position('9', { openedAt: 5 })] })
    desk.broker.put(two.id, { positions: [position('7', { openedAt: 3 })], margin: () => O.none })
    const { page, provenance } = await rightOf(listPositions(desk)({ owner }, firstPage))
    expect(page.items.map(({ accountId, ticket, marginUsed }) => [accountId, ticket, marginUsed === null])).toEqual([
      [two.id, '7', true],
      [one.id, '9', false],
      [one.id, '10', false],
    ])
    expect(provenance).toEqual({ source: desk.broker.source, accounts: [one.id, two.id], readAt: 1_000_000 })
  })

  it('fails whole and names the account when one account cannot be read (4.3 rule 2)', async () => {
    const desk = createTestDesk()
    const [, bad] = [desk.link(), desk.link()]
    desk.broker.fail(bad.id, brokerUnavailable(bad.id, 'down'))
    expect(await listPositions(desk)({ owner }, firstPage)()).toMatchObject({ left: { _tag: 'BrokerUnavailable', accountId: bad.id } })
  })

  it.each([
    ['another platform', { brokerType: 'ctrader' }, 'UnsupportedBroker'],
    ['no provider account', { provider: null }, 'NotProvisioned'],
  ] as const)('fails whole when one account has %s (decision 29)', async (_, fields, tag) => {
    const desk = createTestDesk()
    desk.link()
    const bad = desk.link(fields)
    expect(await listPositions(desk)({ owner }, firstPage)()).toMatchObject({ left: { _tag: tag, accountId: bad.id } })
  })

  it('refuses the paper book when it is asked for by id (decision 29)', async () => {
    const desk = createTestDesk()
    const paper = desk.link({ brokerType: 'paper', provider: null })
    expect(await tagOf(listPositions(desk)({ owner }, { ...firstPage, accountId: paper.id }))).toBe('UnsupportedBroker')
  })

  it('is 404 for an account of another user as for one that never was', async () => {
    const desk = createTestDesk()
    const account = desk.link()
    expect(await tagOf(listPositions(desk)({ owner: stranger }, { ...firstPage, accountId: account.id }))).toBe('AccountNotFound')
    expect(await tagOf(listPositions(desk)({ owner }, { ...firstPage, accountId: newAccountId() }))).toBe('AccountNotFound')
  })

  it('asks for the margins of the shown page alone, and a margin that fails is null (decision 27)', async () => {
    const desk = createTestDesk()
    const account = desk.link()
    desk.broker.put(account.id, { positions: ['1', '2', '3'].map((ticket) => position(ticket)) })
    desk.broker.fail(account.id, brokerUnavailable(account.id, 'down'), ['requiredMargin'])
    const { page } = await rightOf(listPositions(desk)({ owner }, { page: 2, limit: 2 }))
    expect(page).toMatchObject({ total: 3, items: [{ ticket: '3', marginUsed: null }] })
    expect(desk.broker.calls('requiredMargin')).toBe(1)
  })

  it('filters by the symbol in capitals, however the broker spells it', async () => {
    const desk = createTestDesk()
    const account = desk.link()
    desk.broker.put(account.id, { positions: [position('1', { symbol: 'EURUSD_i' }), position('2')] })
    const { page } = await rightOf(listPositions(desk)({ owner }, { ...firstPage, symbol: 'EURUSD_I' as SymbolFilter }))
    expect(page.items.map(({ ticket }) => ticket)).toEqual(['1'])
  })
})

describe('GET /positions/:id', () => {
  it('finds an open position', async () => {
    const desk = createTestDesk()
    const account = desk.link()
    desk.broker.put(account.id, { positions: [position('1'), position('2')] })
    expect(await rightOf(getPosition(desk)({ owner }, `${account.id}:2`))).toMatchObject({
      position: { ticket: '2', accountId: account.id, userId: owner.userId },
    })
  })

  it('is 404 when closed, malformed, or on an account that is not the caller’s (decision 28)', async () => {
    const desk = createTestDesk()
    const account = desk.link()
    desk.broker.put(account.id, { positions: [position('1')] })
    expect(await tagOf(getPosition(desk)({ owner }, `${account.id}:9`))).toBe('PositionNotFound')
    expect(await tagOf(getPosition(desk)({ owner }, 'nonsense'))).toBe('PositionNotFound')
    expect(await tagOf(getPosition(desk)({ owner: stranger }, `${account.id}:1`))).toBe('PositionNotFound')
  })

  it('tells that the broker cannot be read rather than that the position is gone', async () => {
    const desk = createTestDesk()
    const account = desk.link()
    desk.broker.fail(account.id, brokerUnavailable(account.id, 'down'))
    expect(await tagOf(getPosition(desk)({ owner }, `${account.id}:1`))).toBe('BrokerUnavailable')
  })
})
