import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { isDemo, isReadLive, requireBrokerAccount, withFailedRead, withReading } from '../../src/accounts/account.ts'
import type { Account, AccountReading, AccountStatus, TradeMode } from '../../src/accounts/account.ts'
import { snapshotCap, snapshotOf } from '../../src/accounts/balance-history.ts'
import type { AccountId, TenantId, UserId } from '../../src/primitives/ids.ts'

const account: Account = {
  id: '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId,
  owner: { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId },
  name: 'Main',
  broker: null,
  brokerType: 'mt5',
  accountNumber: '5012345',
  server: 'Example-Demo',
  purpose: 'trading',
  linkedAsDemo: true,
  tradeMode: null,
  currency: 'USD',
  figures: { balance: 1, equity: 2, margin: 3, freeMargin: null, marginLevel: null, leverage: null },
  status: 'connected',
  provider: { providerAccountId: 'p-1', region: 'london' },
  lastReadAt: null,
  createdAt: 0,
  updatedAt: 0,
}

const reading: AccountReading = {
  tradeMode: 'demo',
  broker: 'Example Broker',
  currency: 'EUR',
  figures: { balance: 10, equity: 20, margin: 30, freeMargin: 40, marginLevel: 50, leverage: 100 },
  readAt: 1_000,
}

const read = (before: Account, ...modes: readonly TradeMode[]): Account =>
  modes.reduce((held, tradeMode) => withReading(held, { ...reading, tradeMode }), before)

describe('isDemo (decision 17)', () => {
  const rows: readonly (readonly [boolean, readonly TradeMode[], boolean])[] = [
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
  ]
  it.each(rows)('linked as demo %s, broker said %j: %s', (linkedAsDemo, modes, expected) => {
    expect(isDemo(read({ ...account, linkedAsDemo }, ...modes))).toBe(expected)
  })
})

describe('live reads (3.2, decision 17)', () => {
  it('takes the figures, the broker and its currency', () => {
    expect(withReading(account, reading)).toMatchObject({
      broker: 'Example Broker',
      currency: 'EUR',
      figures: reading.figures,
      lastReadAt: 1_000,
    })
  })

  it('keeps what the broker did not say', () => {
    expect(withReading(account, { ...reading, broker: null, currency: null })).toMatchObject({ broker: null, currency: 'USD' })
  })

  it('turns connected into error on a failed read and keeps the stored figures', () => {
    const failed = withFailedRead(account, 500)
    expect(failed).toEqual({ ...account, status: 'error', updatedAt: 500 })
  })

  it('turns error into connected on a good read', () => {
    expect(withReading({ ...account, status: 'error' }, reading).status).toBe('connected')
  })

  it.each<[AccountStatus, boolean]>([
    ['connected', true],
    ['error', true],
    ['disconnected', false],
    ['syncing', false],
  ])('reads an account that is %s live: %s', (status, expected) => {
    expect(isReadLive({ ...account, status })).toBe(expected)
  })

  it('never reads the paper book or another platform', () => {
    expect(isReadLive({ ...account, brokerType: 'paper' })).toBe(false)
    expect(isReadLive({ ...account, brokerType: 'ctrader' })).toBe(false)
  })
})

describe('requireBrokerAccount (4.3 rule 3)', () => {
  it('says UnsupportedBroker before NotProvisioned', () => {
    const refused = requireBrokerAccount({ ...account, brokerType: 'ctrader', provider: null })
    expect(refused).toEqual(E.left({ _tag: 'UnsupportedBroker', accountId: account.id }))
  })

  it('says NotProvisioned without a provider account', () => {
    expect(requireBrokerAccount({ ...account, provider: null })).toEqual(E.left({ _tag: 'NotProvisioned', accountId: account.id }))
  })
})

describe('balance history (4.1, decision 18)', () => {
  const last = { timestamp: 1_000, balance: 10, equity: 20, margin: 30, freeMargin: 40 }
  const fiveMinutes = 300_000

  it('keeps the first reading', () => {
    expect(snapshotOf(null, reading)).toEqual(last)
  })

  it('keeps none while the balance is the same and five minutes have not passed', () => {
    expect(snapshotOf(last, { ...reading, readAt: 1_000 + fiveMinutes - 1 })).toBeNull()
  })

  it('keeps one after five minutes', () => {
    expect(snapshotOf(last, { ...reading, readAt: 1_000 + fiveMinutes })?.timestamp).toBe(1_000 + fiveMinutes)
  })

  it('keeps one at once when the balance has changed', () => {
    expect(snapshotOf({ ...last, balance: 11 }, { ...reading, readAt: 1_001 })?.balance).toBe(10)
  })

  it('caps the count by the interval', () => {
    expect([snapshotCap('1h'), snapshotCap('1d'), snapshotCap('1w'), snapshotCap()]).toEqual([168, 365, 104, 365])
  })
})
