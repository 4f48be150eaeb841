// Reading the deals that closed a position: what is told of each, what is left out, and what is not known rather than wrong (decision 32).
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { brokerRateLimited, brokerUnavailable, notProvisioned } from '@tradeport/domain'
import type { Ticket } from '@tradeport/domain'
import { closeNetwork } from '../no-network.ts'
import { account, accountPath, dealRow, now, provider, reasonOf, rightOf } from '../support.ts'
import { deskWith, ticket } from './desk-support.ts'

closeNetwork()

type Row = Readonly<Record<string, unknown>>

const closingRow = {
  ...dealRow,
  id: '33590001',
  type: 'DEAL_TYPE_SELL',
  entryType: 'DEAL_ENTRY_OUT',
  time: '2026-04-18T09:00:00.010Z',
  price: 1.05882,
  profit: 12,
  commission: -0.42,
  swap: -0.1,
  orderId: '46655555',
}
const closingDeal = {
  id: '33590001',
  orderId: '46655555',
  volume: 0.12,
  price: 1.05882,
  profit: 12,
  at: Date.parse('2026-04-18T09:00:00.010Z'),
}

const path = (of: string) => `${accountPath}/history-deals/position/${of}`

const readWith = (answer: unknown) => {
  provider().get(path(ticket)).reply(200, JSON.stringify(answer))
  return deskWith().closingDeals(account, ticket)()
}
const read = async (...rows: readonly Row[]) => rightOf(await readWith(rows))

describe('closing deals', () => {
  it('tell order, lots, price, time, and the profit without its costs', async () => {
    expect(await read(dealRow, closingRow)).toEqual([closingDeal])
  })

  it('are none where the history shows none yet', async () => {
    expect(await read()).toEqual([])
    expect(await read(dealRow)).toEqual([])
  })

  it('come oldest first, of equal age the lower number, and each once', async () => {
    const [first, second, third] = [
      { ...closingRow, id: '999' },
      { ...closingRow, id: '1000' },
      { ...closingRow, id: '7', time: '2026-04-19T00:00:00.000Z' },
    ]
    expect((await read(third, second, first, second)).map(({ id }) => id)).toEqual(['999', '1000', '7'])
  })

  it('are those that close, whatever else the position has', async () => {
    const others: readonly Row[] = [
      dealRow,
      { ...dealRow, profit: 'much' },
      { ...closingRow, entryType: 'DEAL_ENTRY_INOUT', profit: 5 },
      { ...closingRow, entryType: 'DEAL_ENTRY_OUT_BY', profit: 6 },
      { ...closingRow, type: 'DEAL_TYPE_SELL_CANCELED', profit: 7 },
      { id: '1', type: 'DEAL_TYPE_BALANCE', profit: 10_000, time: 'yesterday' },
      { id: '2', type: 'DEAL_TYPE_COMMISSION', profit: -1 },
    ]
    expect(await read(...others, closingRow)).toEqual([closingDeal])
  })

  it('are those that are asked for, under whichever ticket the provider keeps them', async () => {
    expect(await read({ ...closingRow, positionId: '46640000' })).toEqual([closingDeal])
  })

  it('are read from lists in a wrapper, and with ids in numbers', async () => {
    expect(rightOf(await readWith({ deals: [closingRow], synchronizing: false }))).toEqual([closingDeal])
    expect(await read({ ...closingRow, id: 33_590_001, orderId: 46_655_555, positionId: 46_648_037 })).toEqual([closingDeal])
  })

  it.each<readonly [string, Row, string]>([
    ['order', { orderId: undefined }, 'orderId'],
    ['order', { orderId: '0' }, 'orderId'],
    ['order', { orderId: 0 }, 'orderId'],
    ['order', { orderId: '' }, 'orderId'],
    ['order', { orderId: 2 ** 53 }, 'orderId'],
    ['volume', { volume: undefined }, 'volume'],
    ['volume', { volume: 0 }, 'volume'],
    ['volume', { volume: 1e-12 }, 'volume'],
    ['volume', { volume: '0.12' }, 'volume'],
    ['price', { price: null }, 'price'],
    ['price', { price: 0 }, 'price'],
    ['price', { price: '1.05' }, 'price'],
    ['time', { time: undefined }, 'at'],
    ['time', { time: 'yesterday' }, 'at'],
  ])('leave the %s out where it is told as %j', async (_, fields, left) => {
    const { [left as keyof typeof closingDeal]: _left, ...rest } = closingDeal
    expect(await read({ ...closingRow, ...fields })).toEqual([rest])
  })

  it('come first where they do not tell their time', async () => {
    expect((await read(closingRow, { ...closingRow, id: '99999999', time: null })).map(({ id }) => id)).toEqual(['99999999', '33590001'])
  })

  it('tell lots without what binary fractions leave', async () => {
    expect((await read({ ...closingRow, volume: 0.1 + 0.2 }))[0]?.volume).toBe(0.3)
  })
})

describe('a read of closing deals is of no use', () => {
  it.each<readonly [string, Row, string]>([
    ['without an id', { id: undefined }, 'row 1 is not a deal'],
    ['without a type', { type: undefined }, 'row 1 is not a deal'],
    ['that does not tell whether it opened or closed', { entryType: undefined }, 'row 1: entryType is none that is known'],
    ['of an entry that nobody knows', { entryType: 'DEAL_ENTRY_NEW' }, 'row 1: entryType is none that is known'],
    ['that does not tell its profit', { profit: undefined }, 'row 1: profit is not told'],
    ['with a profit in text', { profit: '12' }, 'row 1: money is not a finite number'],
  ])('with a row %s, which may be what is sought', async (_, fields, reason) => {
    expect(reasonOf(await readWith([dealRow, { ...closingRow, ...fields }]))).toBe(`history-deals: ${reason}`)
  })

  it.each<readonly [unknown, string]>([
    [{ deals: [closingRow], synchronizing: true }, 'the history is still being loaded'],
    [{}, 'answered with something that is not a list of deals'],
    [null, 'answered with something that is not a list of deals'],
    [[null], 'row 0 is not a deal'],
  ])('where it is answered %j', async (answer, reason) => {
    expect(reasonOf(await readWith(answer))).toBe(`history-deals: ${reason}`)
  })

  it.each<readonly [number, object | string, unknown]>([
    [404, { error: 'NotFoundError' }, notProvisioned(account.accountId)],
    [504, { error: 'TimeoutError' }, brokerUnavailable(account.accountId, 'history-deals: answered 504 TimeoutError')],
    [200, '<html></html>', brokerUnavailable(account.accountId, 'history-deals: answered with something that is not JSON')],
    [429, { error: 'TooManyRequestsError' }, brokerRateLimited(account.accountId, now + 1_000, now)],
  ])('where it is answered %i %j', async (status, body, said) => {
    provider().get(path(ticket)).reply(status, body)
    expect(await deskWith().closingDeals(account, ticket)()).toEqual(E.left(said))
  })

  it('where it takes longer than a close result waits', async () => {
    const desk = deskWith({ providerToken: () => () => new Promise(() => undefined), deadlines: { readMs: 50 } })
    expect(reasonOf(await desk.closingDeals(account, ticket)())).toBe('history-deals: no whole answer within 50 ms')
  })

  it.each(['.', '..'])('of a position "%s", which is none and not asked for', async (of) => {
    const reason = reasonOf(await deskWith().closingDeals(account, of as Ticket)())
    expect(reason).toBe('nothing was sent: the position id is not one')
  })
})

it('a position is named in the path as it is', async () => {
  provider().get(path('a%2Fb%3F%23')).reply(200, [])
  expect(rightOf(await deskWith().closingDeals(account, 'a/b?#' as Ticket)())).toEqual([])
})

describe('fresh positions', () => {
  it('are asked for past the copy, and read as positions are', async () => {
    const asked = provider().get(`${accountPath}/positions?refreshTerminalState=true`).reply(200, '[]')
    expect(await deskWith().freshPositions(account)()).toEqual(E.right({ positions: [], readAt: now }))
    expect(asked.isDone()).toBe(true)
  })

  it.each<readonly [number, object | string, unknown]>([
    [404, { error: 'NotFoundError' }, notProvisioned(account.accountId)],
    [504, { error: 'TimeoutError' }, brokerUnavailable(account.accountId, 'positions: answered 504 TimeoutError')],
    [429, { error: 'TooManyRequestsError' }, brokerRateLimited(account.accountId, now + 1_000, now)],
    [200, '{}', brokerUnavailable(account.accountId, expect.any(String) as string)],
    [200, '[{"id":"1"}]', brokerUnavailable(account.accountId, expect.any(String) as string)],
  ])('cannot be read where they are answered %i %j', async (status, body, said) => {
    provider().get(`${accountPath}/positions?refreshTerminalState=true`).reply(status, body)
    expect(await deskWith().freshPositions(account)()).toEqual(E.left(said))
  })
})
