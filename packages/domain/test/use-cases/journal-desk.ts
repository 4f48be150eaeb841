// A desk whose accounts have journals: the broker's history, the journal in memory, and the use
// case that brings one up to the other.
import * as T from 'fp-ts/lib/Task.js'
import { requireBrokerAccount } from '../../src/accounts/account.ts'
import type { Account, BrokerAccount } from '../../src/accounts/account.ts'
import type { ServiceEvent } from '../../src/events/service-event.ts'
import { createFakeAccountStore } from '../../src/testing/fake-account-store.ts'
import { createFakeBroker } from '../../src/testing/fake-broker.ts'
import type { FakeBroker } from '../../src/testing/fake-broker.ts'
import { createFakeJournal } from '../../src/testing/fake-journal.ts'
import { createFakeRecords } from '../../src/testing/fake-records.ts'
import { newAccount } from '../../src/testing/stored-records.ts'
import { sumExactly } from '../../src/primitives/exact-sum.ts'
import type { Deal } from '../../src/trades/deal.ts'
import { synchroniseJournal } from '../../src/use-cases/synchronise-journal.ts'
import { owner } from './desk.ts'

export interface JournalDeskOptions {
  readonly pageSize?: number
  readonly recordsEvents?: boolean
  readonly stopsAboveDeals?: number
}

export const createJournalDesk = ({
  pageSize,
  recordsEvents = true,
  stopsAboveDeals = 20_000,
}: JournalDeskOptions = {}) => {
  let now = 1_000_000
  const clock = { now: () => now }
  const stopwatch = { elapsedMs: () => now }
  const records = createFakeRecords()
  const events: ServiceEvent[] = []
  const keys = new Set<string>()
  const record = (_owner: unknown, happened: readonly ServiceEvent[]): void => {
    for (const event of happened) if (!keys.has(event.key)) events.push(event)
    for (const { key } of happened) keys.add(key)
  }
  const { journal, records: trades } = createFakeJournal(records, record, clock)
  // Tests replace single reads.
  const broker: { -readonly [Read in keyof FakeBroker]: FakeBroker[Read] } = createFakeBroker(
    clock,
    pageSize,
  )
  const disagreements: number[] = []
  const pass = (ms: number): void => void (now += ms)
  const ports = {
    journal,
    trades,
    broker,
    clock,
    stopwatch,
    accounts: createFakeAccountStore(records),
    pause: (ms: number) => T.fromIO(() => pass(ms)),
    recordsEvents,
    stopsAboveDeals,
    maxDeals: stopsAboveDeals,
    onDisagreement: (_account: BrokerAccount, difference: number) =>
      void disagreements.push(difference),
  }
  return {
    ...ports,
    events,
    disagreements,
    pass,
    synchroniseJournal: synchroniseJournal(ports),
    /** Another process over the same journal. */
    otherProcess: () => synchroniseJournal(ports),
    link: (fields: Partial<Account> = {}): Account => {
      const account = newAccount(owner, { createdAt: 0, ...fields })
      records.tables.accounts.set(account.id, account)
      broker.put(account.id)
      return account
    },
    relink: (account: Account, fields: Partial<Account>): Account => {
      const linked = { ...account, ...fields }
      records.tables.accounts.set(account.id, linked)
      return linked
    },
    /** The broker's history, with a balance that it adds up to unless another is given. */
    put: (
      account: Account,
      deals: readonly Deal[],
      balance = sumExactly(
        deals.flatMap(({ profit, commission, swap }) => [profit, commission, swap]),
      ),
    ): void => {
      const figures = {
        balance,
        equity: balance,
        margin: 0,
        freeMargin: balance,
        marginLevel: null,
        leverage: 100,
      }
      broker.put(account.id, {
        deals,
        information: { tradeMode: 'demo', broker: 'Fake', currency: 'USD', figures },
      })
    },
  }
}

export const brokerAccountOf = (account: Account): BrokerAccount => {
  const found = requireBrokerAccount(account)
  if (found._tag === 'Left') throw new Error('the account has no provider')
  return found.right
}
