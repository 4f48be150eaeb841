// Every route of the API: how it is called, and how often a request to it may be sent.

/**
 * What a request may do, which decides whether it is sent again.
 * - `read`: changes nothing, so that it may be sent again whenever an answer failed to come.
 * - `keyed`: a POST, which the service carries out once for one Idempotency-Key, so that it may be
 *   sent again with the same key.
 * - `once`: a write without a key, which is sent again only after a reply that proves that nothing
 *   was done.
 */
export type Sending = 'read' | 'keyed' | 'once'

/** How the items of a list are walked through; see pages.ts. */
export type Walk = 'cursor' | 'pages' | 'pages-from-the-last'

export interface RouteRow {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Each `:name` is one argument, in order. */
  readonly path: `/${string}`
  readonly sending: Sending
  /** What follows the arguments of the path. */
  readonly takes?: 'query' | 'body'
  /** Other than the envelope. */
  readonly answers?: 'file'
  readonly walk?: Walk
  /** What to do when it is not known whether a write without a key was done. */
  readonly whenUnknown?: string
}

const readPosition =
  'The change may have been made: read the position (getPosition) before you try again.'
const readOrder = 'The change may have been made: read the order (getOrder) before you try again.'

export const routes = {
  listAccounts: { method: 'GET', path: '/accounts', sending: 'read' },
  getAccount: { method: 'GET', path: '/accounts/:id', sending: 'read' },
  listBalanceHistory: {
    method: 'GET',
    path: '/accounts/:id/history',
    sending: 'read',
    takes: 'query',
  },
  placeOrder: { method: 'POST', path: '/orders', sending: 'keyed', takes: 'body' },
  listOrders: { method: 'GET', path: '/orders', sending: 'read', takes: 'query', walk: 'pages' },
  getOrder: { method: 'GET', path: '/orders/:id', sending: 'read' },
  modifyOrder: {
    method: 'PUT',
    path: '/orders/:id',
    sending: 'once',
    takes: 'body',
    whenUnknown: readOrder,
  },
  cancelOrder: { method: 'DELETE', path: '/orders/:id', sending: 'once', whenUnknown: readOrder },
  // A position that is closed moves all younger ones one place towards the first page.
  listPositions: {
    method: 'GET',
    path: '/positions',
    sending: 'read',
    takes: 'query',
    walk: 'pages-from-the-last',
  },
  getPosition: { method: 'GET', path: '/positions/:id', sending: 'read' },
  moveStopLoss: {
    method: 'PUT',
    path: '/positions/:id/sl',
    sending: 'once',
    takes: 'body',
    whenUnknown: readPosition,
  },
  moveTakeProfit: {
    method: 'PUT',
    path: '/positions/:id/tp',
    sending: 'once',
    takes: 'body',
    whenUnknown: readPosition,
  },
  closePosition: { method: 'POST', path: '/positions/:id/close', sending: 'keyed', takes: 'body' },
  listSymbols: { method: 'GET', path: '/symbols', sending: 'read', takes: 'query' },
  getQuote: { method: 'GET', path: '/quotes/:symbol', sending: 'read' },
  listCandles: { method: 'GET', path: '/candles/:symbol', sending: 'read', takes: 'query' },
  listTicks: { method: 'GET', path: '/ticks/:symbol', sending: 'read', takes: 'query' },
  listTrades: { method: 'GET', path: '/trades', sending: 'read', takes: 'query', walk: 'cursor' },
  getTradeStatistics: { method: 'GET', path: '/trades/stats', sending: 'read', takes: 'query' },
  exportTrades: {
    method: 'GET',
    path: '/trades/export',
    sending: 'read',
    takes: 'query',
    answers: 'file',
  },
  getTrade: { method: 'GET', path: '/trades/:id', sending: 'read' },
  createWebhook: { method: 'POST', path: '/webhooks', sending: 'keyed', takes: 'body' },
  listWebhooks: { method: 'GET', path: '/webhooks', sending: 'read' },
  getWebhook: { method: 'GET', path: '/webhooks/:id', sending: 'read' },
  changeWebhook: {
    method: 'PUT',
    path: '/webhooks/:id',
    sending: 'once',
    takes: 'body',
    whenUnknown:
      'The change may have been made: read the webhook (getWebhook) before you try again.',
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/webhooks/:id',
    sending: 'once',
    whenUnknown: 'The webhook may be deleted: look for it (listWebhooks) before you try again.',
  },
  testWebhook: { method: 'POST', path: '/webhooks/:id/test', sending: 'keyed' },
  listWebhookDeliveries: {
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    sending: 'read',
    takes: 'query',
    walk: 'pages',
  },
  replayWebhookDelivery: {
    method: 'POST',
    path: '/webhooks/:id/deliveries/:deliveryId/replay',
    sending: 'keyed',
  },
} as const satisfies Readonly<Record<string, RouteRow>>

export type Operation = keyof typeof routes
