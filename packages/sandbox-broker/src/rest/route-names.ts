// The names by which faults and the request log speak of routes.

export const ROUTE_NAMES = [
  'accounts',
  'account',
  'deploy',
  'undeploy',
  'regions',
  'account-information',
  'positions',
  'position',
  'orders',
  'order',
  'trade',
  'deals',
  'deals-by-position',
  'deals-by-ticket',
  'history-orders',
  'history-orders-by-position',
  'history-orders-by-ticket',
  'margin',
  'symbols',
  'specification',
  'price',
  'server-time',
] as const

export type RouteName = (typeof ROUTE_NAMES)[number]
