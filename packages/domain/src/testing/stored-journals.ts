// What the contract suites of the journal share: the ports under test, deals to fill journals with, and the steps that most tests take.
import * as O from 'fp-ts/lib/Option.js'
import { expect } from 'vitest'
import type { Account, BrokerAccount } from '../accounts/account.ts'
import { dealKey } from '../journal/broker-deal.ts'
import type { BrokerDeal } from '../journal/broker-deal.ts'
import type { Journal, JournalChange, JournalClaim, JournalJobs, TradeRecords } from '../ports/journal.ts'
import type { JournalState } from '../journal/journal-state.ts'
import type { OperatorStore } from '../ports/operator-store.ts'
import type { WebhookDeliveries } from '../ports/webhook-deliveries.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import type { Owner } from '../primitives/ids.ts'
import { minuteMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import type { ClosedTrade } from '../trades/closed-trade.ts'
import { newAccount, puts, rightOf, storedAccount, write } from './stored-records.ts'

export interface JournalPorts {
  readonly operator: OperatorStore
  readonly webhooks: WebhookStore
  readonly deliveries: WebhookDeliveries
  readonly journal: Journal
  /** The same journals as another instance of the service sees them. */
  readonly elsewhere: Journal
  readonly records: TradeRecords
  readonly jobs: JournalJobs
  /** The clock that claims and jobs go by. */
  readonly now: () => Instant
  /** Lets so much time pass for claims and jobs. */
  readonly elapse: (ms: number) => Promise<void>
}

/** Opens empty stores once per suite; `close` ends them. */
export type OpenJournalPorts = () => Promise<{ readonly ports: JournalPorts; readonly close: () => Promise<void> }>

export const patience = { timeout: 60_000 }
export const noon = Date.parse('2026-11-02T12:00:00.000Z')
export const noChange: JournalChange = {
  inserted: [],
  changed: [],
  vanished: [],
  reading: null,
  now: noon,
  firstReadOffset: null,
  completed: null,
}
export const completed = { syncedAt: noon, latestDealAt: noon }
export const unread: JournalState = {
  firstReadOffset: null,
  syncedAt: null,
  wantedAt: null,
  deals: 0,
  latestDealAt: null,
  check: null,
  rereadAt: null,
  disagreements: 0,
}
/** @param minute after noon; deals of one minute differ by their ids */
export const opening = (positionId: string, minute: number, fields: Partial<BrokerDeal> = {}): BrokerDeal => ({
  id: `${positionId}1`,
  kind: 'buy',
  side: 'buy',
  entry: 'in',
  positionId,
  orderId: positionId,
  symbol: 'EURUSD',
  volume: 0.1,
  price: 1.1,
  profit: 0,
  commission: -0.1,
  swap: 0,
  time: noon + minute * minuteMs,
  ...fields,
})
export const closing = (positionId: string, minute: number, fields: Partial<BrokerDeal> = {}): BrokerDeal =>
  opening(positionId, minute, {
    id: `${positionId}2`,
    kind: 'sell',
    side: 'sell',
    entry: 'out',
    orderId: `${positionId}0`,
    profit: 5,
    ...fields,
  })
export const closed = (positionId: string, minute: number, fields: Partial<BrokerDeal> = {}): readonly BrokerDeal[] => [
  opening(positionId, minute - 1),
  closing(positionId, minute, fields),
]
export const deposit: BrokerDeal = { id: '7', kind: 'balance', profit: 1_000, commission: 0, swap: 0, time: noon }

export const sorted = (deals: readonly BrokerDeal[]): readonly BrokerDeal[] => deals.toSorted((a, b) => (dealKey(a) < dealKey(b) ? -1 : 1))

export const allTrades = { profit: 'all' } as const

export const brokerAccountOf = ({ id, owner, provider }: Account): BrokerAccount => ({
  accountId: id,
  owner,
  platform: 'mt5',
  providerAccountId: provider?.providerAccountId ?? '',
  region: provider?.region ?? null,
})

export const journalSteps = (ports: () => JournalPorts) => {
  const newBrokerAccount = async (): Promise<BrokerAccount> => brokerAccountOf(await storedAccount(ports().operator))
  const sibling = async (owner: Owner): Promise<BrokerAccount> => {
    const account = newAccount(owner)
    await write(ports().operator, { accounts: puts(account) })
    return brokerAccountOf(account)
  }
  const claimOf = async (account: BrokerAccount, journal = ports().journal): Promise<JournalClaim> =>
    O.getOrElse((): JournalClaim => expect.fail('is not claimed'))(await rightOf(journal.claim(account)))
  const findState = async (account: BrokerAccount) => O.toUndefined(await rightOf(ports().journal.find(account)))
  const keep = (claim: JournalClaim, change: Partial<JournalChange>) => rightOf(ports().journal.write(claim, { ...noChange, ...change }))
  /** A synchronised journal of those deals, which is claimed. */
  const kept = async (account: BrokerAccount, inserted: readonly BrokerDeal[]): Promise<JournalClaim> => {
    const claim = await claimOf(account)
    await keep(claim, { inserted, completed })
    return claim
  }
  const dealsOf = async (account: BrokerAccount, from = 0) => sorted(await rightOf(ports().journal.dealsFrom(account, from)))
  const exported = ({ owner, accountId }: BrokerAccount) =>
    rightOf(ports().records.exportPage(owner, { accountIds: [accountId], filter: allTrades }, undefined, 1_000))
  const tradesOf = async (account: BrokerAccount): Promise<readonly ClosedTrade[]> => (await exported(account)).trades
  const skippedOf = ({ owner, accountId }: BrokerAccount) => rightOf(ports().records.skipped(owner, [accountId]))
  return { newBrokerAccount, sibling, claimOf, findState, keep, kept, dealsOf, exported, tradesOf, skippedOf }
}
