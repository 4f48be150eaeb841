// Adapters to use cases: which ports each group of use cases gets, what is cached on the way, and
// what invalidates it.
import { pipe } from 'fp-ts/lib/function.js'
import * as E from 'fp-ts/lib/Either.js'
import * as T from 'fp-ts/lib/Task.js'
import {
  checkThresholds,
  createAccounts,
  createEvents,
  createHalts,
  createJournalReads,
  createLiveAccounts,
  createMarketData,
  createOperatorDocuments,
  createOperatorHealth,
  createOperatorRecords,
  createOrderPreviews,
  createOpenOrders,
  createCancelWhereHalted,
  followOpenOrders,
  createOrders,
  createOrderSymbols,
  createOrdersUnderWay,
  createPositionChanges,
  createPositions,
  createStreamSlots,
  createTrades,
  createWebhooks,
  getMe,
  identifyCaller,
  processOrder,
  readFeedStanding,
  symbolAsWritten,
  type OnFinished,
} from '@tradeport/domain/use-cases'
import type { BrokerAccount, ThresholdBreach } from '@tradeport/domain/accounts'
import { isOutcomeUnknown } from '@tradeport/domain/errors'
import type { EventLoopYield, PeerNotices, Ports } from '@tradeport/domain/ports'
import type { AffectedUsers, PlannedChange } from '@tradeport/domain/operator'
import type { Order } from '@tradeport/domain/orders'
import type { AccountId } from '@tradeport/domain/primitives'
import type { OperatorUseCases, UseCases } from '@tradeport/http'
import {
  cachedAccounts,
  cachedBroker,
  cachedCredentials,
  cachedLiveAccounts,
  cachedMarketData,
  cachedMarketDataFeeds,
  cachedTokenVerifier,
  coalesceReads,
} from '@tradeport/memory'
import type { CountersOf } from '@tradeport/memory'

/** Uncached ports, plus settings of the composition. */
export interface Adapters extends Omit<Ports, 'liveAccounts' | 'mailer'>, EventLoopYield {
  readonly peerNotices: PeerNotices
  /** The most deals of an account of which trades are shown. */
  readonly maxDeals: number
  readonly recordsEvents: boolean
  readonly hasMarketData: boolean
  /** Those that are enabled. */
  readonly capabilities: readonly string[]
  readonly onDisagreement: (account: BrokerAccount, difference: number) => void
  readonly onBreach: (account: BrokerAccount, breach: ThresholdBreach) => void
  readonly onHaltCancellationFailed: (order: Order, because: string) => void
  /** What an operator's document changed; it is not called for one that changed nothing. */
  readonly onApplied: (changes: readonly PlannedChange[]) => void
  readonly onFinished: OnFinished
  /** Where the caches count their hits and misses. */
  readonly countersOf?: CountersOf | undefined
}

export type ComposedService = ReturnType<typeof composeUseCases>

export const composeUseCases = (adapters: Adapters) => {
  const { peerNotices } = adapters
  const credentials = cachedCredentials(adapters.credentials, adapters)
  const tokens = adapters.tokens && cachedTokenVerifier(adapters.tokens, adapters)
  const cachedAccountStore = cachedAccounts(adapters.accounts, adapters)
  const broker = cachedBroker(adapters.broker, adapters)
  // Live reads bypass the cached broker, because their results are cached here.
  const liveAccounts = cachedLiveAccounts(createLiveAccounts(adapters), adapters)
  const invalidateHere = (accountId: AccountId) => {
    for (const cache of [broker, liveAccounts]) cache.invalidate(accountId)
  }
  const onAccountChanged = (account: BrokerAccount) => {
    const { accountId } = account
    // Here at once, and on the other instances as soon as they hear of it.
    invalidateHere(accountId)
    peerNotices.notify({ kind: 'account_changed', accountId })
    void adapters.journal.wantRead(account, 0)()
  }
  /** After a document of the operator. */
  const invalidateUsers = (users: AffectedUsers) => {
    credentials.invalidate(users)
    cachedAccountStore.invalidateAll()
  }
  peerNotices.subscribe((notice) => {
    switch (notice.kind) {
      case 'account_changed':
        return invalidateHere(notice.accountId)
      case 'credentials_changed':
        return invalidateUsers(notice.users)
      case 'notices_missed':
        // What else is kept of accounts expires within seconds.
        return invalidateUsers('everyone')
      case 'events_recorded':
        // Nothing of them is cached.
        return undefined
    }
  })
  // Accounts with events are synchronised whatever the length of their history, or their events
  // would be missing.
  const { synchroniseJournal, readDueJournal } = createJournalReads({
    ...adapters,
    maxFirstReadDeals: adapters.recordsEvents ? Infinity : adapters.maxDeals,
  })

  const ports = {
    ...adapters,
    marketData: cachedMarketData(adapters.marketData, adapters),
    marketDataFeeds: cachedMarketDataFeeds(adapters.marketDataFeeds, adapters),
    streamSlots: createStreamSlots(),
    credentials,
    tokens,
    broker,
    liveAccounts,
    synchroniseJournal,
    onAccountChanged,
  }
  // Reads use accounts that are cached for a second; changes read the account from the database.
  const portsWithCachedAccounts = { ...ports, accounts: cachedAccountStore }
  const resolveOrderSymbol = adapters.hasMarketData ? createOrderSymbols(ports) : symbolAsWritten
  const orderPorts = {
    ...ports,
    resolveOrderSymbol,
    // For the limits of desks.
    positionTrading: {
      ...ports.positionTrading,
      freshPositions: coalesceReads(ports.positionTrading.freshPositions),
    },
  }
  const documents = createOperatorDocuments(ports)
  const changes = createPositionChanges({ ...ports, resolveOrderSymbol })
  const openOrders = createOpenOrders(ports)
  const useCases: UseCases = {
    ...createAccounts(ports),
    ...createEvents(ports),
    ...createOrders(orderPorts),
    ...createOrderPreviews(orderPorts),
    ...openOrders,
    ...createPositions(portsWithCachedAccounts),
    ...changes,
    ...createHalts({
      ...ports,
      closePositions: changes.closePositions,
      cancelOrders: openOrders.cancelOrders,
    }),
    ...createTrades(portsWithCachedAccounts),
    ...createWebhooks(ports),
    ...createMarketData(portsWithCachedAccounts),
    identifyCaller: identifyCaller(ports),
    getMe: getMe(adapters.capabilities),
    idempotency: adapters.idempotency,
  }
  const operatorUseCases: OperatorUseCases = {
    ...documents,
    ...createOperatorHealth({
      ...ports,
      // As it is now, past the caches.
      feedStanding: adapters.hasMarketData ? readFeedStanding(adapters) : undefined,
    }),
    ...createOperatorRecords(ports),
    ...createOrdersUnderWay(ports),
    // What the operator changed shows at the next request to this instance. Where the commit has no
    // answer, anything may have changed.
    applyDocument: (...given) =>
      pipe(
        documents.applyDocument(...given),
        T.tapIO((applied) => () => {
          if (E.isLeft(applied))
            return isOutcomeUnknown(applied.left) ? invalidateUsers('everyone') : undefined
          const { affectedUsers, changes } = applied.right
          invalidateUsers(affectedUsers)
          if (changes.length > 0) adapters.onApplied(changes)
        }),
      ),
  }
  return {
    useCases,
    operatorUseCases,
    processOrder: processOrder({
      ...ports,
      cancelWhereHalted: createCancelWhereHalted({ ...ports, cancelOrder: openOrders.cancelOrder }),
    }),
    readDueJournal,
    followOpenOrders: followOpenOrders(ports),
    checkThresholds: checkThresholds(adapters),
  }
}
