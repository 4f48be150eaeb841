// Adapters to use cases: what reads what, and what is cached on the way (section 8, caches). No decision is taken here.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import {
  applyOperatorDocument,
  createHistories,
  createLiveAccounts,
  exportTrades,
  getAccount,
  getMarketData,
  getPosition,
  getTrade,
  getTradeStatistics,
  identifyCaller,
  listAccounts,
  listBalanceHistory,
  listPositions,
  listSymbols,
  listTrades,
} from '@tradeport/domain'
import type { AccountStore, Breather, Broker, Clock, CredentialStore, OperatorStore, Secrets } from '@tradeport/domain'
import type { OperatorUseCases, UseCases } from '@tradeport/http'
import { cachedBroker, cachedCredentials, cachedHistories, cachedLiveAccounts } from '@tradeport/memory'

/** The ports as the adapters fill them, without any cache. */
export interface Adapters extends Breather {
  readonly accounts: AccountStore
  readonly credentials: CredentialStore
  readonly operator: OperatorStore
  readonly broker: Broker
  readonly secrets: Secrets
  readonly clock: Clock
}

export interface ComposedService {
  readonly useCases: UseCases
  readonly operatorUseCases: OperatorUseCases
}

export const composeUseCases = (adapters: Adapters): ComposedService => {
  const { clock } = adapters
  const credentials = cachedCredentials(adapters.credentials, { clock })
  const broker = cachedBroker(adapters.broker, { clock })
  // Live figures and histories are cached as what becomes of a read, so they are given the broker without its cache.
  const liveAccounts = cachedLiveAccounts(createLiveAccounts(adapters), { clock })
  const histories = cachedHistories(createHistories(adapters), { clock })
  const ports = { ...adapters, credentials, broker, liveAccounts, histories }
  const apply = applyOperatorDocument(ports)
  return {
    useCases: {
      identifyCaller: identifyCaller(ports),
      listAccounts: listAccounts(ports),
      getAccount: getAccount(ports),
      listBalanceHistory: listBalanceHistory(ports),
      listPositions: listPositions(ports),
      getPosition: getPosition(ports),
      listTrades: listTrades(ports),
      getTrade: getTrade(ports),
      getTradeStatistics: getTradeStatistics(ports),
      exportTrades: exportTrades(ports),
      listSymbols,
      getMarketData,
    },
    operatorUseCases: {
      // What the operator changed shows at the next request to this instance.
      applyOperatorDocument: (document) =>
        pipe(
          apply(document),
          TE.tapIO(() => credentials.forgetAll),
        ),
    },
  }
}
