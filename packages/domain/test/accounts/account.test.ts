import { expect, it } from 'vitest'
import {
  isDemo,
  isReadLive,
  snapshotCap,
  snapshotOf,
  withFailedRead,
  withReading,
  type Account,
  type AccountReading,
  type TradeMode,
} from '../../src/accounts/account.ts'
import { someOwner, newAccount } from '@tradeport/testkit'

const account = newAccount(someOwner, { broker: null })

const reading: AccountReading = {
  tradeMode: 'demo',
  broker: 'Example Broker',
  currency: 'EUR',
  figures: { balance: 10, equity: 20, margin: 30, freeMargin: 40, marginLevel: 50, leverage: 100 },
  readAt: 1_000,
}

it.each<[boolean, TradeMode[], boolean]>([
  [true, [], true],
  [false, [], false],
  [false, ['demo'], true],
  [true, ['real'], false],
  [true, ['contest'], false],
  [true, ['unconfirmed'], false],
  [true, ['real', 'demo'], false],
  [true, ['contest', 'demo'], false],
  [true, ['unconfirmed', 'demo'], true],
  [true, ['demo', 'real'], false],
])('linked as demo %s, broker said %j: is demo %s', (linkedAsDemo, said, expected) => {
  expect(
    isDemo(
      said.reduce((held, tradeMode) => withReading(held, { ...reading, tradeMode }), {
        ...account,
        linkedAsDemo,
      }),
    ),
  ).toBe(expected)
})

it('takes what a live read says, keeps what it does not, and goes into error and back', () => {
  const { broker, currency, figures } = reading
  expect(withReading({ ...account, status: 'error' }, reading)).toMatchObject({
    broker,
    currency,
    figures,
    lastReadAt: 1_000,
    status: 'connected',
  })
  expect(withReading(account, { ...reading, broker: null, currency: null })).toMatchObject({
    broker: null,
    currency: 'USD',
  })
  expect(withFailedRead(account, 500)).toEqual({ ...account, status: 'error', updatedAt: 500 })
})

it.each<[Partial<Account>, boolean]>([
  [{ status: 'connected' }, true],
  [{ status: 'error' }, true],
  [{ status: 'disconnected' }, false],
  [{ status: 'syncing' }, false],
  [{ brokerType: 'paper' }, false],
  [{ brokerType: 'ctrader' }, false],
])('an account with %o is read live: %s', (fields, expected) => {
  expect(isReadLive({ ...account, ...fields })).toBe(expected)
})

const { marginLevel: _level, leverage: _leverage, ...kept } = reading.figures
const fiveMinutes = 300_000

it.each([
  ['the first', null, 0, true],
  ['none of the same balance within five minutes', { balance: 10 }, fiveMinutes - 1, false],
  ['one after five minutes', { balance: 10 }, fiveMinutes, true],
  ['one of another balance at once', { balance: 11 }, 1, true],
])('a snapshot is kept: %s', (_, before, afterMs, isKept) => {
  const last = before && { ...kept, ...before, timestamp: 1_000 }
  const readAt = 1_000 + afterMs
  expect(snapshotOf(last, { ...reading, readAt })).toEqual(
    isKept ? { ...kept, timestamp: readAt } : null,
  )
})

it('shows as many snapshots as the interval caps', () => {
  expect([snapshotCap('1h'), snapshotCap('1d'), snapshotCap('1w'), snapshotCap()]).toEqual([
    168, 365, 104, 365,
  ])
})
