// The use cases of the domain that the two APIs call, given their ports by whoever composes the service.
import type * as domain from '@tradeport/domain'
import type { IdempotencyStore } from '@tradeport/domain'

type Composed<Names extends keyof typeof domain> = {
  readonly [Name in Names]: (typeof domain)[Name] extends (...ports: never[]) => infer UseCase ? UseCase : never
}

/** Of the API for users. */
export interface UseCases extends Composed<
  | 'identifyCaller'
  | 'listAccounts'
  | 'getAccount'
  | 'listBalanceHistory'
  | 'placeOrder'
  | 'listOrders'
  | 'getOrder'
  | 'modifyOrder'
  | 'cancelOrder'
  | 'listPositions'
  | 'getPosition'
  | 'moveStopLoss'
  | 'moveTakeProfit'
  | 'closePosition'
  | 'listTrades'
  | 'getTrade'
  | 'getTradeStatistics'
  | 'exportTrades'
  | 'createWebhook'
  | 'listWebhooks'
  | 'getWebhook'
  | 'changeWebhook'
  | 'deleteWebhook'
  | 'testWebhook'
  | 'listWebhookDeliveries'
  | 'replayWebhookDelivery'
> {
  readonly listSymbols: typeof domain.listSymbols
  readonly getMarketData: typeof domain.getMarketData
  /** Which hosts of webhooks the configuration forbids. */
  readonly webhookHostIssues: ReturnType<typeof domain.hostIssues>
  readonly idempotency: IdempotencyStore
}

/** Of the operator API. */
export type OperatorUseCases = Composed<
  | 'applyOperatorDocument'
  | 'planOperatorDocument'
  | 'listOrdersUnderWay'
  | 'getOperatorOrder'
  | 'finishOrder'
  | 'listTenants'
  | 'getTenant'
  | 'listTenantUsers'
  | 'listTenantAccounts'
  | 'listTenantApiKeys'
  | 'listTenantAccessTokens'
  | 'listTenantDesks'
  | 'rotateSecrets'
  | 'checkService'
  | 'checkTenant'
>
