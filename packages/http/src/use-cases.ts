// The use cases of the domain that the two APIs call, given their ports where the service is
// composed.
import type { IdempotencyStore } from '@tradeport/domain/ports'
import type {
  createAccounts,
  createEvents,
  createHalts,
  createMarketData,
  createOpenOrders,
  createOperatorDocuments,
  createOperatorHealth,
  createOperatorRecords,
  createOrderPreviews,
  createOrders,
  createOrdersUnderWay,
  createPositionChanges,
  createPositions,
  createTrades,
  createWebhooks,
  getMe,
  identifyCaller,
} from '@tradeport/domain/use-cases'
import { routesOf } from './route.ts'

/** Of the API for users. */
export type UseCases = ReturnType<typeof createAccounts> &
  ReturnType<typeof createEvents> &
  ReturnType<typeof createHalts> &
  ReturnType<typeof createOrders> &
  ReturnType<typeof createOrderPreviews> &
  ReturnType<typeof createOpenOrders> &
  ReturnType<typeof createPositions> &
  ReturnType<typeof createPositionChanges> &
  ReturnType<typeof createTrades> &
  ReturnType<typeof createWebhooks> &
  ReturnType<typeof createMarketData> & {
    readonly identifyCaller: ReturnType<typeof identifyCaller>
    readonly getMe: ReturnType<typeof getMe>
    readonly idempotency: IdempotencyStore
  }

/** Of the operator API. */
export type OperatorUseCases = ReturnType<typeof createOperatorDocuments> &
  ReturnType<typeof createOperatorHealth> &
  ReturnType<typeof createOperatorRecords> &
  ReturnType<typeof createOrdersUnderWay>

/** Makes a route of the API for users. */
export const route = routesOf<UseCases>()

/** Makes a route of the operator API. */
export const operatorRoute = routesOf<OperatorUseCases>()
