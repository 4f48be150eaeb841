// When an order makes what is kept of its account stale, and when it does not.
import type { BrokerAccount, BrokerOrder, LookupAnswer, PlacementAnswer, Trading } from '@tradeport/domain'
import * as T from 'fp-ts/lib/Task.js'
import { describe, expect, it } from 'vitest'
import { forgettingTrading } from '../src/index.ts'

const account = { accountId: '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' } as BrokerAccount
const order: BrokerOrder = { clientId: 'TP_a_b', symbol: 'EURUSD', side: 'buy', volume: 0.1 }
const reason = { code: 'SOME', message: 'Some words.' }

const answering = (placed: PlacementAnswer, looked: LookupAnswer): Trading => ({
  placeOrder: () => T.of(placed),
  findOrder: () => T.of(looked),
})

const nothing: LookupAnswer = { kind: 'nothing' }

describe('a send', () => {
  it.each<readonly [PlacementAnswer, boolean]>([
    [{ kind: 'filled', fill: {} }, true],
    [{ kind: 'partially_filled', fill: {} }, true],
    [{ kind: 'placed', orderId: null }, true],
    [{ kind: 'unknown' }, true],
    [{ kind: 'refused', reason }, false],
    [{ kind: 'not_sent', retryAfterMs: null }, false],
  ])('that is answered with %j makes the account forgotten: %s', async (answer, isForgotten) => {
    const forgotten: string[] = []
    const trading = forgettingTrading(answering(answer, nothing), (id) => forgotten.push(id))
    expect(await trading.placeOrder(account, order)()).toBe(answer)
    expect(forgotten).toEqual(isForgotten ? [account.accountId] : [])
  })

  it('forgets nothing before it is made, and only once it is answered', async () => {
    const told: string[] = []
    const place: T.Task<PlacementAnswer> = async () => {
      told.push('sent')
      return { kind: 'unknown' }
    }
    const send = forgettingTrading({ ...answering({ kind: 'unknown' }, nothing), placeOrder: () => place }, () => told.push('forgotten'))
    const sending = send.placeOrder(account, order)
    expect(told).toEqual([])
    await sending()
    expect(told).toEqual(['sent', 'forgotten'])
  })
})

describe('a look-up', () => {
  it.each<readonly [LookupAnswer, boolean]>([
    [{ kind: 'found', settlement: { kind: 'filled', fill: {} } }, true],
    [{ kind: 'found', settlement: { kind: 'rejected', reason } }, true],
    [{ kind: 'working' }, false],
    [{ kind: 'nothing' }, false],
    [{ kind: 'unreadable' }, false],
  ])('that is answered with %j makes the account forgotten: %s', async (answer, isForgotten) => {
    const forgotten: string[] = []
    const trading = forgettingTrading(answering({ kind: 'unknown' }, answer), (id) => forgotten.push(id))
    expect(await trading.findOrder(account, { order, sentAt: 0, orderId: null })()).toBe(answer)
    expect(forgotten).toEqual(isForgotten ? [account.accountId] : [])
  })
})
