// The names by which faults and the request log speak of routes.

export const ROUTE_NAMES = [
  'accounts',
  'account',
  'account-information',
  'positions',
  'orders',
  'trade',
  'deals',
  'history-orders',
  'margin',
] as const

export type RouteName = (typeof ROUTE_NAMES)[number]
