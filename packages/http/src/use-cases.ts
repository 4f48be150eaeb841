// The domain's verbs as the door needs them: given their ports by whoever composes the service.
import type {
  applyOperatorDocument,
  cancelOrder,
  changeWebhook,
  checkService,
  checkTenant,
  closePosition,
  createWebhook,
  deleteWebhook,
  exportTrades,
  finishOrder,
  getAccount,
  getMarketData,
  getOperatorOrder,
  getOrder,
  getPosition,
  getTenant,
  getTrade,
  getTradeStatistics,
  getWebhook,
  hostIssues,
  identifyCaller,
  listAccounts,
  listBalanceHistory,
  listOrders,
  listOrdersUnderWay,
  listPositions,
  listSymbols,
  listTenantAccessTokens,
  listTenantAccounts,
  listTenantApiKeys,
  listTenantDesks,
  listTenants,
  listTenantUsers,
  listTrades,
  listWebhookDeliveries,
  listWebhooks,
  modifyOrder,
  moveStopLoss,
  moveTakeProfit,
  placeOrder,
  planOperatorDocument,
  replayWebhookDelivery,
  rotateSecrets,
  testWebhook,
} from '@tradeport/domain'

/** The verbs behind `/api/v1`. */
export interface UseCases {
  readonly identifyCaller: ReturnType<typeof identifyCaller>
  readonly listAccounts: ReturnType<typeof listAccounts>
  readonly getAccount: ReturnType<typeof getAccount>
  readonly listBalanceHistory: ReturnType<typeof listBalanceHistory>
  readonly placeOrder: ReturnType<typeof placeOrder>
  readonly listOrders: ReturnType<typeof listOrders>
  readonly getOrder: ReturnType<typeof getOrder>
  readonly modifyOrder: ReturnType<typeof modifyOrder>
  readonly cancelOrder: ReturnType<typeof cancelOrder>
  readonly listPositions: ReturnType<typeof listPositions>
  readonly getPosition: ReturnType<typeof getPosition>
  readonly moveStopLoss: ReturnType<typeof moveStopLoss>
  readonly moveTakeProfit: ReturnType<typeof moveTakeProfit>
  readonly closePosition: ReturnType<typeof closePosition>
  readonly listTrades: ReturnType<typeof listTrades>
  readonly getTrade: ReturnType<typeof getTrade>
  readonly getTradeStatistics: ReturnType<typeof getTradeStatistics>
  readonly exportTrades: ReturnType<typeof exportTrades>
  readonly listSymbols: typeof listSymbols
  readonly getMarketData: typeof getMarketData
  /** No verb: what the composed service knows of a webhook's host before anything else is looked at. */
  readonly webhookHostIssues: ReturnType<typeof hostIssues>
  readonly createWebhook: ReturnType<typeof createWebhook>
  readonly listWebhooks: ReturnType<typeof listWebhooks>
  readonly getWebhook: ReturnType<typeof getWebhook>
  readonly changeWebhook: ReturnType<typeof changeWebhook>
  readonly deleteWebhook: ReturnType<typeof deleteWebhook>
  readonly testWebhook: ReturnType<typeof testWebhook>
  readonly listWebhookDeliveries: ReturnType<typeof listWebhookDeliveries>
  readonly replayWebhookDelivery: ReturnType<typeof replayWebhookDelivery>
}

/** The verbs behind the operator API. */
export interface OperatorUseCases {
  readonly applyOperatorDocument: ReturnType<typeof applyOperatorDocument>
  readonly planOperatorDocument: ReturnType<typeof planOperatorDocument>
  readonly listOrdersUnderWay: ReturnType<typeof listOrdersUnderWay>
  readonly getOperatorOrder: ReturnType<typeof getOperatorOrder>
  readonly finishOrder: ReturnType<typeof finishOrder>
  readonly listTenants: ReturnType<typeof listTenants>
  readonly getTenant: ReturnType<typeof getTenant>
  readonly listTenantUsers: ReturnType<typeof listTenantUsers>
  readonly listTenantAccounts: ReturnType<typeof listTenantAccounts>
  readonly listTenantApiKeys: ReturnType<typeof listTenantApiKeys>
  readonly listTenantAccessTokens: ReturnType<typeof listTenantAccessTokens>
  readonly listTenantDesks: ReturnType<typeof listTenantDesks>
  readonly rotateSecrets: ReturnType<typeof rotateSecrets>
  readonly checkService: ReturnType<typeof checkService>
  readonly checkTenant: ReturnType<typeof checkTenant>
}
